package decode

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

var goTest = Format{
	Name:    "go",
	Tool:    "go test -bench",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "the text that `go test -bench` prints, also with other output in between, or `go test -json` lines",
		Reads:  "every metric of every line: time, alloc_bytes, allocs, throughput, and those of `b.ReportMetric` as custom metrics; repeats (`-count`) as samples of one result",
		Absent: "the start time; statistics (run with `-count 10` or so to get them); a benchmark that was skipped without `-v`",
		Notes: []string{
			"The package belongs to the name. The `-N` suffix (GOMAXPROCS) is dropped when every row of the file has the same one, and kept otherwise: then it may belong to the name.",
			"`key=value` parts of sub-benchmark names are parameters.",
			"Custom units ending in `-ns` or beginning with `ns/` are times and lower is better; of others the direction is unknown unless a line `Unit NAME better=higher` says it.",
			"A result line that other output has cut in two is put together again.",
			"`--- FAIL`, `--- SKIP` and `FAIL` lines are failed and skipped results.",
		},
	},
	Sniff:  sniffGo,
	Decode: decodeGo,
}

func sniffGo(_ string, head []byte) Confidence {
	if isGoJSON(head) {
		return Certain
	}
	best := No
	for line := range bytes.Lines(head) {
		switch {
		case bytes.HasPrefix(line, []byte("Benchmark")):
			if _, rest := cutField(line); isGoResult(rest) {
				return Certain
			}
		case bytes.HasPrefix(line, []byte("pkg: ")), bytes.HasPrefix(line, []byte("--- FAIL: Benchmark")),
			bytes.HasPrefix(line, []byte("ok  \t")), bytes.HasPrefix(line, []byte("FAIL\t")):
			best = Likely // a run that failed, or without benchmarks
		}
	}
	return best
}

// goResult collects the rows of one benchmark.
type goResult struct {
	suite     int // index of the suite, that is of the machine
	pkg, name string
	rows      int
	metrics   []perf.Metric
}

// goDecoder collects the results of one file.
type goDecoder struct {
	in          Input
	suites      []perf.Suite
	results     []goResult
	at          map[string]int
	diagnostics []perf.Diagnostic
}

func decodeGo(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	var l goLines
	if isGoJSON(in.Data) {
		readGoJSON(in.Data, &l)
	} else {
		number := 0
		for line := range bytes.Lines(in.Data) {
			number++
			l.read(line, number)
		}
	}
	l.finish()
	g := goDecoder{in: in, at: map[string]int{}, diagnostics: l.diagnostics}
	r := benchfmt.NewReader(bytes.NewReader(l.clean), in.Name)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			g.parseError(l.lineOf(rec.Line), rec.Msg)
		case *benchfmt.Result:
			_, line := rec.Pos()
			if err := g.add(rec, r.Units(), l.lineOf(line)); err != nil {
				return nil, g.diagnostics, err
			}
		}
	}
	if err := r.Err(); err != nil {
		return nil, g.diagnostics, fmt.Errorf("read benchmark lines: %w", err)
	}
	return g.finish(&l), g.diagnostics, nil
}

func (g *goDecoder) parseError(line int, why string) {
	g.diagnostics = append(g.diagnostics, perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: line},
		What: "a benchmark line is refused", Why: why, Do: "The other lines are kept."})
}

