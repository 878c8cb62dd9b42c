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

var renaissance = Format{
	Name:    "renaissance",
	Tool:    "Renaissance",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "what `--json FILE` and `--csv FILE` of the Renaissance harness write, and the lines it prints (`====== NAME (GROUP) [CONFIG], iteration 0 completed (1.2 ms) ======`), with other output around them",
		Reads:  "the duration of every repetition as samples; what plugins measure per repetition (hardware counters and the like) as custom metrics; from JSON also the machine, the JVM and the start",
		Absent: "which repetitions are warm-up; in the CSV and the printed lines the machine; in JSON and CSV the configuration",
		Notes: []string{
			"All repetitions count. The first ones are slower while the JVM warms up, and the file does not say how many: run enough of them, or look at the drift that is labelled.",
			"A benchmark whose `termination` is not `normal` is failed, and so is one that the file lists without a repetition. `uptime_ns` and the start of the JVM are points in time, not metrics.",
			"A configuration other than `default`, which only the printed lines name, is a parameter. Repetitions of several JVMs in one file are blocks of one result.",
		},
	},
	Sniff: func(_ string, head []byte) Confidence {
		if renaissanceShape(head) != 0 {
			return Certain
		}
		return No
	},
	Decode: func(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
		r := renaissanceReader{s: perf.Suite{Module: in.Module, Kind: in.Kind}, at: map[string]int{}, block: map[string]int{}}
		var err error
		switch renaissanceShape(in.Data) {
		case renaissanceCSV:
			err = r.csv(in.Data)
		case renaissanceText:
			err = r.text(in.Data)
		default:
			err = r.json(in.Data)
		}
		if err != nil {
			return nil, r.told.all(), err
		}
		return []perf.Suite{r.s}, r.told.all(), nil
	},
}

// The shapes in which Renaissance reports.
const (
	renaissanceJSON = iota + 1
	renaissanceCSV
	renaissanceText
)

// renaissanceShape tells the shape of a file from its beginning, 0 for none.
func renaissanceShape(head []byte) int {
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	has := func(keys ...string) bool {
		return !slices.ContainsFunc(keys, func(k string) bool { return !bytes.Contains(head, []byte(`"`+k+`"`)) })
	}
	first, _, _ := bytes.Cut(trimmed, []byte("\n"))
	switch {
	case bytes.HasPrefix(trimmed, []byte("{")):
		if has("results", "duration_ns", "uptime_ns") || has("format_version", "benchmarks", "environment", "data") || has("format_version", "data", "results", "duration_ns") {
			return renaissanceJSON
		}
		return 0
	case bytes.HasPrefix(first, []byte("benchmark,")) && (bytes.Contains(first, []byte("duration_ns")) || bytes.Contains(first, []byte("vm_start_unix_ms"))):
		return renaissanceCSV
	}
	for line := range bytes.Lines(head) {
		if bytes.Contains(line, []byte(renaissanceMark)) {
			if _, ok := renaissanceLine(line); ok {
				return renaissanceText
			}
		}
	}
	return 0
}

// renaissanceReader collects the repetitions of a file.
type renaissanceReader struct {
	s     perf.Suite
	at    map[string]int // index in s.Benchmarks, by name and configuration
	block map[string]int // of the latest repetition, likewise
	told  problems
}

// benchmark returns the index of a result, which it makes if it is new.
func (r *renaissanceReader) benchmark(name, config string) (int, error) {
	key := name + "\x00" + config
	i, ok := r.at[key]
	if ok {
		return i, nil
	}
	i = len(r.s.Benchmarks)
	if i >= limits.Benchmarks {
		return 0, tooMany(0)
	}
	b := perf.Benchmark{Name: name, Rows: 1, Status: perf.OK, JobKind: perf.Default}
	if config != "" {
		b.Identity = []perf.Param{{Name: "config", Value: config}}
		if config != "default" {
			b.Params = b.Identity
		}
	}
	r.at[key] = i
	r.s.Benchmarks = append(r.s.Benchmarks, b)
	return i, nil
}

// renaissanceMetric is the metric behind a column; ok is false for one that
// holds no measurement.
func renaissanceMetric(column string) (m perf.Metric, ok bool) {
	switch column {
	case "duration_ns", "nanos":
		return perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: "ns", Scale: 1}}, true
	case "uptime_ns", "vm_start_unix_ms", "unixts.before", "unixts.after", "":
		return m, false
	}
	m = perf.Metric{Name: customPrefix + column, Better: perf.UnknownBetter, Source: perf.Source{Scale: 1}}
	if strings.HasSuffix(column, "_ns") {
		m.Unit, m.Source.Unit = perf.Nanoseconds, "ns"
	}
	return m, true
}

// add appends a measured value to a result's metric.
func (r *renaissanceReader) add(i int, column string, value float64, block, iter int) {
	m, ok := renaissanceMetric(column)
	if !ok {
		return
	}
	b := &r.s.Benchmarks[i]
	to := b.Metric(m.Name)
	if to == nil {
		if len(b.Metrics) > limits.MetricsPerBenchmark { // one more than allowed is enough to refuse it
			return
		}
		b.Metrics = append(b.Metrics, m)
		to = &b.Metrics[len(b.Metrics)-1]
	}
	sample(to, value, block, iter)
}

