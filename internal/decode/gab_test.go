package decode

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// gabRun is a run as the action writes it.
func gabRun(tool string, benches ...string) string {
	return fmt.Sprintf(`{"commit": {"id": "c", "message": "m"}, "date": 1700000000000, "tool": %q, "benches": [%s]}`, tool, strings.Join(benches, ", "))
}

func gabFile(runs ...string) []byte {
	return []byte(gabVariable + " = {\n  \"lastUpdate\": 1,\n  \"entries\": {\n    \"Suite\": [\n" + strings.Join(runs, ",\n") + "\n]}}")
}

// TestGABHistory reads the real history of the action's own project.
func TestGABHistory(t *testing.T) {
	dir := filepath.Join(corpusDir(t), "..", "fixtures", "history")
	const file = "github-action-benchmark-data.js"
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
		missingPart(t, "corpus", "no history at "+dir)
	}
	suites, diagnostics, err := Files(os.DirFS(dir), []string{file}, Options{Explicit: true, Histories: true})
	if err != nil || len(diagnostics) > 0 {
		t.Fatal(err, diagnostics)
	}
	type point struct {
		run   *perf.Suite
		value float64
	}
	series := map[string][]point{}
	runs := map[string]int{}
	for i := range suites {
		s := &suites[i]
		runs[s.Module]++
		if s.Started.IsZero() || len(s.Commit.SHA) != 40 || s.Commit.Time.IsZero() || s.Commit.Author == "" || s.Tool == "" {
			t.Errorf("run of %s lacks its start, commit or tool: %v %+v", s.Module, s.Started, s.Commit)
		}
		for k := range s.Benchmarks {
			b := &s.Benchmarks[k]
			if b.Rows != 1 || b.Status != perf.OK {
				t.Errorf("%s %s %v: %d rows, %s", s.Module, b.Name, s.Started, b.Rows, b.Status)
			}
			for m := range b.Metrics {
				m := &b.Metrics[m]
				values := statOf(m, "mean", nil)
				if len(values) != 1 {
					t.Fatalf("%s %s %s: %v", s.Module, b.Name, m.Name, values)
				}
				key := fmt.Sprintf("%s: %s: %s %s %s", s.Module, b.Name, m.Name, m.Unit, m.Better)
				series[key] = append(series[key], point{s, values[0]})
			}
		}
	}
	// Counted with another program: 4,181 values, of which 64 say once more what
	// 32 lines of go test already said in one text; 33 of these hold two values.
	counts := map[string]int{}
	for key, points := range series {
		counts[key] = len(points)
	}
	want := map[string]int{
		"Rust Benchmark: bench_fib_10: time ns lower":                                                          301,
		"Rust Benchmark: bench_fib_20: time ns lower":                                                          301,
		"Criterion.rs Benchmark: BenchFib10: time ns lower":                                                    112,
		"Criterion.rs Benchmark: BenchFib20: time ns lower":                                                    112,
		"Criterion.rs Benchmark: Fibonacci/Recursive/20: time ns lower":                                        112,
		"Criterion.rs Benchmark: Fibonacci/Iterative/20: time ns lower":                                        112,
		"Criterion.rs Benchmark: Fibonacci/Recursive/21: time ns lower":                                        112,
		"Criterion.rs Benchmark: Fibonacci/Iterative/21: time ns lower":                                        112,
		"Go Benchmark: BenchmarkFib10: time ns lower":                                                          279,
		"Go Benchmark: BenchmarkFib20: time ns lower":                                                          279,
		"Go Benchmark: BenchmarkFib20WithAuxMetric: time ns lower":                                             54,
		"Go Benchmark: BenchmarkFib20WithAuxMetric: custom:auxMetricUnits auxMetricUnits unknown":              54,
		"Benchmark.js Benchmark: fib(10): throughput 1/s higher":                                               279,
		"Benchmark.js Benchmark: fib(20): throughput 1/s higher":                                               279,
		"Python Benchmark with pytest-benchmark: bench.py::test_fib_10: throughput 1/s higher":                 233,
		"Python Benchmark with pytest-benchmark: bench.py::test_fib_20: throughput 1/s higher":                 233,
		"C++ Benchmark: fib_10: time ns lower":                                                                 205,
		"C++ Benchmark: fib_20: time ns lower":                                                                 205,
		"Catch2 Benchmark: Fibonacci 10: time ns lower":                                                        149,
		"Catch2 Benchmark: Fibonacci 20: time ns lower":                                                        149,
		"Catch2 Benchmark (v3): Fibonacci 10: time ns lower":                                                   25,
		"Catch2 Benchmark (v3): Fibonacci 20: time ns lower":                                                   25,
		"Julia benchmark result: fib/10: time ns lower":                                                        97,
		"Julia benchmark result: fib/20: time ns lower":                                                        97,
		"Benchmark.Net Benchmark: Sample.Benchmarks.Fib10: time ns lower":                                      82,
		"Benchmark.Net Benchmark: Sample.Benchmarks.Fib20: time ns lower":                                      82,
		"JMH Benchmark: org.openjdk.jmh.samples.JMHSample_01_HelloWorld.wellHelloThere: throughput 1/s higher": 70,
	}
	if d := cmp.Diff(want, counts); d != "" {
		t.Errorf("points of each series (-want +got):\n%s", d)
	}
	if len(suites) != 1832 || len(runs) != 11 {
		t.Errorf("%d runs of %d suites, want 1832 of 11", len(suites), len(runs))
	}
	first := series["Rust Benchmark: bench_fib_10: time ns lower"][0]
	wantCommit := perf.Commit{SHA: "45d78258e495044a551046f50604da3c893052ce", Time: time.Date(2019, 11, 9, 15, 6, 58, 0, time.UTC),
		Subject: "add benchmark.js example workflow", Author: "rhysd"}
	if d := cmp.Diff(wantCommit, first.run.Commit); d != "" || first.value != 254 || first.run.Started.UnixMilli() != 1573312140323 {
		t.Errorf("first run: %v at %v\n%s", first.value, first.run.Started, d)
	}
	for key, want := range map[string]float64{ // the last point of each
		"Catch2 Benchmark: Fibonacci 20: time ns lower":                                        7636.9,
		"Go Benchmark: BenchmarkFib10: time ns lower":                                          313.1,
		"Benchmark.js Benchmark: fib(10): throughput 1/s higher":                               1594568,
		"Python Benchmark with pytest-benchmark: bench.py::test_fib_20: throughput 1/s higher": 604.5755406814991,
		"Benchmark.Net Benchmark: Sample.Benchmarks.Fib10: time ns lower":                      22.165519416332245,
	} {
		points := series[key]
		if got := points[len(points)-1].value; math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: last value %v, want %v", key, got, want)
		}
	}
}

