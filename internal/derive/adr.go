package derive

import "perfband/internal/perf"

// judgeByADR replaces the verdicts of a series by those of the ADR's rule taken
// literally: slower is suspected when the median lies on the worse side of the
// 99 % interval of the run before and the result is stable, and confirmed when
// two runs in a row lie there against one baseline. It is kept for comparison:
// an interval of one run knows nothing of the next machine, and on unchanged
// code the rule confirms every fourth benchmark (see docs/methodology.md).
func judgeByADR(s *Series) {
	for i, p := range s.Points {
		v := &p.Metric.Verdict
		if v.Outcome == perf.None {
			continue
		}
		*v = perf.Verdict{Outcome: perf.Inconclusive, Basis: perf.BasisHistory, LegacyCI99: v.LegacyCI99, Reasons: []string{"adr-rule"}}
		stable := p.Result.Stability == Stable
		switch {
		case i >= 2 && stable && worseThan(s, i-2, i-1) && worseThan(s, i-2, i):
			v.Outcome, v.State, v.Baseline = perf.Slower, perf.Confirmed, s.Points[i-2].Run.ID
		case i >= 1 && stable && worseThan(s, i-1, i):
			v.Outcome, v.State, v.Baseline = perf.Slower, perf.Suspected, s.Points[i-1].Run.ID
		}
	}
}

// applyADR judges everything by the ADR's rule instead.
func applyADR(d *Derived) {
	for _, s := range d.Series {
		judgeByADR(s)
	}
	d.Open = nil
	for _, run := range d.Runs {
		run.Claims = Claims{}
		run.tallyClaims()
	}
	for _, s := range d.Series {
		if p := s.Newest(); p != nil && s.Retired == "" && p.Metric.Verdict.Outcome == perf.Slower {
			d.Open = append(d.Open, Open{Key: s.Key, Label: s.Label, Metric: s.Metric, Since: p.Run})
		}
	}
}

// worseThan reports that a point's median lies on the worse side of another's
// 99 % interval.
func worseThan(s *Series, base, now int) bool {
	b, m := s.Points[base].Metric, s.Points[now].Metric
	if !legacyCI99(b, m) {
		return false
	}
	hi, _ := b.ci99.Hi.Get()
	median, _ := m.Median.Get()
	return (median > hi) == (m.Better == perf.Lower)
}
