package app

import (
	"strconv"

	"perfband/internal/derive"
	"perfband/internal/perf"
)

// siteOutputs tells where the site stands and what it says of runs. Verdicts
// inform; none of them changes the exit code.
func (s *session) siteOutputs(p published, runs []*derive.Run) map[string]string {
	worst, slower, inconclusive := verdictOf(runs)
	return map[string]string{"site-commit": string(p.commit), "site-url": s.siteURL(), "badge-color": p.derived.Badge.State,
		"verdict": string(worst), "slower": strconv.Itoa(slower), "inconclusive": strconv.Itoa(inconclusive)}
}

// verdictOf is the worst outcome of runs, with how many of their benchmarks
// became slower and about how many nothing can be said. A benchmark counts as in
// [derive.Claims].
func verdictOf(runs []*derive.Run) (worst perf.Outcome, slower, inconclusive int) {
	var unchanged, faster int
	for _, r := range runs {
		slower += r.Claims.Slower
		inconclusive += r.Claims.Inconclusive
		unchanged += r.Claims.Unchanged
		faster += r.Claims.Faster
	}
	switch {
	case slower > 0:
		worst = perf.Slower
	case inconclusive > 0:
		worst = perf.Inconclusive
	case unchanged > 0:
		worst = perf.Unchanged
	case faster > 0:
		worst = perf.Faster
	default:
		worst = perf.None
	}
	return worst, slower, inconclusive
}

// newest are the parts of the newest run that is part of a trend: its
// benchmarks, its load tests.
func newest(d *derive.Derived) []*derive.Run {
	var out []*derive.Run
	for i := len(d.Runs) - 1; i >= 0; i-- {
		r := d.Runs[i]
		if r.InTrend && (len(out) == 0 || r.Meta.Run.RunID == out[0].Meta.Run.RunID) {
			out = append(out, r)
		}
	}
	return out
}
