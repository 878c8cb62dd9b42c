package decode

import (
	"bytes"
	"fmt"
	"time"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var customJSON = Format{
	Name:    "json",
	Aliases: []string{"custom", aliasSmaller, aliasBigger},
	Tool:    "custom",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "any `.json` of the shape described below; also the list of `{name, unit, value}` that github-action-benchmark calls customSmallerIsBetter and customBiggerIsBetter",
		Reads:  "every metric of every benchmark: samples, or the statistics given",
		Absent: "nothing: what the file does not say is unknown",
		Notes: []string{
			"A list of `{name, unit, value}` does not tell which direction is better. Set `format` to `customSmallerIsBetter` or `customBiggerIsBetter`; with `json` or `auto` the direction is unknown. Its metric is `custom:value` in the file's own unit; `range` is kept as text, `extra` is not read.",
			"A record with a key given twice, a number out of range or an integer that a 64-bit float cannot hold is refused; its neighbours are kept.",
		},
	},
	Sniff:  sniffJSON,
	Decode: decodeJSON,
}

const (
	aliasSmaller = "customSmallerIsBetter"
	aliasBigger  = "customBiggerIsBetter"
	// resultsSchema is the newest schema of our own document.
	resultsSchema = 1
)

func sniffJSON(_ string, head []byte) Confidence {
	head = bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"schema"`)) && bytes.Contains(head, []byte(`"results"`)) &&
		bytes.Contains(head, []byte(`"benchmarks"`)):
		return Certain
	case bytes.HasPrefix(head, []byte("[")) && bytes.Contains(head, []byte(`"name"`)) && bytes.Contains(head, []byte(`"unit"`)) &&
		bytes.Contains(head, []byte(`"value"`)):
		return Likely
	}
	return No
}

func decodeJSON(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	r := jsonReader{
		in: in, d: strictjson.NewDecoder(in.Data, strictjson.Options{KeepGoing: true}),
		suiteOf: map[string]int{}, unknown: map[string]bool{},
	}
	var err error
	if r.d.Kind() == strictjson.Array {
		r.list()
	} else {
		err = r.document()
	}
	if err != nil {
		return nil, r.told.all(), err
	}
	if err := r.d.End(); err != nil {
		return nil, r.told.all(), err
	}
	if p := r.d.Problem(); p != nil {
		return nil, r.told.all(), p
	}
	if r.results > limits.Benchmarks {
		return nil, r.told.all(), tooMany(0)
	}
	return r.suites, r.told.all(), nil
}

// jsonReader collects the results of one document.
type jsonReader struct {
	in      Input
	d       *strictjson.Decoder
	suites  []perf.Suite
	suiteOf map[string]int // by module
	results int
	told    problems
	unknown map[string]bool // keys already warned about
}

// add puts a result into the suite of its module.
func (r *jsonReader) add(module string, b perf.Benchmark) {
	if r.results++; r.results > limits.Benchmarks {
		return // told at the end
	}
	i, ok := r.suiteOf[module]
	if !ok {
		i = len(r.suites)
		r.suiteOf[module] = i
		r.suites = append(r.suites, perf.Suite{Module: module})
	}
	r.suites[i].Benchmarks = append(r.suites[i].Benchmarks, b)
}

// refuse says why a record is not kept.
func (r *jsonReader) refuse(index int, name string, offset int, why string) {
	d := refusedRecord(name, r.d.At(offset, "%s", why))
	if name == "" {
		d.What = fmt.Sprintf("record %d is refused", index+1)
	}
	r.told.add(d)
}

// list reads [{"name", "unit", "value", "range", "extra"}].
func (r *jsonReader) list() {
	better := perf.UnknownBetter
	switch r.in.Asked {
	case aliasSmaller:
		better = perf.Lower
	case aliasBigger:
		better = perf.Higher
	}
	index := -1
	for ok := r.d.Array(); ok && r.d.More(); {
		index++
		r.d.Kind() // moves past blanks, to where the record begins
		offset := r.d.Offset()
		name, b, why := r.listRecord(better)
		if p := r.d.Problem(); p != nil {
			why, offset = p.Msg, p.Offset
		}
		switch {
		case r.d.Err() != nil: // told by the caller
		case why != "":
			r.refuse(index, name, offset, why)
		default:
			r.add(r.in.Module, b)
		}
	}
	for i := range r.suites {
		r.suites[i].Kind = r.in.Kind
	}
}

func (r *jsonReader) listRecord(better perf.Better) (name string, b perf.Benchmark, why string) {
	d := r.d
	var unit, spread string
	var value perf.Num
	missing := map[string]string{"name": "it has no name", "unit": "it has no unit", "value": "it has no value"}
	isObject := d.Kind() == strictjson.Object
	for key := range fields(d) {
		k := string(key)
		delete(missing, k)
		fault := ""
		switch k {
		case "name":
			name, fault = readJSONString(d)
		case "unit":
			unit, fault = readJSONString(d)
		case "value":
			value, fault = readJSONNumber(d)
		case "range":
			if d.Kind() == strictjson.String {
				spread, _ = d.Str()
			} else {
				spread = string(d.Raw())
			}
		default:
			d.Skip()
		}
		if fault != "" && why == "" {
			why = k + " " + fault
		}
	}
	switch {
	case !isObject:
		return "", b, "it is not an object"
	case why != "":
		return name, b, why
	}
	for _, k := range []string{"name", "unit", "value"} {
		if missing[k] != "" {
			return name, b, missing[k]
		}
	}
	v, _ := value.Get()
	b = perf.Benchmark{Name: name, Rows: 1, Status: perf.OK, JobKind: perf.Default, Metrics: []perf.Metric{{
		Name: customPrefix + "value", Unit: perf.Unit(unit), Better: better,
		Reported: []perf.Reported{{Stat: "value", Value: v}}, Source: perf.Source{Unit: unit, Scale: 1},
	}}}
	if spread != "" {
		b.Identity = []perf.Param{{Name: "range", Value: spread}}
	}
	return name, b, ""
}

// document reads our own schema.
func (r *jsonReader) document() error {
	d := r.d
	var schema int64
	var kind string
	var common perf.Suite
	for key := range fields(d) {
		switch k := string(key); k {
		case "schema":
			schema, _ = d.Int()
		case "kind":
			kind, _ = d.Str()
		case "run_kind":
			s, _ := d.Str()
			common.Kind = perf.Kind(s)
			if common.Kind.Folder() == "" {
				return fmt.Errorf("run_kind %s is none of bench, load, corun", quote(s))
			}
		case "tool":
			common.Tool, common.ToolVersion = r.tool()
		case "started":
			s, _ := d.Str()
			t, err := time.Parse(time.RFC3339, s)
			if err != nil {
				return fmt.Errorf("started %s is not a time such as 2026-01-31T12:00:00Z", quote(s))
			}
			common.Started = t.UTC()
		case "env":
			common.Env = r.env()
		case "benchmarks":
			if p := d.Problem(); p != nil {
				return p
			}
			index := -1
			for ok := d.Array(); ok && d.More(); {
				index++
				r.benchmark(index)
			}
		default:
			r.skipUnknown(k, documentKeys)
		}
	}
	switch {
	case d.Err() != nil:
		return nil // told by the caller
	case kind != "results" || schema == 0:
		return fmt.Errorf(`the document needs "schema": %d and "kind": "results"`, resultsSchema)
	case schema > resultsSchema:
		return fmt.Errorf("schema %d was written for a newer perfband; update the action", schema)
	}
	for i := range r.suites {
		s := &r.suites[i]
		s.Kind, s.Tool, s.ToolVersion, s.Started, s.Env = common.Kind, common.Tool, common.ToolVersion, common.Started, common.Env
		if r.in.Kind != "" {
			s.Kind = r.in.Kind
		}
	}
	return nil
}

// The keys of our own schema, for hints at misspelt ones.
var (
	documentKeys  = []string{"schema", "kind", "run_kind", "tool", "started", "env", "benchmarks"}
	benchmarkKeys = []string{"module", "name", "params", "job", "job_kind", "dims", "docref", "metrics", "status", "reason"}
	metricKeys    = []string{"name", "unit", "better", "exact", "samples", "ops", "n", "value", "mean", "median", "stddev", "stderr", "min", "max", "ci"}
	envKeys       = []string{"os", "os_version", "kernel", "arch", "cpu_model", "cpu_count", "memory_bytes", "toolchain"}
)

// skipUnknown passes over a key that the schema does not have, with one warning
// for each spelling.
func (r *jsonReader) skipUnknown(key string, known []string) {
	offset := r.d.Offset()
	r.d.Skip()
	if r.unknown[key] || len(r.unknown) >= 20 {
		return
	}
	r.unknown[key] = true
	at := r.d.At(offset, "")
	w := perf.Diagnostic{Severity: perf.Warning, Code: "unknown-key", Where: perf.Where{Line: at.Line, Col: at.Col},
		What: fmt.Sprintf("unknown key %s is ignored", quote(key))}
	if n := nearest(key, known); n != "" {
		w.Do = fmt.Sprintf("Did you mean %q?", n)
	}
	r.told.add(w)
}

func (r *jsonReader) tool() (name, version string) {
	for key := range fields(r.d) {
		switch string(key) {
		case "name":
			name, _ = r.d.Str()
		case "version":
			version, _ = r.d.Str()
		default:
			r.skipUnknown(string(key), []string{"name", "version"})
		}
	}
	return name, version
}

func (r *jsonReader) env() perf.Env {
	var e perf.Env
	d := r.d
	for key := range fields(d) {
		switch string(key) {
		case "os":
			e.OS, _ = d.Str()
		case "os_version":
			e.OSVersion, _ = d.Str()
		case "kernel":
			e.Kernel, _ = d.Str()
		case "arch":
			e.Arch, _ = d.Str()
		case "cpu_model":
			e.CPUModel, _ = d.Str()
		case "cpu_count":
			if n, ok := d.Int(); ok && n > 0 && n < 1<<20 {
				e.CPUCount = int(n)
			}
		case "memory_bytes":
			if n, ok := d.Int(); ok && n > 0 {
				e.MemoryBytes = n
			}
		case "toolchain":
			for name := range fields(d) {
				key := string(name)
				if e.Toolchain == nil {
					e.Toolchain = map[string]string{}
				}
				e.Toolchain[key], _ = d.Str()
			}
		default:
			r.skipUnknown(string(key), envKeys)
		}
	}
	return e
}
