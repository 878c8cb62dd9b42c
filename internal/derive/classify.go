package derive

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/config"
	"perfband/internal/perf"
	"perfband/internal/stats"
)

// classify sets job kind, trend membership, stability and documents' ids of the
// results of a run made of these entries, and counts the stability classes.
func classify(run *Run, entries []perf.Entry, opt Options) {
	kinds := map[perf.JobKind]int{}
	for _, r := range run.Results {
		if r.Status == perf.OK {
			kinds[r.JobKind]++
		}
	}
	run.JobKind = perf.Default
	for _, k := range []perf.JobKind{perf.Default, perf.Medium, perf.Short, perf.Dry} {
		if kinds[k] > kinds[run.JobKind] {
			run.JobKind = k
		}
	}
	run.InTrend, run.Excluded = true, ""
	switch {
	case otherBranch(run.Meta.Run):
		run.InTrend, run.Excluded = false, "other branch"
	case run.JobKind == perf.Dry || run.JobKind == perf.Short:
		run.InTrend, run.Excluded = false, string(run.JobKind)
	}
	if why := excludedRun(run, entries, opt.Config.Excluded); why != "" {
		run.InTrend, run.Excluded = false, "excluded: "+why
	}
	for _, r := range run.Results {
		r.InTrend = run.InTrend && r.Excluded == "" && r.Status == perf.OK && r.JobKind != perf.Dry && r.JobKind != perf.Short
		b, listed := opt.Manifests.Find(r.Key)
		if listed && b.DocRef != "" {
			r.DocRef = b.DocRef
		}
		r.Stability, r.StabilityReason = stability(r, opt.Config.Stats)
		if r.Stability == Unstable && listed && b.ExpectUnstable != nil {
			r.Stability, r.StabilityReason = ExpectedUnstable, b.ExpectUnstable.Reason
		}
		switch r.Stability {
		case Stable:
			run.Counts.Stable++
		case Unstable:
			run.Counts.Unstable++
		case ExpectedUnstable:
			run.Counts.ExpectedUnstable++
		}
	}
}

// otherBranch reports that the run is known not to be of the default branch.
func otherBranch(r perf.Run) bool {
	if r.PullRequest > 0 || strings.HasPrefix(r.Ref, "refs/pull/") {
		return true
	}
	return r.Ref != "" && r.DefaultBranch != "" && strings.TrimPrefix(r.Ref, "refs/heads/") != r.DefaultBranch
}

// stability is the two-tier rule on the coefficient of variation: fewer than
// min_n samples are unstable, fewer than low_n stable up to low_n_cv, more up
// to stable_cv. "" where there are no samples to judge by.
func stability(r *Result, c config.Stats) (Stability, string) {
	m := r.Headline()
	if r.Status != perf.OK || r.Side || m == nil || m.Reported || m.N == 0 {
		return "", ""
	}
	if m.N < c.MinN {
		return Unstable, fmt.Sprintf("n = %d, at least %d needed", m.N, c.MinN)
	}
	cv, ok := m.CV.Get()
	if mean, _ := m.Mean.Get(); !ok || mean <= 0 {
		return Unstable, "the mean is not positive"
	}
	rule := stats.StabilityRule{MinN: c.MinN, LowN: c.LowN, LowNCV: c.LowNCV, StableCV: c.StableCV}
	if !rule.Stable(m.N, cv) {
		return Unstable, fmt.Sprintf("CV %s %% > %s %% (n = %d)", percent(cv), percent(rule.Limit(m.N)), m.N)
	}
	return Stable, ""
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) }

// cpus counts results per CPU model, most first.
func cpus(results []*Result) []CPUCount {
	n := map[string]int{}
	for _, r := range results {
		if !r.Side {
			n[r.Env.CPUModel]++
		}
	}
	out := make([]CPUCount, 0, len(n))
	for model, c := range n {
		out = append(out, CPUCount{model, c})
	}
	slices.SortFunc(out, func(a, b CPUCount) int {
		return cmp.Or(cmp.Compare(b.Results, a.Results), cmp.Compare(a.Model, b.Model))
	})
	return out
}

