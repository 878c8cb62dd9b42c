package decode

import (
	"strings"
	"testing"
)

// Repeats that only report statistics keep their numbers, and values whose
// spread overflows cost no neighbour.
func TestRepeatsWithoutSamples(t *testing.T) {
	doc := `{"schema": 1, "kind": "results", "benchmarks": [
		{"name": "p50", "metrics": [{"name": "latency", "unit": "ns", "p50": 10, "p95": 30, "n": 100}]},
		{"name": "p50", "metrics": [{"name": "latency", "unit": "ns", "p50": 12, "p95": 31, "n": 100}]},
		{"name": "p99", "metrics": [{"name": "latency", "unit": "ns", "p99": 40}]},
		{"name": "p99", "metrics": [{"name": "latency", "unit": "ns", "p99": 50}]},
		{"name": "huge", "metrics": [{"name": "time", "unit": "ns", "samples": [1e308, 1.7e308, 1.7e308]}]},
		{"name": "last", "metrics": [{"name": "time", "unit": "ns", "samples": [1, 2]}]}]}`
	suites, diags, err := File("x.json", []byte(doc), Options{Format: "json"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := JSONLines(&b, suites); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name":"p50"`, `"samples":[10,12]`, `"stat":"p99","value":40`, `"name":"huge"`, `"name":"last"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	told := false
	for _, d := range diags {
		told = told || d.Code == "ignored" && strings.Contains(d.What, "p99")
	}
	if !told {
		t.Errorf("nobody was told that a report does not count: %v", diags)
	}
}
