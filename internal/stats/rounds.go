package stats

import "math"

// Rounds is the result of a side-by-side comparison of two versions over rounds.
// Value is the mean log ratio candidate / base: above 0 the candidate is slower.
type Rounds struct {
	TEstimate
	VarWithin float64 // variance of the mean from the rounds alone, s^2/R
}

// PairedRounds judges the log ratios of R rounds, each the difference of the
// logs of the two versions' block medians. tau2 >= 0 is the variance between
// sessions in which nothing changed (a process keeps its memory layout and
// compiled code for all its rounds, so the rounds alone understate it), and df
// the degrees of freedom tau2 was estimated with; 0 and any df where every round
// has a fresh process. The variance is s^2/R + tau2, its degrees of freedom
// Satterthwaite's. ok is false for fewer than two rounds, a value that is not
// finite, or a tau2 without df.
func PairedRounds(logRatios []float64, tau2 float64, df int) (r Rounds, ok bool) {
	if r.TEstimate, ok = OneSampleT(logRatios); !ok || !(tau2 >= 0) || math.IsInf(tau2, 1) || tau2 > 0 && df < 1 {
		return Rounds{}, false
	}
	r.VarWithin = r.SE * r.SE
	if tau2 > 0 {
		r.SE, r.DF = satterthwaite(r.VarWithin, r.DF, tau2, float64(df))
	}
	return r, true
}

// Ratio is the candidate's time over the base's, with its confidence interval.
func (r Rounds) Ratio(level float64) (ratio, lo, hi float64) {
	lo, hi = r.CI(level)
	return math.Exp(r.Value), math.Exp(lo), math.Exp(hi)
}

// Slower is the verdict for a number of rounds fixed beforehand: the p value,
// adjusted for the family of benchmarks, is below alpha, the 1-alpha interval
// lies above 0, and the log ratio is at least minEffect. False is no claim that
// nothing changed; TOST makes that one.
func (r Rounds) Slower(pAdjusted, alpha, minEffect float64) bool {
	lo, _ := r.CI(1 - alpha)
	return pAdjusted < alpha && lo > 0 && r.Value >= minEffect
}