// TestGABTruncated: whatever is cut off the end, nothing of the file is read
// and the error says where it breaks off.
func TestGABTruncated(t *testing.T) {
	whole := gabFile(gabRun("go", `{"name": "BenchmarkA", "value": 12, "unit": "ns/op"}`), gabRun("go", `{"name": "BenchmarkA", "value": 13, "unit": "ns/op"}`))
	opt := Options{Format: "github-action-benchmark", Explicit: true, Histories: true}
	if suites, diagnostics, err := File("data.js", whole, opt); len(suites) != 2 || len(diagnostics) > 0 || err != nil {
		t.Fatal(suites, diagnostics, err)
	}
	for n := range whole {
		suites, _, err := File("data.js", whole[:n], opt)
		if err == nil || suites != nil {
			t.Fatalf("cut at byte %d of %d: %d suites, error %v", n, len(whole), len(suites), err)
		}
	}
	cut := whole[:bytes.Index(whole, []byte("12,"))]
	_, diagnostics, _ := Files(fstest.MapFS{"data.js": {Data: cut}}, []string{"data.js"}, Options{Explicit: true, Histories: true})
	if len(diagnostics) != 1 || diagnostics[0].Where.Line != 5 || !strings.Contains(diagnostics[0].Why, fmt.Sprintf("(byte %d)", len(cut))) {
		t.Errorf("told %v, want line 5 and byte %d", diagnostics, len(cut))
	}
	// On the first line the columns count what stands before the document.
	_, diagnostics, _ = Files(fstest.MapFS{"data.js": {Data: []byte(gabVariable + ` = {"entries": {]`)}}, []string{"data.js"}, Options{Explicit: true, Histories: true})
	if w := diagnostics[0].Where; w.Line != 1 || w.Col != 38 {
		t.Errorf("at %v, want 1:38", w)
	}
}

