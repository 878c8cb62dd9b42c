package derive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"perfband/internal/config"
	"perfband/internal/decode"
	"perfband/internal/limits"
	"perfband/internal/manifest"
	"perfband/internal/perf"
)

// StripRuns is how many of a series' newest runs the strip chart shows.
const StripRuns = 20

// Reach bounds what is kept of a kind's runs. All have a header.
type Reach struct {
	Trend   int // newest trend runs with results; 0: all runs have them
	Pages   int // newest runs of any sort with results
	Samples int // newest trend runs that keep their raw samples too
}

// SiteReach is what the pages show.
var SiteReach = Reach{Trend: limits.HistoryRuns, Pages: limits.RunPages, Samples: StripRuns}

// Options are the inputs of Build besides the entries. Equal options and
// entries give equal results.
type Options struct {
	Config     config.Config
	Manifests  manifest.Set
	Repository string // "owner/name" for links, "" if unknown
	ServerURL  string // "https://github.com", "" if unknown
	// Reach says how far back results go; the zero value keeps the results of all
	// runs and no raw samples.
	Reach Reach
	// Memo is what an earlier derivation with equal options remembered; the runs
	// that are used are taken out of it, since two of each may be too large. Reread
	// gives the whole of an entry that is a stub; it must be there with a Memo.
	Memo   *Memo
	Reread func(folder string) (perf.Entry, error)
	// Progress is told of each decoded run; nil for silence. It must not
	// influence anything.
	Progress func(done, all int, run string)
	// Context ends the derivation, with its error. Nil never does.
	Context context.Context
}

func (o *Options) ended() bool { return o.Context != nil && o.Context.Err() != nil }

// Build derives everything from the archive's entries. Entries that could not
// be read arrive as *perf.Diagnostic errors and become diagnostics; any other
// error ends the derivation. The order in which entries arrive is irrelevant.
func Build(entries iter.Seq2[perf.Entry, error], opt Options) (*Derived, []perf.Diagnostic, error) {
	var list []perf.Entry
	var diags []perf.Diagnostic
	for e, err := range entries {
		var d *perf.Diagnostic
		switch {
		case errors.As(err, &d):
			diags = append(diags, *d)
		case err != nil:
			return nil, diags, fmt.Errorf("read archive: %w", err)
		default:
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b perf.Entry) int { return strings.Compare(a.Path, b.Path) })
	d := &Derived{Title: opt.Config.Site.Title, Level: opt.Config.Stats.Confidence,
		Repository: opt.Repository, ServerURL: opt.ServerURL, entries: list}
	var err error
	if d.basis, err = basis(opt); err != nil {
		return nil, diags, err
	}
	if d.Runs, err = buildRuns(group(list), opt); err != nil {
		return nil, diags, err
	}
	return d, append(diags, d.judge(opt)...), nil
}

// judge derives what rests on all runs together, and says what of the
// configuration has no part in it.
func (d *Derived) judge(opt Options) []perf.Diagnostic {
	j := judgeRuns(d.Runs, opt)
	d.Series = series(d.Runs, opt.Config.Excluded)
	d.Open = j.open(d.Series, d.Runs)
	if opt.Config.Verdict.Rule == config.RuleADR {
		applyADR(d)
	}
	findSteps(d.Series)
	findAnomalies(d.Series)
	d.Badge = badge(d, opt.Config.Verdict)
	return j.unused(d.Runs)
}

// buildRuns makes the runs in canonical order, with the results of those within
// the window. A remembered run is not decoded again.
func buildRuns(groups []runGroup, opt Options) ([]*Run, error) {
	w := window{opt: opt, groups: map[*Run]runGroup{}, had: map[*Run]memoRun{}}
	runs := make([]*Run, 0, len(groups))
	for i, g := range groups {
		run, err := w.make(g)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
		for _, c := range g.copies {
			runs = append(runs, copyOf(run, c))
		}
		if opt.Progress != nil {
			opt.Progress(i+1, len(groups), run.ID)
		}
	}
	runs = order(runs)
	return runs, w.fit(runs)
}

