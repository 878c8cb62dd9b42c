package app

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"perfband/internal/archive"
	"perfband/internal/config"
	"perfband/internal/decode"
	"perfband/internal/perf"
)

// results is what a publish call was given, staged and read.
type results struct {
	staged *archive.Staged
	suites []perf.Suite
	diags  []perf.Diagnostic
	kinds  map[string]perf.Kind // by raw path of the file
	close  func()               // the staged files can be opened until then
}

// gather stages and decodes the results a call names.
func (s *session) gather(c config.Config) (*results, error) {
	kind, err := s.kind()
	if err != nil {
		return nil, err
	}
	sources, closeRoot, err := s.sources(c)
	if err != nil {
		return nil, err
	}
	r := &results{kinds: map[string]perf.Kind{}, close: closeRoot}
	if err := r.read(sources, c, kind); err != nil {
		closeRoot()
		return nil, err
	}
	return r, nil
}

func (r *results) read(sources []archive.Source, c config.Config, kind perf.Kind) (err error) {
	if r.staged, r.diags, err = archive.Stage(sources, c.Archive.Exclude); err != nil {
		return err
	}
	for _, m := range r.staged.Modules {
		for _, explicit := range []bool{true, false} {
			if err := r.decode(m, kindOf(c, m.Module, kind), explicit); err != nil {
				return err
			}
		}
	}
	r.assignKinds(kind)
	return nil
}

// kindOf is the kind asked for: the option's, else the configured suite's.
func kindOf(c config.Config, module string, asked perf.Kind) perf.Kind {
	if asked != "" {
		return asked
	}
	for _, su := range c.Suites {
		if su.Module == module {
			return su.Kind
		}
	}
	return ""
}

func (r *results) decode(m perf.EntryModule, kind perf.Kind, explicit bool) error {
	origin := map[string]string{}
	var paths []string
	for i := range r.staged.Files {
		f := &r.staged.Files[i]
		if f.Folder == m.Folder && f.Explicit == explicit && filepath.Base(f.Origin) != perf.EnvFileName {
			paths = append(paths, f.RawPath())
			origin[f.RawPath()] = f.Origin
		}
	}
	if len(paths) == 0 {
		return nil
	}
	suites, diags, err := decode.Files(r.staged.FS(), paths, decode.Options{Format: cmp.Or(m.Format, "auto"), Module: m.Module, Kind: kind, Explicit: explicit})
	if err != nil {
		return fmt.Errorf("read results of module %s: %w", m.Module, err)
	}
	for _, d := range diags {
		if o, ok := origin[d.Where.File]; ok {
			d.Where.File = o
		}
		r.diags = append(r.diags, d)
	}
	r.suites = append(r.suites, suites...)
	return nil
}

// assignKinds gives every file the kind of what it holds, and files no decoder
// reads the kind most of their module has.
func (r *results) assignKinds(asked perf.Kind) {
	inModule := map[string]map[perf.Kind]int{}
	for _, su := range r.suites {
		r.kinds[su.File] = su.Kind
		folder, _, _ := strings.Cut(su.File, "/")
		if inModule[folder] == nil {
			inModule[folder] = map[perf.Kind]int{}
		}
		inModule[folder][su.Kind]++
	}
	for i := range r.staged.Files {
		f := &r.staged.Files[i]
		if _, ok := r.kinds[f.RawPath()]; ok {
			continue
		}
		kind := cmp.Or(asked, perf.Bench)
		if n := inModule[f.Folder]; n[perf.Load] > n[perf.Bench] {
			kind = perf.Load
		}
		r.kinds[f.RawPath()] = kind
	}
}

// counts are the results with numbers and those without.
func (r *results) counts() (ok, failed int) {
	for i := range r.suites {
		for _, b := range r.suites[i].Benchmarks {
			switch b.Status {
			case perf.Fail:
				failed++
			case perf.Skipped:
			default:
				ok++
			}
		}
	}
	return ok, failed
}

// started is when the measuring began: what the reports say, else the time of
// the oldest result file.
func started(suites []perf.Suite, files []archive.StagedFile) time.Time {
	var t time.Time
	earlier := func(x time.Time) {
		if !x.IsZero() && (t.IsZero() || x.Before(t)) {
			t = x
		}
	}
	for i := range suites {
		earlier(suites[i].Started)
	}
	if t.IsZero() {
		for i := range files {
			earlier(files[i].ModTime)
		}
	}
	return t.UTC().Truncate(time.Second)
}

// sources resolves the results to read. In the action they must lie in the
// workspace; the command line may name any place.
func (s *session) sources(c config.Config) ([]archive.Source, func(), error) {
	patterns, module, format := s.opt.list("results"), s.opt.str("module"), s.opt.str("format")
	if err := checkDecoder(format); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(s.env.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", s.env.Dir, err)
	}
	done := func() { root.Close() }
	var out []archive.Source
	if len(patterns) == 0 {
		for _, su := range c.Suites {
			if module == "" || module == su.Module {
				out = append(out, archive.Source{Module: su.Module, Format: cmp.Or(su.Format, format), Params: params(su), FS: root.FS(), Results: su.Results})
			}
		}
		if len(out) == 0 {
			done()
			return nil, nil, usagef("no results named: give --results FILE|FOLDER|GLOB, or list suites in %s", s.opt.str("config"))
		}
		return out, done, nil
	}
	for _, p := range patterns {
		src := archive.Source{Module: cmp.Or(module, "main"), Format: format, FS: root.FS()}
		p, err := s.place(&src, p)
		if err != nil {
			done()
			return nil, nil, err
		}
		if module == "" && src.Prefix == "" {
			for _, su := range c.Suites {
				if slices.ContainsFunc(su.Results, func(g string) bool { return covers(g, p) }) {
					src.Module, src.Params = su.Module, params(su)
					if format == "auto" {
						src.Format = cmp.Or(su.Format, format)
					}
					break
				}
			}
		}
		src.Results = []string{p}
		out = append(out, src)
	}
	return out, done, nil
}

// place makes a pattern relative to a root, the working folder if it can be.
func (s *session) place(src *archive.Source, pattern string) (string, error) {
	abs := filepath.Clean(s.abs(filepath.FromSlash(pattern)))
	rel, err := filepath.Rel(s.env.Dir, abs)
	if err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel), nil
	}
	if s.fromInputs {
		return "", usagef("results %s: lies outside the workspace", pattern)
	}
	src.FS, src.Prefix = os.DirFS("/"), "/"
	rel = strings.TrimPrefix(filepath.ToSlash(abs), "/")
	if !fs.ValidPath(rel) {
		return "", usagef("results %s: not a usable path", pattern)
	}
	return rel, nil
}

// covers reports whether a suite's pattern names the given path too.
func covers(pattern, p string) bool {
	if pattern == p || strings.HasPrefix(p, strings.TrimSuffix(pattern, "/")+"/") {
		return true
	}
	ok, err := doublestar.Match(pattern, p)
	return err == nil && ok
}

func params(su config.Suite) []perf.Param {
	var out []perf.Param
	for name, value := range su.Params {
		out = append(out, perf.Param{Name: name, Value: value})
	}
	slices.SortFunc(out, func(a, b perf.Param) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
