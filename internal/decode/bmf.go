package decode

import (
	"bytes"
	"fmt"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var bencherMetrics = Format{
	Name:    "bmf",
	Aliases: []string{"bencher"},
	Tool:    "Bencher Metric Format",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "the JSON object `{\"benchmark\": {\"measure\": {\"value\": 1, \"lower_value\": 0.9, \"upper_value\": 1.1}}}` that Bencher reads and writes",
		Reads:  "the value of every measure of every benchmark, with its bounds as `lower` and `upper`",
		Absent: "units, except those Bencher documents for its own measures; samples; what the bounds are",
		Notes: []string{
			"`latency` is in nanoseconds and `throughput` in operations per second, as Bencher documents them. The unit of any other measure is unknown, and so is its direction.",
			"Bounds are kept as the tool's own statistics: the file does not say of what level they are.",
		},
	},
	Sniff:  sniffBMF,
	Decode: decodeBMF,
}

// sniffBMF looks for an object of objects of objects with a value first.
func sniffBMF(_ string, head []byte) Confidence {
	d := strictjson.NewDecoder(head, strictjson.Options{KeepGoing: true})
	for range fields(d) {
		for range fields(d) {
			for key := range fields(d) {
				switch string(key) {
				case "value", "lower_value", "upper_value":
					if d.Kind() == strictjson.Number {
						return Likely
					}
				}
				return No
			}
			return No
		}
		return No
	}
	return No
}

// bmfReader collects the results of one document.
type bmfReader struct {
	d    *strictjson.Decoder
	told problems
}

func decodeBMF(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	r := bmfReader{d: strictjson.NewDecoder(in.Data, strictjson.Options{KeepGoing: true})}
	if k := r.d.Kind(); k != strictjson.Object {
		return nil, nil, r.d.At(r.d.Offset(), "the document is %s, not an object of benchmarks", k)
	}
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	for key := range fields(r.d) {
		b, why, offset := r.benchmark(string(bytes.Clone(key)))
		switch {
		case r.d.Err() != nil:
		case why != "":
			r.told.add(refusedRecord(b.Name, r.d.At(offset, "%s", why)))
		case len(s.Benchmarks) > limits.Benchmarks:
			return nil, r.told.all(), tooMany(0)
		default:
			s.Benchmarks = append(s.Benchmarks, b)
		}
	}
	if err := r.d.End(); err != nil {
		return nil, r.told.all(), err
	}
	if p := r.d.Problem(); p != nil { // a benchmark named twice
		return nil, r.told.all(), p
	}
	return []perf.Suite{s}, r.told.all(), nil
}

// benchmark reads the measures of one benchmark; why tells its first fault.
func (r *bmfReader) benchmark(name string) (b perf.Benchmark, why string, offset int) {
	r.d.Kind() // moves past blanks
	offset = r.d.Offset()
	b = perf.Benchmark{Name: name, Rows: 1, Status: perf.OK, JobKind: perf.Default}
	if k := r.d.Kind(); k != strictjson.Object {
		r.d.Skip()
		return b, "its measures are " + k.String() + ", not an object", offset
	}
	for key := range fields(r.d) {
		measure := string(bytes.Clone(key))
		m, fault := r.measure(measure)
		if fault != "" && why == "" {
			why = fmt.Sprintf("%s %s", quote(measure), fault)
		}
		b.Metrics = append(b.Metrics, m)
	}
	if p := r.d.Problem(); p != nil && why == "" {
		why, offset = p.Msg, p.Offset
	}
	switch {
	case why != "":
	case name == "":
		why = "it has no name"
	case len(b.Metrics) == 0:
		why = "it has no measure"
	case len(b.Metrics) > limits.MetricsPerBenchmark:
		why = fmt.Sprintf("it has more than %d measures", limits.MetricsPerBenchmark)
	}
	return b, why, offset
}

// measure reads one measure.
func (r *bmfReader) measure(name string) (m perf.Metric, why string) {
	m = bmfMetric(name)
	if k := r.d.Kind(); k != strictjson.Object {
		r.d.Skip()
		return m, "is " + k.String() + ", not an object with a value"
	}
	for key := range fields(r.d) {
		stat := map[string]string{"value": "mean", "lower_value": "lower", "upper_value": "upper"}[string(key)]
		if stat == "" || r.d.Kind() == strictjson.Null {
			r.d.Skip()
			continue
		}
		n, fault := readJSONNumber(r.d)
		if fault != "" && why == "" {
			why = stat + " " + fault
		}
		if v, ok := n.Get(); ok {
			m.Reported = append(m.Reported, perf.Reported{Stat: stat, Value: v})
		}
	}
	v, ok := m.Find("mean")
	switch {
	case why != "":
	case !ok:
		why = "has no value"
	case v.Value < 0 && m.Unit != "":
		why = "is negative"
	}
	return m, why
}

// bmfMetric is the metric behind a measure's name.
func bmfMetric(name string) perf.Metric {
	switch name {
	case "latency":
		return perf.Metric{Name: perf.Latency, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Scale: 1}}
	case "throughput":
		return perf.Metric{Name: perf.Throughput, Unit: perf.PerSecond, Better: perf.Higher, Source: perf.Source{Scale: 1}}
	}
	return perf.Metric{Name: customPrefix + name, Better: perf.UnknownBetter, Source: perf.Source{Scale: 1}}
}
