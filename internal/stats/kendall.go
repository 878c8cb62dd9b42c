package stats

import (
	"math"
	"slices"
)

const (
	// pairwiseMax is the most values whose pairs are all compared. More are
	// first cut to block medians, as the cost is quadratic.
	pairwiseMax = 2000
	// kendallExactMax is the most values for which the exact distribution of S
	// is computed, kendallExactBelow the number below which it decides.
	kendallExactMax   = 40
	kendallExactBelow = 10
	// kendallMin is the fewest values that can show a trend at all.
	kendallMin = 4
)

// Trend is the Mann-Kendall statistic of a series in time order: Mann (1945),
// "Nonparametric tests against trend"; Kendall (1975), "Rank correlation
// methods". It needs independent values: autocorrelation makes it anti-
// conservative, so a series within one process is better given as medians of
// blocks (see FindDrift).
type Trend struct {
	N    int     // values compared; of more than 2,000, the number of block medians
	S    int     // pairs that rise minus pairs that fall
	VarS float64 // variance of S without a trend, less the part of ties
	Ties bool
	TauB float64 // S over its largest possible size, ties left out; NaN when all values are equal
}

// MannKendall compares all pairs of xs, which is in time order. ok is false for
// fewer than two values or one that is not finite. More than 2,000 values are
// cut to medians of equal blocks.
func MannKendall(xs []float64) (t Trend, ok bool) {
	if len(xs) < 2 || !allFinite(xs) {
		return Trend{}, false
	}
	_, x := thinned(xs)
	return mannKendall(x), true
}

func mannKendall(x []float64) Trend {
	n := len(x)
	t := Trend{N: n}
	for i := range x {
		for _, later := range x[i+1:] {
			if later > x[i] {
				t.S++
			} else if later < x[i] {
				t.S--
			}
		}
	}
	// In whole numbers: n is at most pairwiseMax, so nothing overflows.
	terms, pairs, tied := n*(n-1)*(2*n+5), n*(n-1)/2, 0
	sorted := slices.Sorted(slices.Values(x))
	for i := 0; i < n; {
		j := i + 1
		for j < n && sorted[j] == sorted[i] {
			j++
		}
		g := j - i
		terms -= g * (g - 1) * (2*g + 5)
		tied += g * (g - 1) / 2
		i = j
	}
	t.VarS = float64(terms) / 18
	t.Ties = tied > 0
	t.TauB = math.NaN()
	if tied < pairs {
		t.TauB = float64(t.S) / math.Sqrt(float64(pairs)*float64(pairs-tied))
	}
	return t
}

// Z is the continuity-corrected standard score, sign(S)(|S|-1)/sqrt(VarS); 0
// when S or its variance is 0.
func (t Trend) Z() float64 {
	if t.S == 0 || t.VarS == 0 {
		return 0
	}
	return math.Copysign((math.Abs(float64(t.S))-1)/math.Sqrt(t.VarS), float64(t.S))
}

// PNormal is the two-sided p of Z.
func (t Trend) PNormal() float64 { return min(1, 2*normalCDF(-math.Abs(t.Z()))) }

// PExact is the two-sided p by Kendall's exact distribution, twice the smaller
// tail. NaN with ties and for more than 40 values.
//
// S is counted down from its largest size by inversions; those of a random
// order of n are the sum of independent uniform numbers on 0..i-1, i = 1..n.
func (t Trend) PExact() float64 {
	if t.Ties || t.N < 2 || t.N > kendallExactMax {
		return math.NaN()
	}
	pairs := t.N * (t.N - 1) / 2
	most := (pairs - max(t.S, -t.S)) / 2
	p := make([]float64, most+1) // p[k]: probability of k inversions
	p[0] = 1
	for i := 2; i <= t.N; i++ {
		next := make([]float64, most+1)
		for k := range next {
			for j := max(0, k-i+1); j <= k; j++ {
				next[k] += p[j]
			}
			next[k] /= float64(i)
		}
		p = next
	}
	tail := 0.0
	for _, v := range p {
		tail += v
	}
	return min(1, 2*tail)
}

// P is the two-sided p to decide by: exact for fewer than ten values without
// ties, else normal; NaN for fewer than four values.
func (t Trend) P() float64 {
	switch {
	case t.N < kendallMin:
		return math.NaN()
	case t.N < kendallExactBelow && !t.Ties:
		return t.PExact()
	}
	return t.PNormal()
}

// thinned returns the series itself, or medians of equal blocks if it is longer
// than pairwiseMax, and the index in xs at which each value stands.
func thinned(xs []float64) (at, x []float64) {
	n := len(xs)
	if n > pairwiseMax {
		size := (n + pairwiseMax - 1) / pairwiseMax
		return blockMedians(xs, (n+size-1)/size)
	}
	at = make([]float64, n)
	for i := range at {
		at[i] = float64(i)
	}
	return at, xs
}

// blockMedians cuts xs into k <= len(xs) consecutive blocks whose lengths
// differ by at most one, and returns each one's middle index and median.
func blockMedians(xs []float64, k int) (at, medians []float64) {
	for i := range k {
		from, to := i*len(xs)/k, (i+1)*len(xs)/k
		at = append(at, float64(from+to-1)/2)
		medians = append(medians, median(xs[from:to]))
	}
	return at, medians
}

// normalCDF is P(Z <= z) for the standard normal distribution.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// median is the mean of the middle two for an even number of values; NaN for none.
func median(xs []float64) float64 {
	return Quantile(slices.Sorted(slices.Values(xs)), 0.5)
}
