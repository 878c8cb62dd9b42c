package derive

import (
	"cmp"
	"fmt"
	"slices"

	"perfband/internal/perf"
)

// series collects the histories of every key and metric, in canonical order,
// and records the signal of the ADR's rule on each point.
func series(runs []*Run) []*Series {
	type id struct{ key, metric string }
	index := map[id]*Series{}
	var out []*Series
	for _, run := range runs {
		if !run.InTrend {
			continue
		}
		for _, r := range run.Results {
			if !r.InTrend {
				continue
			}
			key := r.Key.ID()
			for i := range r.Metrics {
				m := &r.Metrics[i]
				k := id{key, m.Name}
				s := index[k]
				if s == nil {
					s = &Series{Key: r.Key, Metric: m.Name}
					index[k] = s
					out = append(out, s)
				}
				s.Label, s.Unit, s.Better = r.Label, m.Unit, m.Better
				s.Points = append(s.Points, Point{run, r, m})
			}
		}
	}
	slices.SortFunc(out, func(a, b *Series) int {
		return cmp.Or(a.Key.Compare(b.Key), cmp.Compare(a.Metric, b.Metric))
	})
	for _, s := range out {
		for i := range s.Points {
			judge(s, i)
		}
	}
	return out
}

// judge records what is known about a point against the one before it. No
// claim is made here: the outcome is none until between-run noise is modelled.
func judge(s *Series, i int) {
	p := s.Points[i]
	v := perf.Verdict{Outcome: perf.None, Basis: perf.BasisHistory}
	if i > 0 {
		prev := s.Points[i-1]
		v.Baseline = prev.Run.ID
		v.Ratio = costRatio(s.Better, prev.Metric.Median, p.Metric.Median)
		v.LegacyCI99 = legacyCI99(prev.Metric, p.Metric)
	}
	p.Metric.Verdict = v
}

// costRatio is cost(new)/cost(old): above 1 is worse. Absent when the direction
// is unknown or either side is missing or not positive.
func costRatio(better perf.Better, before, after perf.Num) perf.Num {
	a, okA := before.Get()
	b, okB := after.Get()
	if !okA || !okB || a <= 0 || b <= 0 {
		return perf.Num{}
	}
	switch better {
	case perf.Lower:
		return perf.Some(b / a).Round12()
	case perf.Higher:
		return perf.Some(a / b).Round12()
	}
	return perf.Num{}
}

// legacyCI99 is the one-condition rule of the ADR: the new median lies outside
// the previous run's 99 % interval of the mean. It fires on most unchanged
// benchmarks and is kept as a signal only.
func legacyCI99(prev, now *Metric) bool {
	lo, okLo := prev.ci99.Lo.Get()
	hi, okHi := prev.ci99.Hi.Get()
	median, ok := now.Median.Get()
	return okLo && okHi && ok && (median < lo || median > hi)
}

// badge is the state of the newest run, benchmarks before load tests. Until
// runs are judged it can only be grey: data that was not judged must not look
// like good news.
func badge(runs []*Run) Badge {
	for _, kind := range []perf.Kind{perf.Bench, perf.Load} {
		for _, run := range slices.Backward(runs) {
			if n := run.Counts.Benchmarks; run.Kind == kind && run.InTrend && n > 0 {
				return Badge{State: "grey", Symbol: "?", Message: fmt.Sprintf("%d measured, not judged", n), Count: n}
			}
		}
	}
	return Badge{State: "grey", Symbol: "?", Message: "no data"}
}
