package decode

import (
	"fmt"
	"slices"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// dotnetHost is HostEnvironmentInfo.
type dotnetHost struct {
	version, os, cpu, arch, sdk, runtime string
	cpus                                 int64
}

// dotnetEntry is one element of Benchmarks.
type dotnetEntry struct {
	display, namespace, typ, method, title, params, fullName text
	measured                                                 bool // Statistics is an object
	stats                                                    dotnetStats
	original                                                 []float64
	rows                                                     []perf.Sample
	resultRows                                               bool // rows holds the tool's own result rows
	operations                                               int64
	alloc                                                    perf.Num
	gc                                                       [3]perf.Num
	metrics                                                  []perf.Metric
}

// text is a string of the file; set is false for null or absent.
type text struct {
	s   string
	set bool
}

func readText(d *strictjson.Decoder) text {
	s, ok := d.Str()
	return text{s, ok}
}

func readNum(d *strictjson.Decoder) perf.Num {
	if v, ok := d.Float(); ok {
		return perf.Some(v)
	}
	return perf.Num{}
}

// decodeDotNetJSON reads full and brief JSON in one pass. NaN and "" stand for
// absent numbers: older and newer versions write them when N is 1.
func decodeDotNetJSON(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	d := strictjson.NewDecoder(in.Data, strictjson.Options{NaN: true, KeepGoing: true})
	var (
		title   string
		host    dotnetHost
		entries []dotnetEntry
		told    problems
		scratch dotnetScratch
	)
	for key := range fields(d) {
		switch string(key) {
		case "Title":
			title, _ = d.Str()
		case "HostEnvironmentInfo":
			host = readDotNetHost(d)
		case "Benchmarks":
			if p := d.Problem(); p != nil {
				return nil, nil, p
			}
			for ok := d.Array(); ok && d.More(); {
				e := readDotNetEntry(d, &scratch)
				if p := d.Problem(); p != nil {
					told.add(refusedRecord(e.fullName.s, p))
					continue
				}
				if len(entries) >= limits.Benchmarks {
					return nil, told.all(), tooMany(0)
				}
				entries = append(entries, e)
			}
		default:
			d.Skip()
		}
	}
	if err := d.End(); err != nil {
		return nil, nil, err
	}
	if p := d.Problem(); p != nil {
		return nil, nil, p
	}
	s := perf.Suite{
		Module: in.Module, Kind: in.Kind, ToolVersion: host.version, Started: dotnetStarted(title), Env: host.env(),
		Benchmarks: make([]perf.Benchmark, 0, len(entries)),
	}
	for i := range entries {
		if b, ok := entries[i].benchmark(host, &told); ok {
			s.Benchmarks = append(s.Benchmarks, b)
		}
	}
	return []perf.Suite{s}, told.all(), nil
}

// fields iterates over the keys of the next value if it is an object.
func fields(d *strictjson.Decoder) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		if !d.Object() {
			return
		}
		for {
			key, ok := d.Key()
			if !ok || !yield(key) {
				return
			}
		}
	}
}

// refusedRecord is the diagnostic for one record with a fault of its own.
func refusedRecord(name string, p *strictjson.Error) perf.Diagnostic {
	what := "a result is refused"
	if name != "" {
		what = quote(name) + " is refused"
	}
	return perf.Diagnostic{
		Severity: perf.Error, Code: "invalid", What: what, Why: fmt.Sprintf("%s (byte %d)", p.Msg, p.Offset),
		Where: perf.Where{Line: p.Line, Col: p.Col}, Do: "The other results are kept.", Err: p,
	}
}

func readDotNetHost(d *strictjson.Decoder) dotnetHost {
	var h dotnetHost
	for key := range fields(d) {
		switch string(key) {
		case "BenchmarkDotNetVersion":
			h.version, _ = d.Str()
		case "OsVersion":
			h.os, _ = d.Str()
		case "ProcessorName":
			h.cpu, _ = d.Str()
		case "LogicalCoreCount":
			h.cpus, _ = d.Int()
		case "RuntimeVersion":
			h.runtime, _ = d.Str()
		case "Architecture":
			h.arch, _ = d.Str()
		case "DotNetCliVersion":
			h.sdk, _ = d.Str()
		default:
			d.Skip()
		}
	}
	return h
}

