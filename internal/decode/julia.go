package decode

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var julia = Format{
	Name:    "julia",
	Aliases: []string{"benchmarktools"},
	Tool:    "BenchmarkTools.jl",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "what `BenchmarkTools.save(FILE, results)` writes, and the result files of PkgBenchmark.jl, which hold such a text",
		Reads:  "of a `Trial` the time and garbage collection time of every sample, of a `TrialEstimate` its one time; memory and allocations; the Julia version; of PkgBenchmark.jl also start and commit",
		Absent: "which estimate (minimum, median, mean) a `TrialEstimate` is; the machine and the start in BenchmarkTools' own files",
		Notes: []string{
			"The keys of nested groups, joined by `/`, are the name; a `/` inside a key is `\\/` in the name.",
			"Of several values in one file the results of the second and later ones begin with `#2/`, `#3/`, …",
			"`TrialRatio` and `TrialJudgement` compare two runs and are not read; `Parameters` are no results.",
			"Memory and allocations are those of the sample that had least, as the tool keeps them. Where no sample collected garbage its time is one 0.",
		},
	},
	Sniff:  sniffJulia,
	Decode: decodeJulia,
}

func sniffJulia(_ string, head []byte) Confidence {
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(trimmed, []byte("{")) && bytes.Contains(head, []byte(`"benchmarkgroup"`)) && bytes.Contains(head, []byte("BenchmarkTools")):
		return Certain
	case !bytes.HasPrefix(trimmed, []byte("[")) || !bytes.Contains(head, []byte(`"BenchmarkTools"`)):
		return No
	case bytes.Contains(head, []byte(`Trial"`)) || bytes.Contains(head, []byte(`TrialEstimate"`)):
		return Certain
	}
	return Likely // tuned parameters are saved in the same shape
}

// juliaReader walks the values of one document.
type juliaReader struct {
	d      *strictjson.Decoder
	s      *perf.Suite
	told   problems
	path   []string
	prefix string // of the names under the value it is in
	others int    // values that compare or configure
}

func decodeJulia(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	data := in.Data
	d := strictjson.NewDecoder(data, strictjson.Options{})
	if d.Kind() == strictjson.Object {
		inner, err := readPkgBenchmark(d, &s)
		if err != nil {
			return nil, nil, err
		}
		data = inner
	}
	r := juliaReader{d: strictjson.NewDecoder(data, strictjson.Options{KeepGoing: true, NaN: true}), s: &s}
	if err := r.document(); err != nil {
		return nil, r.told.all(), err
	}
	r.groupProblem()
	if r.others > 0 {
		r.told.add(perf.Diagnostic{Severity: perf.Notice, Code: "ignored", What: fmt.Sprintf("%d values are no results of one run and are not read", r.others),
			Why: "ratios and judgements compare two runs"})
	}
	return []perf.Suite{s}, r.told.all(), nil
}

