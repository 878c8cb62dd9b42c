package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var tinybench = Format{
	Name:    "tinybench",
	Tool:    "tinybench",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "a JSON list of `{name, result}` of a bench's tasks, as `JSON.stringify(bench.tasks.map(({name, result}) => ({name, result})))` gives it",
		Reads:  "latency as time with all its statistics and its samples where they are kept, mean throughput",
		Absent: "the machine, the start; samples, unless the bench was told to keep them",
		Notes: []string{
			"The 95 % interval comes from the relative margin of error.",
			"Both shapes of results are read: with `latency` and `throughput`, and the older flat one. A task with an error is a failed result.",
		},
	},
	Sniff: func(_ string, head []byte) Confidence {
		if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("[")) && bytes.Contains(head, []byte(`"name"`)) && bytes.Contains(head, []byte(`"result"`)) &&
			(bytes.Contains(head, []byte(`"latency"`)) || bytes.Contains(head, []byte(`"totalTime"`))) {
			return Certain
		}
		return No
	},
	Decode: decodeTinybench,
}

var vitestBench = Format{
	Name:    "vitest-bench",
	Aliases: []string{"vitest"},
	Tool:    "Vitest bench",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "what `vitest bench --run --outputJson FILE` writes",
		Reads:  "time of every benchmark with all its statistics and its samples where they are kept, mean throughput",
		Absent: "the machine, the start; samples, unless `benchmark.includeSamples` is set; benchmarks that raised an error",
		Notes:  []string{"The group (`file > suite`) belongs to the name.", "The 95 % interval comes from the relative margin of error."},
	},
	Sniff: func(_ string, head []byte) Confidence {
		if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) && bytes.Contains(head, []byte(`"files"`)) && bytes.Contains(head, []byte(`"groups"`)) &&
			bytes.Contains(head, []byte(`"benchmarks"`)) {
			return Certain
		}
		return No
	},
	Decode: decodeVitest,
}

// taskStats are the statistics of tinybench, which Vitest has too; times are in
// milliseconds.
type taskStats struct {
	Mean, Min, Max, Sd, Rme looseNum
	Median                  looseNum
	P50, P75, P99           looseNum
	Hz                      looseNum
	SampleCount             int64
	SamplesCount            int64
	Samples                 []float64
}

// metrics gives the time and, if it is known, the throughput, whose unit the
// file calls unit.
func (s *taskStats) metrics(rate looseNum, unit string) ([]perf.Metric, error) {
	m := perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: "ms", Scale: 1e6}}
	n := max(s.SampleCount, s.SamplesCount, 0)
	if n == 0 {
		n = int64(len(s.Samples)) // older versions do not count them
	}
	if int64(len(s.Samples)) == n { // a shortened list would be another sample
		for i, v := range s.Samples {
			if why := badTime(v); why != "" {
				return nil, errors.New(why)
			}
			sample(&m, v, 0, i+1)
		}
	}
	mean, ok := s.Mean.Get()
	if !ok && len(m.Samples) == 0 {
		return nil, errors.New("it has no mean")
	}
	if mean < 0 {
		return nil, errors.New("its mean is negative")
	}
	reported(&m, "mean", s.Mean.Num, n)
	if rme, known := s.Rme.Get(); ok && known {
		m.Reported[0].CI = perf.Interval{Level: 0.95, Lo: perf.Some(mean * (1 - rme/100) * 1e6), Hi: perf.Some(mean * (1 + rme/100) * 1e6)}
	}
	median := s.Median
	if median.IsZero() {
		median = s.P50
	}
	for _, stat := range []struct {
		name  string
		value looseNum
	}{{"stddev", s.Sd}, {"median", median}, {"min", s.Min}, {"max", s.Max}, {"p75", s.P75}, {"p99", s.P99}} {
		reported(&m, stat.name, stat.value.Num, n)
	}
	out := []perf.Metric{m}
	if v, ok := rate.Get(); ok && v >= 0 {
		t := perf.Metric{Name: perf.Throughput, Unit: perf.PerSecond, Better: perf.Higher, Source: perf.Source{Unit: unit, Scale: 1}}
		reported(&t, "mean", rate.Num, n)
		out = append(out, t)
	}
	return out, nil
}

type tinybenchTask struct {
	Name   string `json:"name"`
	Result *struct {
		State          string          `json:"state"`
		Error          json.RawMessage `json:"error"`
		Runtime        string          `json:"runtime"`
		RuntimeVersion string          `json:"runtimeVersion"`
		Latency        *taskStats      `json:"latency"`
		Throughput     *taskStats      `json:"throughput"`
		taskStats
	} `json:"result"`
}

