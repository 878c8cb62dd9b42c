package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"perfband/internal/archive"
	"perfband/internal/derive"
	"perfband/internal/gh"
	"perfband/internal/gitdb"
	"perfband/internal/perf"
	"perfband/internal/report"
	"perfband/internal/site"
)

// publish archives results and, unless told otherwise, derives the site. The
// archive comes first and alone decides whether measurements are safe; what
// goes wrong later can be repeated from it.
func publish(ctx context.Context, s *session) error {
	event, diags := gh.ReadContext(s.env.Getenv)
	s.tell(diags)
	if d := event.Refused(); d != nil {
		return &exitError{exitUsage, d}
	}
	if err := s.checkTargets(event.DefaultBranch, event.Ref, s.env.Getenv("GITHUB_HEAD_REF"), s.env.Getenv("GITHUB_BASE_REF")); err != nil {
		return err
	}
	opt, err := s.deriveOptions()
	if err != nil {
		return err
	}
	from, err := s.describe(ctx, &event)
	if err != nil {
		return err
	}
	from.accepted = pendingAcceptances(opt.Config.Accepted)
	s.log.Group("Read results")
	r, err := s.gather(ctx, opt.Config)
	if err != nil {
		return err
	}
	defer r.close()
	s.tell(r.diags)
	ok, failed := r.counts()
	if len(r.staged.Files) == 0 {
		return s.nothingFound(r)
	}
	s.log.Infof("Read %d files: %s", len(r.staged.Files), describeCount(ok, failed))
	s.log.Group("Archive")
	raw, entries, err := s.archiveAll(ctx, from, r)
	if err != nil {
		return err
	}
	if ok+failed == 0 && !s.opt.flag("allow-empty") {
		s.fail(exitFailed)
		s.report(&perf.Diagnostic{Severity: perf.Error, Code: "no-result", What: "not one benchmark was found in the results",
			Do: "The files are archived. Check the measuring step, or give --allow-empty where that is fine."})
	}
	if err := s.setAll(archiveOutputs(ok, entries)); err != nil {
		return err
	}
	if !s.opt.flag("site") {
		return nil
	}
	s.log.Group("Derive and write the site")
	p, err := s.publishSite(ctx, raw, opt, wholeSite, false, entries)
	if err != nil {
		return err
	}
	return s.finish(p, entries)
}

// nothingFound ends a call whose results hold no file.
func (s *session) nothingFound(r *results) error {
	why := "no result file was found"
	if len(r.staged.Excluded) > 0 {
		why = fmt.Sprintf("all %d result files are left out by archive.exclude, a limit or for a secret", len(r.staged.Excluded))
	}
	if s.opt.flag("allow-empty") {
		s.log.Info("Nothing to archive: " + why)
		return nil
	}
	return fmt.Errorf("publish: %s. Check --results, or give --allow-empty where that is fine", why)
}

// archiveOutputs tells what was archived; a call with two kinds of results has
// two paths, one a line.
func archiveOutputs(rows int, entries []archive.Appended) map[string]string {
	var paths []string
	last := entries[len(entries)-1]
	for _, e := range entries {
		paths = append(paths, e.Path)
	}
	out := map[string]string{"rows": strconv.Itoa(rows), "run-id": last.Meta.Run.ID, "raw-path": strings.Join(paths, "\n")}
	if last.Commit != "" {
		out["raw-commit"] = string(last.Commit)
	}
	return out
}

// tell prints diagnostics; an error among them makes the call fail in the end.
func (s *session) tell(diags []perf.Diagnostic) {
	for _, d := range diags {
		if d.Severity == perf.Error {
			s.fail(exitFailed)
		}
		s.log.Diagnostic(d)
	}
}

func (s *session) setAll(values map[string]string) error {
	for _, name := range sortedKeys(values) {
		if err := s.out.Set(name, values[name]); err != nil {
			return err
		}
	}
	return nil
}

// wholeSite is all pages and data, and the memo for the next publish.
func wholeSite(d *derive.Derived) ([]site.File, bool, error) {
	files, err := site.Render(d)
	if err != nil {
		return nil, true, err
	}
	memo, err := d.MemoFiles()
	for _, f := range memo {
		files = append(files, site.File{Path: path.Join(memoDir, f.Path), Data: f.Data})
	}
	return files, true, err
}

