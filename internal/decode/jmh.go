package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var jmh = Format{
	Name:    "jmh",
	Aliases: []string{"kotlinx-benchmark"},
	Tool:    "JMH",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "what `-rf json` of JMH writes (`jmh-result.json`), kotlinx-benchmark's JSON of the same shape, what `-rf csv` writes, and the table JMH prints, with other output around it",
		Reads:  "the score of every iteration of every fork as samples (in mode `sample` the statistics, as JMH keeps a histogram), the 99.9 % interval; of secondary metrics `gc.alloc.rate.norm` as alloc_bytes, others as custom metrics",
		Absent: "warm-up iterations, the start, the machine",
		Notes: []string{
			"The mode belongs to the identity: `thrpt` is throughput and higher is better; the other modes are times.",
			"`threads` is a parameter if it is not 1.",
			"The table and CSV have the score and the half width of its interval only; rows of percentiles and secondary metrics are not read from them. A score the table gives as about (`\u2248`) is refused.",
		},
	},
	Sniff: func(_ string, head []byte) Confidence {
		switch jmhShape(head) {
		case jmhJSON, jmhCSV:
			return Certain
		case jmhText:
			return Likely
		}
		return No
	},
	Decode: func(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
		switch jmhShape(in.Data) {
		case jmhCSV:
			return decodeJMHCSV(in)
		case jmhText:
			return decodeJMHText(in)
		}
		return decodeJMH(in)
	},
}

// The shapes in which JMH writes results.
const (
	jmhJSON = iota + 1
	jmhCSV
	jmhText
)

// jmhShape tells the shape of a file from its beginning, 0 for none.
func jmhShape(head []byte) int {
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(trimmed, []byte("[")) && bytes.Contains(head, []byte(`"primaryMetric"`)) && bytes.Contains(head, []byte(`"benchmark"`)):
		return jmhJSON
	case bytes.HasPrefix(trimmed, []byte(`"Benchmark","Mode","Threads"`)):
		return jmhCSV
	}
	for line := range bytes.Lines(head) {
		if bytes.Contains(line, []byte("Units")) {
			if _, _, ok := jmhHeader(strings.TrimRight(stripANSI(string(line)), " \r\n")); ok {
				return jmhText
			}
		}
	}
	return 0
}

type jmhResult struct {
	Version   string               `json:"jmhVersion"`
	Benchmark string               `json:"benchmark"`
	Mode      string               `json:"mode"`
	Threads   int                  `json:"threads"`
	Forks     *int                 `json:"forks"`
	JDK       string               `json:"jdkVersion"`
	Params    map[string]string    `json:"params"`
	Primary   *jmhMetric           `json:"primaryMetric"`
	Secondary map[string]jmhMetric `json:"secondaryMetrics"`
}

type jmhMetric struct {
	Score       looseNum            `json:"score"`
	Error       looseNum            `json:"scoreError"`
	Confidence  []looseNum          `json:"scoreConfidence"`
	Percentiles map[string]looseNum `json:"scorePercentiles"`
	Unit        string              `json:"scoreUnit"`
	Raw         [][]looseNum        `json:"rawData"`
}

func decodeJMH(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	d := strictjson.NewDecoder(in.Data, strictjson.Options{KeepGoing: true})
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	var told problems
	if d.Kind() != strictjson.Array {
		return nil, nil, d.At(d.Offset(), "the document is %s, not a list of results", d.Kind())
	}
	err := records(d, &told, func(raw []byte) (string, error) {
		var r jmhResult
		if err := json.Unmarshal(raw, &r); err != nil {
			return r.Benchmark, err
		}
		b, err := r.read()
		if err == nil {
			s.Benchmarks = append(s.Benchmarks, b)
			s.ToolVersion = r.Version
			if r.JDK != "" {
				s.Env.Toolchain = map[string]string{"jdk": r.JDK}
			}
		}
		return r.Benchmark, err
	})
	if err != nil {
		return nil, told.all(), err
	}
	if err := d.End(); err != nil {
		return nil, told.all(), err
	}
	return []perf.Suite{s}, told.all(), nil
}

