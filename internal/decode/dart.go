package decode

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"perfband/internal/perf"
)

var dart = Format{
	Name:    "dart",
	Tool:    "benchmark_harness",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "the lines `NAME(RunTime): 12.3 us.` that Dart's benchmark_harness prints, also with other output in between",
		Reads:  "time of one run of every benchmark",
		Absent: "samples, any spread, the machine, the start",
	},
	Sniff: func(_ string, head []byte) Confidence {
		for line := range bytes.Lines(head) {
			if _, ok, err := dartLine(stripANSI(string(line))); ok && err == nil {
				return Likely
			}
		}
		return No
	},
	Decode: func(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
		return decodeLines(in, dartLine)
	},
}

// dartLine reads a line of benchmark_harness.
func dartLine(line string) (b perf.Benchmark, ok bool, err error) {
	name, rest, ok := strings.Cut(strings.TrimSpace(line), "(RunTime):")
	if !ok || strings.TrimSpace(name) == "" {
		return b, false, nil
	}
	words := strings.Fields(strings.TrimSuffix(strings.TrimSpace(rest), "."))
	if len(words) != 2 {
		return b, false, fmt.Errorf("%s is no time", quote(strings.TrimSpace(rest)))
	}
	scale, known := timeUnits[words[1]]
	v, err := strconv.ParseFloat(words[0], 64)
	if n := perf.Some(v); err != nil || !known || n.IsZero() || v < 0 {
		return b, false, fmt.Errorf("%s is no time", quote(strings.TrimSpace(rest)))
	}
	m := perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: words[1], Scale: scale}}
	reported(&m, "mean", perf.Some(v), 0)
	return perf.Benchmark{Name: strings.TrimSpace(name), Rows: 1, Status: perf.OK, JobKind: perf.Default, Metrics: []perf.Metric{m}}, true, nil
}
