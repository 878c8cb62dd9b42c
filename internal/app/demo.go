package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"perfband/internal/gitdb"
)

// demoRuns is where the demo's input lies in Env.Demo.
const demoRuns = "testdata/demo/runs"

// demoRun is run.json of one example run.
type demoRun struct {
	RunID   string `json:"run_id"`
	Attempt int    `json:"attempt"`
	Commit  struct {
		SHA     string   `json:"sha"`
		Parents []string `json:"parents"`
		Time    string   `json:"time"`
		Subject string   `json:"subject"`
		Author  string   `json:"author"`
	} `json:"commit"`
	Started       string `json:"started"`
	Ref           string `json:"ref"`
	DefaultBranch string `json:"default_branch"`
	Suites        []struct {
		Dir    string `json:"dir"`
		Module string `json:"module"`
		Kind   string `json:"kind"`
	} `json:"suites"`
}

// demo publishes the example runs to a throw-away repository, one after the
// other through the code of publish, and serves the site they give.
func demo(ctx context.Context, s *session) error {
	if s.env.Demo == nil {
		return usagef("the container image holds no example runs: in a checkout of perfband, go run . demo shows them")
	}
	dir := s.opt.str("dir")
	if dir == "" {
		tmp, err := os.MkdirTemp("", "perfband-demo-")
		if err != nil {
			return fmt.Errorf("demo: %w", err)
		}
		dir = tmp
	}
	dir = s.abs(dir)
	repo := filepath.Join(dir, "repository.git")
	if err := claim(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(repo); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if err := gitdb.Init(repo); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	runs, err := fs.ReadDir(s.env.Demo, demoRuns)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	var last *session
	for i, r := range runs {
		if last, err = s.demoPublish(ctx, dir, repo, r.Name(), i == len(runs)-1); err != nil {
			return fmt.Errorf("demo: publish run %s: %w", r.Name(), err)
		}
		s.log.Infof("Published run %d of %d", i+1, len(runs))
	}
	s.log.Info("")
	if _, err := s.log.Raw().Write([]byte(last.summary)); err != nil {
		return err
	}
	out := filepath.Join(dir, "site")
	s.log.Infof("Repository: %s (branches perf-raw and gh-pages)\nSite:       %s", repo, filepath.Join(out, "index.html"))
	if !s.opt.flag("serve") {
		return nil
	}
	return s.serveFiles(ctx, os.DirFS(out))
}

// demoMark stands in folders the demo made, and may clear.
const demoMark = ".perfband-demo"

// claim takes a folder for the demo: a new or empty one, or one of its own.
func claim(dir string) error {
	mark := filepath.Join(dir, demoMark)
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		if _, err := os.Stat(mark); err != nil {
			return usagef("--dir %s: the folder is not empty and not an earlier demo's; name a new one", dir)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if err := os.WriteFile(mark, nil, 0o644); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	return nil
}

// demoPublish publishes one example run as a workflow's step would.
func (s *session) demoPublish(ctx context.Context, dir, repo, name string, last bool) (*session, error) {
	data, err := fs.ReadFile(s.env.Demo, path.Join(demoRuns, name, "run.json"))
	if err != nil {
		return nil, err
	}
	var run demoRun
	if err := json.Unmarshal(data, &run); err != nil {
		return nil, err
	}
	work := filepath.Join(dir, "workspace", name)
	if err := os.RemoveAll(work); err != nil {
		return nil, err
	}
	sub, err := fs.Sub(s.env.Demo, path.Join(demoRuns, name))
	if err != nil {
		return nil, err
	}
	if err := os.CopyFS(work, sub); err != nil {
		return nil, err
	}
	event, err := run.write(work)
	if err != nil {
		return nil, err
	}
	vars := map[string]string{"GITHUB_RUN_ID": run.RunID, "GITHUB_RUN_ATTEMPT": fmt.Sprint(run.Attempt), "GITHUB_SHA": run.Commit.SHA,
		"GITHUB_REF": run.Ref, "GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": event}
	args := []string{"--remote", repo, "--started", run.Started}
	if last {
		args = append(args, "--site-out", filepath.Join(dir, "site"))
	}
	m, err := findMode("publish", false)
	if err != nil {
		return nil, err
	}
	step := &session{env: s.env, log: s.log, out: s.out, now: s.now}
	step.env.Dir, step.env.Getenv = work, func(k string) string { return vars[k] }
	if step.opt, err = parseFlags(m, args); err != nil {
		return nil, err
	}
	if err := publish(ctx, step); err != nil {
		return nil, err
	}
	if step.code != exitDone {
		return nil, errors.New("some results could not be read")
	}
	return step, nil
}

// write makes the configuration and the event file of the run.
func (r demoRun) write(work string) (event string, err error) {
	var b strings.Builder
	b.WriteString("schema: 1\nsite: {title: perfband demo}\nsuites:\n")
	for _, su := range r.Suites {
		fmt.Fprintf(&b, "  - {module: %s, kind: %s, results: [%s]}\n", su.Module, su.Kind, su.Dir)
	}
	if err := os.MkdirAll(filepath.Join(work, ".github"), 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(work, ".github", "perf.yml"), []byte(b.String()), 0o644); err != nil {
		return "", err
	}
	payload, err := json.Marshal(map[string]any{
		"ref":        r.Ref,
		"repository": map[string]any{"default_branch": r.DefaultBranch},
		"head_commit": map[string]any{"id": r.Commit.SHA, "timestamp": r.Commit.Time, "message": r.Commit.Subject,
			"author": map[string]string{"name": r.Commit.Author}},
	})
	if err != nil {
		return "", err
	}
	event = filepath.Join(work, ".github", "event.json")
	return event, os.WriteFile(event, payload, 0o644)
}
