package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strconv"

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
	context, diags := gh.ReadContext(s.env.Getenv)
	s.tell(diags)
	if d := context.Refused(); d != nil {
		return &exitError{exitUsage, d}
	}
	opt, err := s.deriveOptions()
	if err != nil {
		return err
	}
	origin, err := s.describe(ctx, &context)
	if err != nil {
		return err
	}
	raw, err := s.branch("raw-branch")
	if err != nil {
		return err
	}
	r, err := s.gather(opt.Config)
	if err != nil {
		return err
	}
	defer r.close()
	s.tell(r.diags)
	ok, failed := r.counts()
	if len(r.staged.Files) == 0 {
		if s.opt.flag("allow-empty") {
			s.log.Info("Nothing to archive: no result file was found")
			return nil
		}
		return &exitError{exitFailed, fmt.Errorf("publish: no result file was found. Check --results, or give --allow-empty where that is fine")}
	}
	s.log.Infof("Read %d files: %s", len(r.staged.Files), describeCount(ok, failed))
	entries, err := s.archiveAll(ctx, raw, origin, r)
	if err != nil {
		return err
	}
	if ok+failed == 0 && !s.opt.flag("allow-empty") {
		s.fail(exitFailed)
		s.report(&perf.Diagnostic{Severity: perf.Error, Code: "no-result", What: "not one benchmark was found in the results",
			Do: "The files are archived. Check the measuring step, or give --allow-empty where that is fine."})
	}
	if err := s.setAll(map[string]string{"rows": strconv.Itoa(ok), "run-id": entries[0].Meta.Run.ID,
		"raw-path": entries[0].Path, "raw-commit": string(entries[0].Commit)}); err != nil {
		return err
	}
	if !s.opt.flag("site") {
		return nil
	}
	p, err := s.publishSite(ctx, raw, opt, wholeSite)
	if err != nil {
		return err
	}
	return s.finish(p, entries)
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

func wholeSite(d *derive.Derived) ([]site.File, bool, error) {
	files, err := site.Render(d)
	return files, true, err
}

// archiveAll archives the results, one entry for each kind among them.
func (s *session) archiveAll(ctx context.Context, raw gitdb.Branch, o origin, r *results) ([]archive.Appended, error) {
	var out []archive.Appended
	for _, kind := range []perf.Kind{perf.Bench, perf.Load} {
		staged := r.staged.Select(func(f archive.StagedFile) bool { return r.kinds[f.RawPath()] == kind })
		if len(staged.Files) == 0 {
			continue
		}
		var suites []perf.Suite
		for _, su := range r.suites {
			if su.Kind == kind {
				suites = append(suites, su)
			}
		}
		meta := s.metadata(o, kind, staged, suites, r.diags)
		if s.opt.flag("dry-run") {
			p, err := archive.Path(meta.Run)
			if err != nil {
				return nil, err
			}
			s.log.Infof("Dry run: would archive %d files as %s", len(staged.Files), p)
			meta.Run.ID = archive.RunID(meta.Run)
			out = append(out, archive.Appended{Path: p, Meta: meta})
			continue
		}
		a, err := archive.Append(ctx, raw, meta, staged, s.now, gitdb.UpdateOptions{Moved: func(try int) {
			s.log.Infof("Branch %s moved, try %d", s.opt.str("raw-branch"), try)
		}})
		if err != nil {
			return nil, s.keep(a, staged, err)
		}
		s.tellArchived(a, len(staged.Files))
		out = append(out, a)
	}
	return out, nil
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
func (s *session) keep(a archive.Appended, staged *archive.Staged, cause error) error {
	dir := filepath.Join(s.abs(s.opt.str("artifact-dir")), "raw", filepath.FromSlash(a.Path))
	if err := writeEntry(dir, a.Meta, staged); err != nil {
		return &exitError{exitNotArchived, errors.Join(cause, fmt.Errorf("keep the entry in %s: %w", dir, err))}
	}
	cure := "Mend the cause and publish again."
	if errors.Is(cause, gitdb.ErrAuth) || errors.Is(cause, gitdb.ErrForbidden) {
		cure = "Give a token with the permission contents: write and publish again."
	}
	d := &perf.Diagnostic{Severity: perf.Error, Code: "not-archived", What: "the results are not archived", Why: cause.Error(), Err: cause,
		Do: fmt.Sprintf("The entry is kept in %s: upload it as an artifact. %s", dir, cure)}
	return &exitError{exitNotArchived, d}
}

func writeEntry(dir string, meta perf.Metadata, staged *archive.Staged) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
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
	unstable := 0
	for _, e := range entries {
		run := runOf(p.derived, e)
		if run == nil {
			continue
		}
		unstable += run.Counts.Unstable
		s.summary += report.Summary(p.derived, run, report.Info{RunURL: s.runURL(), SiteURL: s.siteURL(),
			RawBranch: s.opt.str("raw-branch"), RawCommit: string(e.Commit), RawFiles: len(e.Meta.Files), RawBytes: e.Bytes,
			SiteBranch: s.opt.str("site-branch"), SiteCommit: string(p.commit), SiteBytes: p.bytes, Diagnostics: p.diags}) + "\n"
	}
	if err := gh.NewSummary(s.env.Getenv("GITHUB_STEP_SUMMARY"), s.log).Write(s.summary); err != nil {
		return fmt.Errorf("write job summary: %w", err)
	}
	s.log.Infof("Site written to branch %s, %d bytes: %s", s.opt.str("site-branch"), p.bytes, p.derived.Badge.Message)
	return s.setAll(map[string]string{"site-commit": string(p.commit), "site-url": s.siteURL(), "verdict": string(perf.None),
		"unstable": strconv.Itoa(unstable), "badge-color": p.derived.Badge.State})
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
