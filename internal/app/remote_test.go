package app_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"perfband/internal/gitdb/gittest"
)

const goResults = "pkg: example.test/m\nBenchmarkA\t100\t%d ns/op\nBenchmarkA\t100\t%d ns/op\nBenchmarkA\t100\t%d ns/op\nPASS\n"

// workspace is a folder with one result file.
func workspace(t *testing.T, value int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bench.txt"), fmt.Appendf(nil, goResults, value, value+1, value+2), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func publishArgs(url, id string, more ...string) []string {
	return append([]string{"publish", "--remote", url, "--run-id", id, "--results", "bench.txt", "--module", "core", "--started", "2026-04-01T10:00:00Z"}, more...)
}

// TestPublishOverHTTP runs the whole of publish against a real git server.
func TestPublishOverHTTP(t *testing.T) {
	for name, o := range map[string]gittest.Options{
		"filters":     {Token: "s3cr3t-token"},
		"few filters": {Token: "s3cr3t-token", ShallowCut: true},
		"no filters":  {Token: "s3cr3t-token", NoFilter: true},
		"tls":         {Token: "s3cr3t-token", TLS: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := gittest.New(t, o)
			args := []string{"--token", o.Token}
			if s.CAFile != "" {
				args = append(args, "--ca-file", s.CAFile)
			}
			for i, id := range []string{"1", "2"} {
				_, errs, code := call(t, workspace(t, 1000+100*i), publishArgs(s.URL, id, args...)...)
				if code != 0 {
					t.Fatalf("run %s: exit %d\n%s", id, code, errs)
				}
			}
			if n := gittest.Git(t, s.Repo, "", "rev-list", "--count", "perf-raw"); strings.TrimSpace(n) != "2" {
				t.Errorf("%s commits on perf-raw", n)
			}
			before := gittest.Git(t, s.Repo, "", "rev-parse", "gh-pages^{tree}")
			if _, errs, code := call(t, t.TempDir(), append([]string{"recalc", "--remote", s.URL}, args...)...); code != 0 {
				t.Fatalf("recalc: exit %d\n%s", code, errs)
			}
			if after := gittest.Git(t, s.Repo, "", "rev-parse", "gh-pages^{tree}"); after != before {
				t.Error("a recalculation changed the site")
			}
			gittest.Git(t, s.Repo, "", "fsck", "--strict", "--connectivity-only")
		})
	}
}

// TestRefusals: what a server says is shown, the results stay on disk, and
// what is on the branches stays as it was.
func TestRefusals(t *testing.T) {
	const hook = "echo 'perf-raw is protected: ask the release team' >&2; exit 1"
	for _, tc := range []struct {
		name  string
		o     gittest.Options
		token string
		url   func(string) string
		want  []string
	}{
		{"wrong token", gittest.Options{Token: "right-token"}, "wrong-token-value", nil, []string{"contents: write"}},
		{"no token", gittest.Options{Token: "right-token"}, "", nil, []string{"token"}},
		{"no such repository", gittest.Options{}, "", func(u string) string { return strings.Replace(u, "repo.git", "other.git", 1) }, []string{"no such repository"}},
		{"protected branch", gittest.Options{PreReceive: hook}, "", nil, []string{"perf-raw is protected: ask the release team"}},
		{"unreachable", gittest.Options{}, "", func(string) string { return "http://127.0.0.1:1/repo.git" }, []string{"127.0.0.1:1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := gittest.New(t, tc.o)
			url := s.URL
			if tc.url != nil {
				url = tc.url(url)
			}
			dir := workspace(t, 1000)
			args := publishArgs(url, "1")
			if tc.token != "" {
				args = append(args, "--token", tc.token)
			}
			_, errs, code := call(t, dir, args...)
			if code != 3 {
				t.Errorf("exit %d, want 3", code)
			}
			for _, want := range append(tc.want, "the results are not archived", "The entry is kept in ") {
				if !strings.Contains(errs, want) {
					t.Errorf("no %q in:\n%s", want, errs)
				}
			}
			if tc.token != "" && strings.Contains(errs, tc.token) {
				t.Errorf("the token is shown:\n%s", errs)
			}
			if strings.Count(errs, "\n") > 4 {
				t.Errorf("more than a message:\n%s", errs)
			}
			kept := filepath.Join(dir, "perfband-out", "raw", "benchmarks", "2026-04-01", "1.1", "raw", "core", "bench.txt")
			want, _ := os.ReadFile(filepath.Join(dir, "bench.txt"))
			if got, err := os.ReadFile(kept); err != nil || string(got) != string(want) {
				t.Errorf("kept entry: %v", err)
			}
			if out := gittest.Git(t, s.Repo, "", "for-each-ref"); out != "" {
				t.Errorf("something was written: %s", out)
			}
		})
	}
}

// TestSiteRefused: the archive is safe, so the exit code is 1, not 3.
func TestSiteRefused(t *testing.T) {
	s := gittest.New(t, gittest.Options{PreReceive: `while read old new ref; do case $ref in */gh-pages) echo 'no pages here' >&2; exit 1;; esac; done`})
	_, errs, code := call(t, workspace(t, 1000), publishArgs(s.URL, "1")...)
	if code != 1 || !strings.Contains(errs, "no pages here") || !strings.Contains(errs, "Archived 1 files") {
		t.Errorf("exit %d\n%s", code, errs)
	}
	if out := gittest.Git(t, s.Repo, "", "rev-list", "--count", "perf-raw"); strings.TrimSpace(out) != "1" {
		t.Errorf("perf-raw: %s", out)
	}
}

// TestManyPublishers: sixteen at once, each with results of its own. Nobody's
// are lost, both branches are lines, and the site at the end is what a
// recalculation gives.
func TestManyPublishers(t *testing.T) {
	s := gittest.New(t, gittest.Options{})
	const n = 16
	var wg sync.WaitGroup
	for i := range n {
		dir := workspace(t, 1000+i)
		wg.Go(func() {
			if _, errs, code := call(t, dir, publishArgs(s.URL, fmt.Sprint(100+i))...); code != 0 {
				t.Errorf("publisher %d: exit %d\n%s", i, code, errs)
			}
		})
	}
	wg.Wait()
	for _, branch := range []string{"perf-raw", "gh-pages"} {
		for commit := range strings.Lines(gittest.Git(t, s.Repo, "", "rev-list", "--parents", branch)) {
			if len(strings.Fields(commit)) > 2 {
				t.Errorf("%s has a merge: %s", branch, commit)
			}
		}
	}
	if out := strings.TrimSpace(gittest.Git(t, s.Repo, "", "rev-list", "--count", "perf-raw")); out != fmt.Sprint(n) {
		t.Errorf("%s commits on perf-raw, want %d", out, n)
	}
	pages := strings.TrimSpace(gittest.Git(t, s.Repo, "", "rev-list", "--count", "gh-pages"))
	t.Logf("%d publishers made %s commits of the site", n, pages)
	runs := table(t, mustCall(t, "export", "--remote", s.URL, "--what", "runs"))
	if len(runs) != n {
		t.Errorf("%d runs derived, want %d", len(runs), n)
	}
	before := gittest.Git(t, s.Repo, "", "rev-parse", "gh-pages^{tree}")
	mustCall(t, "recalc", "--remote", s.URL)
	if after := gittest.Git(t, s.Repo, "", "rev-parse", "gh-pages^{tree}"); after != before {
		t.Error("the site differs from a recalculation")
	}
	gittest.Git(t, s.Repo, "", "fsck", "--strict")
}
