package report

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/text"
)

// judged is a verdict of a run with what it is about.
type judged struct {
	key     perf.Key
	metric  string // "latency_p95" for a percentile
	value   perf.Num
	verdict *perf.Verdict
}

// claim is a row of a table.
type claim struct {
	key           perf.Key
	metric        string
	value         perf.Num // in this run, absent where it was not measured
	ratio, lo, hi perf.Num
	state         string // Markdown
	p             perf.Num
	baseline      string // run id
}

// verdicts yields what a run was found to show, without benchmarks that are
// retired from lists.
func verdicts(d *derive.Derived, run *derive.Run) iter.Seq[judged] {
	retired := map[string]bool{}
	for _, s := range d.Series {
		if s.Retired != "" {
			retired[s.Key.ID()] = true
		}
	}
	return func(yield func(judged) bool) {
		for _, r := range run.Results {
			if len(retired) > 0 && retired[r.Key.ID()] {
				continue
			}
			for i := range r.Metrics {
				m := &r.Metrics[i]
				if !yield(judged{r.Key, m.Name, m.Center(), &m.Verdict}) {
					return
				}
				for k := range m.Tails {
					t := &m.Tails[k]
					if !yield(judged{r.Key, m.Name + "_" + t.Stat, t.Value, &t.Verdict}) {
						return
					}
				}
			}
		}
	}
}

// claims writes what became slower or faster, and what is back.
func claims(b *strings.Builder, d *derive.Derived, run *derive.Run) {
	if !run.InTrend {
		return
	}
	all := verdicts(d, run)
	table(b, "### ▲ Slower", run.Kind, slower(d, run, all))
	table(b, "### ▼ Faster", run.Kind, claimsOf(all, func(v *perf.Verdict) bool { return v.Outcome == perf.Faster }))
	table(b, "### Recovered", run.Kind, claimsOf(all, func(v *perf.Verdict) bool { return v.State == perf.Recovered }))
	if c := run.Claims; c.Slower+c.Faster > 0 {
		fmt.Fprintf(b, "%s of these would appear by chance if nothing had changed, over all metrics.\n\n", expected(c.Chance))
	}
	section(b, "### Platform shifts", "", len(run.Shifts), limits.ProblemRows, func(i int) string { return "- " + shift(run.Shifts[i]) + "\n" })
}

// slower lists the slowdowns that are open, then what else the run itself shows.
func slower(d *derive.Derived, run *derive.Run, all iter.Seq[judged]) []claim {
	type series struct{ key, metric string }
	now := map[series]judged{}
	for j := range all {
		if j.verdict.Outcome == perf.Slower {
			now[series{j.key.ID(), j.metric}] = j
		}
	}
	shown := map[*perf.Verdict]bool{}
	var out []claim
	for _, o := range d.Open {
		if o.Key.Kind != run.Kind {
			continue
		}
		c := claim{key: o.Key, metric: o.Metric, ratio: o.Ratio, lo: o.Lo, hi: o.Hi, p: o.PAdjusted, state: "suspected" + since(o.Since, run)}
		if o.Before != nil {
			c.baseline = o.Before.ID
		}
		if o.Confirmed != nil {
			c.state, c.p = "confirmed"+since(o.Since, run), perf.Num{} // the newest p may be of a comparison with the new level
		}
		// A suspicion on top of a confirmed slowdown is a claim of its own.
		j := now[series{o.Key.ID(), o.Metric}]
		if v := j.verdict; v != nil && (o.Confirmed == nil || v.State == perf.Confirmed) {
			shown[v] = true
			c.value, c.p = j.value, v.PAdjusted
			if o.Confirmed == nil {
				c.ratio, c.lo, c.hi, c.baseline = v.Ratio, v.Lo, v.Hi, v.Baseline
			}
		}
		out = append(out, c)
	}
	return append(out, claimsOf(all, func(v *perf.Verdict) bool { return v.Outcome == perf.Slower && !shown[v] })...)
}

// since says which run showed a slowdown first.
func since(first, run *derive.Run) string {
	if first == run {
		return ""
	}
	out := " since run " + code(first.ID)
	if !first.Started.IsZero() {
		out += ", " + first.Started.UTC().Format(time.DateOnly)
	}
	return out
}

// claimsOf are the verdicts that are wanted, the surest large change first: by
// the end of the interval that is nearer to no change.
func claimsOf(all iter.Seq[judged], want func(*perf.Verdict) bool) []claim {
	var out []claim
	for j := range all {
		if v := j.verdict; want(v) {
			c := claim{key: j.key, metric: j.metric, value: j.value, ratio: v.Ratio, lo: v.Lo, hi: v.Hi, state: string(v.State), p: v.PAdjusted, baseline: v.Baseline}
			if c.state == "" && slices.Contains(v.Reasons, "accepted") {
				c.state = "accepted"
			}
			out = append(out, c)
		}
	}
	surest := func(c claim) float64 {
		return max(c.lo.Or(1), 1/max(c.hi.Or(1), 1e-300))
	}
	slices.SortStableFunc(out, func(a, b claim) int { return -cmp.Compare(surest(a), surest(b)) })
	return out
}