// readPkgBenchmark reads the object of PkgBenchmark.jl and returns the document
// of BenchmarkTools within.
func readPkgBenchmark(d *strictjson.Decoder, s *perf.Suite) (inner []byte, err error) {
	for key := range fields(d) {
		switch string(key) {
		case "benchmarkgroup":
			text, _ := d.Str()
			inner = []byte(text)
		case "date":
			text, _ := d.Str()
			s.Started, _ = time.Parse("2006-01-02T15:04:05.999", text)
		case "commit":
			if text, _ := d.Str(); text != "dirty" {
				s.Commit.SHA = text
			}
		default:
			d.Skip()
		}
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	if len(inner) == 0 {
		return nil, errors.New(`the document has no text "benchmarkgroup"`)
	}
	return inner, nil
}

// document reads [versions, [value, ...]].
func (r *juliaReader) document() error {
	d := r.d
	if d.Kind() != strictjson.Array {
		return d.At(d.Offset(), "the document is %s, not a list of versions and values", d.Kind())
	}
	for i, ok := 0, d.Array(); ok && d.More(); i++ {
		switch {
		case i == 0 && d.Kind() == strictjson.Object:
			r.versions()
		case d.Kind() == strictjson.Array:
			if err := r.values(); err != nil {
				return err
			}
		default:
			d.Skip()
		}
	}
	return d.End()
}

func (r *juliaReader) versions() {
	for key := range fields(r.d) {
		text, _ := r.d.Str()
		switch string(key) {
		case "Julia":
			r.s.Env.Toolchain = map[string]string{"julia": text}
		case "BenchmarkTools":
			r.s.ToolVersion = text
		}
	}
}

// values reads the values given to one call of save.
func (r *juliaReader) values() error {
	with := 0
	for ok := r.d.Array(); ok && r.d.More(); {
		before := len(r.s.Benchmarks)
		r.prefix = ""
		if with > 0 {
			r.prefix = fmt.Sprintf("#%d/", with+1)
		}
		if err := r.value(); err != nil {
			return err
		}
		if len(r.s.Benchmarks) > before {
			with++
		}
	}
	return nil
}

// value reads ["TYPE", {fields}].
func (r *juliaReader) value() error {
	d := r.d
	kind, read := "", false
	for i, ok := 0, d.Array(); ok && d.More(); i++ {
		switch {
		case i == 0 && d.Kind() == strictjson.String:
			kind, _ = d.Str()
			kind = strings.TrimPrefix(kind, "BenchmarkTools.")
		case i == 1 && d.Kind() == strictjson.Object && kind == "BenchmarkGroup":
			read = true
			if err := r.group(); err != nil {
				return err
			}
		case i == 1 && d.Kind() == strictjson.Object && (kind == "Trial" || kind == "TrialEstimate"):
			read = true
			if err := r.trial(); err != nil {
				return err
			}
		default:
			d.Skip()
		}
	}
	if !read && kind != "Parameters" && kind != "TagFilter" {
		r.others++
	}
	return d.Err()
}

// groupProblem tells a fault of an object around the trials.
func (r *juliaReader) groupProblem() {
	if p := r.d.Problem(); p != nil {
		r.told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid", What: "a group has a fault; the results that can be read are kept",
			Why: fmt.Sprintf("%s (byte %d)", p.Msg, p.Offset), Where: perf.Where{Line: p.Line, Col: p.Col}})
	}
}

func (r *juliaReader) group() error {
	for key := range fields(r.d) {
		if string(key) != "data" || r.d.Kind() != strictjson.Object {
			r.d.Skip()
			continue
		}
		for name := range fields(r.d) {
			r.path = append(r.path, string(name))
			if err := r.value(); err != nil {
				return err
			}
			r.path = r.path[:len(r.path)-1]
		}
	}
	return r.d.Err()
}

// juliaTrial holds the fields of a Trial or a TrialEstimate.
type juliaTrial struct {
	times, gcTimes []float64 // of a Trial
	time, gcTime   perf.Num  // of a TrialEstimate
	memory, allocs perf.Num
	evals          int64
	lost           int    // samples without a number
	why            string // what is wrong with it
}

func (r *juliaReader) trial() error {
	d := r.d
	r.groupProblem()
	d.Kind()
	offset := d.Offset()
	var t juliaTrial
	number := func(key string, into *perf.Num) {
		if k := d.Kind(); k == strictjson.Null || k == strictjson.NaN {
			d.Skip() // the tool writes null for Inf and NaN
			return
		}
		v, why := readJSONNumber(d)
		if v.Or(0) < 0 {
			v, why = perf.Num{}, "is negative"
		}
		if why != "" && t.why == "" {
			t.why = key + " " + why
		}
		*into = v
	}
	for key := range fields(d) {
		switch string(key) {
		case "times":
			t.times = t.list(d)
		case "gctimes":
			t.gcTimes = t.list(d)
		case "time":
			number("time", &t.time)
		case "gctime":
			number("gctime", &t.gcTime)
		case "memory":
			number("memory", &t.memory)
		case "allocs":
			number("allocs", &t.allocs)
		case "params":
			t.evals = juliaEvals(d)
		default:
			d.Skip()
		}
	}
	if d.Err() != nil {
		return d.Err()
	}
	if p := d.Problem(); p != nil {
		r.told.add(refusedRecord(strings.Join(r.path, "/"), p))
		return nil
	}
	if t.why != "" && t.measured() {
		r.told.add(refusedRecord(strings.Join(r.path, "/"), d.At(offset, "%s", t.why)))
		return nil
	}
	if t.lost > 0 {
		r.told.add(perf.Diagnostic{Severity: perf.Warning, Code: "ignored", What: fmt.Sprintf("%s: %d samples have no number", quote(strings.Join(r.path, "/")), t.lost)})
	}
	if len(r.s.Benchmarks) >= limits.Benchmarks {
		return tooMany(0)
	}
	r.s.Benchmarks = append(r.s.Benchmarks, t.benchmark(r.path, r.prefix))
	return nil
}

