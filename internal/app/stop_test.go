package app_test

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"perfband/internal/app"
	"perfband/internal/gitdb/gittest"
)

// stopping is a context that ends the n-th time it is asked whether it has.
type stopping struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func stopAt(n int) *stopping {
	s := &stopping{}
	s.Context, s.cancel = context.WithCancel(context.Background())
	s.left.Store(int64(n))
	return s
}

func (s *stopping) Err() error {
	if s.left.Add(-1) == 0 {
		s.cancel()
	}
	return s.Context.Err()
}

// stopped runs the program until its context is asked for the n-th time.
func stopped(t *testing.T, n int, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = app.Main(stopAt(n), app.Env{Args: args, Dir: dir, Stdout: &out, Stderr: &errs, Random: crand.Reader, Version: "test",
		Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }})
	return out.String(), errs.String(), code
}

// TestStopWhileReading stops a publish at every place where it looks whether it
// should, up to the archive: nothing is left behind.
func TestStopWhileReading(t *testing.T) {
	needGit(t)
	var where string
	for n := 1; ; n++ {
		dir, repo := workspace(t, 1000), gittest.NewRepo(t)
		_, errs, code := stopped(t, n, dir, "publish", "--remote", repo, "--run-id", "1", "--results", "*", "--started", "2026-04-01T10:00:00Z")
		if strings.Contains(errs, "Read 1 files") {
			break
		}
		if code != 1 || !strings.Contains(errs, "nothing was archived") {
			t.Fatalf("stopped at %d: exit %d\n%s", n, code, errs)
		}
		where += errs
		if refs := gittest.Git(t, repo, "", "for-each-ref"); refs != "" {
			t.Errorf("stopped at %d: branches were made:\n%s", n, refs)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("stopped at %d: the workspace holds %v (%v)", n, left, err)
		}
	}
	for _, place := range []string{"stage results", "read results of module"} {
		if !strings.Contains(where, place) {
			t.Errorf("no publish was stopped at %q:\n%s", place, where)
		}
	}
}

// TestStopDecode stops a decode: nothing is printed.
func TestStopDecode(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(name, goLines(3), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs, code := stopped(t, 1, filepath.Dir(name), "decode", "a.txt")
	if code != 1 || out != "" || !strings.Contains(errs, "decode a.txt: context canceled") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
}

// TestStopDerive stops a recalculation while it derives: no site is written.
func TestStopDerive(t *testing.T) {
	needGit(t)
	dir, repo := workspace(t, 1000), gittest.NewRepo(t)
	if _, errs, code := call(t, dir, "publish", "--remote", repo, "--run-id", "1", "--results", "*", "--started", "2026-04-01T10:00:00Z", "--site=false"); code != 0 {
		t.Fatalf("exit %d\n%s", code, errs)
	}
	seen := 0
	for n := 1; ; n++ {
		_, errs, code := stopped(t, n, dir, "recalc", "--remote", repo)
		if strings.Contains(errs, "derived run 1 of 1") {
			break
		}
		if code != 1 || gittest.Git(t, repo, "", "for-each-ref", "refs/heads/gh-pages") != "" {
			t.Fatalf("stopped at %d: exit %d\n%s", n, code, errs)
		}
		if strings.Contains(errs, "decode benchmarks/2026-04-01/1.1/main: context canceled") {
			seen++
		}
	}
	if seen == 0 {
		t.Error("nothing was stopped while it decoded")
	}
}
