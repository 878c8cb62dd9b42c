package decode

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"perfband/internal/perf"
)

func FuzzCatch2(f *testing.F) { fuzzFormat(f, "catch2") }

// TestWrappedNames reads a table in which a name goes on beside the numbers.
func TestWrappedNames(t *testing.T) {
	const file = "bencher-issue351.txt"
	dir := filepath.Join(corpusDir(t), "catch2")
	if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
		t.Skip("the corpus has no " + file)
	}
	suites, diagnostics, err := Files(os.DirFS(dir), []string{file}, Options{Explicit: true})
	if err != nil || len(diagnostics) > 0 || len(suites) != 1 {
		t.Fatal(err, diagnostics, suites)
	}
	var names []string
	for _, b := range suites[0].Benchmarks {
		names = append(names, b.Name)
	}
	want := []string{
		"Unit_assignment / Construction / Fibonacci 10", "Unit_assignment / Construction / Fibonacci 20", "More Fibonacci / Fibonacci~ 5!", "More Fibonacci / Fibonacci-15_bench",
		"Even More Fibonacci / With a long name / Fibonacci 10 with a long name", "Even More Fibonacci / With a long name / Fibonacci 20",
	}
	if !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	m := suites[0].Benchmarks[4].Metrics[0]
	if mean, _ := m.Find("mean"); mean.Value != 344 || mean.N != 100 || mean.CI.Lo != perf.Some(341) || mean.CI.Hi != perf.Some(349) {
		t.Errorf("mean %+v", mean)
	}
	if sd, _ := m.Find("stddev"); sd.Value != 19 {
		t.Errorf("stddev %+v", sd)
	}
}

// TestGeneratedCatch2 reads real output in both shapes.
func TestGeneratedCatch2(t *testing.T) {
	dir := filepath.Join(corpusDir(t), "..", "corpus-generated", "catch2")
	if _, err := os.Stat(dir); err != nil {
		missingPart(t, "corpus", "no generated output at "+dir)
	}
	for file, want := range map[string][4]float64{ // mean, its bounds and standard deviation of fib 15
		"console.txt": {2253.3, 2187.13, 2514.2, 280.885},
		"out.xml":     {2111.5, 2103.33, 2125.86, 24.0529},
	} {
		suites, diagnostics, err := Files(os.DirFS(dir), []string{file}, Options{Explicit: true})
		if err != nil || len(diagnostics) > 0 || len(suites) != 1 || len(suites[0].Benchmarks) != 2 {
			t.Fatal(err, diagnostics, suites)
		}
		b := suites[0].Benchmarks[0]
		mean, _ := b.Metrics[0].Find("mean")
		sd, _ := b.Metrics[0].Find("stddev")
		got := [4]float64{mean.Value, mean.CI.Lo.Or(-1), mean.CI.Hi.Or(-1), sd.Value}
		if b.Name != "fib / fib 15" || got != want || mean.N != 20 || mean.CI.Level != 0.95 {
			t.Errorf("%s: %s: %v, want %v", file, b.Name, got, want)
		}
	}
}