// TestGABForms: what may lie around the document.
func TestGABForms(t *testing.T) {
	script := gabFile(gabRun("cargo", `{"name": "a", "value": 12, "unit": "ns/iter"}`))
	document := bytes.TrimPrefix(script, []byte(gabVariable+" = "))
	for name, data := range map[string][]byte{
		"script": script, "JSON": document,
		"semicolon":        append(slices.Clone(script), ";\n"...),
		"line ends":        bytes.ReplaceAll(append(slices.Clone(script), ";\n"...), []byte("\n"), []byte("\r\n")),
		"byte order mark":  append([]byte("\xef\xbb\xbf"), script...),
		"gzip":             pack(t, script),
		"blanks before it": append([]byte("\n "), document...),
	} {
		suites, diagnostics, err := File("some.file", data, Options{Histories: true})
		if err != nil || len(diagnostics) > 0 || len(suites) != 1 || suites[0].Module != "Suite" || suites[0].Benchmarks[0].Name != "a" {
			t.Errorf("%s: %+v, %v, %v", name, suites, diagnostics, err)
		}
	}
	for name, data := range map[string]string{
		"two semicolons": string(script) + ";;", "two documents": string(script) + string(document),
		"no entries": gabVariable + ` = {"lastUpdate": 1}`, "entries twice": gabVariable + ` = {"entries": {}, "entries": {}}`,
		"a list": gabVariable + " = []", "nothing": gabVariable + " = ",
	} {
		if suites, _, err := File("data.js", []byte(data), Options{Explicit: true, Histories: true}); err == nil {
			t.Errorf("%s: read as %v", name, suites)
		}
	}
}

// TestGABUnits: what a unit stands for; tool and unit give metric, base unit,
// direction and factor.
func TestGABUnits(t *testing.T) {
	tests := []struct{ tool, unit, want string }{
		{"cargo", "ns/iter", "time ns lower 1"},
		{"cargo", "us/iter", "time ns lower 1000"},
		{"cargo-criterion", "ns", "time ns lower 1"},
		{"catch2", "µs", "time ns lower 1000"},
		{"catch2", "s", "time ns lower 1e+09"},
		{"googlecpp", "ms/iter", "time ns lower 1e+06"},
		{"jmh", "s/op", "time ns lower 1e+09"},
		{"jmh", "ops/s", "throughput 1/s higher 1"},
		{"jmh", "ops/ms", "throughput 1/s higher 1000"},
		{"jmh", "ops/min", "throughput 1/s higher 0.016666666666666666"},
		{"benchmarkjs", "ops/sec", "throughput 1/s higher 1"},
		{"pytest", "iter/sec", "throughput 1/s higher 1"},
		{"benchmarkluau", "1/s", "throughput 1/s higher 1"},
		{"go", "ns/op", "time ns lower 1"},
		{"go", "B/op", "alloc_bytes B lower 1"},
		{"go", "allocs/op", "allocs count lower 1"},
		{"go", "MB/s", "throughput B/s higher 1e+06"},
		{"go", "hits", "custom:hits hits unknown 1"},
		{"", "bytes", "custom:value B unknown 1"},
		{"", "GiB", "custom:value B unknown 1.073741824e+09"},
		{"", "KiB/op", "alloc_bytes B lower 1024"},
		{"", "KiB/s", "throughput B/s higher 1024"},
		{"", "widgets", "custom:value widgets unknown 1"},
		{"", "widgets/op", "custom:value widgets/op unknown 1"},
		{"", "widgets/s", "custom:value widgets/s unknown 1"},
		{"", "", "custom:value  unknown 1"},
		{aliasSmaller, "seconds", "time ns lower 1e+09"},
		{aliasSmaller, "widgets", "custom:value widgets lower 1"},
		{aliasBigger, "widgets", "custom:value widgets higher 1"},
		{aliasBigger, "req/s", "throughput 1/s higher 1"},
		{aliasBigger, "bytes", "custom:value B higher 1"},
		{aliasBigger, "ms", "custom:value ms higher 1"}, // the user's word counts
		{aliasSmaller, "ops/s", "custom:value ops/s lower 1"},
	}
	for _, tt := range tests {
		m := gabMetric(tt.tool, tt.unit)
		if got := fmt.Sprint(m.Name, " ", m.Unit, " ", m.Better, " ", m.Source.Scale); got != tt.want || m.Source.Unit != tt.unit {
			t.Errorf("%s %q = %s, want %s", tt.tool, tt.unit, got, tt.want)
		}
	}
}

