package gitdb_test

import (
	"testing"

	"perfband/internal/gitdb"
	"perfband/internal/gitdb/gittest"
)

func TestDefaultBranch(t *testing.T) {
	s := gittest.New(t, gittest.Options{})
	check := func(when, want string) {
		t.Helper()
		for name, url := range map[string]string{"http": s.URL, "path": s.Repo} {
			b := open(t, gitdb.Remote{URL: url}, "perf-raw")
			if got, err := b.Default(t.Context()); err != nil || got != want {
				t.Errorf("%s, %s: default branch %q, %v, want %q", when, name, got, err, want)
			}
		}
	}
	gittest.Git(t, s.Repo, "", "symbolic-ref", "HEAD", "refs/heads/trunk")
	check("empty repository", "")
	commit(t, open(t, gitdb.Remote{URL: s.Repo}, "perf-raw"), "", change("a", ""))
	check("HEAD unborn", "")
	commit(t, open(t, gitdb.Remote{URL: s.Repo}, "trunk"), "", change("a", ""))
	check("HEAD there", "trunk")
	gittest.Git(t, s.Repo, "", "pack-refs", "--all")
	check("refs packed", "trunk")
}
