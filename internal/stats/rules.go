package stats

// LegacySide is where a run's median lies relative to the 99 % interval of the
// baseline's mean.
type LegacySide string

// The sides of the interval.
const (
	LegacyInside LegacySide = "inside" // a median on the bound is inside
	LegacyWorse  LegacySide = "worse"
	LegacyBetter LegacySide = "better"
)

// LegacyCI99 is the rule "a run changed when its median lies outside the 99 %
// Student t interval of the baseline's mean". It is a recorded signal and no
// verdict: the interval knows nothing of the noise between runs and shrinks with
// n, so unchanged code is called changed most of the time. ok is false when the
// baseline has fewer than two values or the median is not finite.
func LegacyCI99(baseline Summary, median float64, lowerIsBetter bool) (side LegacySide, ok bool) {
	lo, hi := baseline.MeanCI(0.99)
	if !allFinite([]float64{lo, hi, median}) {
		return "", false
	}
	above, below := median > hi, median < lo
	switch {
	case !above && !below:
		return LegacyInside, true
	case above == lowerIsBetter:
		return LegacyWorse, true
	}
	return LegacyBetter, true
}

// LegacyPersistent is LegacyCI99 worse in two runs against one baseline.
func LegacyPersistent(baseline Summary, median1, median2 float64, lowerIsBetter bool) (regressed, ok bool) {
	first, ok1 := LegacyCI99(baseline, median1, lowerIsBetter)
	second, ok2 := LegacyCI99(baseline, median2, lowerIsBetter)
	return first == LegacyWorse && second == LegacyWorse, ok1 && ok2
}

// StabilityRule says by its coefficient of variation whether a sample is stable.
// Small samples show less of their spread, so they get a narrower limit.
type StabilityRule struct {
	MinN     int     // fewer values are never stable
	LowN     int     // fewer values are judged by LowNCV
	LowNCV   float64 // largest CV of a small sample, as a fraction
	StableCV float64 // largest CV of any other
}

// Limit is the largest CV of a stable sample of n values.
func (r StabilityRule) Limit(n int) float64 {
	if n < r.LowN {
		return r.LowNCV
	}
	return r.StableCV
}

// Stable applies the rule to a sample of n values; a CV that is undefined (NaN)
// is not stable. A CV on the limit is.
func (r StabilityRule) Stable(n int, cv float64) bool {
	return n >= r.MinN && cv <= r.Limit(n)
}