// TestGABRestated: what the action stored twice counts once, also when lines
// repeat; what it stored once is not taken for a copy.
func TestGABRestated(t *testing.T) {
	line := func(name string, value float64, unit string) string {
		return fmt.Sprintf(`{"name": %q, "value": %v, "unit": %q, "extra": "10 times\n2 procs"}`, name, value, unit)
	}
	tests := []struct {
		name    string
		benches []string
		want    string // samples of time and allocs
	}{
		{"old", []string{line("BenchmarkA", 5, "ns/op\t 2 allocs/op")}, "[5] [2]"},
		{"new", []string{line("BenchmarkA", 5, "ns/op\t 2 allocs/op"), line("BenchmarkA - ns/op", 5, "ns/op"), line("BenchmarkA - allocs/op", 2, "allocs/op")}, "[5] [2]"},
		{"only new", []string{line("BenchmarkA - ns/op", 5, "ns/op"), line("BenchmarkA - allocs/op", 2, "allocs/op")}, "[5] [2]"},
		{"equal repeats", []string{
			line("BenchmarkA", 5, "ns/op\t 2 allocs/op"), line("BenchmarkA - ns/op", 5, "ns/op"), line("BenchmarkA - allocs/op", 2, "allocs/op"),
			line("BenchmarkA", 5, "ns/op\t 2 allocs/op"), line("BenchmarkA - ns/op", 5, "ns/op"), line("BenchmarkA - allocs/op", 2, "allocs/op"),
		}, "[5 5] [2 2]"},
		{"another value", []string{line("BenchmarkA", 5, "ns/op\t 2 allocs/op"), line("BenchmarkA - ns/op", 6, "ns/op")}, "[5 6] [2]"},
		{"said thrice", []string{line("BenchmarkA", 5, "ns/op\t 2 allocs/op"), line("BenchmarkA - ns/op", 5, "ns/op"), line("BenchmarkA - ns/op", 5, "ns/op")}, "[5 5] [2]"},
	}
	for _, tt := range tests {
		suites, diagnostics, err := File("data.js", gabFile(gabRun("go", tt.benches...)), Options{Histories: true})
		if err != nil || len(diagnostics) > 0 || len(suites) != 1 || len(suites[0].Benchmarks) != 1 {
			t.Fatalf("%s: %+v %v %v", tt.name, suites, diagnostics, err)
		}
		b := &suites[0].Benchmarks[0]
		time, allocs := b.Metric(perf.Time).Values(), b.Metric(perf.Allocs).Values()
		if got := fmt.Sprint(time, " ", allocs); got != tt.want || b.Rows != len(time) || b.Name != "BenchmarkA" {
			t.Errorf("%s: %s %s with %d rows, want %s", tt.name, b.Name, got, b.Rows, tt.want)
		}
	}
}

// TestGABOneRunOnly: where the results of one run are wanted a history is none.
func TestGABOneRunOnly(t *testing.T) {
	run := gabRun("cargo", `{"name": "a", "value": 12, "unit": "ns/iter"}`)
	script := gabFile(run, run, run)
	document := bytes.TrimPrefix(script, []byte(gabVariable+" = "))
	fsys := fstest.MapFS{
		"data.js": {Data: script}, "data.js.gz": {Data: pack(t, script)}, "x-report.json": {Data: document},
		"cut.json": {Data: document[:len(document)-10]}, "bench.txt": {Data: []byte("BenchmarkA 1 2 ns/op\n")},
	}
	for _, format := range []string{Auto, "github-action-benchmark"} {
		for _, name := range []string{"data.js", "data.js.gz", "x-report.json"} {
			suites, diagnostics, err := Files(fsys, []string{name}, Options{Explicit: true, Format: format})
			if err != nil || len(suites) != 0 || len(diagnostics) != 1 || diagnostics[0].Severity != perf.Error || !errors.Is(&diagnostics[0], ErrHistory) ||
				diagnostics[0].Where.File != name || !strings.Contains(diagnostics[0].What, "history of 3 runs") {
				t.Errorf("%s named, as %s: %v, %v, %v", name, format, suites, diagnostics, err)
			}
		}
	}
	suites, diagnostics, err := Files(fsys, slices.Collect(maps.Keys(fsys)), Options{})
	if err != nil || len(suites) != 1 || suites[0].File != "bench.txt" {
		t.Errorf("in a folder: %v, %v", suites, err)
	}
	if got := told(diagnostics); !slices.Equal(got, []string{"notice auxiliary"}) || !strings.HasPrefix(diagnostics[0].What, "4 files") {
		t.Errorf("in a folder: %v", diagnostics)
	}
	if suites, _, err := Files(fsys, []string{"x-report.json"}, Options{Histories: true}); err != nil || len(suites) != 3 {
		t.Errorf("with histories: %v, %v", suites, err)
	}
}

