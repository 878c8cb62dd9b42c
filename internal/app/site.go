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

	"perfband/internal/derive"
	"perfband/internal/gitdb"
	"perfband/internal/perf"
	"perfband/internal/site"
)

// siteIndex marks a site folder as perfband's.
const siteIndex = "data/v1/index.json"

// published says what a site update did.
type published struct {
	derived *derive.Derived
	rawTip  gitdb.Rev
	commit  gitdb.Rev
	bytes   int64
	diags   []perf.Diagnostic
}

// render makes the files to write from derived data.
type render func(*derive.Derived) (files []site.File, whole bool, err error)

// publishSite derives from the raw branch and writes the site branch. When the
// site branch moves meanwhile everything is derived again on the newest raw
// tip: derived data is never merged.
func (s *session) publishSite(ctx context.Context, raw gitdb.Branch, opt derive.Options, pages render) (published, error) {
	var p published
	branch, err := s.branch("site-branch")
	if err != nil {
		return p, err
	}
	dir, err := s.siteDir()
	if err != nil {
		return p, err
	}
	var files []site.File
	attempt := func(ctx context.Context, tip gitdb.Rev, tree *gitdb.Tree) (gitdb.Change, error) {
		if err := ours(tree, s.opt.str("site-branch"), dir); err != nil {
			return gitdb.Change{}, err
		}
		rawTip, err := raw.Head(ctx)
		if err != nil {
			return gitdb.Change{}, err
		}
		whole := true
		if p.derived == nil || rawTip != p.rawTip {
			if p.derived, p.diags, err = s.deriveAt(ctx, raw, rawTip, opt); err != nil {
				return gitdb.Change{}, err
			}
			p.rawTip = rawTip
		}
		if files, whole, err = pages(p.derived); err != nil {
			return gitdb.Change{}, err
		}
		c := gitdb.Change{When: s.now, Message: fmt.Sprintf("Publish performance site\n\nperfband %s\nPerfband-Raw: %s", s.env.Version, rawTip)}
		if whole {
			c.Replace = dir
		}
		p.bytes = 0
		for _, f := range files {
			c.Put = append(c.Put, gitdb.Bytes(path.Join(dir, f.Path), f.Data))
			p.bytes += int64(len(f.Data))
		}
		if tip == "" {
			c.Put = append(c.Put, gitdb.Bytes(".nojekyll", nil))
		}
		if s.opt.flag("dry-run") {
			return c, gitdb.ErrNothing
		}
		return c, nil
	}
	p.commit, err = gitdb.Update(ctx, branch, gitdb.UpdateOptions{Moved: func(try int) {
		s.log.Info(fmt.Sprintf("Branch %s moved; deriving again, try %d", s.opt.str("site-branch"), try))
	}}, attempt)
	if err != nil {
		return p, fmt.Errorf("write site to branch %s: %w", s.opt.str("site-branch"), err)
	}
	return p, s.writeOut(files)
}

// siteDir is the site's folder on its branch.
func (s *session) siteDir() (string, error) {
	dir := path.Clean(strings.TrimSuffix(s.opt.str("site-dir"), "/"))
	if !fs.ValidPath(dir) {
		return "", usagef("--site-dir %s: must be a folder of the branch, such as perf", s.opt.str("site-dir"))
	}
	return dir, nil
}

// ours refuses a site folder that holds something perfband did not write.
func ours(tree *gitdb.Tree, branch, dir string) error {
	entries, err := tree.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	var head struct {
		Kind string `json:"kind"`
	}
	data, err := tree.ReadFile(path.Join(dir, siteIndex))
	if err == nil && json.Unmarshal(data, &head) == nil && head.Kind == "perfband" {
		return nil
	}
	return &perf.Diagnostic{Severity: perf.Error, Code: "foreign-site", Where: perf.Where{Ref: branch, File: dir},
		What: "not written: the folder holds files that are not perfband's", Do: "Choose another folder with site-dir, or empty this one."}
}

// writeOut writes the site to the --site-out folder, if there is one.
func (s *session) writeOut(files []site.File) error {
	out := ""
	for _, name := range s.opt.mode.options {
		if name == "site-out" {
			out = s.opt.str(name)
		}
	}
	if out == "" {
		return nil
	}
	return writeFiles(s.abs(out), files)
}

// writeFiles writes files below a folder and nowhere else.
func writeFiles(dir string, files []site.File) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write site: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("write site: %w", err)
	}
	defer root.Close()
	for _, f := range files {
		name := filepath.FromSlash(f.Path)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("write site: %w", err)
		}
		if err := root.WriteFile(name, f.Data, 0o644); err != nil {
			return fmt.Errorf("write site: %w", err)
		}
	}
	return nil
}

// siteURL is where the site of a repository is usually served, "" if unknown.
func (s *session) siteURL() string {
	owner, name, ok := strings.Cut(s.env.Getenv("GITHUB_REPOSITORY"), "/")
	if !ok || s.env.Getenv("GITHUB_SERVER_URL") != "https://github.com" {
		return ""
	}
	host := strings.ToLower(owner) + ".github.io"
	u := "https://" + host + "/"
	if !strings.EqualFold(name, host) {
		u += name + "/"
	}
	return u + strings.Trim(s.opt.str("site-dir"), "/") + "/"
}
