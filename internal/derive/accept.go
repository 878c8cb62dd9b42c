package derive

import (
	"slices"
	"strings"

	"perfband/internal/config"
	"perfband/internal/perf"
)

// effective are the acceptances that take effect with a run: those of the
// commit it measured, and those without a commit that its checkout is the first
// to hold.
func (j *judging) effective(run *Run) []config.Accepted {
	var out []config.Accepted
	for _, a := range j.opt.Config.Accepted {
		switch {
		case a.Commit == "" && slices.Contains(run.Meta.Accepted, a.ID()):
			if j.listed[a.ID()] {
				continue
			}
			j.listed[a.ID()] = true
		case a.Commit == "" || !ofCommit(run.Meta, a.Commit):
			continue
		}
		out = append(out, a)
	}
	return out
}

func ofCommit(m perf.Metadata, prefix string) bool {
	prefix = strings.ToLower(prefix)
	return strings.HasPrefix(m.Commit.SHA, prefix) || m.Run.Head != "" && strings.HasPrefix(m.Run.Head, prefix)
}

// accepted are the numbers of the series an acceptance names.
func (c *court) accepted(a config.Accepted, q question) []int {
	var out []int
	for series, key := range c.keys {
		if a.Matches(key, q.name()) {
			out = append(out, series)
		}
	}
	return out
}

// accept ends what is open in the series that acceptances name; the run is then
// judged against the accepted level. It returns these series.
func (c *court) accept(list []config.Accepted, q question) map[int]bool {
	settled := map[int]bool{}
	for _, a := range list {
		for _, series := range c.accepted(a, q) {
			if c.judge.Open(series) != nil || c.judge.Suspicion(series) != 0 {
				c.judge.Accept(series)
				settled[series] = true
			}
		}
	}
	return settled
}

// acceptClaims accepts what the run itself shows, or lets the trend begin anew
// with it.
func (c *court) acceptClaims(list []config.Accepted, q question, settled map[int]bool) {
	for _, a := range list {
		for _, series := range c.accepted(a, q) {
			if settled[series] && c.judge.Suspicion(series) == 0 {
				continue
			}
			settled[series] = true
			c.judge.Accept(series)
			for i, r := range c.results {
				if v := c.subjects[i].verdict; r.Series == series && v.State != perf.NoState {
					v.State = perf.NoState
					v.Reasons = append(slices.Clone(v.Reasons), "accepted")
				}
			}
		}
	}
}
