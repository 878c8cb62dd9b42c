package archive

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Files that somebody added to an entry's folder are named, once each, and are
// no part of the results.
func TestUnlistedFiles(t *testing.T) {
	b := newBranch(t)
	s := stage(t, map[string]string{"bench.txt": "1", "sub/more.txt": "2"})
	a := add(t, b, meta(s, "1"), s)
	clean, _ := entries(t, tip(t, b))
	put(t, b, map[string]string{
		a.Path + "/run.sh":                 "x",
		a.Path + "/raw/core/bench2.txt":    "x",
		a.Path + "/raw/core/sub/other.txt": "x",
		a.Path + "/raw/other/bench.txt":    "x",
	})
	got, notes := entries(t, tip(t, b))
	const why = ": the run's metadata.json does not list it"
	want := []string{a.Path + "/raw/core/bench2.txt" + why, a.Path + "/raw/core/sub/other.txt" + why, a.Path + "/raw/other/bench.txt" + why, a.Path + "/run.sh" + why}
	if d := cmp.Diff(want, notes); d != "" {
		t.Error(d)
	}
	if len(got) != 1 || got[0].Content != clean[0].Content {
		t.Fatalf("entries: %+v", got)
	}
	var seen []string
	if err := fs.WalkDir(got[0].Raw, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			seen = append(seen, p)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"core/bench.txt", "core/sub/more.txt"}, seen); d != "" {
		t.Error(d)
	}
	if _, err := fs.ReadFile(got[0].Raw, "core/bench2.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not listed is read: %v", err)
	}
}
