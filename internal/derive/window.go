package derive

import (
	"slices"

	"perfband/internal/perf"
)

// window decides how much of each run is kept: results for the newest runs,
// raw samples for the newest of these, a header for all. That bounds what a
// publish reads and writes, however long the history is.
type window struct {
	opt    Options
	groups map[*Run]runGroup
	had    map[*Run]memoRun // what was remembered of a run
}

// make gives the run of a group: the remembered one if there is one.
func (w *window) make(g runGroup) (*Run, error) {
	if w.opt.Memo != nil {
		if m, ok := w.opt.Memo.runs[g.key()]; ok && g.key() != "" {
			delete(w.opt.Memo.runs, g.key()) // its results are changed below
			run := m.run
			run.Kind, run.Meta = g.entries[0].Meta.Run.Kind, trim(g.entries[0].Meta)
			run.samples = m.hasSamples
			w.groups[run], w.had[run] = g, m
			return run, nil
		}
	}
	run, err := buildRun(g, w.opt)
	if err == nil {
		w.groups[run], w.had[run] = g, memoRun{hasResults: true, hasSamples: true}
	}
	return run, err
}

// fit gives every run in canonical order exactly what its place among the
// others asks for, decoding again what was forgotten too early.
func (w *window) fit(runs []*Run) error {
	all, trend := map[perf.Kind]int{}, map[perf.Kind]int{}
	for _, run := range slices.Backward(runs) {
		if run.DuplicateOf != "" {
			continue
		}
		reach := w.opt.Reach
		results := reach.Trend == 0 || all[run.Kind] < reach.Pages || run.InTrend && trend[run.Kind] < reach.Trend
		samples := results && run.InTrend && trend[run.Kind] < reach.Samples
		all[run.Kind]++
		if run.InTrend {
			trend[run.Kind]++
		}
		if had := w.had[run]; results && !had.hasResults || samples && !had.hasSamples {
			again, err := buildRun(w.groups[run], w.opt)
			if err != nil {
				return err
			}
			run.Results, run.Diagnostics = again.Results, again.Diagnostics
		}
		if !samples {
			run.forgetSamples()
		}
		run.samples = samples
		if !results {
			run.Results, run.Diagnostics = nil, nil
		}
	}
	for _, run := range runs {
		if run.original != nil {
			run.Results = run.original.Results
		}
	}
	return nil
}

func (r *Run) forgetSamples() {
	for _, res := range r.Results {
		for i := range res.Metrics {
			res.Metrics[i].Samples = nil
		}
	}
}
