package derive

import (
	"fmt"
	"slices"
	"strings"

	"perfband/internal/config"
	"perfband/internal/perf"
)

// effective are the acceptances that a run brings: those of the commit it
// measured, and those without a commit that its checkout holds. They may have
// taken effect already.
func (j *judging) effective(run *Run) []config.Accepted {
	var out []config.Accepted
	for _, a := range j.opt.Config.Accepted {
		if a.Commit == "" && slices.Contains(run.Meta.Accepted, a.ID()) || a.Commit != "" && ofCommit(run.Meta, a.Commit) {
			out = append(out, a)
		}
	}
	return out
}

func ofCommit(m perf.Metadata, prefix string) bool {
	return strings.HasPrefix(m.Commit.SHA, prefix) || m.Run.Head != "" && strings.HasPrefix(m.Run.Head, prefix)
}

// waiting are the series an acceptance names and has no effect on yet, among
// the first known of a court. An acceptance takes effect once: a commit may be
// measured again, and later checkouts hold the same list. A series waits until
// it is measured, since a run may measure some modules only.
type waiting struct {
	known  int
	series []int
}

// waiting returns what still waits for an acceptance.
func (c *court) waiting(a config.Accepted, q question) *waiting {
	w := c.accepted[a.ID()]
	if w == nil {
		w = &waiting{}
		c.accepted[a.ID()] = w
	}
	for ; w.known < len(c.keys); w.known++ {
		if a.Matches(c.keys[w.known], q.name()) {
			w.series = append(w.series, w.known)
		}
	}
	return w
}

// accept ends what is open in the series that acceptances name; the run is then
// judged against the accepted level. It returns these series.
func (c *court) accept(list []config.Accepted, q question) map[int]bool {
	settled := map[int]bool{}
	for _, a := range list {
		w := c.waiting(a, q)
		w.series = slices.DeleteFunc(w.series, func(series int) bool {
			if settled[series] { // by another acceptance
				return true
			}
			if c.judge.Open(series) == nil && c.judge.Suspicion(series) == 0 {
				return false
			}
			c.judge.Accept(series)
			settled[series] = true
			return true
		})
	}
	return settled
}

// acceptClaims accepts what the run itself shows, or lets the trend begin anew
// with it.
func (c *court) acceptClaims(list []config.Accepted, q question, settled map[int]bool) {
	if len(list) == 0 {
		return
	}
	measured := map[int]bool{}
	for _, r := range c.results {
		measured[r.Series] = true
	}
	anew := map[int]bool{}
	for _, a := range list {
		w := c.waiting(a, q)
		w.series = slices.DeleteFunc(w.series, func(series int) bool {
			anew[series] = anew[series] || measured[series]
			return measured[series]
		})
	}
	for i, r := range c.results {
		claimed := c.judge.Open(r.Series) != nil || c.judge.Suspicion(r.Series) != 0
		if !anew[r.Series] && !(settled[r.Series] && claimed) {
			continue
		}
		c.judge.Accept(r.Series)
		if v := c.subjects[i].verdict; v.State == perf.Suspected || v.State == perf.Confirmed {
			v.State = perf.NoState
			v.Reasons = append(v.Reasons, "accepted")
		}
	}
}

// unused are the acceptances that can have no effect: a pattern no benchmark
// matches, a commit no run measured.
func (j *judging) unused(runs []*Run) (diags []perf.Diagnostic) {
	for _, a := range j.opt.Config.Accepted {
		d := perf.Diagnostic{Severity: perf.Warning, Code: "accepted", Where: perf.Where{File: config.AcceptedName, Line: a.Line}, What: "accepts nothing"}
		switch {
		case !j.matches(a):
			d.Why = fmt.Sprintf("no benchmark in trends is called %s", a.Benchmark)
			d.Do = "Names begin with the module; * stands for any text, for example *BenchmarkSend*."
		case a.Commit != "" && !slices.ContainsFunc(runs, func(r *Run) bool { return ofCommit(r.Meta, a.Commit) }):
			d.Severity = perf.Notice
			d.Why = fmt.Sprintf("no run measured commit %s", a.Commit)
			d.Do = "Leave out commit: the entry then takes effect with the run that measures it."
		default:
			continue
		}
		diags = append(diags, d)
	}
	return diags
}

func (j *judging) matches(a config.Accepted) bool {
	for q, c := range j.courts {
		if slices.ContainsFunc(c.keys, func(k perf.Key) bool { return a.Matches(k, q.name()) }) {
			return true
		}
	}
	return false
}
