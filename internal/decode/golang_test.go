package decode

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/perf"
)

func TestProcsSuffix(t *testing.T) {
	for name, want := range map[string]string{
		"BenchmarkA-8": "-8", "BenchmarkA/b-16": "-16", "BenchmarkA": "", "BenchmarkA-": "", "BenchmarkA-08": "", "BenchmarkA-8x": "",
		"BenchmarkA_-_20": "", "BenchmarkA-1234567": "", "BenchmarkA/b-2/c": "",
	} {
		if got := procsSuffix(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestGoParams(t *testing.T) {
	tests := []struct {
		name string
		want []perf.Param
	}{
		{"BenchmarkA", nil},
		{"BenchmarkA=1", nil},
		{"BenchmarkA/n=1/kind=x", []perf.Param{{Name: "n", Value: "1"}, {Name: "kind", Value: "x"}}},
		{"BenchmarkA/n=1,k=2", []perf.Param{{Name: "n", Value: "1"}, {Name: "k", Value: "2"}}},
		{"BenchmarkA/list=1,2,k=3", []perf.Param{{Name: "list", Value: "1,2"}, {Name: "k", Value: "3"}}},
		{"BenchmarkA/plain,n=1", []perf.Param{{Name: "n", Value: "1"}}},
		{"BenchmarkA/q=a=b", []perf.Param{{Name: "q", Value: "a=b"}}},
		{"BenchmarkA/=x", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, goParams(tt.name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestGoLines feeds the ways in which other output gets between the parts of a
// result line.
func TestGoLines(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"whole", "BenchmarkA-2 \t 10\t 5 ns/op", "BenchmarkA-2 \t 10\t 5 ns/op\n"},
		{"cut", "BenchmarkA-2 \tnoise\nmore 5 ns/op\n      10\t 5 ns/op", "BenchmarkA-2\t10\t 5 ns/op\n"},
		{"noise without line end", "BenchmarkA-2 \tnoise\nmore      10\t 5 ns/op", "BenchmarkA-2\t10\t 5 ns/op\n"},
		{"noise in the same line", "BenchmarkA-2 \tnoise      10\t 5 ns/op", "BenchmarkA-2\t10\t 5 ns/op\n"},
		{"noise that looks like a count", "BenchmarkA-2 \tx 3\tapples\n      10\t 5 ns/op", "BenchmarkA-2\t10\t 5 ns/op\n"},
		{"noise with a decimal before a tab", "BenchmarkA-2 \t1.5\t5 ns\n      10\t 5 ns/op", "BenchmarkA-2\t10\t 5 ns/op\n"},
		{"name alone", "BenchmarkA\nBenchmarkA-2 \t 10\t 5 ns/op", "BenchmarkA-2 \t 10\t 5 ns/op\n"},
		{"text that begins alike", "Benchmarking the cache\n 10\t 5 ns/op", ""},
		{"numbers without a name", "      10\t 5 ns/op", ""},
		{"numbers after the end", "BenchmarkA-2 \tnoise\nPASS\n 10\t 5 ns/op", ""},
		{"line ends of Windows", "BenchmarkA-2 \t 10\t 5 ns/op\r\n", "BenchmarkA-2 \t 10\t 5 ns/op\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clean, err := io.ReadAll(&goLines{texts: []*goText{{text: []byte(tt.in)}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(clean); got != tt.want {
				t.Errorf("clean lines = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestGoLongEvent: an event that is too long is told of, and the line it may
// have continued does not run into the next: its numbers are another's.
func TestGoLongEvent(t *testing.T) {
	event := func(pkg, output string) string {
		return `{"Action":"output","Package":"` + pkg + `","Output":"` + output + `"}` + "\n"
	}
	data := event("p", `BenchmarkA-2 \t`) + event("p", strings.Repeat("x", goEventBytes)) + event("p", `BenchmarkB-2 \t 10\t 5 ns/op\n`)
	suites, diagnostics, err := File("a.json", []byte(data), Options{})
	if err != nil || len(suites) != 1 || len(suites[0].Benchmarks) != 2 {
		t.Fatal(suites, diagnostics, err)
	}
	for i, want := range []struct {
		label  string
		status perf.Status
	}{{"BenchmarkB-2", perf.OK}, {"BenchmarkA-2", perf.Fail}} {
		if b := suites[0].Benchmarks[i]; b.Label != want.label || b.Status != want.status {
			t.Errorf("result %d: %s %s, want %s %s", i, b.Label, b.Status, want.label, want.status)
		}
	}
	if len(diagnostics) != 1 || diagnostics[0].Where.Line != 2 || !strings.Contains(diagnostics[0].Error(), "is skipped") {
		t.Errorf("told %v", diagnostics)
	}
}
