package archive

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/gitdb"
	"perfband/internal/perf"
	"perfband/internal/secret"
)

// fakeToken looks like a token and is put together here, so none stands in the source.
var fakeToken = "ghs" + "_" + strings.Repeat("aB3", 12)

func gzipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.Bytes()
}

func utf16le(text string) []byte {
	b := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(text)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// TestStageSecrets: no file with a secret is archived with it, whatever it is
// packed in, and the others are.
func TestStageSecrets(t *testing.T) {
	text := "BenchmarkA 1 2 ns/op\n  \"k\": \"" + fakeToken + "\"\nurl " + fakeToken + "\n"
	clean := "BenchmarkA 1 2 ns/op\n  \"k\": \"[redacted:github-token]\"\nurl [redacted:github-token]\n"
	files := map[string][]byte{"a.txt": []byte(text), "b.txt.gz": gzipped(text), "c.txt": utf16le(text), "d.gz": gzipped(string(utf16le(text))),
		"ok.txt": []byte("BenchmarkB 1 2 ns/op\n"), "ok.gz": gzipped("fine"), "broken.gz": {0x1F, 0x8B, 1, 2, 3}, "cut.gz": gzipped(strings.Repeat("fine", 99))[:30],
		"left-out.log": []byte(text), "run-token.txt": []byte("own-token-of-this-call")}
	fsys := fstest.MapFS{}
	for name, data := range files {
		fsys["out/"+name] = &fstest.MapFile{Data: data}
	}
	source := []Source{{Module: "m", FS: fsys, Results: []string{"out", "out/a.txt"}}}
	for _, redact := range []bool{false, true} {
		s, diags, err := Stage(source, StageOptions{Exclude: []string{"*.log"}, Secrets: secret.New("own-token-of-this-call"), Redact: redact})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, f := range s.Files {
			data, err := fs.ReadFile(s.FS(), f.RawPath())
			if err != nil || int64(len(data)) != f.Bytes || sum(data) != f.SHA256 {
				t.Errorf("%s: not what is recorded: %v", f.Path, err)
			}
			if info, err := fs.Stat(s.FS(), f.RawPath()); err != nil || info.Size() != f.Bytes {
				t.Errorf("%s: wrong size, %v", f.Path, err)
			}
			out[strings.TrimPrefix(f.Path, "raw/m/")] = string(data)
		}
		want := map[string]string{}
		for _, name := range []string{"ok.txt", "ok.gz", "broken.gz", "cut.gz"} {
			want[name] = string(files[name])
		}
		refused := map[string]string{"b.txt.gz": "github-token at line 2", "c.txt": "github-token at line 2", "d.gz": "github-token at line 2"}
		if redact {
			want["a.txt"], want["run-token.txt"] = clean, "[redacted:run-token]"
		} else {
			refused["a.txt"], refused["run-token.txt"] = "github-token at line 2", "run-token at line 1"
		}
		if d := cmp.Diff(want, out); d != "" {
			t.Errorf("redact %v: %s", redact, d)
		}
		var left, told []string
		for _, x := range s.Excluded {
			name := strings.TrimPrefix(x.Path, "raw/m/")
			if x.SHA256 != sum(files[name]) || x.Bytes != int64(len(files[name])) {
				t.Errorf("%s: recorded wrongly", name)
			}
			if name == "left-out.log" {
				if x.Reason != "archive.exclude" {
					t.Errorf("%+v", x)
				}
				continue
			}
			left = append(left, name)
			if x.Reason != "secret: "+refused[name] {
				t.Errorf("%s: %s", name, x.Reason)
			}
		}
		if len(left) != len(refused) {
			t.Errorf("redact %v: refused %q", redact, left)
		}
		for _, d := range diags {
			if d.Where.Line == 0 || strings.Contains(fmt.Sprint(d), fakeToken) || (d.Severity == perf.Error) != (d.Code == "secret") {
				t.Errorf("%+v", d)
			}
			told = append(told, d.Code)
		}
		if len(told) != 5 {
			t.Errorf("redact %v: told %q", redact, told)
		}
		if redact {
			checkArchived(t, s, clean)
		}
	}
}

// checkArchived: the archive holds the redacted copy and says so.
func checkArchived(t *testing.T, s *Staged, want string) {
	t.Helper()
	b := newBranch(t)
	if _, err := Append(t.Context(), b, meta(s, "1"), s, start, gitdb.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	got, _ := entries(t, tip(t, b))
	data, err := fs.ReadFile(got[0].Raw, "m/a.txt")
	if err != nil || string(data) != want {
		t.Errorf("archived %q, %v", data, err)
	}
	if f := got[0].Meta.Files[0]; f.Path != "raw/m/a.txt" || f.Redacted != 2 || f.SHA256 != sum([]byte(want)) {
		t.Errorf("%+v", f)
	}
}

// TestStageNames: a secret in a name is not shown and not archived; names of
// people are told of once.
func TestStageNames(t *testing.T) {
	fsys := fstest.MapFS{"out/" + fakeToken + ".txt": {Data: []byte("x\n/home/jane.doe/x\n")}, "out/z.txt": {Data: []byte("hostname: build7 /home/jane.doe")},
		"out/s.txt": {Data: []byte(fakeToken + " /home/joe")}}
	s, diags, err := Stage([]Source{{Module: "m", FS: fsys, Results: []string{"out"}}}, StageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Files) != 2 || strings.Contains(fmt.Sprintf("%+v %+v", s.Infos(), diags), fakeToken) {
		t.Errorf("%+v %+v", s.Infos(), diags)
	}
	var notices []perf.Diagnostic
	for _, d := range diags {
		if d.Code == "names" {
			notices = append(notices, d)
		}
	}
	if len(notices) != 1 || notices[0].What != "the results name people or machines: 2 home folders, 1 host name" || notices[0].Where.Line != 2 ||
		strings.Contains(notices[0].Error(), "jane") {
		t.Errorf("%+v", notices)
	}
}
