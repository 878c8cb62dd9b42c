package stats

import (
	"math"
	"slices"
)

// Shift is how far one sample lies above another.
type Shift struct {
	Estimate float64 // in the unit of the values
	// Lo and Hi bound the shift with confidence Level. All three are NaN where
	// there is no exact interval: with ties, or more than 50 values a sample.
	// Level is at least what was asked, but less when the samples are too small
	// for it; the interval is then the whole range of the differences.
	Lo, Hi, Level float64
}

// HodgesLehmann is the median of all differences y - x, the shift of y against
// x: Hodges and Lehmann (1963), "Estimates of location based on rank tests". The
// interval consists of the shifts that the exact two-sided Mann-Whitney test at
// 1-level does not reject; level in (0, 1). ok is false for an empty sample, a
// value that is not finite, or values so far apart that the difference overflows.
func HodgesLehmann(x, y []float64, level float64) (s Shift, ok bool) {
	if len(x) == 0 || len(y) == 0 || !allFinite(x) || !allFinite(y) {
		return Shift{}, false
	}
	d := differences{slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y))}
	pairs := len(x) * len(y)
	nan := math.NaN()
	s = Shift{Estimate: d.at((pairs+1)/2)/2 + d.at(pairs/2+1)/2, Lo: nan, Hi: nan, Level: nan}
	if math.IsInf(s.Estimate, 0) || math.IsNaN(s.Estimate) {
		return Shift{}, false
	}
	if level > 0 && level < 1 && max(len(x), len(y)) <= exactUntied && !midRanks(x, y).tied {
		k, attained := shiftRank(len(x), len(y), level)
		s.Lo, s.Hi, s.Level = d.at(k), d.at(pairs+1-k), attained
	}
	return s, true
}

// shiftRank is the rank from either end of the sorted differences at which the
// interval stops, and the confidence it has: the smallest k >= 1 with
// P(U <= k) >= (1-level)/2.
func shiftRank(n1, n2 int, level float64) (k int, attained float64) {
	ranks := make([]int, n1+n2)
	for i := range ranks {
		ranks[i] = i + 1
	}
	size := min(n1, n2)
	counts := subsetSums(ranks, size)[size*(size+1)/2:] // by U, from 0
	total := 0.0
	for _, c := range counts {
		total += c
	}
	// A few units in the last place, so that a probability that is exactly the
	// level on paper is not missed by rounding.
	want := (1-level)/2 - 1e-15
	below, cdf := counts[0]/total, (counts[0]+counts[1])/total // P(U <= k-1), P(U <= k)
	for k = 1; cdf < want; k++ {
		below, cdf = cdf, cdf+counts[k+1]/total
	}
	return k, 1 - 2*below
}

// differences gives all y - x in order without storing them.
type differences struct{ x, y []float64 } // ascending

// at is the k-th smallest difference, k from 1: a search over the bit patterns
// of the floating-point numbers, which are ordered as the numbers are. Rounding
// is monotone, so the result is one of the differences, to the last bit.
func (d differences) at(k int) float64 {
	lo, hi := orderedBits(math.Inf(-1)), orderedBits(math.Inf(1))
	for lo < hi {
		mid := lo + (hi-lo)/2
		if d.upTo(fromOrderedBits(mid)) >= k {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return fromOrderedBits(lo) + 0 // -0 becomes 0
}

// upTo counts the differences that are at most v.
func (d differences) upTo(v float64) int {
	count, j := 0, 0
	for _, x := range d.x {
		for j < len(d.y) && d.y[j]-x <= v {
			j++
		}
		count += j
	}
	return count
}

const signBit = 1 << 63

// orderedBits maps numbers to integers in the same order; -0 comes before 0.
func orderedBits(v float64) uint64 {
	b := math.Float64bits(v)
	if b&signBit != 0 {
		return ^b
	}
	return b | signBit
}

func fromOrderedBits(b uint64) float64 {
	if b&signBit != 0 {
		return math.Float64frombits(b &^ signBit)
	}
	return math.Float64frombits(^b)
}
