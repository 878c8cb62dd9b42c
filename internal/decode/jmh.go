package decode

import (
	"bytes"
	"fmt"
	"strings"

	"perfband/internal/perf"
)

var jmh = Format{
	Name:    "jmh",
	Aliases: []string{"kotlinx-benchmark"},
	Tool:    "JMH",
	Version: 2,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "what `-rf json`, `-rf csv` and `-rf scsv` of JMH write (`jmh-result.json`), kotlinx-benchmark's JSON of the same shape, and what JMH prints, through Maven, Gradle or sbt too: the table of any version, with the log before it if it is there",
		Reads:  "the score of every iteration of every fork as samples (in mode `sample` the statistics and the number of samples, as JMH keeps a histogram), the 99.9 % interval, percentiles; of secondary metrics `gc.alloc.rate.norm` as alloc_bytes, others as custom metrics",
		Absent: "warm-up iterations, the start, the machine; samples in the CSV, and in the table unless the log stands before it",
		Notes: []string{
			"The mode belongs to the identity: `thrpt` is throughput and higher is better; the other modes are times. The direction of a custom metric is unknown, since a counter of one's own may count good or bad.",
			"`threads` is a parameter if it is not 1.",
			"A score in a unit that is neither operations per time nor time per operation is the custom metric `score`.",
			"A benchmark that failed is in no table or JSON; it is read as failed from the log alone, under its full name. One whose score is no number is failed. A score that the table gives as about (`\u2248`) is skipped: JSON has it.",
			"What consoles made of the sign between score and error (`?`, `\u00c2\u00b1`) does not matter. A JSON file in Latin-1, as older JVMs write it on Windows, is read with a notice.",
			"Of JSON that is cut off, or has other output around it, the whole results are kept.",
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
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	words := bytes.FieldsFunc(first, func(r rune) bool { return strings.ContainsRune("\",;\t\r", r) })
	switch {
	case jmhStart(head) >= 0:
		return jmhJSON
	case len(words) > 4 && string(words[0]) == "Benchmark" && string(words[1]) == "Mode" && string(words[2]) == "Threads":
		return jmhCSV
	}
	benchmark := false
	for line := range bytes.Lines(head) {
		if bytes.Contains(line, []byte("Units")) {
			if _, ok := jmhHeader(strings.TrimRight(stripANSI(string(line)), " \r\n")); ok {
				return jmhText
			}
		}
		switch {
		case bytes.Contains(line, []byte("# Benchmark mode: ")):
			benchmark = true
		case benchmark && bytes.Contains(line, []byte("# Benchmark: ")):
			return jmhText
		}
	}
	return 0
}

// jmhStart finds the list of results: at the beginning of the file or, with
// other output before it, of a line. It is negative if there is none.
func jmhStart(data []byte) int {
	if !bytes.Contains(data, []byte(`"primaryMetric"`)) || !bytes.Contains(data, []byte(`"benchmark"`)) {
		return -1
	}
	for at := 0; at < len(data); {
		line := data[at:]
		start := at + len(line) - len(bytes.TrimLeft(line, " \t\r\n"))
		if start < len(data) && data[start] == '[' {
			if rest := bytes.TrimLeft(data[start+1:], " \t\r\n"); bytes.HasPrefix(rest, []byte("{")) {
				return start
			}
		}
		next := bytes.IndexByte(data[min(start, len(data)):], '\n')
		if next < 0 {
			return -1
		}
		at = start + next + 1
	}
	return -1
}

// jmhSecondary begins a metric beside the score. Its direction is unknown but
// for the one whose meaning is known.
func jmhSecondary(name, unit, mode string) perf.Metric {
	if name == "gc.alloc.rate.norm" && unit == "B/op" {
		return perf.Metric{Name: perf.AllocBytes, Unit: perf.Bytes, Better: perf.Lower, Source: perf.Source{Unit: unit, Scale: 1}}
	}
	m, err := jmhUnit(unit, mode)
	if err != nil || jmhTimes[unit] > 0 {
		m = perf.Metric{Unit: perf.Unit(unit), Source: perf.Source{Unit: unit, Scale: 1}}
	}
	m.Name, m.Better = customPrefix+name, perf.UnknownBetter
	return m
}

// jmhUnit reads a unit of JMH: operations per time, or time per operation. The
// first versions wrote the time alone in mode ss.
func jmhUnit(unit, mode string) (perf.Metric, error) {
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
	if f, ok := jmhTimes[unit]; ok && mode == "ss" {
		return perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: unit, Scale: f}}, nil
	}
	return perf.Metric{}, fmt.Errorf("%s is not a unit of JMH: expected ops/TIME or TIME/op", quote(unit))
}

// jmhTimes are the times of JMH, in nanoseconds.
var jmhTimes = map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9, "min": 60e9, "hr": 3600e9, "day": 86400e9}
