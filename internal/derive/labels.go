package derive

import (
	"fmt"
	"strconv"

	"perfband/internal/perf"
	"perfband/internal/stats"
)

// Labels are what is odd about the samples of a metric. They never decide
// anything: statistics and verdicts use all samples.
type Labels struct {
	// Outliers is how many samples OutlierRule labels; the rule is "" where it
	// could not be applied.
	Outliers    int               `json:"o,omitempty"`
	OutlierRule stats.OutlierRule `json:"r,omitempty"`
	// Drift of the samples while they were measured, with the ratio of the last
	// quarter to the first.
	Drift          stats.DriftKind      `json:"d,omitempty"`
	DriftDirection stats.DriftDirection `json:"i,omitempty"`
	DriftRatio     perf.Num             `json:"m,omitzero"`
	// Work is the number of operations behind a count of collections, 0 unknown.
	Work float64 `json:"w,omitempty"`
}

// Anomaly is a reason to look at a result: something beside its times is unlike
// the same benchmark's other runs.
type Anomaly struct {
	Metric string // gc0, cpu, ...
	Reason string // "high: 41, against a median of 12 in 8 other runs"
}

// labelled adds what is odd about the samples of a time-like metric.
func (m *Metric) labelled(xs []float64, rule stats.OutlierRule) {
	switch m.Name {
	case perf.Time, perf.RealTime, perf.CPUTime, perf.Latency, perf.Throughput:
	default:
		return
	}
	if l := stats.Outliers(xs, rule); l.Skipped == "" {
		m.Labels.Outliers, m.Labels.OutlierRule = len(l.Indices), l.Rule
	}
	if d, ok := stats.FindDrift(xs); ok && d.Kind != "" {
		m.Labels.Drift, m.Labels.DriftDirection = d.Kind, d.Direction
		m.Labels.DriftRatio = perf.Some(d.Magnitude).Round12()
	}
}

// Words are the labels in words, "" if there is none to tell.
func (l Labels) Words(n int) (out []string) {
	if l.Outliers > 0 {
		out = append(out, fmt.Sprintf("%d of %d samples are outliers (%s)", l.Outliers, n, l.OutlierRule))
	}
	if l.Drift != "" {
		out = append(out, fmt.Sprintf("%s %s while measuring: last quarter %s x the first", l.Drift, l.DriftDirection,
			strconv.FormatFloat(l.DriftRatio.Or(1), 'f', 2, 64)))
	}
	return out
}

// operations sums the operations of the measured samples of a benchmark's
// first metric that tells them; 0 if none does.
func operations(b *perf.Benchmark) float64 {
	for i := range b.Metrics {
		var sum float64
		for _, s := range b.Metrics[i].Samples {
			if s.Stage == perf.Measured {
				sum += float64(s.Ops)
			}
		}
		if sum > 0 {
			return sum
		}
	}
	return 0
}

// anomalyRuns is how many other runs, the nearest before, a result is compared
// with.
const anomalyRuns = 20

// findAnomalies labels results whose garbage collections or CPU share are unlike
// those of the same benchmark's earlier runs: a time measured meanwhile may not
// be the code's doing.
func findAnomalies(series []*Series) {
	for _, s := range series {
		collections := s.Metric == perf.GC0 || s.Metric == perf.GC1 || s.Metric == perf.GC2
		if !collections && s.Metric != perf.CPU {
			continue
		}
		for i, p := range s.Points {
			v, ok := p.Metric.Center().Get()
			if !ok {
				continue
			}
			var others []float64
			for k := i - 1; k >= 0 && len(others) < anomalyRuns; k-- {
				m := s.Points[k].Metric
				x, ok := m.Center().Get()
				switch {
				case !ok:
					continue
				case collections && p.Metric.Labels.Work > 0 && m.Labels.Work > 0:
					x *= p.Metric.Labels.Work / m.Labels.Work // of as much work
				case s.Metric == perf.CPU:
					x *= 100
				}
				others = append(others, x)
			}
			if s.Metric == perf.CPU {
				v *= 100
			}
			if reason, odd := stats.UnlikeOthers(v, others); odd {
				p.Result.Anomalies = append(p.Result.Anomalies, Anomaly{s.Metric, reason})
			}
		}
	}
}

// labelsTable lists what is odd about samples and results.
func (d *Derived) labelsTable(run string) Table {
	t := Table{Columns: []string{"run", "module", "benchmark", "job", "metric", "label", "method", "count", "n", "magnitude", "reason"}}
	for _, r := range d.Runs {
		if !r.is(run) || r.DuplicateOf != "" {
			continue
		}
		for _, res := range r.Results {
			if res.Excluded != "" {
				continue
			}
			row := func(metric, label, method string, rest ...Cell) {
				t.Rows = append(t.Rows, append([]Cell{str(r.ID), str(res.Key.Module), str(res.Key.Benchmark()), str(res.Key.Job), str(metric), str(label), str(method)}, rest...))
			}
			for i := range res.Metrics {
				m := &res.Metrics[i]
				if m.Labels.Outliers > 0 {
					row(m.Name, "outliers", string(m.Labels.OutlierRule), count(m.Labels.Outliers), count(m.N), num(perf.Num{}), str(""))
				}
				if m.Labels.Drift != "" {
					row(m.Name, "drift", string(m.Labels.Drift), num(perf.Num{}), count(m.N), num(m.Labels.DriftRatio), str(string(m.Labels.DriftDirection)))
				}
			}
			for _, a := range res.Anomalies {
				row(a.Metric, "anomaly", "unlike-others", num(perf.Num{}), num(perf.Num{}), num(perf.Num{}), str(a.Reason))
			}
		}
	}
	return t
}

// stepsTable lists the changes of level of every series.
func (d *Derived) stepsTable(run string) Table {
	t := Table{Columns: []string{"module", "benchmark", "job", "metric", "before", "after", "commit_before", "commit_after", "ratio", "p_value"}}
	for _, s := range d.Series {
		for _, st := range s.Steps {
			if !st.After.is(run) {
				continue
			}
			t.Rows = append(t.Rows, []Cell{str(s.Key.Module), str(s.Key.Benchmark()), str(s.Key.Job), str(s.Metric), str(st.Before.ID), str(st.After.ID),
				str(st.Before.Meta.Commit.SHA), str(st.After.Meta.Commit.SHA), num(st.Ratio), num(st.PValue)})
		}
	}
	return t
}
