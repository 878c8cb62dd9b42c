package decode

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// Auto is the format name that asks for detection.
const Auto = "auto"

// Options of [Files] and [File].
type Options struct {
	Format string    // a name, an alias, or "" or "auto" to detect
	Module string    // module of the results unless the file itself names one
	Kind   perf.Kind // "" for the format's own
	// Explicit says that the user named these files: one that no format knows
	// is then an error; otherwise such files are auxiliary.
	Explicit bool
	// Histories reads files that hold many runs too. Without it one that the
	// user named is an error, and others are auxiliary: their runs would be
	// taken for repeats within one.
	Histories bool
	// Context ends the reading: [Files] then returns its error. Nil never does.
	Context context.Context
}

// outcome is what became of one file.
type outcome struct {
	suites      []perf.Suite
	diagnostics []perf.Diagnostic
	unknown     bool // no format claims the file
	refused     bool // an error in diagnostics says why nothing was read
}

// Files decodes the reports among paths (slash separated, within fsys). Of
// several reports of the same results only the richest is read. Suites and
// diagnostics are ordered by path whatever the order of paths. Problems with
// files are diagnostics; the error is for wrong options and an ended context.
func Files(fsys fs.FS, paths []string, opt Options) ([]perf.Suite, []perf.Diagnostic, error) {
	if _, err := opt.format(); err != nil {
		return nil, nil, err
	}
	jobs, useless := plan(paths, opt.Explicit)
	outcomes, err := runAll(jobs, fsys, opt)
	if err != nil {
		return nil, nil, err
	}
	var suites []perf.Suite
	var diagnostics []perf.Diagnostic
	results := 0
	for i, o := range outcomes {
		diagnostics = append(diagnostics, o.diagnostics...)
		if o.unknown {
			useless = append(useless, jobs[i].paths...)
			continue
		}
		for _, s := range o.suites {
			results += len(s.Benchmarks)
		}
		if results > limits.Benchmarks {
			diagnostics = append(diagnostics, tooManyResults(jobs[i].paths[0]))
			break
		}
		suites = append(suites, o.suites...)
	}
	slices.Sort(useless)
	if d, ok := auxiliary(useless); ok {
		diagnostics = append(diagnostics, d)
	}
	return suites, diagnostics, nil
}