func (h dotnetHost) env() perf.Env {
	e := perf.Env{OS: operatingSystem(h.os), OSVersion: h.os, Arch: h.arch, CPUModel: strings.TrimSpace(h.cpu)}
	if h.cpus > 0 && h.cpus < 1<<20 {
		e.CPUCount = int(h.cpus)
	}
	for _, t := range []struct{ name, version string }{{"dotnet-sdk", h.sdk}, {"dotnet-runtime", h.runtime}} {
		if t.version != "" {
			if e.Toolchain == nil {
				e.Toolchain = map[string]string{}
			}
			e.Toolchain[t.name] = t.version
		}
	}
	return e
}

func readDotNetEntry(d *strictjson.Decoder, scratch *dotnetScratch) dotnetEntry {
	var e dotnetEntry
	for key := range fields(d) {
		switch string(key) {
		case "DisplayInfo":
			e.display = readText(d)
		case "Namespace":
			e.namespace = readText(d)
		case "Type":
			e.typ = readText(d)
		case "Method":
			e.method = readText(d)
		case "MethodTitle":
			e.title = readText(d)
		case "Parameters":
			e.params = readText(d)
		case "FullName":
			e.fullName = readText(d)
		case "Statistics":
			e.measured = d.Kind() == strictjson.Object
			e.stats, e.original = readDotNetStats(d, scratch)
		case "Memory":
			e.readMemory(d)
		case "Measurements":
			e.rows, e.resultRows = readDotNetMeasurements(d, scratch)
		case "Metrics":
			e.readMetrics(d)
		default:
			d.Skip()
		}
	}
	return e
}

func (e *dotnetEntry) readMemory(d *strictjson.Decoder) {
	for key := range fields(d) {
		switch string(key) {
		case "Gen0Collections":
			e.gc[0] = readNum(d)
		case "Gen1Collections":
			e.gc[1] = readNum(d)
		case "Gen2Collections":
			e.gc[2] = readNum(d)
		case "TotalOperations":
			e.operations, _ = d.Int()
		case "BytesAllocatedPerOperation":
			e.alloc = readNum(d)
		default:
			d.Skip()
		}
	}
}

// readMetrics reads what diagnosers add. The memory diagnoser's are left out:
// Memory has them unrounded.
func (e *dotnetEntry) readMetrics(d *strictjson.Decoder) {
	for ok := d.Array(); ok && d.More(); {
		var value perf.Num
		var id, unit string
		better := perf.UnknownBetter
		for key := range fields(d) {
			switch string(key) {
			case "Value":
				value = readNum(d)
			case "Descriptor":
				id, unit, better = readDotNetDescriptor(d)
			default:
				d.Skip()
			}
		}
		v, present := value.Get()
		if !present || id == "" || slices.Contains([]string{"Gen0Collects", "Gen1Collects", "Gen2Collects", "Allocated Memory"}, id) {
			continue
		}
		m := perf.Metric{Name: customPrefix + id, Better: better, Reported: []perf.Reported{{Stat: "value", Value: v}},
			Source: perf.Source{Unit: unit, Scale: 1}}
		switch unit {
		case "Count", "":
			m.Unit = perf.Count
		default:
			m.Unit = perf.Unit(unit)
		}
		e.metrics = append(e.metrics, m)
	}
}

func readDotNetDescriptor(d *strictjson.Decoder) (id, unit string, better perf.Better) {
	better = perf.UnknownBetter
	for key := range fields(d) {
		switch string(key) {
		case "Id":
			id, _ = d.Str()
		case "Unit":
			unit, _ = d.Str()
		case "TheGreaterTheBetter":
			if greater, ok := d.Bool(); ok {
				better = perf.Lower
				if greater {
					better = perf.Higher
				}
			}
		default:
			d.Skip()
		}
	}
	return id, unit, better
}

