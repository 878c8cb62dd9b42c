// Package stats turns numbers into numbers with warnings. It is opinionated
// about honesty: what cannot be computed is absent, never 0; intervals use
// Student's t, never a normal quantile; and every sum runs in a fixed order so
// that the same input gives the same bits on every build for one architecture.
package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Summary describes a sample of n values in their own unit. A field is NaN
// when it is undefined: StdDev, CV and the intervals for n < 2, CV also for
// mean 0, everything for n = 0.
type Summary struct {
	N      int
	Mean   float64
	StdDev float64 // Bessel-corrected, n-1
	CV     float64 // StdDev / |Mean|
	Min    float64
	Max    float64
	Q1     float64 // quartiles and percentiles: Hyndman-Fan type 7
	Median float64
	Q3     float64
	P95    float64
	P99    float64
	// P95Undersampled and P99Undersampled are set when fewer than five values
	// are expected beyond the percentile (n x (1-p) < 5): it is then close to
	// the maximum and says little about the tail.
	P95Undersampled bool
	P99Undersampled bool
}

// Summarize computes the summary of xs, which it neither sorts nor keeps.
// Values must be finite.
//
// The variance is the corrected two-pass form of Chan, Golub and LeVeque
// (1983), "Algorithms for computing the sample variance": exact to a few units
// in the last place for large offsets too.
func Summarize(xs []float64) Summary {
	n := len(xs)
	nan := math.NaN()
	s := Summary{N: n, Mean: nan, StdDev: nan, CV: nan, Min: nan, Max: nan, Q1: nan, Median: nan, Q3: nan, P95: nan, P99: nan}
	if n == 0 {
		return s
	}
	var sum float64
	for _, x := range xs {
		sum += x
	}
	mean := sum / float64(n)
	var squares, rest float64
	for _, x := range xs {
		d := x - mean
		squares += d * d
		rest += d
	}
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	s.Mean = mean
	s.Min, s.Max = sorted[0], sorted[n-1]
	if n >= 2 {
		s.StdDev = math.Sqrt(max(0, squares-rest*rest/float64(n)) / float64(n-1))
		if math.IsInf(s.StdDev, 0) || math.IsNaN(s.StdDev) {
			s.StdDev = nan // the squares overflowed: the spread is unknown
		}
		if mean != 0 {
			s.CV = s.StdDev / math.Abs(mean)
		}
	}
	s.Q1, s.Median, s.Q3 = Quantile(sorted, 0.25), Quantile(sorted, 0.5), Quantile(sorted, 0.75)
	s.P95, s.P99 = Quantile(sorted, 0.95), Quantile(sorted, 0.99)
	s.P95Undersampled = n < 100 // n x 0.05 < 5
	s.P99Undersampled = n < 500 // n x 0.01 < 5
	return s
}

// Quantile is the type 7 quantile of Hyndman and Fan (1996), "Sample quantiles
// in statistical packages": linear interpolation at h = (n-1)p. sorted must be
// ascending; p in [0, 1]. NaN when sorted is empty.
func Quantile(sorted []float64, p float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	h := float64(n-1) * p
	i := int(math.Floor(h))
	if i >= n-1 {
		return sorted[n-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// MeanCI returns the bounds of the Student t confidence interval of the mean,
// mean ± t(1-(1-level)/2, n-1) x stddev/sqrt(n), at the given level in (0, 1).
// NaN bounds when n < 2; zero width when the standard deviation is 0.
func (s Summary) MeanCI(level float64) (lo, hi float64) {
	if s.N < 2 || math.IsNaN(s.StdDev) {
		return math.NaN(), math.NaN()
	}
	half := StudentT(1-(1-level)/2, s.N-1) * s.StdDev / math.Sqrt(float64(s.N))
	return s.Mean - half, s.Mean + half
}

// StudentT is the p-quantile of Student's t with df >= 1 degrees of freedom.
func StudentT(p float64, df int) float64 {
	return tQuantiles.get(p, df)
}

// studentT inverts the regularised incomplete beta function, Abramowitz and
// Stegun 26.7.1. gonum's distuv does the same but links its linear algebra.
func studentT(p, nu float64) float64 {
	y := mathext.InvRegIncBeta(nu/2, 0.5, 2*min(p, 1-p))
	return math.Copysign(math.Sqrt(nu*(1-y)/y), p-0.5)
}