// pending is an entry about to be archived.
type pending struct {
	meta   perf.Metadata
	staged *archive.Staged
}

// prepare makes one entry for each kind among the results.
func (s *session) prepare(from origin, r *results) []pending {
	var out []pending
	for _, kind := range []perf.Kind{perf.Bench, perf.Load} {
		staged := r.staged.Select(func(f archive.StagedFile) bool { return r.kinds[f.RawPath()] == kind })
		if len(staged.Files) > 0 {
			out = append(out, pending{s.metadata(from, kind, staged, r), staged})
		}
	}
	return out
}

// archiveAll archives the results. Whatever goes wrong, each entry is either on
// the branch or kept on disk in the end.
func (s *session) archiveAll(ctx context.Context, from origin, r *results) (gitdb.Branch, []archive.Appended, error) {
	raw, unusable := s.branch("raw-branch")
	if unusable == nil {
		var name string
		if name, unusable = raw.Default(ctx); unusable == nil {
			unusable = s.checkBranches(name)
			if from.run.DefaultBranch == "" {
				from.run.DefaultBranch = name
			}
		}
	}
	var done []archive.Appended
	var lost []error
	for _, e := range s.prepare(from, r) {
		a, err := s.archiveOne(ctx, raw, e, unusable)
		if err != nil {
			lost = append(lost, s.keep(e, err))
			continue
		}
		done = append(done, a)
	}
	if len(lost) > 0 {
		for _, err := range lost[1:] {
			s.report(err)
		}
		return nil, nil, &exitError{exitNotArchived, lost[0]}
	}
	return raw, done, nil
}

func (s *session) archiveOne(ctx context.Context, raw gitdb.Branch, e pending, unusable error) (archive.Appended, error) {
	if s.opt.flag("dry-run") && unusable == nil {
		p, err := archive.Path(e.meta.Run)
		if err != nil {
			return archive.Appended{}, err
		}
		s.log.Infof("Dry run: would archive %d files as %s", len(e.staged.Files), p)
		e.meta.Run.ID = archive.RunID(e.meta.Run)
		return archive.Appended{Path: p, Meta: e.meta}, nil
	}
	if unusable != nil {
		return archive.Appended{}, unusable
	}
	a, err := archive.Append(ctx, raw, e.meta, e.staged, s.now, gitdb.UpdateOptions{Spread: s.spread(), Moved: func(try int) {
		s.log.Infof("Branch %s moved, try %d", s.opt.str("raw-branch"), try)
	}})
	if err == nil {
		s.tellArchived(a, len(e.staged.Files))
	}
	return a, err
}

func (s *session) tellArchived(a archive.Appended, files int) {
	switch {
	case a.Existed:
		s.log.Infof("Already archived as %s: nothing to do", a.Path)
	case a.Diverted:
		s.log.Diagnostic(perf.Diagnostic{Severity: perf.Notice, Code: "second-call", Where: perf.Where{Ref: s.opt.str("raw-branch"), File: a.Path},
			What: "archived beside other results of the same run", Do: "Give each call of one run its own --shard."})
	default:
		s.log.Infof("Archived %d files, %d bytes, as %s", files, a.Bytes, a.Path)
	}
}

// keep writes an entry that could not be archived to disk, since a measurement
// lost is a measurement to repeat.
func (s *session) keep(e pending, cause error) error {
	meta, p, err := archive.Final(e.meta)
	if err != nil {
		return errors.Join(cause, err)
	}
	dir, err := freshFolder(filepath.Join(s.abs(s.opt.str("artifact-dir")), "raw", filepath.FromSlash(p)))
	if err == nil {
		err = writeEntry(dir, meta, e.staged)
	}
	if err != nil {
		return errors.Join(cause, fmt.Errorf("keep the entry: %w", err))
	}
	shown := dir
	if rel, err := filepath.Rel(s.env.Dir, dir); err == nil && filepath.IsLocal(rel) {
		shown = rel // in the action the absolute path is the container's
	}
	cure := "Mend the cause and publish again."
	if errors.Is(cause, gitdb.ErrAuth) || errors.Is(cause, gitdb.ErrForbidden) {
		cure = "Give a token with the permission contents: write and publish again."
	}
	return &perf.Diagnostic{Severity: perf.Error, Code: "not-archived", What: "the results are not archived", Why: cause.Error(), Err: cause,
		Do: fmt.Sprintf("The entry is kept in %s: upload it as an artifact. %s", shown, cure)}
}