// add takes one result line.
func (g *goDecoder) add(rec *benchfmt.Result, units benchfmt.UnitMetadataMap, line int) error {
	if len(rec.Values) > limits.MetricsPerBenchmark {
		g.parseError(line, fmt.Sprintf("%d metrics, more than the limit of %d", len(rec.Values), limits.MetricsPerBenchmark))
		return nil
	}
	pkg := rec.GetConfig("pkg")
	// benchfmt drops the word that every name begins with.
	name := "Benchmark" + string(rec.Name)
	suite := g.suite(rec)
	key := strconv.Itoa(suite) + "\x00" + pkg + "\x00" + name
	i, ok := g.at[key]
	if !ok {
		if len(g.results) >= limits.Benchmarks {
			return &perf.Diagnostic{Severity: perf.Error, Code: "too-many-results", Where: perf.Where{Line: line},
				What: fmt.Sprintf("more than %d benchmarks in one file", limits.Benchmarks),
				Do:   "Run fewer at a time with -bench, or split the file."}
		}
		i = len(g.results)
		g.at[key] = i
		g.results = append(g.results, goResult{suite: suite, pkg: pkg, name: name})
	}
	res := &g.results[i]
	res.rows++
	for k, v := range rec.Values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" {
			value, unit = v.OrigValue, v.OrigUnit
		}
		m := res.metric(unit, units)
		if n := len(m.Samples); n > 0 && int(m.Samples[n-1].Block) == res.rows {
			g.diagnostics = append(g.diagnostics, perf.Diagnostic{Severity: perf.Warning, Code: "parse", Where: perf.Where{Line: line},
				What: fmt.Sprintf("%s: unit %s occurs twice, value %d is ignored", quote(name), quote(unit), k+1)})
			continue
		}
		m.Samples = append(m.Samples, perf.Sample{Value: value * m.Source.Scale, Ops: int64(rec.Iters), Block: int32(res.rows), Iter: 1})
	}
	return nil
}

// suite returns the index of the suite for the machine that the lines so far
// describe.
func (g *goDecoder) suite(rec *benchfmt.Result) int {
	env := perf.Env{OS: rec.GetConfig("goos"), Arch: rec.GetConfig("goarch"), CPUModel: rec.GetConfig("cpu")}
	version := rec.GetConfig("toolchain")
	for i := range g.suites {
		e := g.suites[i].Env
		if e.OS == env.OS && e.Arch == env.Arch && e.CPUModel == env.CPUModel && g.suites[i].ToolVersion == version {
			return i
		}
	}
	if version != "" {
		env.Toolchain = map[string]string{"go": strings.TrimPrefix(version, "go")}
	}
	g.suites = append(g.suites, perf.Suite{Module: g.in.Module, Kind: g.in.Kind, Env: env, ToolVersion: version})
	return len(g.suites) - 1
}

// metric returns the metric of a unit, which it adds when it is new.
func (r *goResult) metric(unit string, units benchfmt.UnitMetadataMap) *perf.Metric {
	for i := range r.metrics {
		if r.metrics[i].Source.Unit == unit {
			return &r.metrics[i]
		}
	}
	m := goMetric(unit)
	switch b := units.Get(unit, "better"); {
	case b == nil:
	case b.Value == "higher":
		m.Better = perf.Higher
	case b.Value == "lower":
		m.Better = perf.Lower
	}
	if a := units.Get(unit, "assume"); a != nil {
		m.Exact = a.Value == "exact"
	}
	r.metrics = append(r.metrics, m)
	return &r.metrics[len(r.metrics)-1]
}

// goMetric is the metric that a unit stands for.
func goMetric(unit string) perf.Metric {
	m := perf.Metric{Source: perf.Source{Unit: unit, Scale: 1}}
	fixed := func(name string, u perf.Unit, better perf.Better, scale float64) perf.Metric {
		m.Name, m.Unit, m.Better, m.Source.Scale = name, u, better, scale
		return m
	}
	switch unit {
	case "ns/op":
		return fixed(perf.Time, perf.Nanoseconds, perf.Lower, 1)
	case "sec/op":
		return fixed(perf.Time, perf.Nanoseconds, perf.Lower, 1e9)
	case "B/op":
		return fixed(perf.AllocBytes, perf.Bytes, perf.Lower, 1)
	case "allocs/op":
		return fixed(perf.Allocs, perf.Count, perf.Lower, 1)
	case "MB/s":
		return fixed(perf.Throughput, perf.BytesPerSecond, perf.Higher, 1e6)
	case "B/s":
		return fixed(perf.Throughput, perf.BytesPerSecond, perf.Higher, 1)
	}
	if strings.HasSuffix(unit, "-ns") || strings.HasPrefix(unit, "ns/") {
		return fixed(customPrefix+unit, perf.Nanoseconds, perf.Lower, 1)
	}
	return fixed(customPrefix+unit, perf.Unit(unit), perf.UnknownBetter, 1)
}

