package app_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"perfband/internal/gitdb/gittest"
)

// goLines are n Go benchmarks.
func goLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "BenchmarkN%d-4 100 10 ns/op\n", i+1)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, write func(w *gzip.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestHostileSizes archives results that are too large to be read whole: what
// is refused is named with its limit, its neighbours are read, and the log
// stays short.
func TestHostileSizes(t *testing.T) {
	needGit(t)
	zeros := make([]byte, 1<<20)
	bomb := func(w *gzip.Writer) {
		for range 1024 { // 1 GiB
			w.Write(zeros)
		}
	}
	long := bytes.Repeat([]byte("x"), 100_000_000)
	for _, tc := range []struct {
		name  string
		files func(put func(name string, data []byte))
		rows  int
		code  int
		wants []string
	}{
		{"200,000 benchmarks", func(put func(string, []byte)) { put("a.txt", goLines(200_000)) }, 200_000, 0, nil},
		{"300,000 benchmarks", func(put func(string, []byte)) { put("a.txt", goLines(300_000)) }, 0, 1, []string{"200000 results"}},
		{"300,000 benchmarks in two files", func(put func(string, []byte)) {
			put("a.txt", goLines(150_000))
			put("b.txt", append([]byte("pkg: b\n"), goLines(150_000)...))
		}, 150_000, 1, []string{"b.txt: more than 200000 results in one run"}},
		{"10,000,000 benchmarks", func(put func(string, []byte)) {
			lines := goLines(100_000)
			put("a.txt.gz", gzipped(t, func(w *gzip.Writer) {
				for range 100 {
					w.Write(lines)
				}
			}))
		}, 0, 1, []string{"limit of 256 MiB"}},
		{"gzip bomb", func(put func(string, []byte)) { put("a.json.gz", gzipped(t, bomb)) }, 0, 1, []string{"256 MiB"}},
		{"gzip bomb in gzip", func(put func(string, []byte)) {
			put("a.json.gz", gzipped(t, func(w *gzip.Writer) { w.Write(gzipped(t, bomb)) }))
		}, 0, 1, []string{"a.json.gz"}},
		{"1,000,000 brackets", func(put func(string, []byte)) {
			put("a.json", append([]byte(`[{"name":"a","unit":"ns","value":1,"x":`), bytes.Repeat([]byte("["), 1_000_000)...))
		}, 0, 1, []string{"200 levels"}},
		{"a line of 100 MB", func(put func(string, []byte)) {
			put("a.txt", bytes.Join([][]byte{goLines(1), long, []byte("\nBenchmarkLast 1 2 ns/op\n")}, nil))
		}, 2, 1, []string{"a.txt:2", "1048576"}},
		{"a JSON line of 100 MB", func(put func(string, []byte)) {
			event := func(output string) []byte {
				return fmt.Appendf(nil, `{"Action":"output","Package":"p","Output":"%s\n"}`+"\n", output)
			}
			put("a.json", bytes.Join([][]byte{event("BenchmarkA 1 2 ns/op"), event(string(long)), event("BenchmarkB 1 2 ns/op")}, nil))
		}, 2, 1, []string{"a.json:2", "1048576"}},
		{"5,000 files", func(put func(string, []byte)) {
			for i := range 5000 {
				put(fmt.Sprintf("r/%d.txt", i), fmt.Appendf(nil, "pkg: p%d\nBenchmarkN 100 10 ns/op\n%01000d\n", i, 0))
			}
		}, 5000, 0, nil},
		{"5,000 files of no use", func(put func(string, []byte)) {
			for i := range 5000 {
				put(fmt.Sprintf("r/%d.json", i), fmt.Appendf(nil, `[{"name":"a%d","unit":"ns","value":"%01000d"}]`, i, 0))
			}
			put("r/good.txt", goLines(1))
		}, 1, 1, []string{"and 4990 more"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, repo := t.TempDir(), gittest.NewRepo(t)
			tc.files(func(name string, data []byte) {
				name = filepath.Join(dir, "out", filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, data, 0o644); err != nil {
					t.Fatal(err)
				}
			})
			_, errs, code := call(t, dir, "publish", "--remote", repo, "--run-id", "1", "--results", "out", "--started", "2026-04-01T10:00:00Z", "--site=false")
			if code != tc.code || !strings.Contains(errs, fmt.Sprintf(" files: %d results", tc.rows)) {
				t.Errorf("exit %d, want %d with %d results\n%.3000s", code, tc.code, tc.rows, errs)
			}
			for _, want := range tc.wants {
				if !strings.Contains(errs, want) {
					t.Errorf("the log does not tell of %s:\n%.3000s", want, errs)
				}
			}
			if n := strings.Count(errs, "\n"); n > 20 {
				t.Errorf("%d lines in the log:\n%.3000s", n, errs)
			}
			checkLog(t, errs)
		})
	}
}

// TestHostileBlob: a large file that was archived long ago is not fetched to
// publish another run.
func TestHostileBlob(t *testing.T) {
	needGit(t)
	s := gittest.New(t, gittest.Options{})
	dir := workspace(t, 1000)
	huge := make([]byte, 90_000_000)
	for i := range huge {
		huge[i] = byte(i * i >> 7)
	}
	if err := os.WriteFile(filepath.Join(dir, "huge.bin"), huge, 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"publish", "--remote", s.Repo, "--run-id", "1", "--results", "*", "--started", "2026-04-01T10:00:00Z"}
	if _, errs, code := call(t, dir, args...); code != 0 || !regexp.MustCompile(`huge.bin: the file has \d+ MB`).MatchString(errs) {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	s.Reset()
	if _, errs, code := call(t, workspace(t, 1100), publishArgs(s.URL, "2")...); code != 0 {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if n := s.Down(); n > 1<<20 {
		t.Errorf("%d bytes were fetched", n)
	}
}
