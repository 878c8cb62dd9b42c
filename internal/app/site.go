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
	"slices"
	"strings"

	"perfband/internal/archive"
	"perfband/internal/derive"
	"perfband/internal/gitdb"
	"perfband/internal/perf"
	"perfband/internal/site"
)

// siteIndex marks a site folder as perfband's.
const siteIndex = "data/v1/index.json"

// memoDir is where, in the site's folder, the memo lies.
const memoDir = "data/v1/memo"

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

// siteUpdate is one call's update of the site branch.
type siteUpdate struct {
	s     *session
	raw   gitdb.Branch
	opt   derive.Options
	pages render
	dir   string
	fresh bool               // derive from nothing, whatever is remembered
	mine  []archive.Appended // entries of this call
	files []site.File
	published
}

// publishSite derives from the raw branch and writes the site branch. What the
// site remembers of earlier runs is used unless fresh. When the site branch
// moves meanwhile everything is derived again on its new tip and the newest raw
// tip: derived data is never merged.
func (s *session) publishSite(ctx context.Context, raw gitdb.Branch, opt derive.Options, pages render, fresh bool, mine []archive.Appended) (published, error) {
	branch, err := s.branch("site-branch")
	if err != nil {
		return published{}, err
	}
	dir, err := s.siteDir()
	if err != nil {
		return published{}, err
	}
	u := &siteUpdate{s: s, raw: raw, opt: opt, pages: pages, dir: dir, fresh: fresh, mine: mine}
	if u.commit, err = gitdb.Update(ctx, branch, gitdb.UpdateOptions{Spread: s.spread(), Moved: func(try int) {
		s.log.Infof("Branch %s moved; deriving again, try %d", s.opt.str("site-branch"), try)
	}}, u.attempt); err != nil {
		if errors.Is(err, gitdb.ErrMoved) {
			return u.published, &perf.Diagnostic{Severity: perf.Error, Code: "site-moved", Where: perf.Where{Ref: s.opt.str("site-branch")},
				What: "the site was not written", Why: err.Error(), Err: err,
				Do: "The results are archived and nothing is lost: the next publish or mode recalc writes the site."}
		}
		return u.published, fmt.Errorf("write site to branch %s: %w", s.opt.str("site-branch"), err)
	}
	return u.published, s.writeOut(u.files)
}

// attempt makes the change for one tip of the site branch.
func (u *siteUpdate) attempt(ctx context.Context, tip gitdb.Rev, tree *gitdb.Tree) (gitdb.Change, error) {
	s := u.s
	if err := ours(tree, s.opt.str("site-branch"), u.dir); err != nil {
		return gitdb.Change{}, err
	}
	opt := u.opt
	u.rawTip, u.diags = "", nil
	var err error
	if !u.fresh {
		if opt.Memo, err = readMemo(ctx, tree, u.dir, opt); ctx.Err() != nil {
			return gitdb.Change{}, ctx.Err()
		} else if err != nil { // a cache: without it everything is read
			s.log.Infof("What the site remembers cannot be used: %v", err)
		}
	}
	done, err := u.doneBefore(ctx, opt.Memo)
	if err != nil {
		return gitdb.Change{}, err
	}
	if done {
		u.derived, err = s.deriveMemo(ctx, u.raw, opt)
	} else {
		if u.rawTip, err = u.raw.Head(ctx); err != nil {
			return gitdb.Change{}, err
		}
		u.derived, u.diags, err = s.deriveAt(ctx, u.raw, u.rawTip, opt)
	}
	if err != nil {
		return gitdb.Change{}, err
	}
	var whole bool
	if u.files, whole, err = u.pages(u.derived); err != nil {
		return gitdb.Change{}, err
	}
	c := gitdb.Change{When: s.now, Message: fmt.Sprintf("Update performance badge\n\nperfband %s", s.env.Version)}
	if whole {
		c.Message = fmt.Sprintf("Publish performance site\n\nperfband %s", s.env.Version)
		if u.rawTip != "" {
			c.Message += "\nPerfband-Raw: " + string(u.rawTip)
		}
		c.Replace = u.dir
	}
	u.bytes = 0
	for _, f := range u.files {
		c.Put = append(c.Put, gitdb.Bytes(path.Join(u.dir, f.Path), f.Data))
		u.bytes += int64(len(f.Data))
	}
	if tip == "" {
		c.Put = append(c.Put, gitdb.Bytes(".nojekyll", nil))
	}
	if s.opt.flag("dry-run") {
		return c, gitdb.ErrNothing
	}
	return c, nil // which commits nothing where nothing differs
}

// doneBefore reports whether the site on its branch was derived from this
// call's entries already: another publisher that came later saw them too.
func (u *siteUpdate) doneBefore(ctx context.Context, memo *derive.Memo) (bool, error) {
	for _, e := range u.mine {
		known, ok := memo.Entry(e.Path)
		if !ok || e.Commit == "" {
			return false, nil
		}
		tree, err := u.raw.Tree(ctx, e.Commit)
		if err != nil {
			return false, err
		}
		id, err := tree.ID(e.Path)
		if err != nil || string(id) != known.ID {
			return false, err
		}
	}
	return len(u.mine) > 0, nil
}

// readMemo reads what the site remembers of earlier runs.
func readMemo(ctx context.Context, tree *gitdb.Tree, dir string, opt derive.Options) (*derive.Memo, error) {
	folder := path.Join(dir, memoDir)
	if _, err := tree.ID(folder); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err := tree.Prefetch(ctx, []string{folder}); err != nil {
		return nil, err
	}
	var files []string
	err := fs.WalkDir(tree, folder, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, p)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := tree.Prefetch(ctx, files); err != nil {
		return nil, err
	}
	sub, err := tree.Sub(folder)
	if err != nil {
		return nil, err
	}
	return derive.ReadMemo(sub, opt)
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
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != "badge.json" && e.Name() != "badge.svg" }) {
		return nil // a badge was written before the first site
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