// distinct sorts results by key and makes keys unique within the run. Repeats
// with samples join (several files of one benchmark); results that differ in a
// dimension get that dimension into the key; others are numbered. Nothing is
// merged by name alone and nothing is lost.
func distinct(results []*Result, diags []perf.Diagnostic, c config.Stats) ([]*Result, []perf.Diagnostic) {
	slices.SortStableFunc(results, func(a, b *Result) int {
		return cmp.Or(a.Key.Compare(b.Key), -compareBool(a.Excluded == "", b.Excluded == ""), cmp.Compare(statusRank(a.Status), statusRank(b.Status)), strings.Compare(a.File, b.File))
	})
	out := []*Result{} // never nil: a run without results is not one out of reach
	for i := 0; i < len(results); {
		j := i + 1
		for j < len(results) && results[j].Key.Compare(results[i].Key) == 0 {
			j++
		}
		same, left := keepApart(results[i:j])
		if len(same) > 1 {
			var note string
			same, note = resolve(same, c)
			if note != "" {
				diags = append(diags, perf.Diagnostic{Severity: perf.Notice, Code: "same-key", Where: perf.Where{File: same[0].File},
					What: fmt.Sprintf("%d results are all called %s", j-i, same[0].Key.Module+"/"+same[0].Label), Why: note})
			}
		}
		out = append(append(out, same...), left...)
		i = j
	}
	slices.SortStableFunc(out, func(a, b *Result) int { return a.Key.Compare(b.Key) })
	return out, diags
}

// keepApart parts results of equal key that count from those that are left out,
// which must not take part in a join nor take the key. They come last.
func keepApart(same []*Result) (counted, left []*Result) {
	n := slices.IndexFunc(same, func(r *Result) bool { return r.Excluded != "" })
	if n <= 0 {
		return same, nil
	}
	for i, r := range same[n:] {
		r.Key.Params = append(slices.Clone(r.Key.Params), perf.Param{Name: "excluded", Value: strconv.Itoa(i + 1)})
		r.Key.Normalize()
	}
	return same[:n], same[n:]
}

// statusRank puts results with numbers first, so that a failure beside them
// never takes their key.
func statusRank(s perf.Status) int {
	return slices.Index([]perf.Status{perf.OK, perf.Fail, perf.Skipped}, s)
}

// resolve makes results of equal key distinct, or one.
func resolve(same []*Result, c config.Stats) ([]*Result, string) {
	if joinable(same) {
		for _, r := range same[1:] {
			same[0].Rows += r.Rows
			for i := range same[0].Metrics {
				m := &same[0].Metrics[i]
				m.fill(append(m.Samples, r.Metric(m.Name).Samples...), c)
			}
		}
		return same[:1], ""
	}
	differ := differingDims(same)
	seen := map[string]int{}
	for _, r := range same {
		params := slices.Clone(r.Key.Params)
		for _, d := range r.Dims {
			if slices.Contains(differ, d.Name) && !hasParam(params, d.Name) {
				params = append(params, d)
			}
		}
		r.Key.Params = params
		r.Key.Normalize()
		id := r.Key.ID()
		if seen[id]++; seen[id] > 1 {
			r.Key.Params = append(r.Key.Params, perf.Param{Name: "repeat", Value: strconv.Itoa(seen[id])})
			r.Key.Normalize()
		}
	}
	if len(differ) > 0 {
		return same, "told apart by " + strings.Join(differ, ", ")
	}
	return same, "the reports do not tell them apart, so they are numbered in the order of their files"
}

// joinable reports that results are repeats of one measurement: same
// dimensions, same metrics, all with samples.
func joinable(same []*Result) bool {
	a := same[0]
	if a.Status != perf.OK {
		return false
	}
	for _, r := range same {
		if r.Status != perf.OK || !slices.Equal(r.Dims, a.Dims) || len(r.Metrics) != len(a.Metrics) || r.Env.CPUModel != a.Env.CPUModel {
			return false
		}
		for i := range r.Metrics {
			m := a.Metric(r.Metrics[i].Name)
			if m == nil || m.Unit != r.Metrics[i].Unit || len(r.Metrics[i].Samples) == 0 || len(m.Samples) == 0 {
				return false
			}
		}
	}
	return true
}

// differingDims names the dimensions in which the results differ, sorted.
func differingDims(same []*Result) []string {
	values := map[string]map[string]bool{}
	for _, r := range same {
		for _, d := range r.Dims {
			if values[d.Name] == nil {
				values[d.Name] = map[string]bool{}
			}
			values[d.Name][d.Value] = true
		}
	}
	var out []string
	for name, vs := range values {
		if len(vs) > 1 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
