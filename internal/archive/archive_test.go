package archive

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/gitdb"
	"perfband/internal/perf"
)

var start = time.Date(2026, 4, 19, 1, 56, 6, 0, time.UTC)

// newBranch is the raw branch of a new bare repository.
func newBranch(t *testing.T) gitdb.Branch {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r.git")
	if err := gitdb.Init(dir); err != nil {
		t.Fatal(err)
	}
	b, err := gitdb.Open(gitdb.Remote{URL: dir}, DefaultBranch)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func stage(t *testing.T, files map[string]string) *Staged {
	t.Helper()
	m := fstest.MapFS{}
	for name, data := range files {
		m["out/"+name] = &fstest.MapFile{Data: []byte(data)}
	}
	s, diags, err := Stage([]Source{{Module: "core", FS: m, Results: []string{"out"}}}, StageOptions{})
	if err != nil || len(diags) > 0 {
		t.Fatalf("Stage: %v %v", err, diags)
	}
	return s
}

func meta(s *Staged, id string) perf.Metadata {
	return perf.Metadata{Schema: perf.MetadataSchema, Kind: "run", Tool: perf.Tool{Name: "perfband", Version: "test"}, Modules: s.Modules, Files: s.Infos(),
		Run: perf.Run{RunID: id, Attempt: 1, Kind: perf.Bench, Started: start}}
}

func add(t *testing.T, b gitdb.Branch, m perf.Metadata, s *Staged) Appended {
	t.Helper()
	a, err := Append(t.Context(), b, m, s, start, gitdb.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func tip(t *testing.T, b gitdb.Branch) *gitdb.Tree {
	t.Helper()
	rev, err := b.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := b.Tree(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// entries reads everything, diagnostics as "file: why".
func entries(t *testing.T, tree *gitdb.Tree) (out []perf.Entry, notes []string) {
	t.Helper()
	for e, err := range Entries(context.Background(), DefaultBranch, tree, nil) {
		var d *perf.Diagnostic
		switch {
		case errors.As(err, &d):
			notes = append(notes, d.Where.File+": "+d.Why)
		case err != nil:
			t.Fatal(err)
		default:
			out = append(out, e)
		}
	}
	return out, notes
}

func TestAppendAndReadBack(t *testing.T) {
	b := newBranch(t)
	s := stage(t, map[string]string{"bench.txt": "BenchmarkA 1 2 ns/op\n", "sub/odd.bin": "\x00\xff", "empty": ""})
	a := add(t, b, meta(s, "4711"), s)
	if a.Path != "benchmarks/2026-04-19/4711.1" || a.Existed || a.Diverted {
		t.Errorf("%+v", a)
	}
	got, notes := entries(t, tip(t, b))
	if len(got) != 1 || len(notes) > 0 {
		t.Fatalf("%d entries, %v", len(got), notes)
	}
	e := got[0]
	for name, want := range map[string]string{"core/bench.txt": "BenchmarkA 1 2 ns/op\n", "core/sub/odd.bin": "\x00\xff", "core/empty": ""} {
		if data, err := fs.ReadFile(e.Raw, name); err != nil || string(data) != want {
			t.Errorf("%s = %q, %v", name, data, err)
		}
	}
	if d := cmp.Diff(a.Meta, e.Meta); d != "" {
		t.Errorf("metadata (-written +read):\n%s", d)
	}
	if want, _ := Digest(e.Meta); e.Meta.Digest != want || want == "" {
		t.Errorf("digest %s, want %s", e.Meta.Digest, want)
	}
}

func TestAppendTwice(t *testing.T) {
	b := newBranch(t)
	s := stage(t, map[string]string{"a.txt": "1"})
	first := add(t, b, meta(s, "7"), s)
	later := meta(s, "7")
	later.Tool.Version = "another" // the same results, published again
	again := add(t, b, later, s)
	if !again.Existed || again.Path != first.Path || again.Commit != first.Commit {
		t.Errorf("a safe re-run made something new: %+v", again)
	}
	other := stage(t, map[string]string{"a.txt": "2"})
	second := add(t, b, meta(other, "7"), other)
	if !second.Diverted || !strings.HasPrefix(second.Path, first.Path+".x") || second.Meta.Run.Shard != "" {
		t.Errorf("a second call of the run: %+v", second)
	}
	if third := add(t, b, meta(other, "7"), other); !third.Existed || third.Path != second.Path {
		t.Errorf("the second call repeated: %+v", third)
	}
	later = meta(other, "7") // the second call again, with other circumstances
	later.Tool.Version = "another"
	if fourth := add(t, b, later, other); !fourth.Existed || fourth.Path != second.Path {
		t.Errorf("the second call repeated by another version: %+v", fourth)
	}
	got, _ := entries(t, tip(t, b))
	if len(got) != 2 {
		t.Errorf("%d entries, want 2", len(got))
	}
	if data, _ := fs.ReadFile(got[0].Raw, "core/a.txt"); string(data) != "1" {
		t.Error("the first entry was changed")
	}
}

func TestStage(t *testing.T) {
	dir := t.TempDir()
	write := func(name, data string) {
		t.Helper()
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a/x-report.json", "{}")
	write("a/deep/x.html", "<p>")
	write("b/x-report.json", "{}")
	write("b/Ünï code.txt", "u")
	write("a/.hidden", "h")
	write("single.txt", "s")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "a", "link")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s, diags, err := Stage([]Source{
		{Module: "core", FS: root.FS(), Results: []string{"a", "a/x-report.json", "single.txt"}},
		{Module: "Other Module", FS: root.FS(), Results: []string{"b/*", "nothing/*.txt"}},
	}, StageOptions{Exclude: []string{"**/*.html"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range s.Files {
		got = append(got, f.Origin+" "+f.Path)
	}
	other := s.Modules[1].Folder
	want := []string{"a/x-report.json raw/core/x-report.json", "single.txt raw/core/single.txt", "b/x-report.json raw/" + other + "/x-report.json"}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%q is not among %q", w, got)
		}
	}
	if len(got) != 5 {
		t.Errorf("staged %q", got)
	}
	for _, f := range s.Files {
		for _, r := range f.Path {
			if r > '~' || r < ' ' {
				t.Errorf("unsafe name %q", f.Path)
			}
		}
	}
	if len(s.Excluded) != 1 || s.Excluded[0].Path != "raw/core/deep/x.html" || s.Excluded[0].Bytes != 3 || len(s.Excluded[0].SHA256) != 64 {
		t.Errorf("excluded: %+v", s.Excluded)
	}
	var codes []string
	for _, d := range diags {
		codes = append(codes, d.Code+" "+d.Where.File)
	}
	if d := cmp.Diff([]string{"not-regular a/link", "no-results nothing/*.txt"}, codes); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]perf.EntryModule{{Folder: "core", Module: "core"}, {Folder: other, Module: "Other Module"}}, s.Modules); d != "" {
		t.Error(d)
	}
}

// Names that would meet in one place are kept apart, and one unreadable file
// costs no other.
func TestStageKeepsEverything(t *testing.T) {
	fsys := fstest.MapFS{
		"cc/cb/x.txt": {Data: []byte("1")}, "ca/x.txt": {Data: []byte("2")}, "cb/x.txt": {Data: []byte("3")},
		"x": {Data: []byte("4")}, "df/x/y.txt": {Data: []byte("5")}, "df/x/z.txt": {Data: []byte("6")},
	}
	s, diags, err := Stage([]Source{
		{Module: "m", FS: broken{fsys, "df/x/z.txt"}, Results: []string{"cc", "ca/x.txt", "cb/x.txt", "x", "df"}},
		{Module: "m", Params: []perf.Param{{Name: "provider", Value: "redis"}}, FS: fsys, Results: []string{"x"}},
		{Module: "m", Params: []perf.Param{{Name: "provider", Value: "kafka"}}, FS: fsys, Results: []string{"ca"}},
	}, StageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(diags) != 1 || diags[0].Code != "unreadable" || diags[0].Where.File != "df/x/z.txt" || diags[0].Severity != perf.Error {
		t.Errorf("%+v", diags)
	}
	if len(s.Files) != 7 || len(s.Modules) != 3 {
		t.Fatalf("%d files, %+v", len(s.Files), s.Modules)
	}
	b := newBranch(t)
	m := meta(s, "1")
	add(t, b, m, s)
	got, _ := entries(t, tip(t, b))
	var all []string
	for _, f := range got[0].Meta.Files {
		data, err := fs.ReadFile(got[0].Raw, strings.TrimPrefix(f.Path, "raw/"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(data))
	}
	slices.Sort(all)
	if d := cmp.Diff([]string{"1", "2", "2", "3", "4", "4", "5"}, all); d != "" {
		t.Error(d)
	}
}

// broken is a file system in which one file cannot be opened.
type broken struct {
	fstest.MapFS
	name string
}

func (b broken) Open(name string) (fs.File, error) {
	if name == b.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return b.MapFS.Open(name)
}

// A branch of sources is not an archive, whatever its folders are called.
func TestAppendRefusesForeignBranch(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"sources":    {"main.go": "package main", "README.md": "x"},
		"benchmarks": {"benchmarks/bench_test.go": "package b"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBranch(t)
			put(t, b, files)
			s := stage(t, map[string]string{"a.txt": "1"})
			_, err := Append(t.Context(), b, meta(s, "1"), s, start, gitdb.UpdateOptions{})
			var d *perf.Diagnostic
			if !errors.As(err, &d) || d.Code != "foreign-branch" {
				t.Errorf("error = %v", err)
			}
		})
	}
	b := newBranch(t)
	put(t, b, map[string]string{"README.md": "waiting"})
	s := stage(t, map[string]string{"a.txt": "1"})
	add(t, b, meta(s, "1"), s)
}

func TestDottedRunIDs(t *testing.T) {
	a, err := Path(perf.Run{Kind: perf.Bench, RunID: "6.1", Attempt: 1, Started: start})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Path(perf.Run{Kind: perf.Bench, RunID: "6", Attempt: 1, Shard: "1", Started: start})
	if err != nil {
		t.Fatal(err)
	}
	if a == b || strings.Contains(a, "6.1.1") {
		t.Errorf("%s and %s", a, b)
	}
}

// put commits files as they are.
func put(t *testing.T, b gitdb.Branch, files map[string]string) {
	t.Helper()
	c := gitdb.Change{Message: "files", When: start}
	for name, data := range files {
		c.Put = append(c.Put, gitdb.Bytes(name, []byte(data)))
	}
	rev, err := b.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Commit(t.Context(), rev, c); err != nil {
		t.Fatal(err)
	}
}

func TestOlderLayouts(t *testing.T) {
	b := newBranch(t)
	const m = `{"runId": 7, "sha": "aa", "timestamp": "2026-04-09T12:00:00Z", "workflow": "W", "kind": "k"}`
	put(t, b, map[string]string{
		"benchmarks/2026-04-09/7/metadata.json":                    m,
		"benchmarks/2026-04-09/7/benchmarks-Core/results/x.csv":    "1",
		"benchmarks/2026-04-09/7/EFCore/results/y.csv":             "2",
		"benchmarks/2026-04-09/7/Some/BenchmarkDotNet.Artifacts/z": "3",
		"load-tests/2026-04-09/7/metadata.json":                    m,
		"load-tests/2026-04-09/7/broker-load-metrics-kafka/r.csv":  "1",
		"load-tests/2026-04-09/7/harness/nbomber-1/r.csv":          "2",
		"load-tests/2026-04-09/7/load-metrics/nbomber-1/r.csv":     "2",
		"load-tests/2026-04-09/7/nbomber-2026-04-09.1/r.csv":       "4",
		"benchmarks/2026-04-10/7/metadata.json":                    strings.Replace(m, "aa", "bb", 1),
		"benchmarks/2026-04-10/7/benchmarks-Core/results/x.csv":    "1",
		"benchmarks/2026-04-10/7/EFCore/results/y.csv":             "2",
		"benchmarks/2026-04-10/7/Some/BenchmarkDotNet.Artifacts/z": "3",
		"benchmarks/2026-04-11/8/metadata.json":                    strings.Replace(m, "7", "8", 1),
		"benchmarks/2026-04-11/8/benchmarks-Core/results/x.csv":    "other",
		"README.md": "hello",
	})
	got, notes := entries(t, tip(t, b))
	if len(notes) > 0 || len(got) != 4 {
		t.Fatalf("%d entries, %v", len(got), notes)
	}
	bench, copied, other, load := got[0], got[1], got[2], got[3]
	modules := func(e perf.Entry) (out []string) {
		for _, m := range e.Modules {
			s := m.Folder + "=" + m.Module
			for _, p := range m.Params {
				s += " " + p.Name + ":" + p.Value
			}
			out = append(out, s)
		}
		return out
	}
	if d := cmp.Diff([]string{"EFCore=EFCore", "Some=Some", "benchmarks-Core=Core"}, modules(bench)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"broker-load-metrics-kafka=broker-load-metrics-kafka provider:kafka", "load-metrics=load-metrics", "nbomber-2026-04-09.1=main"}, modules(load)); d != "" {
		t.Error(d)
	}
	if _, err := fs.ReadFile(load.Raw, "harness/nbomber-1/r.csv"); err == nil {
		t.Error("the byte-for-byte copy of load-metrics is still there")
	}
	if bench.Content == "" || bench.Content != copied.Content || bench.Content == other.Content {
		t.Errorf("contents: %q %q %q", bench.Content, copied.Content, other.Content)
	}
	if !bench.Legacy || !bench.Meta.Commit.Untrusted || bench.Meta.Run.ID != "7" || bench.Meta.Run.Attempt != 0 {
		t.Errorf("%+v", bench.Meta)
	}
	if _, err := fs.ReadFile(bench.Raw, "metadata.json"); err == nil {
		t.Error("metadata.json stands among the raw files")
	}
}

// Whatever else the branch holds is named once and skipped.
func TestGarbageIsNamed(t *testing.T) {
	b := newBranch(t)
	s := stage(t, map[string]string{"a.txt": "1"})
	add(t, b, meta(s, "1"), s)
	newer := meta(s, "2")
	newer.Schema = 99
	doc, err := json.Marshal(newer)
	if err != nil {
		t.Fatal(err)
	}
	put(t, b, map[string]string{
		"benchmarks/not-a-date/1/metadata.json":   "{}",
		"benchmarks/2026-04-19/file":              "x",
		"benchmarks/2026-04-19/2.1/metadata.json": string(doc),
		"benchmarks/2026-04-19/3/readme":          "no metadata",
		"benchmarks/2026-04-19/4/metadata.json":   "{",
		"benchmarks/2026-04-19/5/metadata.json":   `{"a": 1}`,
		"benchmarks/2026-04-19/6/metadata.json":   `{"schema": 1, "kind": "other"}`,
		"benchmarks/2026-04-19/7/metadata.json":   `{"schema": 1, "schema": 1}`,
		"load-tests/2026-04-19/8/metadata.json":   `{"schema": 1, "kind": "run", "run": {"kind": "bench", "run_id": "8", "started": "2026-04-19T00:00:00Z"}}`,
		"benchmarks/2026-04-19/9/metadata.json":   `{"schema": 1, "kind": "run", "run": "text"}`,
	})
	got, notes := entries(t, tip(t, b))
	if len(got) != 1 || got[0].Meta.Run.ID != "1.1" {
		t.Errorf("entries: %+v", got)
	}
	text := strings.Join(notes, "\n")
	for _, want := range []string{"not-a-date: not a folder named by a date", "2026-04-19/file: not a folder", "2.1/metadata.json: schema 99 was written by a newer perfband; update the action",
		"19/3: no metadata.json", "4/metadata.json: not valid JSON", "5/metadata.json: neither", `6/metadata.json: kind "other" is not a run`,
		"7/metadata.json: not valid JSON", "8/metadata.json: run id, start or kind is missing", "9/metadata.json: not a run's metadata"} {
		if !strings.Contains(text, want) {
			t.Errorf("no note has %q in:\n%s", want, text)
		}
	}
	if len(notes) != 10 {
		t.Errorf("%d notes:\n%s", len(notes), text)
	}
	// A publish still works and leaves the rest as it is.
	more := stage(t, map[string]string{"a.txt": "2"})
	add(t, b, meta(more, "10"), more)
	if data, err := tip(t, b).ReadFile("benchmarks/2026-04-19/3/readme"); err != nil || string(data) != "no metadata" {
		t.Errorf("foreign file: %q, %v", data, err)
	}
}

func TestPathNeedsARun(t *testing.T) {
	for _, r := range []perf.Run{{RunID: "1", Started: start}, {Kind: perf.Bench, Started: start}, {Kind: perf.Bench, RunID: "1"}} {
		if p, err := Path(r); err == nil {
			t.Errorf("%+v has path %s", r, p)
		}
	}
	p, err := Path(perf.Run{Kind: perf.Load, RunID: "../x", Attempt: 1, Shard: "a/b", Started: start})
	if err != nil || strings.Count(p, "/") != 2 || strings.Contains(p, "..") {
		t.Errorf("hostile ids: %s, %v", p, err)
	}
}
