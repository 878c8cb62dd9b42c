package gitdb_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"perfband/internal/gitdb"
	"perfband/internal/gitdb/gittest"
)

// TestAbandonedLock: a lock of a dead process of ours is removed; any other is
// respected and named.
func TestAbandonedLock(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes of others cannot be asked about")
	}
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, text string
		removed    bool
	}{
		{"dead", fmt.Sprintf("perfband %d %s\n", dead.Process.Pid, host), true},
		{"living", fmt.Sprintf("perfband %d %s\n", os.Getpid(), host), false},
		{"another machine", fmt.Sprintf("perfband %d elsewhere\n", dead.Process.Pid), false},
		{"git", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel() // three of them wait
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
