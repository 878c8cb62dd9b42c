package derive

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"perfband/internal/config"
	"perfband/internal/perf"
	"perfband/internal/stats"
)

// verdicts yields every verdict of a result with the name of its metric.
func (r *Result) verdicts() iter.Seq2[*perf.Verdict, string] {
	return func(yield func(*perf.Verdict, string) bool) {
		for i := range r.Metrics {
			m := &r.Metrics[i]
			if !yield(&m.Verdict, m.Name) {
				return
			}
			for k := range m.Tails {
				t := &m.Tails[k]
				if !yield(&t.Verdict, question{metric: m.Name, stat: t.Stat}.name()) {
					return
				}
			}
		}
	}
}

// weight orders outcomes by how much a list should show them.
var weight = map[perf.Outcome]int{perf.Slower: 5, perf.Faster: 4, perf.Inconclusive: 3, perf.Unchanged: 2, perf.None: 1}

// Verdict is the verdict a list shows for the result and its metric's name: a
// claim about any metric, slower first, else that of the headline. Nil for a
// result that is in no trend.
func (r *Result) Verdict() (*perf.Verdict, string) {
	var worst *perf.Verdict
	var name string
	if h := r.Headline(); h != nil && h.Verdict.Outcome != "" {
		worst, name = &h.Verdict, h.Name
	}
	for v, n := range r.verdicts() {
		// A claim counts whatever it is about; else the headline's verdict, if it
		// has one.
		counts := worst == nil || worst.Outcome == perf.None || v.Outcome == perf.Slower || v.Outcome == perf.Faster
		if v.Outcome != "" && counts && (worst == nil || weight[v.Outcome] > weight[worst.Outcome]) {
			worst, name = v, n
		}
	}
	return worst, name
}

// tallyClaims counts a run's verdicts.
func (run *Run) tallyClaims() {
	c := &run.Claims
	for _, r := range run.Results {
		v, _ := r.Verdict()
		if v == nil || r.Retired != "" {
			continue
		}
		switch v.Outcome {
		case perf.Slower:
			c.Slower++
			switch v.State {
			case perf.Suspected:
				c.Suspected++
			case perf.Confirmed:
				c.Confirmed++
			}
		case perf.Faster:
			c.Faster++
		case perf.Unchanged:
			c.Unchanged++
		case perf.Inconclusive:
			c.Inconclusive++
		}
		if v.State == perf.Recovered {
			c.Recovered++
		}
		if _, ok := v.Level.Get(); ok { // unlike the ratio, which 0 does not have
			c.Judged++
		}
	}
}

// open lists the slowdowns that are open after the last run.
func (j *judging) open(series []*Series, runs []*Run) []Open {
	labels, retired, newest, adjusted := map[string]string{}, map[string]bool{}, map[string]*Run{}, map[string]perf.Num{}
	histories := map[string]*Series{}
	for _, s := range series {
		newest[s.Key.ID()+s.Metric] = s.Newest().Run
		histories[s.Key.ID()+s.Metric] = s
		for v, metric := range s.Newest().Result.verdicts() {
			adjusted[s.Key.ID()+metric] = v.PAdjusted
		}
		labels[s.Key.ID()] = s.Label
		retired[s.Key.ID()] = s.Retired != ""
	}
	out := []Open{}
	for _, q := range j.order {
		c := j.courts[q]
		for n, key := range c.keys {
			if retired[key.ID()] {
				continue
			}
			o := Open{Key: key, Label: labels[key.ID()], Metric: q.name(), PAdjusted: adjusted[key.ID()+q.name()]}
			if ch := c.judge.Open(n); ch != nil {
				o.Since, o.Before, o.Confirmed = c.runs[ch.Since], c.runAt(ch.Before), c.runs[ch.Confirmed]
				o.Ratio, o.Lo, o.Hi = histories[key.ID()+q.metric].ratios(o.Confirmed, ch.Ratio, ch.Half)
				o.Gone = gone(newest[key.ID()+q.metric], key.Module, runs)
			} else if c.judge.Suspicion(n) > 0 {
				before, first, last, r := c.judge.SuspectedSince(n)
				if c.runs[last] != newest[key.ID()+q.metric] {
					continue // a later run could neither confirm nor refute it
				}
				o.Since, o.Before = c.runs[first], c.runAt(before)
				o.Ratio, _, _ = histories[key.ID()+q.metric].ratios(c.runs[last], r, 0)
			} else {
				continue
			}
			out = append(out, o)
		}
	}
	slices.SortStableFunc(out, func(a, b Open) int {
		return cmp.Or(-compareBool(a.Confirmed != nil, b.Confirmed != nil), -cmp.Compare(a.Ratio.Or(0), b.Ratio.Or(0)), a.Key.Compare(b.Key))
	})
	return out
}

// ratios turns a change that showed in a run into the ratio and its interval, of
// exact metrics the values' own.
func (s *Series) ratios(run *Run, change, half float64) (mid, lo, hi perf.Num) {
	m := s.Points[slices.IndexFunc(s.Points, func(p Point) bool { return p.Run == run })].Metric
	if !exactly(m) {
		return ratio(change), ratio(change - half), ratio(change + half)
	}
	level, _ := m.Verdict.Level.Get()
	constant := level == 1
	if _, ok := m.Verdict.Ratio.Get(); constant && !ok {
		return mid, lo, hi // it was 0, which the mean of unequal changes would miss
	}
	if constant {
		half = 0
	}
	return exactRatio(m, centre(m).Or(0), change, half)
}

// goneAfter is how many later runs of a module must lack a benchmark for it to
// count as gone.
const goneAfter = 3

