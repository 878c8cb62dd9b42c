package decode

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

var catch2 = Format{
	Name:    "catch2",
	Tool:    "Catch2",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "what tests with `BENCHMARK` of Catch2 2 and 3 print (reporter `console`) or write with `-r xml`, with other output around it",
		Reads:  "mean and standard deviation with their intervals, the number of samples; benchmarks that failed",
		Absent: "single samples; the start; the machine. The console rounds and, with `--benchmark-no-analysis`, has the mean alone. The reporters `json`, `junit`, `compact` and others say nothing of benchmarks",
		Notes: []string{
			"Test case and sections belong to the name, as `test case / section / benchmark`; names that the console has wrapped are put together again.",
			"The console does not state the level of its intervals; 95 % is taken, Catch2's default. XML states it.",
			"Outliers, clock resolution and the estimated duration are not read. Of test cases that failed for another reason the benchmarks count, and it is told.",
		},
	},
	Sniff: func(_ string, head []byte) Confidence {
		if catchXML(head) >= 0 {
			return Certain
		}
		for line := range bytes.Lines(head) {
			if bytes.Contains(line, []byte("benchmark name")) && isCatchHead(stripANSI(string(line))) {
				return Certain
			}
			if bytes.Contains(line, []byte(" is a Catch")) && bytes.Contains(line, []byte(" host application")) {
				return Likely // without benchmarks, as far as this is seen
			}
		}
		return No
	},
	Decode: func(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
		c := catch{suite: perf.Suite{Module: in.Module, Kind: in.Kind}}
		var err error
		if start := catchXML(in.Data[:min(len(in.Data), headBytes)]); start >= 0 {
			err = c.readXML(in.Data, start)
		} else {
			err = c.readConsole(in.Data)
		}
		if err != nil {
			return nil, c.told.all(), err
		}
		return []perf.Suite{c.suite}, c.told.all(), nil
	},
}

// catch collects the results of one file.
type catch struct {
	suite perf.Suite
	told  problems
}

// catchResult is one benchmark as the file has it.
type catchResult struct {
	path       []string // test case and sections
	name       string
	samples    int64
	iterations string
	mean       [3]perf.Num // with lower and upper bound, in ns
	stddev     [3]perf.Num
	level      [2]float64 // of the two intervals
	unit       string     // of the mean in the file
	failed     string     // "" for a measurement
}

// add takes a result. The error says that there are too many.
func (c *catch) add(r *catchResult, line int) error {
	if len(c.suite.Benchmarks) >= limits.Benchmarks {
		return tooMany(line)
	}
	test := strings.Join(r.path, " / ")
	b := perf.Benchmark{Name: r.name, Rows: 1, Status: perf.OK, JobKind: perf.Default}
	if test != "" {
		b.Name, b.Label = test+" / "+r.name, r.name
		b.Identity = append(b.Identity, perf.Param{Name: "test_case", Value: test})
	}
	if r.samples > 0 {
		b.Identity = append(b.Identity, perf.Param{Name: "samples", Value: strconv.FormatInt(r.samples, 10)})
	}
	if r.iterations != "" {
		b.Identity = append(b.Identity, perf.Param{Name: "iterations", Value: r.iterations})
	}
	m := perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: r.unit, Scale: catchUnits[r.unit]}}
	for i, stat := range []struct {
		name   string
		values *[3]perf.Num
	}{{"mean", &r.mean}, {"stddev", &r.stddev}} {
		v, ok := stat.values[0].Get()
		if !ok {
			continue
		}
		rep := perf.Reported{Stat: stat.name, Value: v, N: r.samples}
		if lo, hi := stat.values[1], stat.values[2]; r.level[i] > 0 && r.level[i] < 1 && !lo.IsZero() && !hi.IsZero() {
			rep.CI = perf.Interval{Level: r.level[i], Lo: lo, Hi: hi}
		}
		m.Reported = append(m.Reported, rep)
	}
	_, measured := r.mean[0].Get()
	switch {
	case r.failed != "":
		b.Status, b.Reason = perf.Fail, r.failed
	case !measured:
		b.Status, b.Reason = perf.Fail, "no-measurement: it was started, but its numbers are not in the file"
	default:
		b.Metrics = []perf.Metric{m}
	}
	c.suite.Benchmarks = append(c.suite.Benchmarks, b)
	return nil
}

