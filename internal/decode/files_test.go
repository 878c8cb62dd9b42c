package decode

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

const (
	goReport   = "pkg: example.com/p\nBenchmarkA-4 \t 100\t 10 ns/op\nPASS\n"
	jsonReport = `[{"name":"a","unit":"ms","value":1}]`
	bdnReport  = `{"Title":"T","HostEnvironmentInfo":{},"Benchmarks":[{"FullName":"N.C.M","Type":"C","Method":"M","Statistics":{"N":1,"Mean":5}}]}`
	csvReport  = "Method,Job,Mean,Error\nM,DefaultJob,5.0 ns,0.1 ns\n"
)

func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

// told renders diagnostics as "severity code file".
func told(diagnostics []perf.Diagnostic) []string {
	var out []string
	for _, d := range diagnostics {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Severity, d.Code, d.Where.File)))
	}
	return out
}

func TestFiles(t *testing.T) {
	many := []string{"r.txt", goReport}
	for i := range 5 {
		many = append(many, fmt.Sprintf("notes-%d.txt", i), "nothing")
	}
	tests := []struct {
		name string
		fsys fstest.MapFS
		opt  Options
		read []string // files with results
		told []string
	}{
		{"richest of one class", files("a/X-report-full-compressed.json", bdnReport, "a/X-report-brief.json", "broken", "a/X-report.csv", csvReport, "a/X-report-github.md", "broken"),
			Options{}, []string{"a/X-report-full-compressed.json"}, nil},
		{"another folder is another report", files("a/X-report.csv", csvReport, "b/X-report.csv", csvReport), Options{},
			[]string{"a/X-report.csv", "b/X-report.csv"}, nil},
		{"fallback when the richest is broken", files("X-report-full.json", bdnReport[:60], "X-report.csv", csvReport), Options{},
			[]string{"X-report.csv"}, []string{"warning fallback X-report-full.json"}},
		{"fallback when the richest is empty", files("X-report-full.json", "", "X-report.csv", csvReport), Options{},
			[]string{"X-report.csv"}, []string{"warning fallback X-report-full.json"}},
		{"all broken", files("X-report-full.json", bdnReport[:60], "X-report.csv", "nothing"), Options{}, nil,
			[]string{"error unreadable X-report-full.json"}},
		{"one session of NBomber", files("n/nbomber-report.csv", "scenario,step_name,request_count,ok,failed,ok_rps,ok_mean\nbuy,pay,10,10,0,1.5,2\n",
			"n/nbomber-report.txt", "broken", "n/nbomber-summary.json", "broken", "n/nbomber-log-1.txt", "log", "n/x.html", "<p>"), Options{},
			[]string{"n/nbomber-report.csv"}, []string{"notice auxiliary"}},
		{"auxiliary files are one notice", files(many...), Options{}, []string{"r.txt"}, []string{"notice auxiliary"}},
		{"a named file must be known", files("notes.txt", "nothing"), Options{Explicit: true}, nil, []string{"error unrecognised notes.txt"}},
		{"a log is opened when named", files("bench.log", goReport), Options{Explicit: true}, []string{"bench.log"}, nil},
		{"a log is not opened otherwise", files("bench.log", goReport), Options{}, nil, []string{"notice auxiliary"}},
		{"a format by name leaves other files alone", files("a.json", jsonReport, "b.txt", goReport), Options{Format: "go"}, []string{"b.txt"},
			[]string{"notice auxiliary"}},
		{"no result", files("a.json", "[]", "b.txt", "goos: linux\npkg: p\nPASS\nok  \tp\t1s\n"), Options{Explicit: true, Format: "go"}, nil,
			[]string{"error no-result a.json", "error no-result b.txt"}},
		{"empty", files("a.txt", ""), Options{Explicit: true}, nil, []string{"error empty a.txt"}},
		{"one broken file does not lose the others", files("a.json", jsonReport, "b.json", jsonReport+"x", "c.txt", goReport), Options{},
			[]string{"a.json", "c.txt"}, []string{"error unreadable b.json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var paths []string
			for p := range tt.fsys {
				paths = append(paths, p)
			}
			// The order of paths must not matter, nor must duplicates.
			slices.Sort(paths)
			slices.Reverse(paths)
			paths = append(paths, paths...)
			suites, diagnostics, err := Files(tt.fsys, paths, tt.opt)
			if err != nil {
				t.Fatal(err)
			}
			var read []string
			for _, s := range suites {
				read = append(read, s.File)
			}
			if !slices.Equal(read, tt.read) {
				t.Errorf("read %q, want %q", read, tt.read)
			}
			if got := told(diagnostics); !slices.Equal(got, tt.told) {
				t.Errorf("told %q, want %q (%v)", got, tt.told, diagnostics)
			}
		})
	}
}

func TestFilesMissing(t *testing.T) {
	_, diagnostics, err := Files(files(), []string{"gone.txt"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := told(diagnostics); !slices.Equal(got, []string{"error unreadable gone.txt"}) {
		t.Errorf("told %q", got)
	}
}

func TestFilesUnknownFormat(t *testing.T) {
	_, _, err := Files(files(), nil, Options{Format: "benchmarkdotnett"})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{`"benchmarkdotnett"`, `did you mean "benchmarkdotnet"`, "customBiggerIsBetter", "nbomber"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not hold %q", err, part)
		}
	}
}

func TestFileUnrecognised(t *testing.T) {
	_, _, err := File("x.json", []byte(`{"foo":1}`), Options{})
	if !errors.Is(err, ErrUnrecognised) {
		t.Fatalf("error = %v, want ErrUnrecognised", err)
	}
	if want := `first bytes: "{\"foo\":1}"`; !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not hold %q", err, want)
	}
}