// buildRun decodes and summarises all entries of one run.
func buildRun(g runGroup, opt Options) (*Run, error) {
	first := g.entries[0]
	run := &Run{ID: g.id, Kind: first.Meta.Run.Kind, Meta: trim(first.Meta), OriginPath: first.Path, Legacy: first.Legacy,
		Started: first.Meta.Run.Started, key: g.key(), samples: true, Results: []*Result{}}
	entries, err := whole(g.entries, opt)
	if err != nil {
		return nil, err
	}
	parts, err := decodeEntries(entries, opt)
	if err != nil {
		return nil, err
	}
	var earliest = run.Started
	for _, p := range parts {
		run.Diagnostics = append(run.Diagnostics, p.diags...)
		run.Results = append(run.Results, p.results...)
		if first.Legacy && !p.started.IsZero() && p.started.Before(earliest) {
			earliest = p.started
		}
	}
	run.Started = earliest
	for _, e := range g.superseded {
		run.Diagnostics = append(run.Diagnostics, perf.Diagnostic{Severity: perf.Notice, Code: "superseded", Where: perf.Where{File: e.Path},
			What: "not counted", Why: fmt.Sprintf("attempt %d replaced it", newestAttempt(g.entries, e.Meta.Run.Shard))})
	}
	for _, e := range g.entries {
		run.EntryIDs = append(run.EntryIDs, e.Meta.Run.ID)
		run.Counts.Missing += len(e.Meta.Missing)
		if e.Meta.Run.Started.Before(run.Started) {
			run.Started = e.Meta.Run.Started
		}
	}
	excludeResults(run, opt.Config.Excluded)
	run.Results, run.Diagnostics = distinct(run.Results, run.Diagnostics, opt.Config.Stats)
	classify(run, g.entries, opt)
	tally(run)
	run.CPUs = cpus(run.Results)
	return run, nil
}

// whole replaces stubs by the entries they stand for.
func whole(entries []perf.Entry, opt Options) ([]perf.Entry, error) {
	out := slices.Clone(entries)
	for i, e := range out {
		if !e.Stub {
			continue
		}
		var err error
		if out[i], err = opt.Reread(e.Path); err != nil {
			return nil, fmt.Errorf("read %s again: %w", e.Path, err)
		}
	}
	return out, nil
}

// tally counts a run's results.
func tally(run *Run) {
	modules, withNumbers := map[string]bool{}, map[string]bool{}
	for _, r := range run.Results {
		modules[r.Key.Module] = true
		if r.Side {
			continue
		}
		switch r.Status {
		case perf.OK:
			run.Counts.Benchmarks++
			withNumbers[r.Key.Module] = true
		case perf.Fail:
			run.Counts.Failed++
		case perf.Skipped:
			run.Counts.Skipped++
		}
	}
	run.Counts.Modules, run.Counts.ModulesWithNumbers = len(modules), len(withNumbers)
}

func newestAttempt(entries []perf.Entry, shard string) int {
	n := 0
	for _, e := range entries {
		if e.Meta.Run.Shard == shard {
			n = max(n, e.Meta.Run.Attempt)
		}
	}
	return n
}

// decodeEntries decodes every module of every entry, a few at a time, and
// returns the parts in a fixed order.
func decodeEntries(entries []perf.Entry, opt Options) ([]part, error) {
	var jobs []moduleFiles
	for _, e := range entries {
		var wanted []string
		for _, m := range e.Modules {
			j, err := filesOf(e, m)
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, j)
			wanted = append(wanted, j.envs...)
			wanted = append(wanted, decode.Wanted(j.paths)...)
		}
		if err := prefetch(e, wanted); err != nil {
			return nil, err
		}
	}
	parts := make([]part, len(jobs))
	errs := make([]error, len(jobs))
	gate := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, j := range jobs {
		gate <- struct{}{}
		wg.Go(func() {
			defer func() { <-gate }()
			parts[i], errs[i] = j.decode(opt)
		})
	}
	wg.Wait()
	return parts, errors.Join(errs...)
}

// prefetch tells a raw folder that can use it which files come next.
func prefetch(e perf.Entry, paths []string) error {
	raw, ok := e.Raw.(interface{ Prefetch(paths []string) error })
	if !ok {
		return nil
	}
	if err := raw.Prefetch(paths); err != nil {
		return fmt.Errorf("fetch %s: %w", e.Path, err)
	}
	return nil
}

// copyOf is the run row of an entry that repeats another one's results.
func copyOf(run *Run, e perf.Entry) *Run {
	c := *run
	c.original = run
	c.Meta, c.OriginPath, c.DuplicateOf = trim(e.Meta), e.Path, run.ID
	c.Meta.Commit.Untrusted = c.Meta.Commit.SHA != ""
	c.InTrend, c.Excluded = false, "copy"
	c.Diagnostics = []perf.Diagnostic{{Severity: perf.Warning, Code: "copy-of-run", Where: perf.Where{File: e.Path},
		What: "not counted", Why: "it holds the same results as " + run.OriginPath}}
	return &c
}
