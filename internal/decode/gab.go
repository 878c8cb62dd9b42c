package decode

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var githubActionBenchmark = Format{
	Name:    "github-action-benchmark",
	Aliases: []string{"gab-datajs"},
	Tool:    "github-action-benchmark",
	Version: 1,
	Kind:    perf.Bench,
	History: true,
	Doc: Doc{
		Files:  "`data.js`, which that action keeps on its branch (by default `dev/bench/data.js` on `gh-pages`); also the same document as JSON (`external-data-json-path`)",
		Reads:  "every run of every suite, with its start and commit: time, throughput, alloc_bytes and allocs by the unit, other units as custom metrics; stddev (BenchmarkDotNet), the 95 % interval (Benchmark.js), operations (Go, Google Benchmark), samples (Catch2, Benchmark.js, pytest-benchmark)",
		Absent: "samples, machine, package of a Go benchmark unless the file held several; what the action itself dropped. Of `extra` CPU time, mean, allocations and threads are not read",
		Notes: []string{
			"It holds the history of many runs, so it is no result of one run: `perfband decode FILE` prints it, `publish` refuses it by name and leaves it out of a folder.",
			"The suite is the module unless the caller names one; suite, tool and commit of a run stand in `identity`, its start and commit also in `started` and `commit`.",
			"`range` is kept as text in `identity` unless its meaning is certain. It is not for Catch2, where the action drops the unit of the deviation.",
			"Go: `BenchmarkX - UNIT` is a metric of BenchmarkX, and `BenchmarkX (PACKAGE)` belongs to that package. Values that the action stored twice, or within the text of a unit, are read once. `N procs` is a dimension when all rows of a run agree, else part of the name again.",
			"`customBiggerIsBetter` and `customSmallerIsBetter` decide the direction. A unit without a known meaning is `custom:value`, of unknown direction with other tools.",
		},
	},
	Sniff:  sniffGAB,
	Decode: decodeGAB,
}

// gabVariable is what the script assigns the document to.
const gabVariable = "window.BENCHMARK_DATA"

// gabDocument is where the JSON begins; ok is false when the file does not
// begin with the assignment.
func gabDocument(data []byte) (start int, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte(gabVariable))
	if !ok {
		return 0, false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte("="))
	return len(data) - len(rest), ok
}

func sniffGAB(_ string, head []byte) Confidence {
	if _, ok := gabDocument(head); ok {
		return Certain
	}
	if !bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) {
		return No
	}
	for _, key := range []string{`"lastUpdate"`, `"entries"`, `"benches"`} {
		if !bytes.Contains(head, []byte(key)) {
			return No
		}
	}
	return Certain
}

func decodeGAB(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	start, _ := gabDocument(in.Data)
	body := in.Data[start:]
	if statement, ok := bytes.CutSuffix(bytes.TrimRight(body, " \t\r\n"), []byte(";")); ok {
		body = statement
	}
	r := gabReader{
		in: in, start: start, d: strictjson.NewDecoder(body, strictjson.Options{KeepGoing: true}),
		words: map[string]string{}, metrics: map[gabUnit]perf.Metric{}, at: map[string]int{}, identities: map[gabExtension][]perf.Param{},
	}
	found := r.document()
	err := r.d.End()
	var fault *strictjson.Error
	switch {
	case errors.As(err, &fault):
		return nil, r.told.all(), r.shift(fault)
	case r.results > limits.Benchmarks:
		return nil, r.told.all(), tooMany(0)
	case !found:
		return nil, r.told.all(), errors.New(`the document has no "entries" with suites`)
	}
	if p := r.d.Problem(); p != nil {
		return nil, r.told.all(), r.shift(p)
	}
	return r.suites, r.told.all(), nil
}

// gabReader collects the runs of one file.
type gabReader struct {
	in      Input
	d       *strictjson.Decoder
	start   int // offset of the document in the file
	suites  []perf.Suite
	results int
	told    problems
	words   map[string]string // names and units, which repeat in every run
	metrics map[gabUnit]perf.Metric
	// Scratch for the run being read.
	rows, split []gabRow
	benchmarks  []perf.Benchmark
	at          map[string]int
	identities  map[gabExtension][]perf.Param
}

