package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// StudentTQuantile is the p-quantile of Student's t with df > 0 degrees of
// freedom, which need not be whole; infinite df are the normal distribution. p
// in [0, 1], 0 and 1 giving the infinities; else NaN. Good to nine digits of p
// where p and 1-p are at least 1e-6, to four at 1e-9.
func StudentTQuantile(p, df float64) float64 {
	switch {
	case !(p >= 0 && p <= 1) || !(df > 0):
		return math.NaN()
	case math.IsInf(df, 1):
		return mathext.NormalQuantile(p)
	}
	return studentT(p, df)
}

// StudentTCDF is the probability that Student's t with df > 0 degrees of
// freedom is at most t, which may be infinite; NaN if either is NaN or df not
// positive. For an upper tail ask for -t: 1 minus a probability near 1 has no
// digits left.
func StudentTCDF(t, df float64) float64 {
	tail := StudentTTwoSided(t, df) / 2
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// StudentTTwoSided is the probability that Student's t with df > 0 degrees of
// freedom is at least |t| away from 0: the regularised incomplete beta function,
// Abramowitz and Stegun 26.7.1. Edge cases as for StudentTCDF.
func StudentTTwoSided(t, df float64) float64 {
	square := t * t
	switch {
	case math.IsNaN(t) || !(df > 0):
		return math.NaN()
	case math.IsInf(df, 1):
		return math.Erfc(math.Abs(t) / math.Sqrt2)
	case square < 1:
		// Near the middle the other form takes the root of a rounding error.
		return 1 - mathext.RegIncBeta(0.5, df/2, square/(df+square))
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(df+square))
}

// FQuantile is the p-quantile of the F distribution with d1 and d2 > 0 degrees
// of freedom, p in (0, 1): from the inverse of the regularised incomplete beta
// function, Abramowitz and Stegun 26.6.2. NaN out of these ranges.
func FQuantile(p, d1, d2 float64) float64 {
	if !(p > 0 && p < 1) || !(d1 > 0) || !(d2 > 0) {
		return math.NaN()
	}
	x := mathext.InvRegIncBeta(d1/2, d2/2, p)
	return d2 * x / (d1 * (1 - x))
}