// benchmark makes the result of an entry; ok is false when it is refused.
func (e *dotnetEntry) benchmark(host dotnetHost, told *problems) (b perf.Benchmark, ok bool) {
	b = perf.Benchmark{Name: e.name(), Rows: 1, Status: perf.OK}
	if strings.TrimSpace(b.Name) == "" || e.method.set && strings.TrimSpace(e.method.s) == "" {
		told.add(perf.Diagnostic{
			Severity: perf.Error, Code: "invalid", What: fmt.Sprintf("%s: a benchmark without a method name is refused", quote(b.Name)),
			Do: "The other results are kept.",
		})
		return b, false
	}
	j := dotnetJobOf(e)
	b.Job, b.JobKind = j.text, j.kind
	b.Params = dotnetParams(e.params.s, e.fullName.s)
	b.Dims = j.dims(host.runtime)
	for _, id := range []struct {
		name  string
		value text
	}{{"Namespace", e.namespace}, {"Type", e.typ}, {"Method", e.method}, {"MethodTitle", e.title}, {"Parameters", e.params}} {
		if id.value.set {
			b.Identity = append(b.Identity, perf.Param{Name: id.name, Value: id.value.s})
		}
	}
	if j.raw != j.text {
		b.Identity = append(b.Identity, perf.Param{Name: "Job", Value: j.raw})
	}
	timing := e.timing(b.Name, told)
	if !e.measured || len(timing.Samples) == 0 && len(timing.Reported) == 0 {
		b.Status, b.Reason = perf.Fail, "no-statistics: the report has no statistics for it, so the benchmark produced no result"
		return b, true
	}
	b.Metrics = append(b.Metrics, timing)
	if v, ok := e.alloc.Get(); ok {
		b.Metrics = append(b.Metrics, perf.Metric{Name: perf.AllocBytes, Unit: perf.Bytes, Better: perf.Lower,
			Samples: []perf.Sample{{Value: v, Ops: e.operations}}, Source: perf.Source{Unit: "B/op", Scale: 1}})
	}
	for i, name := range []string{perf.GC0, perf.GC1, perf.GC2} {
		// Without operations nobody counted: zeroes are then placeholders.
		if v, ok := e.gc[i].Get(); ok && e.operations > 0 {
			b.Metrics = append(b.Metrics, perf.Metric{Name: name, Unit: perf.Count, Better: perf.Lower,
				Samples: []perf.Sample{{Value: v, Ops: e.operations}}, Source: perf.Source{Unit: "collections", Scale: 1}})
		}
	}
	b.Metrics = append(b.Metrics, e.metrics...)
	return b, true
}

// name is FullName exactly as in the file, or built as the tool would.
func (e *dotnetEntry) name() string {
	if e.fullName.s != "" {
		return e.fullName.s
	}
	var parts []string
	for _, t := range []text{e.namespace, e.typ, e.method} {
		if t.s != "" {
			parts = append(parts, t.s)
		}
	}
	return dotnetFullName(strings.Join(parts, "."), dotnetParams(e.params.s, ""))
}

// dotnetFullName appends parameters as the tool writes them: "M(a: 1, b: 2)".
func dotnetFullName(name string, params []perf.Param) string {
	if name == "" || len(params) == 0 {
		return name
	}
	values := make([]string, 0, len(params))
	for _, p := range params {
		values = append(values, p.Name+": "+p.Value)
	}
	return name + "(" + strings.Join(values, ", ") + ")"
}

// timing builds the time metric: the iterations as measured where the file has
// them, else the values kept in the statistics.
func (e *dotnetEntry) timing(name string, told *problems) perf.Metric {
	m := perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Samples: e.rows,
		Reported: e.stats.reported(), Source: perf.Source{Unit: "ns", Scale: 1}}
	if !e.resultRows && len(e.original) > 0 {
		// The raw rows still hold overhead and outliers; these values do not.
		kept := slices.DeleteFunc(slices.Clone(e.rows), func(s perf.Sample) bool { return s.Stage == perf.Measured })
		m.Samples = slices.Grow(kept, len(e.original))
		for i, v := range e.original {
			m.Samples = append(m.Samples, perf.Sample{Value: v, Iter: int32(i + 1)})
		}
		return m
	}
	if n := len(m.Values()); len(e.original) > 0 && n != len(e.original) {
		told.add(perf.Diagnostic{
			Severity: perf.Warning, Code: "sample-count", Do: "The measured rows are used.",
			What: fmt.Sprintf("%s: %d measured iterations, but the statistics were made from %d", quote(name), n, len(e.original)),
		})
	}
	return m
}