// gabExtension is an identity, by its first part, and what is added to it.
type gabExtension struct {
	of          *perf.Param
	name, value string
}

// gabRow is one value of a run.
type gabRow struct {
	name, unit    string
	value         float64
	spread, extra string // "range" and "extra"
	pkg           string
}

// shift moves a position in the document, which begins on the file's first
// line, to that in the file.
func (r *gabReader) shift(e *strictjson.Error) *strictjson.Error {
	moved := *e
	moved.Offset += r.start
	if moved.Line == 1 {
		moved.Col += r.start
	}
	return &moved
}

// refuseAt says why what begins at an offset is not kept.
func (r *gabReader) refuseAt(what string, offset int, why string) {
	fault := &strictjson.Error{}
	if !r.told.full("invalid") { // finding the line costs a pass over the file
		fault = r.d.At(offset, "%s", why)
	}
	r.refuse(what, fault)
}

// refuse says why something is not kept.
func (r *gabReader) refuse(what string, fault *strictjson.Error) {
	d := refusedRecord("", r.shift(fault))
	d.What = what
	r.told.add(d)
}

// word returns b as a string, equal ones as the same.
func (r *gabReader) word(b []byte) string {
	s, ok := r.words[string(b)]
	if !ok {
		s = string(b)
		r.words[s] = s
	}
	return s
}

// document reads all runs; false says that there is nothing to read.
func (r *gabReader) document() (found bool) {
	for key := range fields(r.d) {
		if string(key) != "entries" {
			r.d.Skip()
			continue
		}
		found = r.d.Kind() == strictjson.Object
		for name := range fields(r.d) {
			r.suite(r.word(name))
		}
	}
	return found
}

// suite reads the runs of one suite.
func (r *gabReader) suite(name string) {
	d := r.d
	kind, offset := d.Kind(), d.Offset()
	why := ""
	switch {
	case kind != strictjson.Array:
		why = "it is " + kind.String() + ", not an array"
	case len(name) > limits.NameBytes:
		why = fmt.Sprintf("its name has %d bytes, more than the limit of %d", len(name), limits.NameBytes)
	case strings.ContainsAny(name, "\x00\x01"): // keys are joined with these
		why = "its name holds a NUL or SOH character"
	}
	if why != "" {
		if d.Skip(); d.Err() == nil { // else told by the caller
			r.refuseAt("suite "+quote(name)+" is refused", offset, why)
		}
		return
	}
	for index, ok := 1, d.Array(); ok && d.More(); index++ {
		r.run(name, index)
	}
}

// run reads one run of a suite. Its keys may stand in any order.
func (r *gabReader) run(suite string, index int) {
	d := r.d
	kind, offset := d.Kind(), d.Offset()
	var fault *strictjson.Error
	// Faults so far are the run's own, not those of the values to come.
	note := func() {
		if p := d.Problem(); fault == nil {
			fault = p
		}
	}
	s := perf.Suite{Module: suite, Kind: r.in.Kind}
	if r.in.Module != "" {
		s.Module = r.in.Module
	} else if suite == "" {
		s.Module = DefaultModule
	}
	var commit string
	r.rows = r.rows[:0]
	for key := range fields(d) {
		note()
		switch string(key) {
		case "commit":
			commit, s.Commit = r.commit()
		case "date":
			ms, _ := d.Int()
			if t := time.UnixMilli(ms).UTC(); ms > 0 && isYear(t) {
				s.Started = t
			}
		case "tool":
			b, _ := d.Text()
			s.Tool = r.word(b)
		case "benches":
			r.benches()
		default:
			d.Skip()
		}
	}
	note()
	switch {
	case d.Err() != nil: // told by the caller
		return
	case r.results > limits.Benchmarks: // told at the end
		return
	case kind != strictjson.Object:
		r.refuseAt(fmt.Sprintf("run %d of suite %s is refused", index, quote(suite)), offset, "it is "+kind.String()+", not an object")
		return
	case fault != nil:
		r.refuse(fmt.Sprintf("run %d of suite %s is refused", index, quote(suite)), fault)
		return
	case len(r.rows) == 0:
		return
	case s.Started.IsZero():
		r.told.add(perf.Diagnostic{Severity: perf.Warning, Code: "ignored",
			What: fmt.Sprintf("run %d of suite %s has no date in milliseconds since 1970; when it ran is unknown", index, quote(suite))})
	}
	s.Benchmarks = r.assemble(s.Tool, gabIdentity(suite, s.Tool, commit))
	r.results += len(s.Benchmarks)
	r.suites = append(r.suites, s)
}

