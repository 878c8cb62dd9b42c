package app_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"perfband/internal/gitdb/gittest"
)

// TestDogfood runs this repository's own workflow as it is, with act instead
// of GitHub: a job in a container, the action built from the checkout, and a
// git server on the loopback interface instead of the one of the environment.
func TestDogfood(t *testing.T) {
	act, image := os.Getenv("PERFBAND_ACT"), os.Getenv("PERFBAND_RUNNER_IMAGE")
	need(t, "container", act != "" && image != "")
	needGit(t)
	token := newToken()
	srv := server(t, token)
	base := strings.TrimSuffix(srv.URL, "/repo.git")
	dir := t.TempDir()
	copyCheckout(t, dir)
	for _, args := range [][]string{{"init", "--quiet", "--initial-branch=main"}, {"add", "--all"}, {"commit", "--quiet", "--message=Measured"},
		{"remote", "add", "origin", base + "/owner/repo.git"}, {"push", "--quiet", srv.Repo, "main"}} {
		gittest.Git(t, dir, "", args...)
	}
	gittest.Git(t, srv.Repo, "", "symbolic-ref", "HEAD", "refs/heads/main")
	sha := strings.TrimSpace(gittest.Git(t, dir, "", "rev-parse", "HEAD"))
	push := filepath.Join(t.TempDir(), "event.json")
	write(t, push, `{"ref":"refs/heads/main","repository":{"id":1,"full_name":"owner/repo","default_branch":"main"},"head_commit":{"id":"`+sha+
		`","timestamp":"2026-04-01T09:00:00+02:00","message":"Measured","author":{"name":"A"}}}`)

	args := []string{"push", "--workflows", ".github/workflows/dogfood.yml", "--eventpath", push, "--platform", "ubuntu-latest=" + image,
		"--pull=false", "--rm", "--secret", "GITHUB_TOKEN=" + token}
	for _, env := range []string{"GITHUB_SERVER_URL=" + base, "GITHUB_API_URL=" + base + "/api/v3", "GITHUB_REPOSITORY=owner/repo", "GITHUB_RUN_ID=99",
		// Short, and compiled as the image's cache is: what is tested is the way, not the numbers.
		"GOFLAGS=-trimpath -vet=off -benchtime=1x"} {
		args = append(args, "--env", env)
	}
	cmd := exec.Command(act, args...)
	cmd.Dir = dir
	home := t.TempDir() // instead of the user's settings
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("act: %v\n%s", err, out)
	}
	if log := string(out); strings.Contains(log, token) {
		t.Error("the log holds the token")
	}
	var meta struct {
		Run    struct{ Event, Workflow string }
		Commit struct{ SHA string }
		Suites []struct{ Benchmarks int }
	}
	entries := strings.Fields(gittest.Git(t, srv.Repo, "", "ls-tree", "-r", "--name-only", "perf-raw"))
	if len(entries) != 2 || !strings.HasSuffix(entries[1], "/99.1/raw/perfband/bench.txt") {
		t.Fatalf("perf-raw holds %q", entries)
	}
	if err := json.Unmarshal([]byte(gittest.Git(t, srv.Repo, "", "show", "perf-raw:"+entries[0])), &meta); err != nil {
		t.Fatal(err)
	}
	benchmarks := 0
	for _, s := range meta.Suites {
		benchmarks += s.Benchmarks
	}
	if meta.Run.Event != "push" || meta.Run.Workflow != "dogfood" || meta.Commit.SHA != sha || benchmarks == 0 {
		t.Errorf("metadata: %+v, commit %s", meta, sha)
	}
	for _, file := range []string{".nojekyll", "perf/index.html", "perf/badge.svg", "perf/data/v1/latest.json"} {
		gittest.Git(t, srv.Repo, "", "cat-file", "-e", "gh-pages:"+file)
	}
	if main := strings.TrimSpace(gittest.Git(t, srv.Repo, "", "rev-parse", "main")); main != sha {
		t.Error("the branch of the sources was written to")
	}
}

// copyCheckout copies the sources without what is ignored.
func copyCheckout(t *testing.T, to string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		switch {
		case rel == ".git" || rel == filepath.Join(".ci", "bin") || rel == "perfband-out":
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		return copyFile(name, filepath.Join(to, rel))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, in)
	return err
}
