package decode

import (
	"bytes"
	"fmt"
	"math"
	"slices"
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
	in      Input
	suites  []perf.Suite
	suiteOf map[string]int // by machine
	results []goResult
	at      map[string]int
	told    *problems
}

func decodeGo(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	l := goLines{texts: []*goText{{text: in.Data}}}
	if isGoJSON(in.Data) {
		l.texts = readGoJSON(in.Data, &l.told)
	}
	g := goDecoder{in: in, suiteOf: map[string]int{}, at: map[string]int{}, told: &l.told}
	r := benchfmt.NewReader(&l, in.Name)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			g.parseError(l.lineOf(rec.Line), rec.Msg)
		case *benchfmt.Result:
			_, line := rec.Pos()
			if err := g.add(rec, l.lineOf(line)); err != nil {
				return nil, g.told.all(), err
			}
		}
	}
	if err := r.Err(); err != nil {
		return nil, g.told.all(), fmt.Errorf("read benchmark lines: %w", err)
	}
	if len(l.failures) > limits.Benchmarks {
		return nil, g.told.all(), tooMany(0)
	}
	suites := g.finish(&l, r.Units())
	return suites, g.told.all(), nil
}

func (g *goDecoder) parseError(line int, why string) {
	g.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: line},
		What: "a benchmark line is refused", Why: why, Do: "The other lines are kept."})
}

// add takes one result line.
func (g *goDecoder) add(rec *benchfmt.Result, line int) error {
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
			return tooMany(line)
		}
		i = len(g.results)
		g.at[key] = i
		g.results = append(g.results, goResult{suite: suite, pkg: pkg, name: name})
	}
	res := &g.results[i]
	res.rows++
	for _, v := range rec.Values {
		// The reader converts to seconds; the printed number has fewer digits.
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" {
			value, unit = v.OrigValue, v.OrigUnit
		}
		if why := res.addValue(unit, value, int64(rec.Iters)); why != "" {
			g.told.add(perf.Diagnostic{Severity: perf.Warning, Code: "parse", Where: perf.Where{Line: line},
				What: fmt.Sprintf("%s: the value in %s is left out", quote(name), quote(unit)), Why: why})
		}
	}
	return nil
}

// addValue adds a value of the latest row; why tells what is wrong with it.
func (r *goResult) addValue(unit string, value float64, ops int64) (why string) {
	m, scale := r.metric(unit)
	switch {
	case m == nil:
		return fmt.Sprintf("more than %d different metrics", limits.MetricsPerBenchmark)
	case math.IsNaN(value) || math.IsInf(value, 0):
		return "it is not finite"
	case len(m.Samples) > 0 && int(m.Samples[len(m.Samples)-1].Block) == r.rows:
		return "the line has another one for the same metric"
	}
	m.Samples = append(m.Samples, perf.Sample{Value: value * scale, Ops: ops, Block: int32(r.rows), Iter: 1})
	return ""
}

// suite returns the index of the suite for the machine that the lines so far
// describe.
func (g *goDecoder) suite(rec *benchfmt.Result) int {
	env := perf.Env{OS: rec.GetConfig("goos"), Arch: rec.GetConfig("goarch"), CPUModel: rec.GetConfig("cpu")}
	version := rec.GetConfig("toolchain")
	key := strings.Join([]string{env.OS, env.Arch, env.CPUModel, version}, "\x00")
	i, ok := g.suiteOf[key]
	if !ok {
		if version != "" {
			env.Toolchain = map[string]string{"go": strings.TrimPrefix(version, "go")}
		}
		i = len(g.suites)
		g.suiteOf[key] = i
		g.suites = append(g.suites, perf.Suite{Module: g.in.Module, Kind: g.in.Kind, Env: env, ToolVersion: version})
	}
	return i
}

// metric returns the metric of a unit, added when it is new, and the factor from
// the unit to the metric's. It is nil when there are too many.
func (r *goResult) metric(unit string) (*perf.Metric, float64) {
	for i := range r.metrics {
		if r.metrics[i].Source.Unit == unit {
			return &r.metrics[i], r.metrics[i].Source.Scale
		}
	}
	m := goMetric(unit)
	for i := range r.metrics {
		if r.metrics[i].Name == m.Name { // "ns/op" and "sec/op"
			return &r.metrics[i], m.Source.Scale
		}
	}
	if len(r.metrics) >= limits.MetricsPerBenchmark {
		return nil, 0
	}
	r.metrics = append(r.metrics, m)
	return &r.metrics[len(r.metrics)-1], m.Source.Scale
}

// applyUnits takes over what lines such as "Unit hits better=higher" say.
func (r *goResult) applyUnits(units benchfmt.UnitMetadataMap) {
	for i := range r.metrics {
		m := &r.metrics[i]
		switch b := units.Get(m.Source.Unit, "better"); {
		case b == nil:
		case b.Value == "higher":
			m.Better = perf.Higher
		case b.Value == "lower":
			m.Better = perf.Lower
		}
		if a := units.Get(m.Source.Unit, "assume"); a != nil {
			m.Exact = a.Value == "exact"
		}
	}
	r.metrics = slices.DeleteFunc(r.metrics, func(m perf.Metric) bool { return len(m.Samples) == 0 })
}

// finish makes benchmarks of the results, failures included.
func (g *goDecoder) finish(l *goLines, units benchfmt.UnitMetadataMap) []perf.Suite {
	suffix := g.commonSuffix()
	for i := range g.results {
		r := &g.results[i]
		r.applyUnits(units)
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
		g.told.add(perf.Diagnostic{Severity: perf.Warning, Code: "package-failed", Where: perf.Where{Line: p.line},
			What: fmt.Sprintf("package %s failed", p.pkg), Why: p.reason})
		if !named[p.pkg] {
			s.Benchmarks = append(s.Benchmarks, perf.Benchmark{Name: p.pkg, Rows: 1, Status: perf.Fail, JobKind: perf.Default,
				Reason: "package-failed: " + p.reason, Identity: []perf.Param{{Name: "pkg", Value: p.pkg}}})
		}
	}
}