// table writes claims. Without any there is none.
func table(b *strings.Builder, heading string, kind perf.Kind, list []claim) {
	section(b, heading, "| "+title(kind)+" | Change | State | Adjusted p | Compared with |\n|:--|--:|:--|--:|:--|\n", len(list), limits.SummaryRows, func(i int) string {
		c := list[i]
		name, baseline := code(c.key.String()), "–"
		if c.metric != perf.Time {
			name += " " + code(c.metric)
		}
		if c.baseline != "" {
			baseline = code(c.baseline)
		}
		return "| " + name + " | " + change(c) + " | " + c.state + " | " + pValue(c.p) + " | " + baseline + " |\n"
	})
}

// change writes a claim's ratio with its interval.
func change(c claim) string {
	r, ok := c.ratio.Get()
	lo, okLo := c.lo.Get()
	hi, okHi := c.hi.Get()
	now, measured := c.value.Get()
	switch {
	case c.metric == perf.ErrorRate && measured:
		return "now " + text.PlainNumbers.Percent(now) // mostly from 0, to which there is no ratio
	case c.metric == perf.ErrorRate:
		return "–"
	case !ok:
		return "from 0"
	}
	var out string
	if exact := okLo && okHi && hi-lo <= exactWidth*r; exact || !okLo || !okHi {
		half := 0.003 // for three or four digits
		if r >= 1.5 {
			half = 0.03
		}
		out, _, _ = strings.Cut(text.PlainNumbers.Change(r, r-half, r+half), " [")
		if exact {
			out += " (exact)"
		}
	} else {
		out = text.PlainNumbers.Change(r, lo, hi)
	}
	switch metric, _, _ := strings.Cut(c.metric, "_p9"); metric {
	case perf.Time, perf.RealTime, perf.CPUTime, perf.Latency, perf.Throughput:
	default: // more bytes are not slower
		out = strings.NewReplacer("slower", "worse", "faster", "better").Replace(out)
	}
	return out
}

// exactWidth is the relative width of an interval that says nothing of chance.
const exactWidth = 1e-4

// pValue writes a p with two significant digits; exact metrics have none.
func pValue(n perf.Num) string {
	p, ok := n.Get()
	switch {
	case !ok:
		return "–"
	case p < 0.0001:
		return "≤ 0.0001"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// expected is how many claims chance makes, at the beginning of a sentence.
func expected(n float64) string {
	switch {
	case n < 0.05:
		return "Fewer than 0.1"
	case n < 9.95:
		return "About " + strconv.FormatFloat(n, 'f', 1, 64)
	}
	return "About " + text.PlainNumbers.Count(int(n+0.5))
}

func shift(s derive.Shift) string {
	machine := "an unknown machine"
	if s.CPU != "" {
		machine = cell(s.CPU, 60)
	}
	ratio := s.Ratio.Or(1)
	return fmt.Sprintf("%s on %s: %s of %s moved together by %s; they are judged relative to that.", code(s.Module), machine, code(s.Metric),
		plural(s.Results, "result"), text.PlainNumbers.Change(ratio, s.Lo.Or(ratio), s.Hi.Or(ratio)))
}

// counts is what a run shows, in numbers; ok is false if nothing was judged.
func counts(d *derive.Derived, run *derive.Run) (out string, ok bool) {
	c := run.Claims
	if c.Judged+c.Slower+c.Faster+c.Unchanged == 0 {
		return "", false
	}
	n := text.PlainNumbers.Count
	out = n(c.Slower) + " slower, " + n(c.Faster) + " faster, " + n(c.Unchanged) + " unchanged"
	if c.Inconclusive > 0 {
		out += ", " + n(c.Inconclusive) + " inconclusive"
	}
	if open := stillOpen(d, run); open > 0 {
		out += ", " + plural(open, "earlier slowdown") + " still open"
	}
	return out, true
}

// stillOpen counts the benchmarks with an open slowdown which the run itself
// does not show: what follows a slowdown is compared with its level.
func stillOpen(d *derive.Derived, run *derive.Run) int {
	open := map[string]bool{}
	for _, o := range d.Open {
		if o.Key.Kind == run.Kind {
			open[o.Key.ID()] = true
		}
	}
	for _, r := range run.Results {
		if len(open) == 0 {
			break
		}
		if v, _ := r.Verdict(); v != nil && v.Outcome == perf.Slower {
			delete(open, r.Key.ID())
		}
	}
	return len(open)
}

// why counts the reasons why benchmarks got no claim in words, most first.
func why(run *derive.Run) (words []string, count map[string]int) {
	count = map[string]int{}
	for _, r := range run.Results {
		v, _ := r.Verdict()
		if v == nil || v.Outcome != perf.Inconclusive && v.Outcome != perf.None {
			continue
		}
		if code := derive.MainReason(v); code != "" {
			count[derive.ReasonWords(code)]++
		}
	}
	words = slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(-cmp.Compare(count[a], count[b]), cmp.Compare(a, b)) })
	return words, count
}

// undecided lists the reasons with their counts.
func undecided(run *derive.Run) []string {
	words, count := why(run)
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = cell(w, limits.SentenceRunes) + " (" + text.PlainNumbers.Count(count[w]) + ")"
	}
	return out
}
