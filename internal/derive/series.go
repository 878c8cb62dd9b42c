package derive

import (
	"cmp"
	"slices"

	"perfband/internal/config"
)

// series collects the histories of every key and metric, in canonical order,
// and records the signal of the ADR's rule on each point.
func series(runs []*Run, excluded []config.Excluded) []*Series {
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
					s = &Series{Key: r.Key, Metric: m.Name, Retired: retired(r.Key, excluded)}
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
		for i := 1; i < len(s.Points); i++ {
			s.Points[i].Metric.Verdict.LegacyCI99 = legacyCI99(s.Points[i-1].Metric, s.Points[i].Metric)
		}
	}
	return out
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