// list reads a list of times; null stands for no number.
func (t *juliaTrial) list(d *strictjson.Decoder) []float64 {
	var out []float64
	for ok := d.Array(); ok && d.More(); {
		if k := d.Kind(); k == strictjson.Null || k == strictjson.NaN {
			d.Skip()
			t.lost++
			continue
		}
		v, why := readJSONNumber(d)
		if x, ok := v.Get(); ok && x >= 0 {
			out = append(out, x)
		} else if t.why == "" {
			if why == "" {
				why = "is negative"
			}
			t.why = "a sample " + why
		}
	}
	return slices.Clip(out)
}

// juliaEvals reads ["Parameters", {...}] for the evaluations of one sample.
func juliaEvals(d *strictjson.Decoder) (evals int64) {
	for ok := d.Array(); ok && d.More(); {
		if d.Kind() != strictjson.Object {
			d.Skip()
			continue
		}
		for key := range fields(d) {
			if string(key) != "evals" {
				d.Skip()
				continue
			}
			if n, ok := d.Int(); ok && n > 0 {
				evals = n
			}
		}
	}
	return evals
}

func (t *juliaTrial) measured() bool { return len(t.times) > 0 || !t.time.IsZero() }

func (t *juliaTrial) benchmark(path []string, prefix string) perf.Benchmark {
	plain := strings.Join(path, "/")
	escaped := make([]string, len(path))
	for i, key := range path {
		escaped[i] = strings.ReplaceAll(key, "/", `\/`)
	}
	b := perf.Benchmark{Name: prefix + strings.Join(escaped, "/"), Rows: 1, Status: perf.OK, JobKind: perf.Default}
	switch {
	case plain == "":
		b.Name = prefix + "trial" // saved without a group, it has no name
	case plain != b.Name && prefix == "":
		b.Label = plain
	}
	b.Identity = append(b.Identity, perf.Param{Name: "path", Value: plain})
	if !t.measured() { // its memory is then the largest integer there is
		b.Status, b.Reason = perf.Fail, "no-measurement: it has no time"
		return b
	}
	ns := perf.Source{Unit: "ns", Scale: 1}
	b.Metrics = append(b.Metrics, t.metric(perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Source: ns}, t.times, t.time)...)
	if len(t.gcTimes) > 0 && !slices.ContainsFunc(t.gcTimes, func(v float64) bool { return v != 0 }) {
		t.gcTimes, t.gcTime = nil, perf.Some(0) // the usual case, for which a list would say no more
	}
	b.Metrics = append(b.Metrics, t.metric(perf.Metric{Name: "gc_time", Unit: perf.Nanoseconds, Source: ns}, t.gcTimes, t.gcTime)...)
	b.Metrics = append(b.Metrics, t.metric(perf.Metric{Name: perf.AllocBytes, Unit: perf.Bytes, Source: perf.Source{Unit: "bytes", Scale: 1}}, nil, t.memory)...)
	b.Metrics = append(b.Metrics, t.metric(perf.Metric{Name: perf.Allocs, Unit: perf.Count, Source: perf.Source{Unit: "count", Scale: 1}}, nil, t.allocs)...)
	return b
}

// metric fills one metric, if there is a number for it.
func (t *juliaTrial) metric(m perf.Metric, samples []float64, single perf.Num) []perf.Metric {
	m.Better = perf.Lower
	m.Samples = make([]perf.Sample, 0, len(samples))
	for i, v := range samples {
		sample(&m, v, 0, i+1)
		m.Samples[i].Ops = t.evals
	}
	reported(&m, "value", single, 0)
	if len(m.Samples) == 0 && len(m.Reported) == 0 {
		return nil
	}
	return []perf.Metric{m}
}
