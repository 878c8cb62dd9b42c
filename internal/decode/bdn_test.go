package decode

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/perf"
)

func TestDotNetJob(t *testing.T) {
	tests := []struct {
		name, display, typ, title, method string
		text, id                          string
		kind                              perf.JobKind
	}{
		{"plain", "C.M: DefaultJob", "C", "M", "M", "DefaultJob", "DefaultJob", perf.Default},
		{"trailing blank", "C.M: DefaultJob ", "C", "M", "M", "DefaultJob", "DefaultJob", perf.Default},
		{"characteristics and params", "C.M: ShortRun(IterationCount=3, LaunchCount=1, WarmupCount=3) [n=1, s=a: b(c)]", "C", "M", "M",
			"ShortRun(IterationCount=3, LaunchCount=1, WarmupCount=3)", "ShortRun", perf.Short},
		{"params without characteristics", "C.M: MediumRun [n=(1)]", "C", "M", "M", "MediumRun", "MediumRun", perf.Medium},
		{"generated id", "C.M: Job-ABCDEF(IterationCount=10, WarmupCount=3) [n=1]", "C", "M", "M", "Job(IterationCount=10, WarmupCount=3)", "Job", perf.Default},
		{"generated id alone", "C.M: Job-ABCDEF", "C", "M", "M", "Job", "Job", perf.Default},
		{"id of the user", "C.M: Job-abc(X=1)", "C", "M", "M", "Job-abc(X=1)", "Job-abc", perf.Default},
		{"quoted method with all signs", "C.'P: Block mode, with [A] (x)': MediumRun(IterationCount=15, LaunchCount=2, WarmupCount=10) [k=v]", "C",
			"'P: Block mode, with [A] (x)'", "P", "MediumRun(IterationCount=15, LaunchCount=2, WarmupCount=10)", "MediumRun", perf.Medium},
		{"quoted method, no title", "C.'P: Block': Dry", "C", "", "P", "Dry", "Dry", perf.Dry},
		{"generic type", "Map<int, string>.Add: LongRun(A=1)", "Map`2", "Add", "Add", "LongRun(A=1)", "LongRun", perf.Default},
		{"nested parentheses", "C.M: Job-ABCDEF(EnvironmentVariables=A=(1), Toolchain=.NET (x)) [p=(]", "C", "M", "M",
			"Job(EnvironmentVariables=A=(1), Toolchain=.NET (x))", "Job", perf.Default},
		{"dry by characteristics", "C.M: Job-ABCDEF(IterationCount=1, RunStrategy=ColdStart)", "C", "M", "M", "Job(IterationCount=1, RunStrategy=ColdStart)", "Job", perf.Dry},
		{"cold start is not dry", "C.M: Job-ABCDEF(IterationCount=9, RunStrategy=ColdStart)", "C", "M", "M", "Job(IterationCount=9, RunStrategy=ColdStart)", "Job", perf.Default},
		{"nothing", "", "C", "M", "M", "", "", perf.Default},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := dotnetEntry{display: text{s: tt.display}, typ: text{s: tt.typ}, title: text{s: tt.title}, method: text{s: tt.method}}
			j := dotnetJobOf(&e)
			if j.text != tt.text || j.id != tt.id || j.kind != tt.kind {
				t.Errorf("job = %q %q %s, want %q %q %s", j.text, j.id, j.kind, tt.text, tt.id, tt.kind)
			}
		})
	}
}

