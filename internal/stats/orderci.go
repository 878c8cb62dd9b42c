package stats

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// OrderInterval is a confidence interval between two of the sorted values. It
// supposes independent values of one distribution, and nothing of its shape.
type OrderInterval struct {
	// Lo and Hi are in the unit of the values: -Inf or +Inf where there are too
	// few values for a bound, NaN where there is no interval at all.
	Lo, Hi float64
	// LoOrder and HiOrder count the sorted values from 1; 0 and n+1 stand for
	// the infinite bounds.
	LoOrder, HiOrder int
	// Achieved is the exact coverage, at least the level asked for: the steps
	// from one order to the next are large when n is small.
	Achieved float64
}

func noInterval() OrderInterval {
	return OrderInterval{Lo: math.NaN(), Hi: math.NaN(), Achieved: math.NaN()}
}

// MedianCI is the exact interval of the median, with equal orders left out at
// both ends: from x(l) to x(n+1-l) with the largest l for which
// P(Bin(n, 1/2) <= l-1) <= (1-level)/2 (Conover, "Practical nonparametric
// statistics"). Both bounds are infinite when no order will do: a finite interval
// needs n >= 6 at 95 % and n >= 8 at 99 %.
//
// Values must be finite and level in (0, 1), else, as for n = 0, there is no
// interval.
func MedianCI(xs []float64, level float64) OrderInterval {
	return PercentileCI(xs, 0.5, level)
}

// PercentileCI is the exact interval of the p-quantile, p in (0, 1): from x(l) to
// x(u) with the largest l and the smallest u for which P(Bin(n, p) <= l-1) and
// P(Bin(n, p) >= u) are each at most (1-level)/2. A bound is infinite when n is too small for it: an upper
// one for the 99th percentile at 95 % needs n >= 368.
//
// Values must be finite and level in (0, 1), else, as for n = 0, there is no
// interval.
func PercentileCI(xs []float64, p, level float64) OrderInterval {
	n := len(xs)
	if n == 0 || !(p > 0 && p < 1) || !(level > 0 && level < 1) || !allFinite(xs) {
		return noInterval()
	}
	allowed := (1 - level) / 2 * (1 + orderSlack)
	lo := sort.Search(n, func(k int) bool { return binomialAtMost(n, p, k) > allowed })
	hi := 1 + sort.Search(n, func(k int) bool { return binomialAtLeast(n, p, k+1) <= allowed })
	achieved := 1 - binomialAtLeast(n, p, hi)
	if lo > 0 {
		achieved -= binomialAtMost(n, p, lo-1)
	}
	return betweenOrders(xs, lo, hi, achieved)
}

// orderSlack forgives the rounding of a probability that equals the one allowed,
// which happens for levels like 1 - 1/2^k.
const orderSlack = 1e-12

// binomialAtMost is P(Bin(n, p) <= k) for 0 <= k < n: Abramowitz and Stegun
// 26.5.24. Written so that it mirrors binomialAtLeast bit by bit at p = 1/2.
func binomialAtMost(n int, p float64, k int) float64 {
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}

// binomialAtLeast is P(Bin(n, p) >= k) for 1 <= k <= n+1.
func binomialAtLeast(n int, p float64, k int) float64 {
	if k > n {
		return 0
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

func betweenOrders(xs []float64, lo, hi int, achieved float64) OrderInterval {
	sorted := slices.Sorted(slices.Values(xs))
	ci := OrderInterval{Lo: math.Inf(-1), Hi: math.Inf(1), LoOrder: lo, HiOrder: hi, Achieved: achieved}
	if lo >= 1 {
		ci.Lo = sorted[lo-1]
	}
	if hi <= len(xs) {
		ci.Hi = sorted[hi-1]
	}
	return ci
}

// benchstatMaxN is up to where benchstat computes exactly; beyond it takes a
// normal approximation, for which there is no use.
const benchstatMaxN = 30

// BenchstatMedianCI is the interval of the median that benchstat prints for
// n <= 30, to compare with its tables; MedianCI is the one to publish. It adds
// the likeliest counts of values below the median, starting in the middle and
// the lower one first when two are equally likely, until they reach the level.
// So it may be narrower than the symmetric interval, and unbounded on one side
// only. There is no interval for n = 0 and n > 30.
//
// Values must be finite and level in (0, 1), else there is no interval.
func BenchstatMedianCI(xs []float64, level float64) OrderInterval {
	n := len(xs)
	if n == 0 || n > benchstatMaxN || !(level > 0 && level < 1) || !allFinite(xs) {
		return noInterval()
	}
	first, last := n/2, n/2 // counts below the median taken so far
	mass := halfBinomial(n, n/2)
	for mass < level {
		below, above := halfBinomial(n, first-1), halfBinomial(n, last+1)
		if below >= above {
			first--
			mass += below
		} else {
			last++
			mass += above
		}
	}
	return betweenOrders(xs, first, last+1, mass)
}

// halfBinomial is P(Bin(n, 1/2) = k), exact for n <= 30; 0 outside 0..n.
func halfBinomial(n, k int) float64 {
	if k < 0 || k > n {
		return 0
	}
	ways := 1.0
	for i := range k {
		ways = ways * float64(n-i) / float64(i+1)
	}
	return math.Ldexp(ways, -n)
}
