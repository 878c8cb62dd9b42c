package stats

import (
	"math"
	"slices"
)

// Windows of the first pass and the factor by which its level is looser than
// the final one: a weak point may gain strength when it is compared with whole
// segments instead of a part of a window.
const (
	changeWindow    = 50
	changeStep      = 25
	changeWeakRatio = 10
)

// ChangePointOptions tunes ChangePoints; DefaultChangePointOptions has the
// usual values.
type ChangePointOptions struct {
	P            float64 // a point stays when its p is below P, in (0, 1)
	MinMagnitude float64 // ... and its relative change is above this, 0.02 = 2 %
	// Logs says that the values are natural logarithms: a relative change is
	// then exp(difference)-1.
	Logs bool
	// Two faults of Apache Otava, for comparison with it: squares divided by n
	// instead of n-1, which makes p too small; and a dropped point's neighbour
	// on the left keeping its old p and change.
	populationSpread, staleLeft bool
}

// DefaultChangePointOptions returns p 0.001 and 2 %, for values on the log
// scale or not.
func DefaultChangePointOptions(logs bool) ChangePointOptions {
	return ChangePointOptions{P: 0.001, MinMagnitude: 0.02, Logs: logs}
}

// ChangePoint is a place where the level of a series changes.
type ChangePoint struct {
	Index  int     // of the first value after the change, from 0
	Before float64 // mean since the previous change point, on the scale given
	After  float64 // mean until the next change point
	Change float64 // relative, > 0 = higher; NaN when Before is 0 and not a log
	P      float64 // two-sided p of Student's t; not corrected for the search
}

// ChangePoints returns the change points of xs in order of position. It is
// deterministic: Hunter's method (Fleming et al. 2023, "Hunter: Using XX
//
//  1. Windows of 50 values, each starting 25 after the last or at the last
//     point found if that is later, are divided where the energy statistic (see
//     EDivisive) is largest as long as a pooled t test says p <= 10 P.
//  2. Every weak point so found is tested again between its neighbours. The one
//     with the largest p is dropped while that p >= P; then the one with the
//     smallest relative change while that change <= MinMagnitude. The
//     neighbours of a dropped point are tested again.
//
// The relative change compared is the larger of forward and backward, so that
// a rise and its undoing count the same. None for fewer than 8 values, for
// equal values, when a value is not finite, and when P is not in (0, 1).
//
// The best of all splits is tested as if it were the only one. With P 0.001 and
// no minimum, 2 % of series of 30 values of independent normal noise have a
// change point, 4 % of 100, 18 % of 500; with heavy tails (t with 3 degrees of
// freedom) 4, 11 and 43 %. A minimum of twice the standard deviation leaves
// 0.5, 0.7 and 4.5 %. A creep appears as several steps.
func ChangePoints(xs []float64, o ChangePointOptions) []ChangePoint {
	if len(xs) < minSeries || !allFinite(xs) || !(o.P > 0 && o.P < 1) {
		return nil
	}
	return o.merge(xs, o.weakPoints(xs))
}

func (o ChangePointOptions) weakPoints(xs []float64) []ChangePoint {
	var points []ChangePoint
	var search energySearch
	var window []float64
	start, level := 0, min(1, changeWeakRatio*o.P)
	accept := func(segments []segment, best int) bool {
		s := segments[best]
		t, df := o.test(levelOf(window[s.lo:s.at]), levelOf(window[s.at:s.hi]))
		// A critical value is remembered per df, a p is not.
		if df < 1 || !(math.Abs(t) >= StudentT(1-level/2, df)) {
			return false
		}
		points = append(points, ChangePoint{Index: start + s.at})
		return true
	}
	for start < len(xs) {
		window = xs[start:min(start+changeWindow, len(xs))]
		known := len(points)
		search.divide(window, 1, accept)
		start += changeStep
		found := points[known:]
		slices.SortFunc(found, func(a, b ChangePoint) int { return a.Index - b.Index })
		if len(found) > 0 {
			start = max(start, found[len(found)-1].Index)
		}
	}
	return points
}

func (o ChangePointOptions) merge(xs []float64, points []ChangePoint) []ChangePoint {
	for i := range points {
		o.measure(xs, points, i)
	}
	for len(points) > 0 {
		worst := 0
		for i, p := range points {
			if p.P > points[worst].P {
				worst = i
			}
		}
		if points[worst].P < o.P {
			worst = 0
			for i, p := range points {
				if o.magnitude(p) < o.magnitude(points[worst]) {
					worst = i
				}
			}
			if o.magnitude(points[worst]) > o.MinMagnitude {
				break
			}
		}
		points = slices.Delete(points, worst, worst+1)
		if worst > 0 && !o.staleLeft {
			o.measure(xs, points, worst-1)
		}
		if worst < len(points) {
			o.measure(xs, points, worst)
		}
	}
	return points
}

// measure fills in point i from the values between its neighbours.
func (o ChangePointOptions) measure(xs []float64, points []ChangePoint, i int) {
	lo, hi := 0, len(xs)
	if i > 0 {
		lo = points[i-1].Index
	}
	if i+1 < len(points) {
		hi = points[i+1].Index
	}
	p := &points[i]
	before, after := levelOf(xs[lo:p.Index]), levelOf(xs[p.Index:hi])
	p.Before, p.After, p.P = before.mean, after.mean, tTailProbability(o.test(before, after))
	switch {
	case o.Logs:
		p.Change = math.Expm1(p.After - p.Before)
	case p.Before == 0:
		p.Change = math.NaN()
	default:
		p.Change = p.After/p.Before - 1
	}
}

// magnitude is the larger of the relative changes seen from either side.
func (o ChangePointOptions) magnitude(p ChangePoint) float64 {
	switch {
	case o.Logs:
		return math.Expm1(math.Abs(p.After - p.Before))
	case p.Before == p.After:
		return 0
	case p.Before == 0 || p.After == 0:
		return math.Inf(1)
	}
	return max(math.Abs(p.After/p.Before-1), math.Abs(p.Before/p.After-1))
}

// level is what the t test needs of a segment.
type level struct{ n, mean, squares float64 }

// levelOf sums differences to the first value, so that equal values have
// exactly that mean and squares 0. xs must not be empty.
func levelOf(xs []float64) level {
	n, sum, squares := float64(len(xs)), 0.0, 0.0
	for _, x := range xs {
		sum += x - xs[0]
	}
	mean := xs[0] + sum/n
	for _, x := range xs {
		squares += (x - mean) * (x - mean)
	}
	return level{n, mean, squares}
}

// test is the two-sample t with pooled variance. t is infinite for two different
// levels without spread, NaN for equal ones.
func (o ChangePointOptions) test(a, b level) (t float64, df int) {
	squares := a.squares + b.squares
	if o.populationSpread {
		squares = a.squares*(a.n-1)/a.n + b.squares*(b.n-1)/b.n
	}
	nu := a.n + b.n - 2
	return (b.mean - a.mean) / math.Sqrt(squares/nu*(1/a.n+1/b.n)), int(nu)
}

// tTailProbability is the two-sided tail of Student's t, 1 where there is
// nothing to test.
func tTailProbability(t float64, df int) float64 {
	if df < 1 || math.IsNaN(t) {
		return 1
	}
	return StudentTTwoSided(t, float64(df))
}
