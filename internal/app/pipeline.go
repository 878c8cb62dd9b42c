package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"perfband/internal/archive"
	"perfband/internal/config"
	"perfband/internal/derive"
	"perfband/internal/gitdb"
	"perfband/internal/limits"
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

// spread is how far writers are kept apart: in a workflow there may be many.
func (s *session) spread() time.Duration {
	if s.fromInputs {
		return limits.PushSpread
	}
	return 0
}

// checkTargets refuses what cannot be written to before anything is done.
func (s *session) checkTargets(inUse ...string) error {
	if _, err := s.remote(); err != nil {
		return err
	}
	if _, err := s.siteDir(); err != nil {
		return err
	}
	for _, option := range []string{"artifact-dir", "site-out"} {
		if err := s.checkFolder(option); err != nil {
			return err
		}
	}
	return s.checkBranches(inUse...)
}

// checkFolder refuses, in the action, a folder to write to that lies outside
// the workspace, be it by name or by a link that was checked out.
func (s *session) checkFolder(option string) error {
	if !s.fromInputs || !slices.Contains(s.opt.mode.options, option) || s.opt.str(option) == "" {
		return nil
	}
	root, err := filepath.EvalSymlinks(s.env.Dir)
	if err != nil {
		return fmt.Errorf("look at the workspace: %w", err)
	}
	dir := s.abs(s.opt.str(option))
	for {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
				break
			}
			return nil
		}
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			break // a link to nowhere
		}
		dir = filepath.Dir(dir)
	}
	return usagef("--%s %s: lies outside the workspace", option, s.opt.str(option))
}

var branchName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/-]*$`)

// checkBranches refuses names that are none and branches that are in use: the
// archive is only added to and the site's folder is replaced, so neither may be
// where sources live. Names are those of branches that hold sources.
func (s *session) checkBranches(inUse ...string) error {
	seen := map[string]string{}
	for _, option := range []string{"raw-branch", "site-branch"} {
		if !slices.Contains(s.opt.mode.options, option) {
			continue
		}
		name := s.opt.str(option)
		if !branchName.MatchString(name) || !gitdb.ValidBranch(name) || strings.Contains(name, "..") || strings.Contains(name, "//") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".lock") {
			return usagef("--%s %s: not a branch name", option, name)
		}
		if other, taken := seen[name]; taken {
			return usagef("--%s and --%s both name %s: results and site need a branch each", other, option, name)
		}
		seen[name] = option
		for _, used := range inUse {
			if used != "" && name == strings.TrimPrefix(used, "refs/heads/") {
				return usagef("--%s %s: this branch holds sources. Name a branch of its own; it is created if it does not exist", option, name)
			}
		}
	}
	return nil
}

// configuration reads the configuration and the lists beside it.
func (s *session) configuration() (config.Config, error) {
	name := s.opt.str("config")
	c, err := s.configFile(name)
	if err != nil {
		return c, err
	}
	dir := filepath.Dir(name)
	if err := c.ReadLists(os.DirFS(s.abs(dir)), filepath.ToSlash(dir)); err != nil {
		return c, &exitError{exitUsage, err}
	}
	return c, nil
}

// configFile reads the configuration file; only one asked for must exist.
func (s *session) configFile(name string) (config.Config, error) {
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
	for i, su := range c.Suites {
		if err := checkDecoder(cmp.Or(su.Format, "auto")); err != nil {
			return c, usagef("%s: suites[%d].format: %s", name, i, strings.TrimPrefix(err.Error(), "--format: "))
		}
	}
	return c, nil
}

// manifestSet reads the manifests; only a folder asked for must exist.
func (s *session) manifestSet() (manifest.Set, error) {
	dir := s.opt.str("manifests")
	if info, err := os.Stat(s.abs(dir)); err != nil || !info.IsDir() {
		if !s.opt.set("manifests") {
			return manifest.Set{}, nil
		}
		return manifest.Set{}, usagef("--manifests %s: no such folder", dir)
	}
	set, err := manifest.Load(os.DirFS(s.abs(dir)), ".")
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
	return derive.Options{Config: c, Manifests: m, Reach: derive.SiteReach,
		Repository: s.env.Getenv("GITHUB_REPOSITORY"), ServerURL: s.env.Getenv("GITHUB_SERVER_URL"),
		Progress: func(done, all int, run string) {
			s.log.Progress(fmt.Sprintf("derived run %d of %d: %s", done, all, run))
		}}, nil
}

// deriveTip derives everything from the raw branch as it is now, as far back as
// reach says.
func (s *session) deriveTip(ctx context.Context, reach derive.Reach) (*derive.Derived, error) {
	opt, err := s.deriveOptions()
	if err != nil {
		return nil, err
	}
	opt.Reach = reach
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
// what could not be read. With a memo among the options only what is new is
// read.
func (s *session) deriveAt(ctx context.Context, raw gitdb.Branch, rev gitdb.Rev, opt derive.Options) (*derive.Derived, []perf.Diagnostic, error) {
	name := s.opt.str("raw-branch")
	tree, err := raw.Tree(ctx, rev)
	if err != nil {
		return nil, nil, err
	}
	if len(opt.Memo.Known()) == 0 {
		if err := tree.Prefetch(ctx, []string{"."}); err != nil {
			return nil, nil, fmt.Errorf("list branch %s: %w", name, err)
		}
	}
	opt.Context = ctx
	opt.Reread = func(folder string) (perf.Entry, error) { return archive.Entry(ctx, name, tree, folder) }
	d, diags, err := derive.Build(archive.Entries(ctx, name, tree, opt.Memo.Known()), opt)
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

// deriveMemo derives from what is remembered alone: the state of a site that is
// up to date for this call.
func (s *session) deriveMemo(ctx context.Context, raw gitdb.Branch, opt derive.Options) (*derive.Derived, error) {
	rev, err := raw.Head(ctx)
	if err != nil {
		return nil, err
	}
	tree, err := raw.Tree(ctx, rev)
	if err != nil {
		return nil, err
	}
	opt.Reread = func(folder string) (perf.Entry, error) {
		return archive.Entry(ctx, s.opt.str("raw-branch"), tree, folder)
	}
	d, _, err := derive.Build(opt.Memo.Entries(), opt)
	return d, err
}
