package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"perfband/internal/perf"
)

// jsonResult is one line of "perfband decode".
type jsonResult struct {
	File     string            `json:"file"`
	Format   string            `json:"format"`
	Module   string            `json:"module"`
	Name     string            `json:"name"` // as in the file
	Key      string            `json:"key"`  // what the series goes by
	Identity map[string]string `json:"identity,omitempty"`
	Params   map[string]string `json:"params,omitempty"`
	Job      string            `json:"job,omitempty"`
	JobKind  perf.JobKind      `json:"job_kind,omitempty"`
	Dims     map[string]string `json:"dims,omitempty"`
	Rows     int               `json:"rows"`
	Status   perf.Status       `json:"status"`
	Reason   string            `json:"reason,omitempty"`
	Side     bool              `json:"side,omitempty"`   // the measuring process, no benchmark
	Started  time.Time         `json:"started,omitzero"` // these two of histories alone,
	Commit   perf.Commit       `json:"commit,omitzero"`  // to tell their runs apart
	Metrics  []jsonMetric      `json:"metrics"`
}

// jsonMetric is one statistic of one metric.
type jsonMetric struct {
	Metric     string        `json:"metric"`
	Stat       string        `json:"stat"`
	Value      float64       `json:"value"`
	Unit       perf.Unit     `json:"unit"`
	Better     perf.Better   `json:"better"`
	OrigValue  float64       `json:"orig_value"`
	OrigUnit   string        `json:"orig_unit,omitempty"`
	N          int64         `json:"n,omitempty"`          // samples behind the value
	Iterations int64         `json:"iterations,omitempty"` // operations per sample, or requests
	Samples    []float64     `json:"samples,omitempty"`
	Ops        []int64       `json:"ops,omitempty"` // operations of each sample, where they differ
	StdDev     *float64      `json:"stddev,omitempty"`
	StdErr     *float64      `json:"stderr,omitempty"`
	CI         *jsonInterval `json:"ci,omitempty"`
}

type jsonInterval struct {
	Level float64  `json:"level"`
	Lo    perf.Num `json:"lo"`
	Hi    perf.Num `json:"hi"`
}

// JSONLines writes one JSON object per line and result, in order.
func JSONLines(w io.Writer, suites []perf.Suite) error {
	for i := range suites {
		for k := range suites[i].Benchmarks {
			line, err := JSONLine(&suites[i], k)
			if err != nil {
				return err
			}
			if _, err := w.Write(line); err != nil {
				return fmt.Errorf("write result: %w", err)
			}
		}
	}
	return nil
}

// JSONLine renders the suite's i-th result as one line of JSON.
func JSONLine(s *perf.Suite, i int) ([]byte, error) {
	b := &s.Benchmarks[i]
	r := jsonResult{
		File: s.File, Format: s.Decoder, Module: s.Module, Name: b.DisplayName(), Key: b.Name,
		Identity: paramMap(b.Identity), Params: paramMap(b.Params), Job: b.Job, JobKind: b.JobKind, Dims: paramMap(b.Dims),
		Rows: b.Rows, Status: b.Status, Reason: b.Reason, Side: b.Side, Metrics: []jsonMetric{},
	}
	if isHistory(s.Decoder) {
		r.Started, r.Commit = s.Started, s.Commit
	}
	var requests int64
	if m := b.Metric(perf.Requests); m != nil && len(m.Reported) > 0 {
		requests = int64(m.Reported[0].Value)
	}
	for k := range b.Metrics {
		r.Metrics = append(r.Metrics, metricLines(&b.Metrics[k], requests)...)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encode result %s: %w", quote(b.Name), err)
	}
	return out.Bytes(), nil
}

func paramMap(params []perf.Param) map[string]string {
	if len(params) == 0 {
		return nil
	}
	m := make(map[string]string, len(params))
	for _, p := range params {
		m[p.Name] = p.Value
	}
	return m
}

// metricLines lists the mean first, with the samples and the spread, then the
// other statistics. A single number that the tool gives no name stands as mean.
func metricLines(m *perf.Metric, requests int64) []jsonMetric {
	base := jsonMetric{Metric: m.Name, Unit: m.Unit, Better: m.Better, OrigUnit: m.Source.Unit}
	line := func(stat string, value float64, n int64) jsonMetric {
		l := base
		l.Stat, l.Value, l.N = stat, value, n
		l.OrigValue = value
		if m.Source.Scale != 0 {
			l.OrigValue = value / m.Source.Scale
		}
		if requests > 0 && (m.Name == perf.Latency || m.Name == perf.Throughput) {
			l.Iterations = requests
		}
		return l
	}
	var out []jsonMetric
	values := m.Values()
	central, reported := m.Find("mean")
	if !reported {
		central, reported = m.Find("value")
	}
	switch {
	case len(values) > 0:
		mean, sd := meanStdDev(values)
		if reported {
			mean = central.Value
		}
		l := line("mean", mean, int64(len(values)))
		l.Samples = values
		l.Iterations, l.Ops = operations(m)
		if len(values) > 1 && !math.IsInf(sd, 0) && !math.IsNaN(sd) { // overflowed: unknown
			l.StdDev = &sd
		}
		out = append(out, l)
	case reported:
		out = append(out, line("mean", central.Value, central.N))
	}
	if len(out) > 0 {
		spread(m, central, &out[0])
	}
	for _, r := range m.Reported {
		switch r.Stat {
		case "mean", "value", "stddev", "stderr":
		default:
			out = append(out, line(r.Stat, r.Value, r.N))
		}
	}
	return out
}

// spread adds what the tool reports about the mean's uncertainty.
func spread(m *perf.Metric, central perf.Reported, l *jsonMetric) {
	if r, ok := m.Find("stddev"); ok {
		l.StdDev = &r.Value
	}
	if r, ok := m.Find("stderr"); ok {
		l.StdErr = &r.Value
	}
	if central.CI.Level > 0 {
		l.CI = &jsonInterval{central.CI.Level, central.CI.Lo, central.CI.Hi}
	}
}

// operations returns the operations of each measured sample: as one number
// where all are equal.
func operations(m *perf.Metric) (common int64, each []int64) {
	for _, s := range m.Samples {
		if s.Stage == perf.Measured {
			each = append(each, s.Ops)
		}
	}
	for _, ops := range each {
		if ops != each[0] {
			return 0, each
		}
	}
	return each[0], nil
}

// meanStdDev computes the mean and the sample standard deviation in two passes.
func meanStdDev(values []float64) (mean, sd float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	var sum float64
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	if n > 1 {
		sd = math.Sqrt(sum / (n - 1))
	}
	return mean, sd
}