// isYear reports whether RFC 3339 can write a time.
func isYear(t time.Time) bool { return 1 <= t.Year() && t.Year() <= 9999 }

func gabIdentity(suite, tool, commit string) []perf.Param {
	out := make([]perf.Param, 0, 3)
	for _, p := range []perf.Param{{Name: "suite", Value: suite}, {Name: "tool", Value: tool}, {Name: "commit", Value: commit}} {
		if p.Value != "" {
			out = append(out, p)
		}
	}
	return out
}

// commit reads what a webhook said about the commit. It may hold any text, and
// none of it is worth losing a measurement for: what is no use is unknown.
func (r *gabReader) commit() (id string, c perf.Commit) {
	d := r.d
	for key := range fields(d) {
		switch string(key) {
		case "id":
			id, _ = d.Str()
			if isHash(id) {
				c.SHA = id
			}
		case "message":
			b, _ := d.Text()
			line, _, _ := bytes.Cut(b, []byte("\n"))
			c.Subject = string(bytes.TrimSpace(line))
		case "timestamp":
			b, _ := d.Text()
			if t, err := time.Parse(time.RFC3339, string(b)); err == nil && isYear(t.UTC()) {
				c.Time = t.UTC()
			}
		case "author":
			for key := range fields(d) {
				if string(key) != "name" {
					d.Skip()
					continue
				}
				b, _ := d.Text()
				c.Author = r.word(b)
			}
		default:
			d.Skip()
		}
	}
	if d.Problem() != nil {
		return "", perf.Commit{}
	}
	return id, c
}

// isHash reports whether s can be the whole name of a commit.
func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// benches reads the values of a run into r.rows.
func (r *gabReader) benches() {
	d := r.d
	for index, ok := 1, d.Array(); ok && d.More(); index++ {
		d.Kind() // moves past blanks, to where the record begins
		offset := d.Offset()
		row, why := r.row()
		fault := d.Problem()
		what := func() string {
			if row.name == "" {
				return fmt.Sprintf("value %d of a run is refused", index)
			}
			return quote(row.name) + " is refused"
		}
		switch {
		case d.Err() != nil: // told by the caller
		case len(r.rows) >= limits.Benchmarks:
			r.results = limits.Benchmarks + 1 // told at the end
		case fault != nil:
			r.refuse(what(), fault)
		case why != "":
			r.refuseAt(what(), offset, why)
		default:
			r.rows = append(r.rows, row)
		}
	}
}

// row reads one value; why says what is wrong with it.
func (r *gabReader) row() (row gabRow, why string) {
	d := r.d
	if d.Kind() != strictjson.Object {
		d.Skip()
		return row, "it is not an object"
	}
	hasUnit, hasValue := false, false
	for key := range fields(d) {
		fault := ""
		switch string(key) {
		case "name":
			row.name, fault = r.readWord("name")
		case "unit":
			hasUnit = true
			row.unit, fault = r.readWord("unit")
		case "value":
			hasValue = true
			row.value, fault = readGABNumber(d)
		case "range":
			b, _ := d.Text()
			row.spread = string(b)
		case "extra":
			b, _ := d.Text()
			row.extra = string(b)
		default:
			d.Skip()
		}
		if fault != "" && why == "" {
			why = "its " + fault
		}
	}
	switch {
	case why != "":
	case row.name == "":
		why = "it has no name"
	case !hasUnit:
		why = "it has no unit"
	case !hasValue:
		why = "it has no value"
	}
	return row, why
}
