package gitdb_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"perfband/internal/gitdb"
	"perfband/internal/gitdb/gittest"
)

// TestAbandonedLock: a lock that a writer of ours left behind is removed; any
// other is respected and named.
func TestAbandonedLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no lock dies with its holder here")
	}
	for name, tc := range map[string]struct {
		text    string
		removed bool
	}{
		"ours": {"perfband\n", true},
		"git":  {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			repo := gittest.NewRepo(t)
			b := open(t, gitdb.Remote{URL: repo}, "x")
			lock := filepath.Join(repo, "refs", "heads", "x.lock")
			if err := os.WriteFile(lock, []byte(tc.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := b.Commit(t.Context(), "", change("a", "1"))
			if tc.removed != (err == nil) {
				t.Errorf("commit: %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), lock) {
				t.Errorf("%v does not name the lock", err)
			}
			if _, err := os.Stat(lock); tc.removed != os.IsNotExist(err) {
				t.Errorf("the lock afterwards: %v", err)
			}
			gittest.Git(t, repo, "", "fsck", "--strict")
		})
	}
}

// TestManyLocalWriters: writers that all find an abandoned lock lose nothing to
// each other.
func TestManyLocalWriters(t *testing.T) {
	repo := gittest.NewRepo(t)
	commit(t, open(t, gitdb.Remote{URL: repo}, "x"), "", change("start", "0"))
	const writers, rounds = 6, 8
	for round := range rounds {
		if err := os.WriteFile(filepath.Join(repo, "refs", "heads", "x.lock"), []byte("perfband\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				b := open(t, gitdb.Remote{URL: repo}, "x")
				if _, err := gitdb.Update(t.Context(), b, gitdb.UpdateOptions{}, func(_ context.Context, _ gitdb.Rev, _ *gitdb.Tree) (gitdb.Change, error) {
					return change(fmt.Sprintf("%d/%d", round, w), "1"), nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if n := strings.Count(gittest.Git(t, repo, "", "ls-tree", "-r", "--name-only", "x"), "\n"); n != writers*rounds+1 {
		t.Errorf("%d files, want %d", n, writers*rounds+1)
	}
	gittest.Git(t, repo, "", "fsck", "--strict")
}
