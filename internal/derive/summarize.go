package derive

import (
	"math"
	"slices"

	"perfband/internal/config"
	"perfband/internal/perf"
	"perfband/internal/stats"
)

// summarize turns samples, or failing those the tool's own statistics, into
// the summary of a metric. ok is false when there is no number at all.
func summarize(m *perf.Metric, c config.Stats) (out Metric, ok bool) {
	out = Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Exact: m.Exact}
	if xs := m.Values(); len(xs) > 0 {
		out.fill(xs, c)
		return out, true
	}
	if len(m.Reported) == 0 {
		return out, false
	}
	out.Reported = true
	for _, r := range m.Reported {
		v := perf.Some(r.Value).Round12()
		switch r.Stat {
		case "mean", "value":
			out.Mean = v
			out.N = int(r.N)
			if r.CI.Level > 0 {
				out.CI = perf.Interval{Level: r.CI.Level, Lo: r.CI.Lo.Round12(), Hi: r.CI.Hi.Round12()}
			}
		case "median", "p50":
			out.Median = v
		case "stddev":
			out.StdDev = v
		case "min":
			out.Min = v
		case "max":
			out.Max = v
		case "p25":
			out.Q1 = v
		case "p75":
			out.Q3 = v
		case "p95":
			out.P95 = v
		case "p99":
			out.P99 = v
		}
	}
	if sd, ok := out.StdDev.Get(); ok {
		if mean, ok := out.Mean.Get(); ok && mean != 0 {
			out.CV = perf.Some(sd / math.Abs(mean)).Round12()
		}
	}
	out.rate()
	return out, true
}

// fill computes the summary of measured values.
func (m *Metric) fill(xs []float64, c config.Stats) {
	s := stats.Summarize(xs)
	num := func(v float64) perf.Num { return perf.Some(v).Round12() }
	m.N = s.N
	m.Mean, m.Median, m.StdDev, m.CV = num(s.Mean), num(s.Median), num(s.StdDev), num(s.CV)
	m.Min, m.Max, m.Q1, m.Q3 = num(s.Min), num(s.Max), num(s.Q1), num(s.Q3)
	m.P95, m.P99 = num(s.P95), num(s.P99)
	m.P95Undersampled, m.P99Undersampled = s.P95Undersampled, s.P99Undersampled
	m.CI, m.CI95 = meanCI(s, c.Confidence), meanCI(s, 0.95)
	m.ci99 = meanCI(s, 0.99)
	m.Samples = slices.Clone(xs)
	m.labelled(xs, stats.OutlierRule(c.Outliers))
	m.rate()
}

func meanCI(s stats.Summary, level float64) perf.Interval {
	lo, hi := s.MeanCI(level)
	if math.IsNaN(lo) {
		return perf.Interval{}
	}
	return perf.Interval{Level: level, Lo: perf.Some(lo).Round12(), Hi: perf.Some(hi).Round12()}
}

// rate fills the operations per second of a time per operation.
func (m *Metric) rate() {
	switch m.Name {
	case perf.Time, perf.RealTime, perf.CPUTime:
		if mean, ok := m.Mean.Get(); ok && mean > 0 && m.Unit == perf.Nanoseconds {
			m.OpsPerSec = perf.Some(1e9 / mean).Round12()
		}
	}
}