func TestDotNetParams(t *testing.T) {
	tests := []struct {
		in, fullName string
		want         []perf.Param
	}{
		{"", "N.C.M", nil},
		{"A=1&B=2", "N.C.M(A: 1, B: 2)", []perf.Param{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}}},
		{"Url=http://x/?a=1&b=2&N=3", "N.C.M(Url: http://x/?a=1&b=2, N: 3)", []perf.Param{{Name: "Url", Value: "http://x/?a=1&b=2"}, {Name: "N", Value: "3"}}},
		{"S=a & b = c&Größe=ü", "", []perf.Param{{Name: "S", Value: "a & b = c"}, {Name: "Größe", Value: "ü"}}},
		{"E=", "N.C.M(E: )", []perf.Param{{Name: "E", Value: ""}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, dotnetParams(tt.in, tt.fullName)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestDotNetRuntime(t *testing.T) {
	tests := []struct {
		in, want string
		aot      bool
	}{
		{".NET 8.0", ".NET 8.0", false},
		{".NET 10.0.5 (10.0.5, 10.0.526.15411)", ".NET 10.0", false},
		{".NET Core 3.1", ".NET 3.1", false},
		{".NET Framework 4.8.1 (4.8.9282.0)", ".NET Framework 4.8.1", false},
		{"net9.0", ".NET 9.0", false},
		{"NativeAOT 9.0", ".NET 9.0", true},
		{"Mono 6.12 (x)", "Mono 6.12", false},
		{"InProcessEmitToolchain", "", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if got, aot := dotnetRuntime(tt.in); got != tt.want || aot != tt.aot {
			t.Errorf("%q = %q %v, want %q %v", tt.in, got, aot, tt.want, tt.aot)
		}
	}
}

func TestDecimalMark(t *testing.T) {
	tests := []struct {
		numbers []string
		want    byte
	}{
		{[]string{"1", "1.5"}, '.'},
		{[]string{"1,5"}, ','},
		{[]string{"20,763.489"}, '.'},
		{[]string{"20.763,489"}, ','},
		{[]string{"1,234", "5,67"}, ','},
		{[]string{"1,234,567"}, '.'},
		{[]string{"1.234.567"}, ','},
		{[]string{"0,123"}, ','},
		{[]string{"20763,489"}, ','},
		{[]string{"1,234"}, ','},
		{[]string{"1.234"}, '.'},
		{[]string{"1,234", "2,345.6"}, '.'},
		{[]string{"1 234,5"}, ','},
		{nil, '.'},
	}
	for _, tt := range tests {
		if got := decimalMark(tt.numbers); got != tt.want {
			t.Errorf("%q = %c, want %c", tt.numbers, got, tt.want)
		}
	}
}

func TestParseLocal(t *testing.T) {
	tests := []struct {
		in    string
		mark  byte
		scale float64
		want  float64
		ok    bool
	}{
		{"0.29", '.', 1e6, 290000, true},
		{"20,763.489", '.', 1e3, 20763489, true},
		{"1.234,56", ',', 1, 1234.56, true},
		{"1\u202f234,5", ',', 1, 1234.5, true},
		{"1'234.5", '.', 1, 1234.5, true},
		{"1e3", '.', 1e3, 1e6, true},
		{"", '.', 1, 0, false},
		{"NA", '.', 1, 0, false},
		{"Inf", '.', 1, 0, false},
		{"0x10", '.', 1, 0, false},
	}
	for _, tt := range tests {
		if got, ok := parseLocal(tt.in, tt.mark, tt.scale); ok != tt.ok || ok && got != tt.want {
			t.Errorf("%q = %v %v, want %v %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestDotNetSamples(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(fixturesDir, "benchmarkdotnet", "Shop.CartBenchmarks-report-full-compressed.json.in"))
	if err != nil {
		t.Fatal(err)
	}
	suites, diagnostics, err := File("Shop.CartBenchmarks-report-full-compressed.json", data, Options{})
	if err != nil || len(diagnostics) > 0 {
		t.Fatal(err, diagnostics)
	}
	s := suites[0]
	if want := time.Date(2026, 4, 5, 18, 24, 45, 0, time.UTC); !s.Started.Equal(want) {
		t.Errorf("started %v, want %v", s.Started, want)
	}
	wantEnv := perf.Env{OS: "linux", OSVersion: "Linux Ubuntu 24.04.4 LTS (Noble Numbat)", Arch: "X64", CPUModel: "Example CPU 1000", CPUCount: 4,
		Toolchain: map[string]string{"dotnet-sdk": "10.0.201", "dotnet-runtime": ".NET 10.0.5 (10.0.5, 10.0.526.15411)"}}
	if diff := cmp.Diff(wantEnv, s.Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	want := []perf.Sample{
		{Value: 900, Ops: 1, Stage: perf.Overhead, Block: 1, Iter: 1},
		{Value: 70000, Ops: 1, Stage: perf.Warmup, Block: 1, Iter: 1},
		{Value: 562.5, Ops: 16, Stage: perf.Pilot, Block: 1, Iter: 1},
		{Value: 0.8, Ops: 1000, Stage: perf.Overhead, Block: 1, Iter: 1},
		{Value: 0.7, Ops: 1000, Stage: perf.Overhead, Block: 1, Iter: 1},
		{Value: 60, Ops: 1000, Stage: perf.Warmup, Block: 1, Iter: 1},
		{Value: 52.2, Ops: 1000, Block: 1, Iter: 1},
		{Value: 51.1005, Ops: 1000, Block: 1, Iter: 2},
		{Value: 61, Ops: 1000, Stage: perf.Warmup, Block: 2, Iter: 1},
		{Value: 53.3, Ops: 1000, Block: 2, Iter: 1},
		{Value: 52.05, Ops: 1000, Block: 2, Iter: 2},
	}
	m := s.Benchmarks[0].Metric(perf.Time)
	if diff := cmp.Diff(want, m.Samples); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if cap(m.Samples) != len(m.Samples) {
		t.Errorf("samples use %d of %d places", len(m.Samples), cap(m.Samples))
	}
	var names []string
	for _, m := range s.Benchmarks[0].Metrics {
		names = append(names, fmt.Sprint(m.Name, " ", m.Unit, " ", m.Better))
	}
	wantNames := []string{"time ns lower", "alloc_bytes B lower", "gc0 count lower", "gc1 count lower", "gc2 count lower",
		"custom:CompletedWorkItemCount count lower", "custom:CacheHitRate % higher"}
	if !slices.Equal(names, wantNames) {
		t.Errorf("metrics = %q, want %q", names, wantNames)
	}
}

// reportValues is what the tool itself says about each benchmark.
type reportValues struct {
	Benchmarks []struct {
		FullName   string
		Statistics *struct {
			OriginalValues []float64
			Mean           float64
		}
	}
}

// TestEncinaSamples compares the samples of every report of one real run, bit
// by bit, with the values the tool made its statistics from.
func TestEncinaSamples(t *testing.T) {
	const run = "benchmarks/2026-04-19/24618369617"
	dir := os.Getenv("PERFBAND_ENCINA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "encina")
	}
	bundle, err := filepath.Abs(filepath.Join(dir, "perf-raw.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bundle); err != nil {
		missingPart(t, "corpus", "no archive at "+bundle)
	}
	if _, err := exec.LookPath("git"); err != nil {
		missingPart(t, "git", "no git program")
	}
	repo := filepath.Join(t.TempDir(), "raw.git")
	if out, err := exec.Command("git", "clone", "-q", "--bare", bundle, repo).CombinedOutput(); err != nil {
		t.Fatalf("clone the bundle: %v\n%s", err, out)
	}
	cmd := exec.Command("git", "--git-dir", repo, "archive", "--format=tar", "perf-raw", run)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	results, failed := 0, 0
	for r := tar.NewReader(out); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, "-report-full-compressed.json") {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		ok, lost := compareReport(t, h.Name, data)
		results, failed = results+ok, failed+lost
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	wantRun(t, filepath.Join(dir, "golden", "runs.json"), run, results+failed, failed)
}

func compareReport(t *testing.T, name string, data []byte) (ok, failed int) {
	t.Helper()
	var want reportValues
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	suites, diagnostics, err := File(name, data, Options{})
	if err != nil || len(diagnostics) > 0 {
		t.Errorf("%s: %v %v", name, err, diagnostics)
		return 0, 0
	}
	got := suites[0].Benchmarks
	if len(got) != len(want.Benchmarks) {
		t.Errorf("%s: %d results, want %d", name, len(got), len(want.Benchmarks))
		return 0, 0
	}
	for i, w := range want.Benchmarks {
		b := &got[i]
		if b.Name != w.FullName {
			t.Errorf("%s: name %q, want %q", name, b.Name, w.FullName)
		}
		if w.Statistics == nil {
			failed++
			if b.Status != perf.Fail {
				t.Errorf("%s: %s is %s, want failed", name, b.Name, b.Status)
			}
			continue
		}
		ok++
		m := b.Metric(perf.Time)
		if !slices.Equal(m.Values(), w.Statistics.OriginalValues) {
			t.Errorf("%s: %s: measured samples differ from the tool's values", name, b.Name)
		}
		if r, _ := m.Find("mean"); math.Float64bits(r.Value) != math.Float64bits(w.Statistics.Mean) {
			t.Errorf("%s: %s: mean %v, want %v", name, b.Name, r.Value, w.Statistics.Mean)
		}
	}
	return ok, failed
}

func wantRun(t *testing.T, golden, run string, entries, null int) {
	t.Helper()
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var runs []struct {
		Path                    string
		Entries, NullStatistics int
	}
	if err := json.Unmarshal(data, &runs); err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.Path == run {
			if entries != r.Entries || null != r.NullStatistics {
				t.Errorf("%d entries, %d without statistics; want %d and %d", entries, null, r.Entries, r.NullStatistics)
			}
			return
		}
	}
	t.Errorf("%s holds no run %s", golden, run)
}