func pack(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func utf16Text(order binary.AppendByteOrder, mark uint16, s string) []byte {
	b := order.AppendUint16(nil, mark)
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

func TestUnpack(t *testing.T) {
	report := []byte(strings.ReplaceAll(jsonReport, `"a"`, `"é😀"`))
	tests := []struct {
		name, file string
		data       []byte
		want       string // part of the error, "" if it is read
	}{
		{"gzip", "a.json.gz", pack(t, report), ""},
		{"gzip without the ending", "a.json", pack(t, report), ""},
		{"byte order mark", "a.json", append([]byte("\xef\xbb\xbf"), report...), ""},
		{"UTF-16 little endian", "a.json", utf16Text(binary.LittleEndian, 0xFEFF, string(report)), ""},
		{"UTF-16 big endian", "a.json", utf16Text(binary.BigEndian, 0xFEFF, string(report)), ""},
		{"line ends of Windows", "a.json", bytes.ReplaceAll(report, []byte(","), []byte(",\r\n")), ""},
		{"truncated", "a.json.gz", pack(t, report)[:30], "truncated"},
		{"not gzip", "a.json.gz", report, "gzip"},
		{"gzip in gzip", "a.json.gz", pack(t, pack(t, report)), "gzip inside gzip"},
		{"bomb", "a.json.gz", pack(t, make([]byte, limits.DecodeBytes+1)), "limit of 256 MiB"},
		{"lone surrogate", "a.json", []byte{0xFF, 0xFE, 0x00, 0xD8, 0x20, 0x00}, "lone surrogate at byte 2"},
		{"half a character", "a.json", []byte{0xFF, 0xFE, 0x5B}, "odd number of bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			suites, _, err := File(tt.file, tt.data, Options{})
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Fatalf("error = %v, want one with %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := suites[0].Benchmarks[0].Name; got != "é😀" {
				t.Errorf("name = %q", got)
			}
		})
	}
}

func TestTooManyResults(t *testing.T) {
	var b strings.Builder
	for i := range limits.Benchmarks + 1 {
		fmt.Fprintf(&b, "BenchmarkN%d-4 100 10 ns/op\n", i)
	}
	_, _, err := File("a.txt", []byte(b.String()), Options{})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(limits.Benchmarks)) {
		t.Fatalf("error = %v, want one that names the limit", err)
	}
	text := b.String()
	text = text[:strings.LastIndex(text, "BenchmarkN")]
	suites, _, err := File("a.txt", []byte(text), Options{})
	if err != nil || len(suites[0].Benchmarks) != limits.Benchmarks {
		t.Fatalf("the most results allowed are not read: %v", err)
	}
	// The limit holds for all files together.
	_, diagnostics, err := Files(files("a.txt", text, "b.txt", goReport), []string{"a.txt", "b.txt"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := told(diagnostics); !slices.Equal(got, []string{"error too-many-results b.txt"}) {
		t.Errorf("told %q", got)
	}
}

func TestLongLine(t *testing.T) {
	text := goReport + strings.Repeat("x", limits.LineBytes+1) + "\nBenchmarkB-4 \t 100\t 10 ns/op\n"
	suites, diagnostics, err := File("a.txt", []byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(suites) != 1 || len(suites[0].Benchmarks) != 2 {
		t.Errorf("suites = %+v, want both benchmarks", suites)
	}
	if len(diagnostics) != 1 || !strings.Contains(diagnostics[0].What, "skipped") {
		t.Errorf("told %v", diagnostics)
	}
}

func TestRefusedNames(t *testing.T) {
	record := func(name string) string { return fmt.Sprintf(`{"name":%q,"unit":"x","value":1}`, name) }
	tests := []struct{ name, in, want string }{
		{"blank", record("  "), "without a name"},
		{"NUL", `{"name":"a\u0000b","unit":"x","value":1}`, "NUL"},
		{"too long", record(strings.Repeat("n", limits.NameBytes+1)), "4097 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			suites, diagnostics, err := File("a.json", []byte("["+tt.in+","+record("ok")+"]"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(suites[0].Benchmarks) != 1 || suites[0].Benchmarks[0].Name != "ok" {
				t.Errorf("results = %+v, want only the good neighbour", suites[0].Benchmarks)
			}
			if len(diagnostics) != 1 || !strings.Contains(diagnostics[0].Error(), tt.want) {
				t.Errorf("told %v, want %q", diagnostics, tt.want)
			}
		})
	}
	suites, diagnostics, err := File("a.txt", []byte("BenchmarkA\xff \t 1\t 1 ns/op\n"+goReport), Options{})
	if err != nil || len(suites[0].Benchmarks) != 1 || len(diagnostics) != 1 || !strings.Contains(diagnostics[0].What, "UTF-8") {
		t.Errorf("invalid UTF-8: %v %v %v", suites, diagnostics, err)
	}
}

func TestModuleAndKind(t *testing.T) {
	tests := []struct {
		opt    Options
		module string
		kind   perf.Kind
	}{
		{Options{}, "main", perf.Bench},
		{Options{Module: "core", Kind: perf.Load}, "core", perf.Load},
	}
	for _, tt := range tests {
		suites, _, err := File("a.txt", []byte(goReport), tt.opt)
		if err != nil {
			t.Fatal(err)
		}
		if s := suites[0]; s.Module != tt.module || s.Kind != tt.kind || s.Tool != "go test -bench" || s.Decoder != "go" || s.DecoderVersion < 1 || s.File != "a.txt" {
			t.Errorf("suite = %+v", s)
		}
	}
}