// read turns a result of the file into ours.
func (r *jmhResult) read() (perf.Benchmark, error) {
	b := perf.Benchmark{Name: r.Benchmark, Rows: 1, Status: perf.OK, JobKind: perf.Default}
	switch {
	case strings.TrimSpace(r.Benchmark) == "":
		return b, errors.New("it has no name")
	case r.Primary == nil:
		return b, errors.New("it has no primaryMetric")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		b.Params = append(b.Params, perf.Param{Name: name, Value: r.Params[name]})
	}
	if r.Mode != "" {
		b.Identity = append(b.Identity, perf.Param{Name: "mode", Value: r.Mode})
		b.Params = append(b.Params, perf.Param{Name: "mode", Value: r.Mode})
	}
	if r.Threads > 0 {
		b.Identity = append(b.Identity, perf.Param{Name: "threads", Value: strconv.Itoa(r.Threads)})
	}
	if r.Threads > 1 {
		b.Params = append(b.Params, perf.Param{Name: "threads", Value: strconv.Itoa(r.Threads)})
	}
	if r.Forks != nil {
		b.Identity = append(b.Identity, perf.Param{Name: "forks", Value: strconv.Itoa(*r.Forks)})
	}
	m, err := r.Primary.metric("")
	if err != nil {
		return b, err
	}
	b.Metrics = []perf.Metric{m}
	for _, name := range slices.Sorted(maps.Keys(r.Secondary)) {
		second := r.Secondary[name]
		m, err := second.metric(strings.TrimLeft(name, "\u00b7"))
		if err != nil {
			continue // without a number: a profiler had nothing to say
		}
		if b.Metric(m.Name) == nil {
			b.Metrics = append(b.Metrics, m)
		}
	}
	return b, nil
}

// metric reads a score with all that is known of it. name is "" for the primary
// one, whose unit tells what it is.
func (j *jmhMetric) metric(name string) (perf.Metric, error) {
	m, err := jmhUnit(j.Unit)
	switch {
	case name == "gc.alloc.rate.norm" && j.Unit == "B/op":
		m = perf.Metric{Name: perf.AllocBytes, Unit: perf.Bytes, Better: perf.Lower, Source: perf.Source{Unit: j.Unit, Scale: 1}}
	case name != "" && err != nil:
		m = perf.Metric{Name: customPrefix + name, Unit: perf.Unit(j.Unit), Better: perf.UnknownBetter, Source: perf.Source{Unit: j.Unit, Scale: 1}}
	case err != nil:
		return m, err
	case name != "":
		m.Name = customPrefix + name
	}
	for fork, iterations := range j.Raw {
		for i, v := range iterations {
			if x, ok := v.Get(); ok {
				if x < 0 && name == "" {
					return m, errors.New("a score is negative")
				}
				sample(&m, x, fork+1, i+1)
			}
		}
	}
	if x, ok := j.Score.Get(); ok {
		r := perf.Reported{Stat: "mean", Value: x * m.Source.Scale, N: int64(len(m.Samples))}
		if len(j.Confidence) == 2 {
			lo, okLo := j.Confidence[0].Get()
			hi, okHi := j.Confidence[1].Get()
			if okLo && okHi {
				r.CI = perf.Interval{Level: 0.999, Lo: perf.Some(lo * m.Source.Scale), Hi: perf.Some(hi * m.Source.Scale)}
			}
		} else if e, ok := j.Error.Get(); ok {
			r.CI = perf.Interval{Level: 0.999, Lo: perf.Some((x - e) * m.Source.Scale), Hi: perf.Some((x + e) * m.Source.Scale)}
		}
		m.Reported = append(m.Reported, r)
	}
	for _, p := range []struct{ key, stat string }{{"50.0", "median"}, {"90.0", "p90"}, {"95.0", "p95"}, {"99.0", "p99"}} {
		if v, ok := j.Percentiles[p.key]; ok {
			reported(&m, p.stat, v.Num, 0)
		}
	}
	if len(m.Samples) == 0 && len(m.Reported) == 0 {
		return m, errors.New("it has no score")
	}
	return m, nil
}

// jmhUnit reads a unit of JMH: operations per time, or time per operation.
func jmhUnit(unit string) (perf.Metric, error) {
	if per, ok := strings.CutPrefix(unit, "ops/"); ok {
		if f, ok := jmhTimes[per]; ok {
			return perf.Metric{Name: perf.Throughput, Unit: perf.PerSecond, Better: perf.Higher, Source: perf.Source{Unit: unit, Scale: 1e9 / f}}, nil
		}
	}
	if t, ok := strings.CutSuffix(unit, "/op"); ok {
		if f, ok := jmhTimes[t]; ok {
			return perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: unit, Scale: f}}, nil
		}
	}
	return perf.Metric{}, fmt.Errorf("%s is not a unit of JMH: expected ops/TIME or TIME/op", quote(unit))
}

// jmhTimes are the times of JMH, in nanoseconds.
var jmhTimes = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "hr": 3600e9, "day": 86400e9}