// freshFolder makes a folder that did not exist: what an earlier call kept is
// not mixed with this.
func freshFolder(dir string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	for i := 1; ; i++ {
		name := dir
		if i > 1 {
			name = fmt.Sprintf("%s~%d", dir, i)
		}
		if err := os.Mkdir(name, 0o755); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

func writeEntry(dir string, meta perf.Metadata, staged *archive.Staged) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	doc, err := perf.CanonicalJSON(meta)
	if err != nil {
		return err
	}
	if err := root.WriteFile("metadata.json", doc, 0o644); err != nil {
		return err
	}
	for i := range staged.Files {
		f := &staged.Files[i]
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(f.Path)), 0o755); err != nil {
			return err
		}
		if err := copyFile(root, f); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(root *os.Root, f *archive.StagedFile) error {
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.Create(filepath.FromSlash(f.Path))
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// finish writes summary and outputs once the site stands.
func (s *session) finish(p published, entries []archive.Appended) error {
	if s.opt.flag("dry-run") {
		s.log.Infof("Dry run: nothing was written; the site without this run has %d bytes", p.bytes)
		return nil
	}
	unstable := 0
	var runs []*derive.Run
	for _, e := range entries {
		run := runOf(p.derived, e)
		if run == nil {
			continue
		}
		runs = append(runs, run)
		unstable += run.Counts.Unstable
		s.summary += report.Summary(p.derived, run, report.Info{RunURL: s.runURL(), SiteURL: s.siteURL(),
			RawBranch: s.opt.str("raw-branch"), RawCommit: string(e.Commit), RawFiles: len(e.Meta.Files), RawBytes: e.Bytes,
			SiteBranch: s.opt.str("site-branch"), SiteCommit: string(p.commit), SiteBytes: p.bytes, Diagnostics: p.diags}) + "\n"
	}
	if err := gh.NewSummary(s.env.Getenv("GITHUB_STEP_SUMMARY"), s.log).Write(s.summary); err != nil {
		return fmt.Errorf("write job summary: %w", err)
	}
	s.log.Infof("Site written to branch %s, %d bytes; badge %s: %s", s.opt.str("site-branch"), p.bytes, p.derived.Badge.State, p.derived.Badge.Message)
	values := s.siteOutputs(p, runs)
	values["unstable"] = strconv.Itoa(unstable)
	if s.fromInputs { // the runner's own summary file cannot be read by later steps
		values["summary-file"] = path.Join(filepath.ToSlash(s.opt.str("artifact-dir")), "summary.md")
		if err := writeFiles(s.abs(s.opt.str("artifact-dir")), []site.File{{Path: "summary.md", Data: []byte(s.log.Secrets().Text(s.summary))}}); err != nil {
			return err
		}
	}
	return s.setAll(values)
}

// runOf is the derived run an entry belongs to.
func runOf(d *derive.Derived, e archive.Appended) *derive.Run {
	for _, r := range d.Runs {
		if r.Kind == e.Meta.Run.Kind && r.Meta.Run.RunID == e.Meta.Run.RunID && r.DuplicateOf == "" {
			return r
		}
	}
	return nil
}

// runURL is the page of this workflow run, "" outside a workflow.
func (s *session) runURL() string {
	server, repo, id := s.env.Getenv("GITHUB_SERVER_URL"), s.env.Getenv("GITHUB_REPOSITORY"), s.env.Getenv("GITHUB_RUN_ID")
	if server == "" || repo == "" || id == "" {
		return ""
	}
	return server + "/" + repo + "/actions/runs/" + id
}
