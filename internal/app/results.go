package app

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"perfband/internal/archive"
	"perfband/internal/config"
	"perfband/internal/decode"
	"perfband/internal/derive"
	"perfband/internal/perf"
)

// results is what a publish call was given, staged and read.
type results struct {
	staged *archive.Staged
	suites []perf.Suite
	diags  []perf.Diagnostic
	kinds  map[string]perf.Kind // by raw path of the file
	close  func()               // the staged files can be opened until then
	// machines holds the machine descriptions beside the results, by folder.
	machines map[string]perf.EnvFile
}

// gather stages and decodes the results a call names.
func (s *session) gather(ctx context.Context, c config.Config) (*results, error) {
	kind, err := s.kind()
	if err != nil {
		return nil, err
	}
	stage, err := s.stageOptions(c)
	if err != nil {
		return nil, err
	}
	stage.Context = ctx
	sources, closeRoot, err := s.sources(c)
	if err != nil {
		return nil, err
	}
	r := &results{kinds: map[string]perf.Kind{}, machines: map[string]perf.EnvFile{}, close: closeRoot}
	if err := r.read(sources, stage, c, kind); err != nil {
		closeRoot()
		if ctx.Err() != nil {
			err = &perf.Diagnostic{Severity: perf.Error, Code: "stopped", What: "stopped while the results were read; nothing was archived",
				Why: err.Error(), Err: err, Do: "Publish again: the result files are as they were."}
		}
		return nil, err
	}
	return r, nil
}

func (r *results) read(sources []archive.Source, stage archive.StageOptions, c config.Config, kind perf.Kind) (err error) {
	for _, src := range sources {
		if err := checkNames(stage.Secrets, moduleNames(src)); err != nil {
			return err
		}
	}
	if r.staged, r.diags, err = archive.Stage(sources, stage); err != nil {
		return err
	}
	for _, m := range r.staged.Modules {
		for _, explicit := range []bool{true, false} {
			if err := r.decode(m, decode.Options{Kind: kindOf(c, m.Module, kind), Explicit: explicit, Context: stage.Context}); err != nil {
				return err
			}
		}
	}
	r.assignKinds(kind)
	r.readMachines()
	return nil
}

// readMachines reads the machine descriptions among the results. A bad one is
// told of when the results are derived; here it only leaves things unknown.
func (r *results) readMachines() {
	for i := range r.staged.Files {
		f := &r.staged.Files[i]
		if path.Base(f.Path) != perf.EnvFileName {
			continue
		}
		if data, err := fs.ReadFile(r.staged.FS(), f.RawPath()); err == nil {
			if m, err := derive.ReadEnvFile(data); err == nil {
				r.machines[path.Dir(f.RawPath())] = m
			}
		}
	}
}

// ofKind are the suites of one kind.
func (r *results) ofKind(kind perf.Kind) []perf.Suite {
	var out []perf.Suite
	for _, su := range r.suites {
		if su.Kind == kind {
			out = append(out, su)
		}
	}
	return out
}

// suiteInfo summarises a suite for the metadata, its machine included: what the
// report says, then what stands beside it.
func (r *results) suiteInfo(su *perf.Suite) perf.SuiteInfo {
	info := perf.SuiteInfo{Module: su.Module, File: "raw/" + su.File, Tool: su.Tool, ToolVersion: su.ToolVersion,
		Decoder: su.Decoder, DecoderVersion: su.DecoderVersion, Env: su.Env}
	for dir := path.Dir(su.File); ; dir = path.Dir(dir) {
		if m, ok := r.machines[dir]; ok {
			info.Env = info.Env.Or(m.Env)
			break
		}
		if dir == "." {
			break
		}
	}
	for _, b := range su.Benchmarks {
		switch {
		case b.Side:
		case b.Status == perf.Fail:
			info.Failed++
		case b.Status == perf.Skipped:
			info.Skipped++
		default:
			info.Benchmarks++
		}
	}
	return info
}

// diagnosticsOf are the warnings and errors about an entry's files, and those
// about no file at all.
func (r *results) diagnosticsOf(staged *archive.Staged) []perf.Diagnostic {
	mine, all := map[string]bool{}, map[string]bool{}
	for _, f := range r.staged.Files {
		all[f.Origin] = true
	}
	for _, f := range staged.Files {
		mine[f.Origin] = true
	}
	var out []perf.Diagnostic
	for _, d := range r.diags {
		if d.Severity != perf.Notice && (mine[d.Where.File] || !all[d.Where.File]) {
			out = append(out, d)
		}
	}
	return out
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

func (r *results) decode(m perf.EntryModule, opt decode.Options) error {
	origin := map[string]string{}
	var paths []string
	for i := range r.staged.Files {
		f := &r.staged.Files[i]
		if f.Folder == m.Folder && f.Explicit == opt.Explicit && filepath.Base(f.Origin) != perf.EnvFileName {
			paths = append(paths, f.RawPath())
			origin[f.RawPath()] = f.Origin
		}
	}
	if len(paths) == 0 {
		return nil
	}
	opt.Format, opt.Module = cmp.Or(m.Format, "auto"), m.Module
	suites, diags, err := decode.Files(r.staged.FS(), paths, opt)
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
			switch {
			case b.Status == perf.Fail:
				failed++
			case b.Status == perf.Skipped || b.Side:
			default:
				ok++
			}
		}
	}
	return ok, failed
}

// started is when the measuring began: what the reports say (told), else the
// time of the oldest result file.
func started(suites []perf.Suite, files []archive.StagedFile) (t time.Time, told bool) {
	earlier := func(x time.Time) {
		if !x.IsZero() && (t.IsZero() || x.Before(t)) {
			t = x
		}
	}
	for i := range suites {
		earlier(suites[i].Started)
	}
	if told = !t.IsZero(); !told {
		for i := range files {
			earlier(files[i].ModTime)
		}
	}
	return t.UTC().Truncate(time.Second), told
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
		var known []string
		for _, su := range c.Suites {
			known = append(known, su.Module)
			if module == "" || module == su.Module {
				out = append(out, archive.Source{Module: su.Module, Format: s.formatOf(su), Params: params(su), FS: root.FS(), Results: su.Results})
			}
		}
		if len(out) == 0 {
			done()
			if len(known) > 0 {
				return nil, nil, usagef("--module %s: %s lists no such module, but %s", module, s.opt.str("config"), joinWords(known))
			}
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
					src.Module, src.Params, src.Format = su.Module, params(su), s.formatOf(su)
					break
				}
			}
		}
		src.Results = []string{p}
		out = append(out, src)
	}
	return out, done, nil
}

// formatOf is the decoder for a suite: the option's if given, else its own.
func (s *session) formatOf(su config.Suite) string {
	if s.opt.set("format") {
		return s.opt.str("format")
	}
	return cmp.Or(su.Format, "auto")
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