// json reads the document of `--json`.
func (r *renaissanceReader) json(data []byte) error {
	d := strictjson.NewDecoder(data, strictjson.Options{KeepGoing: true})
	if k := d.Kind(); k != strictjson.Object {
		return d.At(d.Offset(), "the document is %s, not an object with data", k)
	}
	var listed []string
	found := false
	for key := range fields(d) {
		switch string(key) {
		case "benchmarks":
			for ok := d.Array(); ok && d.More(); {
				if name, ok := d.Str(); ok && len(listed) < limits.Benchmarks {
					listed = append(listed, name)
				}
			}
		case "data":
			found = true
			for name := range fields(d) {
				if err := r.jsonBenchmark(d, string(name)); err != nil {
					return err
				}
			}
		case "environment":
			r.environment(d)
		case "suite":
			for key := range fields(d) {
				if string(key) == "version" {
					r.s.ToolVersion, _ = d.Str()
				} else {
					d.Skip()
				}
			}
		default:
			d.Skip()
		}
	}
	if err := d.End(); err != nil {
		if len(r.s.Benchmarks) == 0 {
			return err
		}
		r.cutOff(err)
		return nil // what stands before the fault is certain
	}
	if p := d.Problem(); p != nil { // a key given twice
		return p
	}
	if !found {
		return errors.New(`the document has no "data"`)
	}
	return r.missing(listed)
}

// cutOff tells that a file ends before it should.
func (r *renaissanceReader) cutOff(err error) {
	told := perf.Diagnostic{Severity: perf.Error, Code: "parse", What: "the rest of the file cannot be read", Why: err.Error(),
		Do: "The benchmarks before it are kept.", Err: err}
	var at *strictjson.Error
	if errors.As(err, &at) {
		told.Where.Line, told.Where.Col, told.Why = at.Line, at.Col, fmt.Sprintf("%s (byte %d)", at.Msg, at.Offset)
	}
	r.told.add(told)
}

// missing adds a failed result for every listed benchmark without data.
func (r *renaissanceReader) missing(listed []string) error {
	for _, name := range listed {
		had := len(r.s.Benchmarks)
		i, err := r.benchmark(name, "")
		if err != nil {
			return err
		}
		if i == had {
			b := &r.s.Benchmarks[i]
			b.Status, b.Reason = perf.Fail, "no-result: the file lists it without a repetition"
		}
	}
	return nil
}

// jsonBenchmark reads the repetitions of one benchmark. One that the document
// ends within is left out.
func (r *renaissanceReader) jsonBenchmark(d *strictjson.Decoder, name string) error {
	if p := d.Problem(); p != nil { // a key given twice
		return p
	}
	i, err := r.benchmark(name, "")
	if err != nil {
		return err
	}
	termination, repetitions := "", 0
	for key := range fields(d) {
		switch string(key) {
		case "termination":
			termination, _ = d.Str()
		case "results":
			for ok := d.Array(); ok && d.More(); {
				repetitions++
				r.jsonRepetition(d, i, repetitions)
			}
		default:
			d.Skip()
		}
	}
	b := &r.s.Benchmarks[i]
	switch {
	case d.Err() != nil:
		delete(r.at, name+"\x00")
		r.s.Benchmarks = slices.Delete(r.s.Benchmarks, i, i+1)
	case termination != "" && !strings.EqualFold(termination, "normal"):
		b.Status, b.Metrics = perf.Fail, nil
		b.Reason = fmt.Sprintf("failed: its termination was %s after %d repetitions", quote(termination), repetitions)
	case b.Metric(perf.Time) == nil:
		b.Status, b.Metrics, b.Reason = perf.Fail, nil, "no-result: the file has no duration for it"
	}
	return nil
}

func (r *renaissanceReader) jsonRepetition(d *strictjson.Decoder, i, iter int) {
	for key := range fields(d) {
		column := string(key)
		if _, ok := renaissanceMetric(column); !ok {
			d.Skip()
			continue
		}
		d.Kind() // moves past blanks
		offset := d.Offset()
		v, why := readJSONNumber(d)
		if x, ok := v.Get(); ok {
			r.add(i, column, x, 1, iter)
		} else if d.Err() == nil {
			r.refuse(r.s.Benchmarks[i].Name, d.At(offset, "%s %s", column, why))
		}
	}
	if p := d.Problem(); p != nil {
		r.refuse(r.s.Benchmarks[i].Name, p)
	}
}

func (r *renaissanceReader) refuse(name string, at *strictjson.Error) {
	told := refusedRecord(name, at)
	told.What, told.Do = "a value of "+quote(name)+" is refused", "The other repetitions are kept."
	r.told.add(told)
}

// environment reads what the document says about the machine and the JVM.
func (r *renaissanceReader) environment(d *strictjson.Decoder) {
	e := &r.s.Env
	count := func() int64 {
		if v, ok := d.Int(); ok && v > 0 {
			return v
		}
		return 0
	}
	toolchain := func(name string) {
		if v, ok := d.Str(); ok && v != "" {
			if e.Toolchain == nil {
				e.Toolchain = map[string]string{}
			}
			e.Toolchain[name] = v
		}
	}
	for key := range fields(d) {
		part := string(key)
		for key := range fields(d) {
			switch part + "." + string(key) {
			case "os.name":
				name, _ := d.Str()
				e.OS = operatingSystem(name)
			case "os.version":
				e.OSVersion, _ = d.Str()
			case "os.arch":
				e.Arch, _ = d.Str()
			case "os.available_processors":
				e.CPUCount = int(min(count(), 1<<20))
			case "os.phys_mem_total":
				e.MemoryBytes = count()
			case "vm.start_unix_ms":
				if ms := count(); ms > 0 && ms < 1<<48 {
					r.s.Started = time.UnixMilli(ms).UTC()
				}
			case "vm.name":
				toolchain("vm")
			case "jre.version":
				toolchain("jdk")
			case "vm.termination":
				if t, _ := d.Str(); t != "" && !strings.EqualFold(t, "normal") {
					r.told.add(perf.Diagnostic{Severity: perf.Notice, Code: "unfinished", What: "the JVM was ended from outside", Why: "its termination is " + quote(t)})
				}
			default:
				d.Skip()
			}
		}
	}
}