// gone reports that a benchmark last measured in a run is no part of its module
// any more: later runs had the module without it.
func gone(last *Run, module string, runs []*Run) bool {
	without := 0
	for _, run := range slices.Backward(runs) {
		if run == last {
			return without >= goneAfter
		}
		if run.Kind == last.Kind && run.InTrend && slices.ContainsFunc(run.Results, func(r *Result) bool { return r.InTrend && r.Key.Module == module }) {
			without++
		}
	}
	return false
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (c *court) runAt(n int) *Run {
	if n < 0 {
		return nil
	}
	return c.runs[n]
}

// findSteps sets the changes of level of every series. Values of several
// classes of machine are first set to a common level, so that a change of
// machine is no step; a class with few values tells nothing.
func findSteps(series []*Series) {
	const fewest = 4
	for _, s := range series {
		byClass := map[int][]float64{}
		for _, p := range s.Points {
			if p.Metric.class >= 0 {
				byClass[p.Metric.class] = append(byClass[p.Metric.class], p.Metric.level)
			}
		}
		middle := map[int]float64{}
		for class, levels := range byClass {
			if len(byClass) > 1 {
				slices.Sort(levels)
				middle[class] = stats.Quantile(levels, 0.5)
			}
		}
		var xs []float64
		var at []*Run
		for _, p := range s.Points {
			if c := p.Metric.class; c >= 0 && (len(byClass) == 1 || len(byClass[c]) >= fewest) {
				xs, at = append(xs, p.Metric.level-middle[c]), append(at, p.Run)
			}
		}
		for _, p := range stats.ChangePoints(xs, stats.DefaultChangePointOptions(true)) {
			s.Steps = append(s.Steps, Step{Before: at[p.Index-1], After: at[p.Index], Ratio: perf.Some(1 + p.Change).Round12(), PValue: perf.Some(p.P).Round12()})
		}
	}
}

// badge is the state of the newest run that counts, benchmarks before load
// tests. Data that was not judged must not look like good news.
func badge(d *Derived, v config.Verdict) Badge {
	newest := time.Time{}
	for _, run := range d.Runs {
		if run.Started.After(newest) {
			newest = run.Started
		}
	}
	for _, kind := range []perf.Kind{perf.Bench, perf.Load} {
		for _, run := range slices.Backward(d.Runs) {
			if n := run.judgeable(); run.Kind == kind && n > 0 {
				if newest.Sub(run.Started) > time.Duration(v.StaleAfterDays)*24*time.Hour {
					return Badge{State: "grey", Symbol: "?", Message: "stale: " + run.Started.UTC().Format(time.DateOnly), Count: n}
				}
				return badgeOf(run, n, d.Open, v)
			}
		}
	}
	return Badge{State: "grey", Symbol: "?", Message: "no data"}
}

// judgeable is how many of a run's benchmarks are part of trends: none of a run
// that is left out, be it as a whole or by the machine it was measured on.
func (run *Run) judgeable() (n int) {
	for _, r := range run.Results {
		if run.InTrend && r.InTrend && !r.Side {
			n++
		}
	}
	return n
}

// shifted is by how much more than least benchmarks of a known machine are surely
// slower together in a run, at most; 0 if they are not. It may be the machine or
// code they share, so it is no good news.
func shifted(run *Run, least float64) (most float64) {
	for _, s := range run.Shifts {
		if lo, ok := s.Lo.Get(); ok && s.CPU != "" && lo-1 > least {
			most = max(most, lo-1)
		}
	}
	return most
}

// badgeOf is the badge of a run with n benchmarks that count.
func badgeOf(run *Run, n int, open []Open, v config.Verdict) Badge {
	slow, sure, fromZero := map[string]bool{}, math.Inf(-1), false
	for _, o := range open {
		if o.Key.Kind != run.Kind || !o.Beyond() || o.Gone {
			continue
		}
		slow[o.Key.ID()] = true
		if _, ok := o.Ratio.Get(); !ok && o.Confirmed != nil {
			fromZero = true
		}
		if lo, ok := o.Lo.Get(); ok && o.Confirmed != nil {
			sure = max(sure, lo-1)
		}
	}
	switch {
	case len(slow) > 0 && sure > v.Serious:
		worst := "" // whose bound it is
		if len(slow) > 1 {
			worst = ", worst"
		}
		return Badge{State: "red", Symbol: "▲▲", Message: fmt.Sprintf("%d slower%s by ≥ %.0f %%", len(slow), worst, math.Floor(100*sure)), Count: n}
	case fromZero:
		return Badge{State: "red", Symbol: "▲▲", Message: fmt.Sprintf("%d slower (%d)", len(slow), n), Count: n}
	case len(slow) > 0:
		return Badge{State: "amber", Symbol: "▲", Message: fmt.Sprintf("%d slower (%d)", len(slow), n), Count: n}
	case shifted(run, v.MinMargin) > 0:
		return Badge{State: "amber", Symbol: "▲", Message: fmt.Sprintf("platform shift +%.0f %%", math.Floor(100*shifted(run, v.MinMargin))), Count: n}
	case run.Claims.Judged == 0:
		return Badge{State: "grey", Symbol: "?", Message: fmt.Sprintf("%d measured, not judged", n), Count: n}
	case 2*run.Claims.Judged < n:
		return Badge{State: "grey", Symbol: "?", Message: fmt.Sprintf("%d of %d judged", run.Claims.Judged, n), Count: n}
	}
	return Badge{State: "green", Symbol: "✓", Message: fmt.Sprintf("no slowdown (%d)", n), Count: n}
}