// runAll runs the jobs, a few at a time, until they or opt.Context end. Decoders
// only compute, on a file of limited size, so that one under way then is left
// to end for itself: none has to ask the context, and its outcome is dropped.
func runAll(jobs []job, fsys fs.FS, opt Options) ([]outcome, error) {
	ctx := opt.Context
	if ctx == nil {
		ctx = context.Background()
	}
	outcomes := make([]outcome, len(jobs))
	all := make(chan struct{})
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(jobs)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				outcomes[i] = jobs[i].run(fsys, opt)
			}
		})
	}
	go func() {
		wg.Wait()
		close(all)
	}()
	select {
	case <-all:
		return outcomes, ctx.Err()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Wanted lists which of the paths Files reads, in the order it reads them, so
// that a caller can fetch them in few requests. A report read only because a
// richer one was refused is not among them.
func Wanted(paths []string) []string {
	jobs, _ := plan(paths, false)
	out := make([]string, len(jobs))
	for i, j := range jobs {
		out[i] = j.paths[0]
	}
	return out
}

// File decodes one report held in memory. The error says why nothing of it can
// be trusted; it wraps [ErrUnrecognised] when no format claims it, [ErrHistory]
// when it holds many runs and Options.Histories is not set.
func File(name string, data []byte, opt Options) ([]perf.Suite, []perf.Diagnostic, error) {
	asked, err := opt.format()
	if err != nil {
		return nil, nil, err
	}
	inner, data, err := unpack(name, data)
	if err != nil {
		return nil, nil, err
	}
	f, sure := recognise(asked, inner, data)
	if f == nil || sure == No && !opt.Explicit {
		return nil, nil, unrecognised(name, data)
	}
	in := Input{Name: inner, Data: data, Asked: opt.Format, Module: opt.Module, Kind: opt.Kind}
	switch {
	case f.History && !opt.Histories && !opt.Explicit:
		return nil, nil, ErrHistory // which needs no reading
	case in.Module == "" && !f.History:
		in.Module = DefaultModule
	}
	suites, diagnostics, err := f.Decode(in)
	if err != nil {
		return nil, diagnostics, err
	}
	suites, more := finish(f, name, suites)
	diagnostics = append(diagnostics, more...)
	if f.History && !opt.Histories {
		return nil, nil, refuseHistory(name, len(suites))
	}
	if len(suites) == 0 && len(diagnostics) == 0 && sure < Certain && !opt.Explicit {
		return nil, nil, unrecognised(name, data)
	}
	return suites, diagnostics, nil
}

// format returns the format asked for, nil for detection.
func (o Options) format() (*Format, error) {
	if o.Format == "" || o.Format == Auto {
		return nil, nil
	}
	f, err := ByName(o.Format)
	if err != nil {
		return nil, err
	}
	return &f, nil
}

// run reads the richest readable file of the job.
func (j job) run(fsys fs.FS, opt Options) outcome {
	first := decodeFile(fsys, j.paths[0], j.report, opt)
	if !first.refused || len(j.paths) == 1 {
		return first
	}
	for _, p := range j.paths[1:] {
		o := decodeFile(fsys, p, j.report, opt)
		if o.refused || o.unknown {
			continue
		}
		why := ""
		for _, d := range first.diagnostics {
			if d.Severity == perf.Error {
				why = d.What
				if d.Why != "" {
					why += ": " + d.Why
				}
			}
		}
		o.diagnostics = append([]perf.Diagnostic{{
			Severity: perf.Warning, Code: "fallback", Where: perf.Where{File: j.paths[0]},
			What: fmt.Sprintf("%s was read instead, which holds less", p), Why: why,
		}}, o.diagnostics...)
		return o
	}
	return first
}

// decodeFile reads one file and turns every failure into diagnostics. A file
// named like a report must hold results.
func decodeFile(fsys fs.FS, p string, report bool, opt Options) outcome {
	data, err := readFile(fsys, p)
	if err != nil {
		return refuse(p, nil, fmt.Errorf("read file: %w", err))
	}
	if len(data) == 0 {
		d := perf.Diagnostic{
			Severity: perf.Warning, Code: "empty", Where: perf.Where{File: p}, What: "the file is empty",
			Do: "See whether the tool finished and where it wrote its report.",
		}
		if opt.Explicit || report {
			d.Severity = perf.Error
		}
		return outcome{refused: opt.Explicit || report, diagnostics: []perf.Diagnostic{d}}
	}
	suites, diagnostics, err := File(p, data, opt)
	if errors.Is(err, ErrUnrecognised) && !opt.Explicit && !report || errors.Is(err, ErrHistory) && !opt.Explicit {
		return outcome{unknown: true}
	}
	if err != nil {
		return refuse(p, diagnostics, err)
	}
	for i := range diagnostics {
		diagnostics[i].Where.File = p
	}
	o := outcome{suites: suites, diagnostics: diagnostics}
	if len(suites) > 0 || slices.ContainsFunc(diagnostics, func(d perf.Diagnostic) bool { return d.Code == "no-samples" }) {
		return o
	}
	o.refused = true
	if !slices.ContainsFunc(diagnostics, func(d perf.Diagnostic) bool { return d.Severity == perf.Error }) {
		o.diagnostics = append(o.diagnostics, perf.Diagnostic{
			Severity: perf.Error, Code: "no-result", Where: perf.Where{File: p},
			What: "the file holds no result",
			Do:   "See whether the tool measured anything, and whether it was told to report to this file.",
		})
	}
	return o
}

// refuse makes the outcome of a file that cannot be read.
func refuse(p string, diagnostics []perf.Diagnostic, err error) outcome {
	var d *perf.Diagnostic
	if !errors.As(err, &d) {
		d = &perf.Diagnostic{
			Severity: perf.Error, Code: "unreadable", What: "the file cannot be read", Why: err.Error(), Err: err,
			Do: "The other files are read all the same.",
		}
		var at *strictjson.Error
		if errors.As(err, &at) {
			d.Where.Line, d.Where.Col = at.Line, at.Col
			d.Why = fmt.Sprintf("%s (byte %d)", at.Msg, at.Offset)
		}
	}
	d.Where.File = p
	for i := range diagnostics {
		diagnostics[i].Where.File = p
	}
	return outcome{refused: true, diagnostics: append(diagnostics, *d)}
}

func unrecognised(name string, data []byte) error {
	return &perf.Diagnostic{
		Severity: perf.Error, Code: "unrecognised", Where: perf.Where{File: name, Line: 1},
		What: ErrUnrecognised.Error(),
		Why:  fmt.Sprintf("first bytes: %q", data[:min(len(data), 40)]),
		Do:   fmt.Sprintf("Set \"format\" to one of: %s; or see docs/formats.md.", strings.Join(Names(), ", ")),
		Err:  ErrUnrecognised,
	}
}

func refuseHistory(name string, runs int) error {
	return &perf.Diagnostic{
		Severity: perf.Error, Code: "history", Where: perf.Where{File: name}, Err: ErrHistory,
		What: fmt.Sprintf("holds a history of %d runs, not one run's results", runs),
		Do:   "Look at it with perfband decode, and name the file that the tool itself wrote.",
	}
}

// auxiliary is the one notice about files that hold no results.
func auxiliary(paths []string) (perf.Diagnostic, bool) {
	if len(paths) == 0 {
		return perf.Diagnostic{}, false
	}
	shown := strings.Join(paths[:min(len(paths), 3)], ", ")
	if len(paths) > 3 {
		shown += fmt.Sprintf(" and %d more", len(paths)-3)
	}
	return perf.Diagnostic{
		Severity: perf.Notice, Code: "auxiliary",
		What: fmt.Sprintf("%d files beside the results hold none that perfband reads; they are only archived", len(paths)),
		Why:  shown,
	}, true
}

func tooManyResults(file string) perf.Diagnostic {
	return perf.Diagnostic{
		Severity: perf.Error, Code: "too-many-results", Where: perf.Where{File: file},
		What: fmt.Sprintf("more than %d results in one run; this file and those after it are not read", limits.Benchmarks),
		Do:   "Publish fewer files at a time with \"results\", or filter the benchmarks.",
	}
}
