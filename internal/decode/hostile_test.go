package decode

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// TestHostile reads the hostile files of these formats. The names are those of
// the results that must be left.
func TestHostile(t *testing.T) {
	dir := filepath.Join(corpusDir(t), "hostile")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the corpus has no hostile files")
	}
	tests := []struct {
		file    string
		results int      // -1: any
		names   []string // some of the results
		told    []string // parts of errors, each in one of its own
	}{
		{"names/X01-go-markup.txt", 10, []string{"BenchmarkTable/a|b|c-4", "BenchmarkMarker/--><script>alert(1)</script><!---4"}, nil},
		{"names/X03-bdn-bidi-lookalike.json", 10, nil, []string{"look-alike", `"Hostile.T.": `, `"Hostile.T. ": `}},
		{"names/X07-custom-output-delimiter.json", 7, []string{"c\nEOF\nmatrix={\"include\":[]}", "h\r\nmode=publish"}, []string{`verdict\x00=x`}},
		{"names/X08-custom-csv-formula.json", 13, []string{"=1+1", "\t=1+1"}, nil},
		{"names/X12-autolinks.txt", -1, []string{"BenchmarkFixes#1-4", "Benchmark@user059-4"}, nil},
		{"structure/X20-depth-arrays.json", 0, nil, []string{"200 levels"}},
		{"structure/X22-numbers.json", 4, []string{"ok", "many-decimals", "minus-zero", "near-max"},
			[]string{"too-big", "underflow", "negative", "forty-digits", "huge-exp", `"string"`, `"true"`, `"null"`, `"array"`}},
		{"structure/X24-duplicate-keys.json", 1, []string{"ok"}, []string{`key "name" occurs twice`}},
		{"structure/X25-case-variant-keys.json", 0, nil, []string{`key "value" occurs twice`}},
		{"structure/X26-invalid-utf8.json", 0, nil, []string{"invalid UTF-8 (byte 14)"}},
		{"structure/X30-truncated.json.gz", 0, nil, []string{"truncated"}},
		{"structure/X31-gzip-bomb.json.gz", 1, nil, nil},
		{"structure/X36-regex-go.txt", 4, []string{"BenchmarkA-4", "BenchmarkOk-4"}, []string{"iteration count", "1000 metrics"}},
		{"structure/X38-broken.csv", 0, nil, []string{"line 2"}},
		{"structure/X41-two-documents.json", 0, nil, []string{"after the end of the document (byte 37)"}},
	}
	for _, tt := range tests {
		t.Run(path.Base(tt.file), func(t *testing.T) {
			suites, diagnostics, err := Files(os.DirFS(dir), []string{tt.file}, Options{Explicit: true})
			if err != nil {
				t.Fatal(err)
			}
			names, keys := map[string]bool{}, map[string]bool{}
			for i := range suites {
				for k, b := range suites[i].Benchmarks {
					names[b.DisplayName()] = true
					keys[suites[i].Key(k).ID()] = true
				}
			}
			if tt.results >= 0 && len(keys) != tt.results {
				t.Errorf("%d results, want %d: %v", len(keys), tt.results, diagnostics)
			}
			for _, n := range tt.names {
				if !names[n] {
					t.Errorf("no result %q", n)
				}
			}
			problems := 0
			for i := range diagnostics {
				if diagnostics[i].Severity == perf.Error {
					problems++
				}
			}
			for _, part := range tt.told {
				if !slices.ContainsFunc(diagnostics, func(d perf.Diagnostic) bool { return strings.Contains(d.Error(), part) }) {
					t.Errorf("nothing told about %s: %v", part, diagnostics)
				}
			}
			if problems > len(tt.told) {
				t.Errorf("%d errors, want at most %d: %v", problems, len(tt.told), diagnostics)
			}
		})
	}
}

