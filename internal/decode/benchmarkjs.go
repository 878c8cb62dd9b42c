package decode

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

var benchmarkJS = Format{
	Name:    "benchmarkjs",
	Aliases: []string{"benchmark.js"},
	Tool:    "Benchmark.js",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "the lines `NAME x 1,234 ops/sec ±0.74% (93 runs sampled)` that Benchmark.js prints for a target, also with other output in between",
		Reads:  "throughput with the 95 % interval behind its relative margin of error, and the number of samples",
		Absent: "samples, the machine, the start, benchmarks that raised an error",
		Notes:  []string{"A name may hold ` x ` itself: the last one counts."},
	},
	Sniff: func(_ string, head []byte) Confidence {
		for line := range bytes.Lines(head) {
			if _, ok, err := benchmarkJSLine(stripANSI(string(line))); ok && err == nil {
				return Likely
			}
		}
		return No
	},
	Decode: func(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
		return decodeLines(in, benchmarkJSLine)
	},
}

// decodeLines reads a text in which some lines are results; read says whether
// one is.
func decodeLines(in Input, read func(line string) (b perf.Benchmark, ok bool, err error)) ([]perf.Suite, []perf.Diagnostic, error) {
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	var told problems
	n := 0
	for line := range strings.Lines(string(in.Data)) {
		n++
		b, ok, err := read(stripANSI(line))
		switch {
		case err != nil:
			told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid", Where: perf.Where{Line: n}, What: "a result is refused",
				Why: err.Error(), Do: "The other results are kept."})
		case ok:
			if s.Benchmarks = append(s.Benchmarks, b); len(s.Benchmarks) > limits.Benchmarks {
				return nil, told.all(), tooMany(n)
			}
		}
	}
	return []perf.Suite{s}, told.all(), nil
}

// benchmarkJSLine reads a line of Benchmark.js.
func benchmarkJSLine(line string) (b perf.Benchmark, ok bool, err error) {
	head, tail, ok := strings.Cut(line, " ops/sec ")
	at := strings.LastIndex(head, " x ")
	if !ok || at < 0 || strings.TrimSpace(head[:at]) == "" {
		return b, false, nil
	}
	margin, rest, ok := strings.Cut(tail, "%")
	margin, marked := strings.CutPrefix(strings.TrimSpace(margin), "\u00b1")
	if !ok || !marked || !strings.Contains(rest, "sampled)") {
		return b, false, nil
	}
	value, err := groupedNumber(strings.TrimSpace(head[at+len(" x "):]))
	if err != nil {
		return b, false, err
	}
	rme, err := groupedNumber(strings.TrimSpace(margin))
	if err != nil || rme < 0 || value < 0 {
		return b, false, fmt.Errorf("%s is not a rate with a margin", quote(strings.TrimSpace(line)))
	}
	runs, _, _ := strings.Cut(strings.TrimLeft(rest, " ("), " ")
	n, err := strconv.ParseInt(runs, 10, 64)
	if err != nil || n < 0 {
		return b, false, fmt.Errorf("%s is not a number of runs", quote(runs))
	}
	m := perf.Metric{Name: perf.Throughput, Unit: perf.PerSecond, Better: perf.Higher, Source: perf.Source{Unit: "ops/sec", Scale: 1}}
	m.Reported = []perf.Reported{{Stat: "mean", Value: value, N: n,
		CI: perf.Interval{Level: 0.95, Lo: perf.Some(value * (1 - rme/100)), Hi: perf.Some(value * (1 + rme/100))}}}
	return perf.Benchmark{Name: strings.TrimSpace(head[:at]), Rows: 1, Status: perf.OK, JobKind: perf.Default, Metrics: []perf.Metric{m}}, true, nil
}
