package site

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
)

// tally is the sentence that says what a run showed.
func (s *site) tally(r *derive.Run) template.HTML {
	n := "<strong>" + plural(r.Counts.Benchmarks, kindNoun(r.Kind)) + "</strong>"
	if why := excluded(r); why != "" {
		return n + " measured, but " + esc(why) + "."
	}
	c := r.Claims
	if c.Judged == 0 && c.Slower+c.Faster+c.Unchanged == 0 {
		out := n + " measured, <strong>none judged</strong>."
		if w := commonWhy(r); w != "" {
			out += " " + esc(whyOf(w).sentence)
		}
		return out
	}
	out := counted(c.Slower, perf.Slower) + ", " + counted(c.Faster, perf.Faster) +
		", = " + count(c.Unchanged) + " unchanged, ? " + count(c.Inconclusive) + " inconclusive"
	if rest := r.Counts.Benchmarks - c.Slower - c.Faster - c.Unchanged - c.Inconclusive; rest > 0 {
		out += ", " + count(rest) + " not judged"
	}
	out += " of " + plural(r.Counts.Benchmarks, kindNoun(r.Kind))
	if c.Recovered > 0 {
		out += "; " + count(c.Recovered) + " recovered"
	}
	if n := s.retiredClaims(r); n > 0 {
		out += "; " + plural(n, "claim") + " of retired benchmarks in no list"
	}
	return out + "."
}

// retiredClaims counts the benchmarks whose claim is in the counts of the run
// but in no list.
func (s *site) retiredClaims(r *derive.Run) int {
	n := 0
	for _, res := range r.Results {
		if v, _ := res.Verdict(); v != nil && claimed(v) && s.retired[res.Key.ID()] != "" {
			n++
		}
	}
	return n
}

// counted writes the number of claims of a sort so that it is seen unless it
// is 0.
func counted(n int, o perf.Outcome) template.HTML {
	sign := template.HTML("▲ ")
	if o == perf.Faster {
		sign = "▼ "
	}
	if n == 0 {
		return "0 " + esc(string(o))
	}
	return `<strong class="` + esc(string(o)) + `">` + sign + count(n) + " " + esc(string(o)) + "</strong>"
}

// commonWhy is the reason code most of a run's verdicts have, "" if none has
// one.
func commonWhy(r *derive.Run) string {
	seen, most := map[string]int{}, ""
	for _, res := range r.Results {
		v, _ := res.Verdict()
		if v == nil || len(v.Reasons) == 0 {
			continue
		}
		code := v.Reasons[0]
		seen[code]++
		if most == "" || seen[code] > seen[most] || seen[code] == seen[most] && code < most {
			most = code
		}
	}
	return most
}

// chance sets the claims of a run beside those that chance alone would make.
func chance(r *derive.Run) template.HTML {
	if r.Claims.Judged == 0 || !r.InTrend {
		return ""
	}
	n := 0
	for _, res := range r.Results {
		for _, m := range measures(res) {
			if claimed(m.verdict) && !exactly(m.verdict) {
				n++
			}
		}
	}
	expected := strconv.FormatFloat(r.Claims.Chance, 'f', 1, 64)
	if r.Claims.Chance < 0.05 {
		expected = "0"
	}
	out := "Judged against earlier runs, each metric by itself: " + plural(n, "claim") + " in this run, where chance alone would make about " + esc(expected) +
		" if nothing had changed."
	if r.Claims.Suspected > 0 {
		out += " <strong>Suspected</strong> is what one run says: not yet a claim to act on."
	}
	return out
}

// shifts writes each platform shift of a run as one fact, at most limit.
func shifts(r *derive.Run, limit int) []template.HTML {
	var out []template.HTML
	for i, sh := range r.Shifts {
		if i == limit {
			return append(out, "and "+plural(len(r.Shifts)-i, "further shift")+" of whole machines")
		}
		way := "slower"
		if sh.Ratio.Or(1) < 1 {
			way = "faster"
		}
		better := perf.Lower
		for _, res := range r.Results {
			if m := res.Metric(sh.Metric); m != nil && res.Key.Module == sh.Module {
				better = m.Better
				break
			}
		}
		out = append(out, plural(sh.Results, kindNoun(r.Kind))+" of "+name(sh.Module)+" on "+esc(machineName(sh.CPU))+" are "+esc(way)+" together, "+
			esc(metricWord(sh.Metric)+" "+change(sh.Metric, better, sh.Ratio, sh.Lo, sh.Hi))+": judged relative to that.")
	}
	return out
}

// finding is a claim of one run.
type finding struct {
	result *derive.Result
	measure
}

// findings are a run's claims of one outcome, one a benchmark as in the counts
// of the run: confirmed ones first, then the surest. Retired series are in no
// list.
func (s *site) findings(r *derive.Run, o perf.Outcome) []finding {
	var out []finding
	for _, res := range r.Results {
		if v, name := res.Verdict(); v != nil && v.Outcome == o && s.retired[res.Key.ID()] == "" {
			out = append(out, finding{res, measureOf(res, name)})
		}
	}
	slices.SortStableFunc(out, func(a, b finding) int {
		return cmp.Or(-rank(a.verdict.State == perf.Confirmed)+rank(b.verdict.State == perf.Confirmed),
			cmp.Compare(a.verdict.PAdjusted.Or(0), b.verdict.PAdjusted.Or(0)))
	})
	return out
}

func rank(b bool) int {
	if b {
		return 1
	}
	return 0
}

