package stats

import "math"

// Accumulator is the running mean and variance of a stream of values that are
// not kept: Welford (1962), "Note on a method for calculating corrected sums of
// squares and products", merged by the formula of Chan, Golub and LeVeque
// (1979). The zero value is empty. Values must be finite: after one that is not,
// or a spread that overflows, what depends on it is NaN.
type Accumulator struct {
	n       int
	mean    float64
	squares float64 // sum of (x - mean)^2
}

// Add takes one more value.
func (a *Accumulator) Add(x float64) {
	a.n++
	before := x - a.mean
	a.mean += before / float64(a.n)
	a.squares += before * (x - a.mean)
}

// Merge takes the values of another accumulator, as if they had been added one
// by one (but for rounding). Merging an empty one, or into an empty one, copies.
func (a *Accumulator) Merge(b Accumulator) {
	if b.n == 0 {
		return
	}
	if a.n == 0 {
		*a = b
		return
	}
	na, nb := float64(a.n), float64(b.n)
	n := na + nb
	apart := b.mean - a.mean
	a.n += b.n
	a.mean += apart * (nb / n)
	a.squares += b.squares + apart*apart*(na*nb/n)
}

// N is the number of values taken.
func (a Accumulator) N() int { return a.n }

// Mean is NaN for n = 0.
func (a Accumulator) Mean() float64 {
	if a.n == 0 || math.IsInf(a.mean, 0) {
		return math.NaN()
	}
	return a.mean
}

// Variance is Bessel-corrected (n-1), in the square of the unit; NaN for n < 2.
func (a Accumulator) Variance() float64 {
	if a.n < 2 || math.IsInf(a.squares, 0) {
		return math.NaN()
	}
	return a.squares / float64(a.n-1)
}

// CV is the standard deviation divided by |mean|; NaN for n < 2 or mean 0.
func (a Accumulator) CV() float64 {
	mean := a.Mean()
	if mean == 0 {
		return math.NaN()
	}
	return math.Sqrt(a.Variance()) / math.Abs(mean)
}
