package decode

import (
	"strconv"
	"strings"

	"perfband/internal/perf"
)

// gabUnit is a unit as a tool means it.
type gabUnit struct{ tool, unit string }

// metric is the metric of one row. isText says that the meaning of its range is
// not certain, so that it can only be kept as text.
func (r *gabReader) metric(tool string, row *gabRow) (m perf.Metric, isText bool) {
	key := gabUnit{tool, row.unit}
	m, ok := r.metrics[key]
	if !ok {
		m = gabMetric(tool, row.unit)
		r.metrics[key] = m
	}
	v := row.value * m.Source.Scale
	stat := perf.Reported{Stat: "value", Value: v}
	switch tool {
	case "go": // one line is one sample of b.N operations, as in format go
		m.Samples = []perf.Sample{{Value: v, Ops: gabLine(row.extra, "", " times"), Block: 1, Iter: 1}}
		return m, true
	case "googlecpp":
		m.Samples = []perf.Sample{{Value: v, Ops: gabLine(row.extra, "iterations: ", ""), Block: 1, Iter: 1}}
		return m, true
	case "pytest":
		stat.N = gabLine(row.extra, "rounds: ", "")
	case "catch2":
		stat.Stat, stat.N = "mean", gabLine(row.extra, "", " samples")
	case "benchmarkjs":
		stat.N = gabLine(row.extra, "", " samples")
		if ci, ok := gabMargin(v, row.spread); ok {
			stat.CI = ci
			m.Reported = []perf.Reported{stat}
			return m, false
		}
	case "benchmarkdotnet":
		stat.Stat = "mean"
		if sd, ok := gabNumber(strings.TrimPrefix(row.spread, "±")); ok {
			m.Reported = []perf.Reported{stat, {Stat: "stddev", Value: sd * m.Source.Scale}}
			return m, false
		}
	}
	m.Reported = []perf.Reported{stat}
	return m, true
}

// gabMargin reads Benchmark.js's relative margin of error ("±0.19%"): half the
// two-sided 95 % t interval of the mean period, as a share of it. The rate is
// one through that mean, so its bounds are v/(1+r) and v/(1-r).
func gabMargin(v float64, spread string) (ci perf.Interval, ok bool) {
	text, ok := strings.CutSuffix(spread, "%")
	if !ok {
		return ci, false
	}
	percent, ok := gabNumber(strings.TrimPrefix(strings.TrimPrefix(text, "±"), "+-"))
	if r := percent / 100; ok && r < 1 {
		return perf.Interval{Level: 0.95, Lo: perf.Some(v / (1 + r)), Hi: perf.Some(v / (1 - r))}, true
	}
	return ci, false
}

// gabNumber reads a plain number that is not negative.
func gabNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v >= 0 && isGoNumber([]byte(s)) && s != "NaN" && s != "+Inf"
}

// gabMetric is the metric that a unit stands for.
func gabMetric(tool, unit string) perf.Metric {
	if tool == "go" {
		return goMetric(unit)
	}
	m := plainMetric(unit)
	better := perf.UnknownBetter
	switch tool {
	case aliasBigger:
		better = perf.Higher
	case aliasSmaller:
		better = perf.Lower
	}
	switch {
	case better == perf.UnknownBetter || better == m.Better:
	case m.Better != perf.UnknownBetter: // then the user measures something else
		m = perf.Metric{Name: customPrefix + "value", Unit: perf.Unit(unit), Better: better, Source: perf.Source{Unit: unit, Scale: 1}}
	default:
		m.Better = better
	}
	return m
}

// plainMetric reads a unit without knowing the tool.
func plainMetric(unit string) perf.Metric {
	m := perf.Metric{Name: customPrefix + "value", Unit: perf.Unit(unit), Better: perf.UnknownBetter, Source: perf.Source{Unit: unit, Scale: 1}}
	as := func(name string, u perf.Unit, better perf.Better, scale float64) perf.Metric {
		m.Name, m.Unit, m.Better, m.Source.Scale = name, u, better, scale
		return m
	}
	of, per, isRate := strings.Cut(strings.TrimSpace(unit), "/")
	ns, size := gabTime(of), sizeUnits[of]
	if !isRate {
		switch {
		case ns > 0:
			return as(perf.Time, perf.Nanoseconds, perf.Lower, ns)
		case size > 0:
			return as(m.Name, perf.Bytes, m.Better, size)
		case of == "rps" || of == "RPS":
			return as(perf.Throughput, perf.PerSecond, perf.Higher, 1)
		}
		return m
	}
	switch per {
	case "op", "iter":
		switch {
		case ns > 0:
			return as(perf.Time, perf.Nanoseconds, perf.Lower, ns)
		case size > 0:
			return as(perf.AllocBytes, perf.Bytes, perf.Lower, size)
		case of == "allocs":
			return as(perf.Allocs, perf.Count, perf.Lower, 1)
		}
		return m
	}
	period := gabTime(per)
	if period == 0 {
		return m
	}
	switch of {
	case "1", "op", "ops", "iter", "iters", "req":
		return as(perf.Throughput, perf.PerSecond, perf.Higher, 1e9/period)
	}
	if size > 0 {
		return as(perf.Throughput, perf.BytesPerSecond, perf.Higher, size*(1e9/period))
	}
	return m
}

// gabTime is a time unit in nanoseconds, 0 for other units. Beside the common
// spellings it knows those of Python and of scripts.
func gabTime(unit string) float64 {
	switch unit {
	case "nsec", "nanoseconds":
		return 1
	case "usec", "microseconds":
		return 1e3
	case "msec", "milliseconds":
		return 1e6
	case "second", "seconds":
		return 1e9
	}
	return timeUnits[unit]
}