func decodeTinybench(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	d := strictjson.NewDecoder(in.Data, strictjson.Options{KeepGoing: true})
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	var told problems
	if d.Kind() != strictjson.Array {
		return nil, nil, d.At(d.Offset(), "the document is %s, not a list of tasks", d.Kind())
	}
	err := records(d, &told, func(raw []byte) (string, error) {
		var task tinybenchTask
		if err := json.Unmarshal(raw, &task); err != nil {
			return task.Name, err
		}
		b, err := task.read()
		if err == nil {
			s.Benchmarks = append(s.Benchmarks, b)
			if r := task.Result; r != nil && r.Runtime != "" && r.RuntimeVersion != "" {
				s.Env.Toolchain = map[string]string{r.Runtime: r.RuntimeVersion}
			}
		}
		return task.Name, err
	})
	if err != nil {
		return nil, told.all(), err
	}
	if err := d.End(); err != nil {
		return nil, told.all(), err
	}
	return []perf.Suite{s}, told.all(), nil
}

// read turns a task into a result.
func (t *tinybenchTask) read() (perf.Benchmark, error) {
	b := perf.Benchmark{Name: t.Name, Rows: 1, Status: perf.OK, JobKind: perf.Default}
	r := t.Result
	switch {
	case strings.TrimSpace(t.Name) == "":
		return b, errors.New("it has no name")
	case r == nil:
		b.Status, b.Reason = perf.Skipped, "skipped: the task has no result"
		return b, nil
	case len(r.Error) > 0 && string(r.Error) != "null" || r.State == "errored":
		b.Status, b.Reason = perf.Fail, "failed: "+thrown(r.Error)
		return b, nil
	}
	var err error
	switch {
	case r.Latency != nil && r.Throughput != nil:
		b.Metrics, err = r.Latency.metrics(r.Throughput.Mean, "ops/s")
	case r.Latency != nil:
		b.Metrics, err = r.Latency.metrics(looseNum{}, "")
	default:
		b.Metrics, err = r.metrics(r.Hz, "ops/s")
	}
	return b, err
}

// thrown is the message of an error, which is a text or an object.
func thrown(raw []byte) string {
	var text string
	var object struct {
		Message string `json:"message"`
	}
	switch {
	case json.Unmarshal(raw, &text) == nil && text != "":
		return text
	case json.Unmarshal(raw, &object) == nil && object.Message != "":
		return object.Message
	}
	return "the file gives no reason"
}

type vitestFile struct {
	Files []struct {
		Groups []struct {
			FullName   string            `json:"fullName"`
			Benchmarks []json.RawMessage `json:"benchmarks"`
		} `json:"groups"`
	} `json:"files"`
}

func decodeVitest(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	if err := strictjson.Validate(in.Data); err != nil {
		return nil, nil, err
	}
	var f vitestFile
	if err := json.Unmarshal(in.Data, &f); err != nil {
		return nil, nil, err
	}
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	var told problems
	for _, file := range f.Files {
		for _, g := range file.Groups {
			for _, raw := range g.Benchmarks {
				b, err := vitestResult(g.FullName, raw)
				if err != nil {
					told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid", What: quote(b.Name) + " is refused", Why: err.Error(), Do: "The other results are kept."})
					continue
				}
				if s.Benchmarks = append(s.Benchmarks, b); len(s.Benchmarks) > limits.Benchmarks {
					return nil, told.all(), tooMany(0)
				}
			}
		}
	}
	return []perf.Suite{s}, told.all(), nil
}

// vitestResult reads one benchmark of a group.
func vitestResult(group string, raw []byte) (perf.Benchmark, error) {
	var r struct {
		Name string `json:"name"`
		taskStats
	}
	b := perf.Benchmark{Rows: 1, Status: perf.OK, JobKind: perf.Default}
	if err := json.Unmarshal(raw, &r); err != nil {
		return b, err
	}
	if strings.TrimSpace(r.Name) == "" {
		return b, errors.New("it has no name")
	}
	b.Name = r.Name
	if group != "" {
		b.Name, b.Label = group+" > "+r.Name, r.Name
		b.Identity = []perf.Param{{Name: "group", Value: group}}
	}
	var err error
	b.Metrics, err = r.metrics(r.Hz, "hz")
	return b, err
}