// findingTable lists a run's claims, slower first, leaving out those that
// stand among the open slowdowns of the same page. It is "" without any.
func (s *site) findingTable(r *derive.Run, root string, listed map[string]bool) template.HTML {
	t := newTable("cards findings", "What this run claims against earlier runs; p is adjusted for all results of the run.",
		col{"Name", true}, col{"Change", false}, col{"Now", false}, col{"Verdict", true}, col{"p", false})
	any := false
	for _, o := range []perf.Outcome{perf.Slower, perf.Faster} {
		fs := slices.DeleteFunc(s.findings(r, o), func(f finding) bool { return o == perf.Slower && listed[f.result.Key.ID()+"\x00"+f.name] })
		if len(fs) == 0 {
			continue
		}
		any = true
		t.group(outcomeWord(o) + ": " + plural(len(fs), kindNoun(r.Kind)))
		for _, f := range fs[:min(len(fs), limits.OverviewRows)] {
			t.row(s.benchName(f.result, root, true), changeOf(f.measure)+below(metricWord(f.name)), s.now(f.measure), verdictCell(f.verdict), pCell(f.verdict))
		}
		moreClaims(t, len(fs)-limits.OverviewRows)
	}
	if !any {
		return ""
	}
	return t.html()
}

func moreClaims(t *table, n int) {
	if n > 0 {
		t.group("and " + count(n) + " more: <code>perfband export --what verdicts</code> lists them all")
	}
}

// below writes a remark under a value.
func below(s string) template.HTML { return `<span class="module">` + esc(s) + "</span>" }

// openTable lists the open slowdowns and tells which claims it holds, by key
// and metric. It is "" without any.
func (s *site) openTable(root string) (out template.HTML, listed map[string]bool) {
	listed = map[string]bool{}
	if len(s.d.Open) == 0 {
		return "", listed
	}
	t := newTable("cards open", "Slowdowns that are neither undone nor accepted, confirmed ones first; suspected ones rest on one run and are not yet to act on. Changes are against earlier runs, p is adjusted for all results of the run.",
		col{"Name", true}, col{"Change", false}, col{"State", true}, col{"Since", true}, col{"p", false})
	for i := range s.d.Open[:min(len(s.d.Open), limits.OverviewRows)] {
		o := &s.d.Open[i]
		listed[o.Key.ID()+"\x00"+o.Metric] = true
		v := s.openVerdict(o)
		t.row(s.keyName(o.Key, root, true), s.openChange(o, v)+below(metricWord(o.Metric)), s.openState(o, root), s.openSince(o, root), pCell(v))
	}
	moreClaims(t, len(s.d.Open)-limits.OverviewRows)
	return t.html(), listed
}

// openVerdict is the verdict that made a slowdown open: the confirming one, or
// the newest that suspects it; nil if its run is out of reach.
func (s *site) openVerdict(o *derive.Open) *perf.Verdict {
	centre, _ := splitMetric(o.Metric)
	sr := seriesOf(s.series[o.Key.ID()], &derive.Metric{Name: centre})
	if sr == nil {
		return nil
	}
	for _, p := range slices.Backward(sr.Points) {
		v := measureOf(p.Result, o.Metric).verdict
		if v != nil && v.Outcome == perf.Slower && (o.Confirmed == nil || p.Run == o.Confirmed) {
			return v
		}
	}
	return nil
}

// openChange writes the size of an open slowdown with its interval.
func (s *site) openChange(o *derive.Open, v *perf.Verdict) template.HTML {
	better := perf.Lower
	centre, _ := splitMetric(o.Metric)
	if sr := seriesOf(s.series[o.Key.ID()], &derive.Metric{Name: centre}); sr != nil {
		better = sr.Better
	}
	if _, ok := o.Lo.Get(); v != nil && (exactly(v) || !ok) {
		return changeOf(measure{name: o.Metric, better: better, verdict: v})
	}
	return esc(change(o.Metric, better, o.Ratio, o.Lo, o.Hi))
}

func (s *site) openState(o *derive.Open, root string) template.HTML {
	if o.Confirmed == nil {
		return `<span class="slower">▲ suspected</span>`
	}
	return `<strong class="slower">▲ confirmed</strong><span class="module">by the run of ` + s.runLink(o.Confirmed, root) + "</span>"
}

// openSince writes the first run that showed a slowdown, and the commits it
// came with.
func (s *site) openSince(o *derive.Open, root string) template.HTML {
	return s.runLink(o.Since, root) + `<span class="module">` + s.commitRange(o.Before, o.Since) + "</span>"
}

// retiredList are the retired series among some keys, each key once.
func (s *site) retiredList(keys []perf.Key, root string, limit int) problems {
	p := problems{limit: limit}
	seen := map[string]bool{}
	for _, k := range keys {
		id := k.ID()
		if why := s.retired[id]; why != "" && !seen[id] {
			seen[id] = true
			p.add(s.keyName(k, root, true), sentence(why))
		}
	}
	return p
}

// keysOf are the keys of results.
func keysOf(results []*derive.Result) []perf.Key {
	out := make([]perf.Key, len(results))
	for i, r := range results {
		out[i] = r.Key
	}
	return out
}

// listed are the results that are not of retired series.
func (s *site) listed(results []*derive.Result) []*derive.Result {
	if len(s.retired) == 0 {
		return results
	}
	return slices.DeleteFunc(slices.Clone(results), func(r *derive.Result) bool { return s.retired[r.Key.ID()] != "" })
}
