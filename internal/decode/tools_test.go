package decode

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perfband/internal/perf"
)

func FuzzHyperfine(f *testing.F) { fuzzFormat(f, "hyperfine") }

func FuzzPytestBenchmark(f *testing.F) { fuzzFormat(f, "pytest-benchmark") }

func FuzzLibtest(f *testing.F) { fuzzFormat(f, "libtest") }

func FuzzBenchmarkJS(f *testing.F) { fuzzFormat(f, "benchmarkjs") }

func FuzzDart(f *testing.F) { fuzzFormat(f, "dart") }

func FuzzTinybench(f *testing.F) { fuzzFormat(f, "tinybench") }

func FuzzVitest(f *testing.F) { fuzzFormat(f, "vitest-bench") }

func FuzzJMH(f *testing.F) { fuzzFormat(f, "jmh") }

// What Python writes for no number is replaced outside of texts only.
func TestWithoutNaN(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":NaN,"b":-Infinity,"c":Infinity}`: `{"a":null,"b":null,"c":null}`,
		`{"NaN":"Infinity \" NaN","a":-1.5}`:   `{"NaN":"Infinity \" NaN","a":-1.5}`,
		`[NaN]`:                                `[null]`,
		`{"a":1}`:                              `{"a":1}`,
	} {
		if got := string(withoutNaN([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// TestGeneratedJSON compares what is read of real output with what the tool
// printed beside it, as exactly as it prints.
func TestGeneratedJSON(t *testing.T) {
	dir := filepath.Join(corpusDir(t), "..", "corpus-generated")
	for _, tc := range []struct {
		file, name, stat string
		printed, half    float64 // ns, and half a unit of the last digit printed
	}{
		{"hyperfine/hf.json", "sleep 0.01", "mean", 14.1e6, 0.05e6},
		{"hyperfine/hf.json", "sleep 0.01", "stddev", 2.1e6, 0.05e6},
		{"hyperfine/hf.json", "sleep 0.01", "min", 11.2e6, 0.05e6},
		{"hyperfine/hf.json", "sleep 0.01", "max", 16.0e6, 0.05e6},
		{"hyperfine/hf.json", "sleep 0.02", "mean", 23.3e6, 0.05e6},
		{"hyperfine/hf.json", "sleep 0.02", "min", 21.2e6, 0.05e6},
		{"tinybench/results.json", "sort 1000", "mean", 87873, 0.5},
		{"tinybench/results.json", "sort 1000", "median", 78688, 0.5},
		{"tinybench/results.json", "sum 1000", "mean", 312.92, 0.005},
		{"vitest-bench/out.json", "a.bench.mjs > arr > sort 1000", "mean", 0.0853e6, 50},
		{"vitest-bench/out.json", "a.bench.mjs > arr > sort 1000", "p99", 0.1158e6, 50},
		{"vitest-bench/out.json", "a.bench.mjs > arr > sum 1000", "max", 0.0736e6, 50},
		{"pytest-benchmark/benchmark-trimmed.json", "test_x.py::test_fib", "mean", 11802.8, 0.05},
		{"pytest-benchmark/benchmark-trimmed.json", "test_x.py::test_sort", "mean", 19672.1, 0.05},
	} {
		suites, _, err := Files(os.DirFS(dir), []string{tc.file}, Options{Explicit: true, Module: "m"})
		if err != nil || len(suites) != 1 {
			t.Fatalf("%s: %d suites, %v", tc.file, len(suites), err)
		}
		found := false
		for i := range suites[0].Benchmarks {
			if b := &suites[0].Benchmarks[i]; b.Name == tc.name {
				found = true
				if r, ok := b.Metric(perf.Time).Find(tc.stat); !ok || math.Abs(r.Value-tc.printed) > tc.half*(1+1e-9) {
					t.Errorf("%s, %s: %s is %v, printed as %v", tc.file, tc.name, tc.stat, r.Value, tc.printed)
				}
			}
		}
		if !found {
			t.Errorf("%s: no result %s", tc.file, tc.name)
		}
	}
}

// TestEveryFormatIsFuzzed: .ci/fuzz runs the fuzz tests that are there.
func TestEveryFormatIsFuzzed(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, name := range Names() {
		if !strings.Contains(all.String(), `{ fuzzFormat(f, "`+name+`") }`) {
			t.Errorf("no fuzz test for the format %s", name)
		}
	}
}