// TestGABLimits: more than a run may hold is refused, wherever it stands; runs
// without values cost nothing.
func TestGABLimits(t *testing.T) {
	var names strings.Builder
	for i := range limits.Benchmarks/2 + 1 {
		fmt.Fprintf(&names, `,{"name":"n%d","value":1,"unit":""}`, i)
	}
	half := gabRun("x", names.String()[1:])
	row := `,{"name":"a","value":1,"unit":""}`
	for name, data := range map[string][]byte{
		"many results": gabFile(half, half),
		"many rows":    gabFile(gabRun("x", strings.Repeat(row, limits.Benchmarks+1)[1:])),
	} {
		suites, _, err := File("data.js", data, Options{Histories: true})
		if err == nil || !strings.Contains(err.Error(), "more than 200000 results") {
			t.Errorf("%s: %d suites, error %v", name, len(suites), err)
		}
	}
	suites, diagnostics, err := File("data.js", gabFile(strings.Repeat("{},", 1000)+"{}"), Options{Explicit: true, Histories: true})
	if err != nil || len(suites) > 0 || len(diagnostics) > 0 {
		t.Errorf("empty runs: %v, %v, %v", suites, diagnostics, err)
	}
	suites, diagnostics, err = File("data.js", gabFile(gabRun("x", strings.Repeat(row, limits.Benchmarks)[1:])), Options{Histories: true})
	if err != nil || len(diagnostics) > 0 || len(suites) != 1 || suites[0].Benchmarks[0].Rows != limits.Benchmarks {
		t.Errorf("repeats: %v, %v", diagnostics, err)
	}
}

// gabSized is a history of n runs with 200 benchmarks each, as the action
// indents it.
func gabSized(n int) []byte {
	var b bytes.Buffer
	b.WriteString(gabVariable + " = {\n  \"lastUpdate\": 1700000000000,\n  \"repoUrl\": \"\",\n  \"entries\": {\n    \"Rust\": [")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n      {\n        \"commit\": {\n          \"id\": \"%040x\",\n          \"message\": \"Change %d\",\n          \"timestamp\": \"2024-01-01T00:00:00Z\"\n        },\n        \"date\": %d,\n        \"tool\": \"cargo\",\n        \"benches\": [", i, i, 1700000000000+i)
		for k := range 200 {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "\n          {\n            \"name\": \"bench_case_%d\",\n            \"value\": %d,\n            \"range\": \"± %d\",\n            \"unit\": \"ns/iter\"\n          }", k, 1000+i*k%97, i%13)
		}
		b.WriteString("\n        ]\n      }")
	}
	b.WriteString("\n    ]\n  }\n}")
	return b.Bytes()
}

// TestGABMemory: what is kept of a history is at most four times its file.
func TestGABMemory(t *testing.T) {
	data := gabSized(100)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	suites, _, err := File("data.js", data, Options{Histories: true})
	kept := heap() - before
	if err != nil || len(suites) != 100 {
		t.Fatal(len(suites), err)
	}
	t.Logf("%.2f times the file", float64(kept)/float64(len(data)))
	if kept > 4*uint64(len(data)) {
		t.Errorf("%d bytes kept of a file of %d", kept, len(data))
	}
	runtime.KeepAlive(suites)
	runtime.KeepAlive(data)
}

func BenchmarkDecodeGAB(b *testing.B) {
	for _, runs := range []int{50, 500} {
		data := gabSized(runs)
		b.Run(fmt.Sprint(runs), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if suites, _, err := File("data.js", data, Options{Histories: true}); err != nil || len(suites) != runs {
					b.Fatal(len(suites), err)
				}
			}
		})
	}
}
