package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGive: what is new changes hands, what was there, links' targets and
// everything outside do not.
func TestGive(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	touch := func(names ...string) {
		t.Helper()
		for _, name := range names {
			file := filepath.Join(dir, name)
			err := os.MkdirAll(filepath.Dir(file), 0o755)
			if err == nil {
				err = os.WriteFile(file, nil, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	touch("target/file", "out/old/a", "whole/keep")
	folders := []made{lookAt(filepath.Join(dir, "out")), lookAt(filepath.Join(dir, "fresh", "deep")), lookAt(filepath.Join(dir, "never"))}
	touch("out/old/b", "out/new/c", "fresh/deep/d", "whole/e")
	for link, to := range map[string]string{"out/link": "../target", "out/new/file": "../../target/file"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range folders {
		if err := f.give(1001, 1002); err != nil {
			t.Error(err)
		}
	}
	var given []string
	err := filepath.Walk(dir, func(name string, info os.FileInfo, err error) error {
		if uid, gid, _ := ownerOf(info); err == nil && (uid != 0 || gid != 0) {
			if uid != 1001 || gid != 1002 {
				t.Errorf("%s belongs to %d:%d", name, uid, gid)
			}
			name, err = filepath.Rel(dir, name)
			given = append(given, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"fresh", "fresh/deep", "fresh/deep/d", "out/link", "out/new", "out/new/c", "out/new/file", "out/old/b"}
	if d := cmp.Diff(want, given); d != "" {
		t.Error(d)
	}
}