// TestGeneratedGo reads real output of go test: repeats, -cpu, -json, failures.
func TestGeneratedGo(t *testing.T) {
	dir := filepath.Join(corpusDir(t), "..", "corpus-generated", "go-test-bench")
	if _, err := os.Stat(dir); err != nil {
		missingPart(t, "corpus", "no generated output at "+dir)
	}
	tests := []struct {
		file string
		want []string // name, rows and status of each result
	}{
		{"bench-count6.txt", []string{"example.com/demo.BenchmarkFib20 6 ok", "example.com/demo.BenchmarkSorted/n=10 6 ok", "example.com/demo.BenchmarkSorted/n=1000 6 ok"}},
		{"bench-count6-b.txt", []string{"example.com/demo.BenchmarkFib20 6 ok", "example.com/demo.BenchmarkSorted/n=10 6 ok", "example.com/demo.BenchmarkSorted/n=1000 6 ok"}},
		{"bench-cpu12.txt", []string{"example.com/demo.BenchmarkFib20 1 ok", "example.com/demo.BenchmarkFib20-2 1 ok", "example.com/demo.BenchmarkSorted/n=10 1 ok",
			"example.com/demo.BenchmarkSorted/n=10-2 1 ok", "example.com/demo.BenchmarkSorted/n=1000 1 ok", "example.com/demo.BenchmarkSorted/n=1000-2 1 ok"}},
		{"bench-json.jsonl", []string{"example.com/demo.BenchmarkFib20 2 ok", "example.com/demo.BenchmarkSorted/n=10 2 ok", "example.com/demo.BenchmarkSorted/n=1000 2 ok"}},
		{"bench-failing-panicking.txt", []string{"example.com/demo.BenchmarkLogs 1 ok", "example.com/demo.BenchmarkFails 1 failed"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			suites, _, err := Files(os.DirFS(dir), []string{tt.file}, Options{Explicit: true})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range suites {
				for _, b := range s.Benchmarks {
					got = append(got, fmt.Sprintf("%s %d %s", b.Name, b.Rows, b.Status))
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("results = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestLimits checks that input made to waste memory or time is refused with the
// limit named, and that floods of problems are counted instead of told.
func TestLimits(t *testing.T) {
	wide := "Method,Mean" + strings.Repeat(",x", limits.TableColumns) + "\n"
	tests := []struct{ name, file, in, want string }{
		{"deep JSON", "a.json", `[{"name":"a","unit":"ns","value":` + strings.Repeat("[", 1_000_000), "200 levels"},
		{"wide table", "a-report.csv", wide, "1002 columns"},
		{"long row", "a-report.csv", "Method,Mean\n" + strings.Repeat("x", limits.LineBytes+1), "line 2 has"},
		{"many records", "a.json", "[" + strings.Repeat(`{"name":"a","unit":"x","value":1},`, limits.Benchmarks) + `{"name":"a","unit":"x","value":1}]`, "more than 200000 results"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := File(tt.file, []byte(tt.in), Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
	_, diagnostics, err := File("a-report.csv", []byte("Method,Mean\n"+strings.Repeat("x\n", limits.DiagnosticsPerCode+50)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(diagnostics); n != limits.DiagnosticsPerCode || !strings.Contains(diagnostics[n-1].Why, "50 more") {
		t.Errorf("%d diagnostics, the last %v", n, diagnostics[n-1])
	}
}

// TestRepeats merges repeats within one file; a repeat that failed is told.
func TestRepeats(t *testing.T) {
	const file = "pkg: p\nBenchmarkA 	 10	 5 ns/op\nBenchmarkA 	 12	 6 ns/op\n--- FAIL: BenchmarkA\n"
	suites, diagnostics, err := File("a.txt", []byte(file), Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := suites[0].Benchmarks
	want := []perf.Sample{{Value: 5, Ops: 10, Block: 1, Iter: 1}, {Value: 6, Ops: 12, Block: 2, Iter: 1}}
	if len(b) != 1 || b[0].Rows != 2 || b[0].Status != perf.OK || !slices.Equal(b[0].Metrics[0].Samples, want) {
		t.Errorf("results = %+v", b)
	}
	if got := told(diagnostics); !slices.Equal(got, []string{"warning failed"}) {
		t.Errorf("told %q", got)
	}
}