// finish makes benchmarks of the results, failures included.
func (g *goDecoder) finish(l *goLines) []perf.Suite {
	suffix := g.commonSuffix()
	for i := range g.results {
		r := &g.results[i]
		b := goBenchmark(r.pkg, r.name, suffix)
		b.Rows, b.Metrics, b.Status = r.rows, r.metrics, perf.OK
		s := &g.suites[r.suite]
		s.Benchmarks = append(s.Benchmarks, b)
	}
	g.addFailures(l, suffix)
	return g.suites
}

// commonSuffix is the "-N" that every name of the file ends in, "" if there is
// no such.
func (g *goDecoder) commonSuffix() string {
	suffix := ""
	for i := range g.results {
		s := procsSuffix(g.results[i].name)
		if s == "" || i > 0 && s != suffix {
			return ""
		}
		suffix = s
	}
	return suffix
}

// procsSuffix is the "-N" at the end of a name, "" if there is none.
func procsSuffix(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 0 || i == len(name)-1 || len(name)-i > 6 || strings.Trim(name[i+1:], "0123456789") != "" || name[i+1] == '0' {
		return ""
	}
	return name[i:]
}

// goBenchmark names a benchmark; suffix is the one common to the file.
func goBenchmark(pkg, name, suffix string) perf.Benchmark {
	base := name
	if suffix != "" {
		base = strings.TrimSuffix(name, suffix)
	}
	b := perf.Benchmark{Name: base, Label: name, Params: goParams(base), JobKind: perf.Default}
	if pkg != "" {
		b.Name = pkg + "." + base
		b.Identity = append(b.Identity, perf.Param{Name: "pkg", Value: pkg})
	}
	if procs := procsSuffix(name); procs != "" {
		b.Identity = append(b.Identity, perf.Param{Name: "procs", Value: procs[1:]})
		if suffix != "" {
			b.Dims = []perf.Param{{Name: "procs", Value: procs[1:]}}
		}
	}
	return b
}

// goParams reads key=value parts of a sub-benchmark name: "/n=1/kind=x" and
// "/n=1,k=2". A comma not followed by a key belongs to the value.
func goParams(name string) []perf.Param {
	var out []perf.Param
	_, sub, _ := strings.Cut(name, "/")
	for _, part := range strings.Split(sub, "/") {
		open := false
		for _, piece := range strings.Split(part, ",") {
			key, value, ok := strings.Cut(piece, "=")
			switch {
			case ok && key != "":
				out = append(out, perf.Param{Name: key, Value: value})
				open = true
			case open:
				out[len(out)-1].Value += "," + piece
			}
		}
	}
	return out
}

// addFailures adds failed and skipped benchmarks, and packages that failed
// without naming one.
func (g *goDecoder) addFailures(l *goLines, suffix string) {
	if len(l.failures) == 0 && len(l.packages) == 0 {
		return
	}
	if len(g.suites) == 0 {
		g.suites = []perf.Suite{{Module: g.in.Module, Kind: g.in.Kind}}
	}
	s := &g.suites[len(g.suites)-1]
	named := map[string]bool{}
	for _, f := range l.failures {
		b := goBenchmark(f.pkg, f.name, suffix)
		b.Rows, b.Status, b.Reason = 1, f.status, f.reason
		s.Benchmarks = append(s.Benchmarks, b)
		named[f.pkg] = named[f.pkg] || f.status == perf.Fail
	}
	for _, p := range l.packages {
		g.diagnostics = append(g.diagnostics, perf.Diagnostic{Severity: perf.Warning, Code: "package-failed", Where: perf.Where{Line: p.line},
			What: fmt.Sprintf("package %s failed", p.pkg), Why: p.reason})
		if !named[p.pkg] {
			s.Benchmarks = append(s.Benchmarks, perf.Benchmark{Name: p.pkg, Rows: 1, Status: perf.Fail, JobKind: perf.Default,
				Reason: "package-failed: " + p.reason, Identity: []perf.Param{{Name: "pkg", Value: p.pkg}}})
		}
	}
}