// tellTest says that a test case failed whose benchmarks have numbers.
func (c *catch) tellTest(line int, what string) {
	c.told.add(perf.Diagnostic{Severity: perf.Notice, Code: "test-failed", Where: perf.Where{Line: line}, What: what,
		Why: "an assertion did not hold, or an exception was thrown", Do: "Their benchmarks count all the same."})
}

// catchXML finds the start of the document, -1 if there is none.
func catchXML(head []byte) int {
	for _, root := range []string{"<Catch ", "<Catch2TestRun "} {
		if i := bytes.Index(head, []byte(root)); i >= 0 {
			return i
		}
	}
	return -1
}

// catchReader reads the elements of a document.
type catchReader struct {
	*catch
	d     *xml.Decoder
	line  int          // of the document's first
	path  []string     // test case and sections around
	now   *catchResult // the benchmark around, nil outside
	depth int
}

// readXML reads the document that begins at start.
func (c *catch) readXML(data []byte, start int) error {
	r := catchReader{catch: c, d: xml.NewDecoder(bytes.NewReader(data[start:])), line: lineAt(data, start)}
	r.d.Strict = false // output of the tests may stand between the elements
	for {
		token, err := r.d.RawToken()
		switch {
		case err == io.EOF && r.depth <= 0:
			return nil
		case err != nil:
			return r.broken(err)
		}
		switch t := token.(type) {
		case xml.Directive:
			return errors.New("document type declarations are not allowed")
		case xml.StartElement:
			if r.depth++; r.depth > limits.JSONDepth {
				return fmt.Errorf("more than %d levels of elements", limits.JSONDepth)
			}
			r.start(t)
		case xml.EndElement:
			r.depth--
			if err := r.end(t.Name.Local); err != nil {
				return err
			}
		}
	}
}

func (r *catchReader) at() int {
	line, _ := r.d.InputPos()
	return r.line + line - 1
}

// broken tells where a document ends or becomes unreadable; what stood before
// counts.
func (r *catchReader) broken(err error) error {
	if r.now != nil {
		if err := r.add(r.now, r.at()); err != nil {
			return err
		}
	}
	why := err.Error()
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(why, "unexpected EOF") {
		why = "it is cut off"
	}
	r.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: r.at()}, What: "the document cannot be read from here on: results may be missing",
		Why: why, Do: "See whether the tests ran to their end. What was read is kept."})
	return nil
}

func (r *catchReader) start(t xml.StartElement) {
	attr := func(name string) string {
		for _, a := range t.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	three := func() (out [3]perf.Num) {
		for i, name := range []string{"value", "lowerBound", "upperBound"} {
			if v, err := strconv.ParseFloat(attr(name), 64); err == nil {
				out[i] = perf.Some(v)
			}
		}
		return out
	}
	switch t.Name.Local {
	case "Catch2TestRun":
		r.suite.ToolVersion = attr("catch2-version")
	case "TestCase":
		r.path = []string{strings.TrimSpace(attr("name"))}
	case "Section":
		r.path = append(r.path, strings.TrimSpace(attr("name")))
	case "BenchmarkResults":
		r.now = &catchResult{path: r.path, name: attr("name"), iterations: attr("iterations"), unit: "ns"}
		if n, err := strconv.ParseInt(attr("samples"), 10, 64); err == nil {
			r.now.samples = max(n, 0)
		}
	case "OverallResult":
		if attr("success") == "false" {
			r.tellTest(r.at(), "the test case "+quote(strings.Join(r.path, " / "))+" failed")
		}
	}
	if r.now == nil {
		return
	}
	level, err := strconv.ParseFloat(attr("ci"), 64)
	if err != nil {
		level = 0
	}
	switch t.Name.Local {
	case "mean":
		r.now.mean, r.now.level[0] = three(), level
	case "standardDeviation":
		r.now.stddev, r.now.level[1] = three(), level
	case "failed":
		r.now.failed = "failed: " + attr("message")
	}
}

func (r *catchReader) end(name string) error {
	switch {
	case name == "BenchmarkResults" && r.now != nil:
		now := r.now
		r.now = nil
		return r.add(now, r.at())
	case name == "TestCase":
		r.path = nil
	case name == "Section" && len(r.path) > 0:
		r.path = r.path[: len(r.path)-1 : len(r.path)-1]
	}
	return nil
}

// lineAt is the number of the line that holds an offset.
func lineAt(data []byte, offset int) int { return 1 + bytes.Count(data[:offset], []byte("\n")) }
