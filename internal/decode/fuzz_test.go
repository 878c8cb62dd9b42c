package decode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perfband/internal/perf"
)

// fuzzFormat checks, on any input, that decoding ends without a panic, twice
// the same, and that what comes out keeps the promises of the types.
func fuzzFormat(f *testing.F, format string) {
	for _, in := range fixtures(f, format) {
		data, err := os.ReadFile(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(strings.TrimSuffix(filepath.Base(in), ".in"), data)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		opt := Options{Format: format, Explicit: true, Histories: true}
		suites, diagnostics, err := File(name, bytes.Clone(data), opt)
		for i := range suites {
			seen := map[string]bool{}
			for k := range suites[i].Benchmarks {
				checkPromises(t, &suites[i].Benchmarks[k])
				id := suites[i].Key(k).ID()
				if seen[id] {
					t.Errorf("two results with the key %q", id)
				}
				seen[id] = true
			}
		}
		again, diagnosticsAgain, errAgain := File(name, data, opt)
		if lines(t, suites) != lines(t, again) || fmt.Sprint(diagnostics, err) != fmt.Sprint(diagnosticsAgain, errAgain) {
			t.Error("the second reading differs from the first")
		}
	})
}

func checkPromises(t *testing.T, b *perf.Benchmark) {
	if strings.TrimSpace(b.Name) == "" || b.Rows < 1 || b.Status == "" {
		t.Errorf("incomplete result %+v", b)
	}
	if b.Status == perf.OK && len(b.Metrics) == 0 || b.Status != perf.OK && b.Reason == "" {
		t.Errorf("result %q is %s with %d metrics and reason %q", b.Name, b.Status, len(b.Metrics), b.Reason)
	}
	for i := range b.Metrics {
		m := &b.Metrics[i]
		if m.Better == "" || m.Name == "" || len(m.Samples) == 0 && len(m.Reported) == 0 {
			t.Errorf("incomplete metric %+v", m)
		}
		if why := badNumbers(m); why != "" {
			t.Errorf("metric %s of %q %s", m.Name, b.Name, why)
		}
	}
}

func FuzzBenchmarkDotNet(f *testing.F) { fuzzFormat(f, "benchmarkdotnet") }
func FuzzNBomber(f *testing.F)         { fuzzFormat(f, "nbomber") }
func FuzzGo(f *testing.F)              { fuzzFormat(f, "go") }
func FuzzJSON(f *testing.F)            { fuzzFormat(f, "json") }
func FuzzGAB(f *testing.F)             { fuzzFormat(f, "github-action-benchmark") }
