package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"perfband/internal/archive"
	"perfband/internal/config"
	"perfband/internal/derive"
	"perfband/internal/gitdb"
	"perfband/internal/manifest"
	"perfband/internal/perf"
)

// remote is where the branches are.
func (s *session) remote() (gitdb.Remote, error) {
	url := s.opt.str("remote")
	if url == "" {
		server, repo := s.env.Getenv("GITHUB_SERVER_URL"), s.env.Getenv("GITHUB_REPOSITORY")
		if server == "" || repo == "" {
			return gitdb.Remote{}, usagef("no repository to work on: give --remote URL or the path of a bare repository (in a workflow GITHUB_SERVER_URL and GITHUB_REPOSITORY name it)")
		}
		url = strings.TrimSuffix(server, "/") + "/" + repo + ".git"
	} else if !strings.Contains(url, "://") {
		url = s.abs(url)
	}
	ca := s.opt.str("ca-file")
	if ca != "" {
		ca = s.abs(ca)
	}
	return gitdb.Remote{URL: url, Auth: gitdb.Auth{Token: s.token()}, CAFile: ca, Notice: s.log.Info}, nil
}

// branch opens the branch an option names.
func (s *session) branch(option string) (gitdb.Branch, error) {
	r, err := s.remote()
	if err != nil {
		return nil, err
	}
	return gitdb.Open(r, s.opt.str(option))
}

// configuration reads the configuration; only a file asked for must exist.
func (s *session) configuration() (config.Config, error) {
	name := s.opt.str("config")
	data, err := os.ReadFile(s.abs(name))
	if errors.Is(err, fs.ErrNotExist) && !s.opt.set("config") {
		return config.Default(), nil
	}
	if err != nil {
		return config.Config{}, usagef("--config %s: %v", name, reason(err))
	}
	c, err := config.Parse(name, data)
	if err != nil {
		return c, &exitError{exitUsage, err}
	}
	return c, nil
}

// manifestSet reads the manifests.
func (s *session) manifestSet() (manifest.Set, error) {
	root, err := os.OpenRoot(s.env.Dir)
	if err != nil {
		return manifest.Set{}, fmt.Errorf("read manifests: %w", err)
	}
	defer root.Close()
	set, err := manifest.Load(root.FS(), strings.TrimSuffix(s.opt.str("manifests"), "/"))
	if err != nil {
		return set, &exitError{exitUsage, err}
	}
	return set, nil
}

// deriveOptions are the inputs of the derivation besides the archive.
func (s *session) deriveOptions() (derive.Options, error) {
	c, err := s.configuration()
	if err != nil {
		return derive.Options{}, err
	}
	m, err := s.manifestSet()
	if err != nil {
		return derive.Options{}, err
	}
	return derive.Options{Config: c, Manifests: m, Repository: s.env.Getenv("GITHUB_REPOSITORY"), ServerURL: s.env.Getenv("GITHUB_SERVER_URL"),
		Progress: func(done, all int, run string) {
			s.log.Progress(fmt.Sprintf("derived run %d of %d: %s", done, all, run))
		}}, nil
}

// deriveTip derives everything from the raw branch as it is now.
func (s *session) deriveTip(ctx context.Context) (*derive.Derived, error) {
	opt, err := s.deriveOptions()
	if err != nil {
		return nil, err
	}
	raw, err := s.branch("raw-branch")
	if err != nil {
		return nil, err
	}
	rev, err := raw.Head(ctx)
	if err != nil {
		return nil, err
	}
	if rev == "" {
		return nil, fmt.Errorf("branch %s does not exist in %s: publish a run first", s.opt.str("raw-branch"), s.opt.str("remote"))
	}
	d, _, err := s.deriveAt(ctx, raw, rev, opt)
	return d, err
}

// deriveAt derives everything from the raw branch at a revision and tells of
// what could not be read.
func (s *session) deriveAt(ctx context.Context, raw gitdb.Branch, rev gitdb.Rev, opt derive.Options) (*derive.Derived, []perf.Diagnostic, error) {
	name := s.opt.str("raw-branch")
	tree, err := raw.Tree(ctx, rev)
	if err != nil {
		return nil, nil, err
	}
	if err := tree.Prefetch(ctx, []string{"."}); err != nil {
		return nil, nil, fmt.Errorf("list branch %s: %w", name, err)
	}
	d, diags, err := derive.Build(archive.Entries(ctx, name, tree), opt)
	if err != nil {
		return nil, diags, fmt.Errorf("derive from branch %s: %w", name, err)
	}
	for _, skipped := range tree.Skipped() {
		diags = append(diags, perf.Diagnostic{Severity: perf.Warning, Code: "odd-tree-entry", Where: perf.Where{Ref: name, File: skipped.Path},
			What: "skipped", Why: skipped.Why})
	}
	for _, diag := range diags {
		s.log.Diagnostic(diag)
	}
	return d, diags, nil
}
