package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// minSeries is the number of values below which nothing is said about change
// points: a segment needs a few values to have a level.
const minSeries = 8

// EnergyPoint is a change point found by the energy statistic.
type EnergyPoint struct {
	Index int     // of the first value of the new segment, from 0
	Q     float64 // the statistic, in the unit of the values, > 0
	P     float64 // permutation p in (0, 1]; NaN where none was computed
}

// EDivisiveOptions tunes EDivisive. Zero fields mean the defaults.
type EDivisiveOptions struct {
	MinSegment   int     // fewest values between two change points; default 1
	Permutations int     // per candidate; default and least 499
	Level        float64 // a candidate with p <= Level is accepted; default 0.01
	Seed         uint64  // of the permutations
}

// EDivisive returns the change points of xs in order of position, by the
// divisive procedure of Matteson and James (2014), "A nonparametric approach
// for multiple change point analysis of multivariate data", with exponent 1.
// It reacts to any change of distribution, not of the mean alone.
//
// The best split over all segments is tested by shuffling the values inside
// the segments found so far: p = (1+#)/(R+1), where # counts the shuffles with
// a best split at least as good. The first rejected candidate ends the search.
// The same seed gives the same result. None for fewer than 8 values, for equal
// values, and when a value is not finite. The cost is R x n^2 per candidate.
func EDivisive(xs []float64, o EDivisiveOptions) []EnergyPoint {
	o = o.withDefaults()
	points := slices.DeleteFunc(eDivisiveTested(xs, o), func(p EnergyPoint) bool { return p.P > o.Level })
	slices.SortFunc(points, func(a, b EnergyPoint) int { return a.Index - b.Index })
	return points
}

func (o EDivisiveOptions) withDefaults() EDivisiveOptions {
	o.MinSegment = max(o.MinSegment, 1)
	o.Permutations = max(o.Permutations, 499)
	if o.Level == 0 {
		o.Level = 0.01
	}
	return o
}

// eDivisiveTested returns the candidates in the order of their tests; the last
// one may be rejected.
func eDivisiveTested(xs []float64, o EDivisiveOptions) []EnergyPoint {
	if len(xs) < minSeries || !allFinite(xs) {
		return nil
	}
	var points []EnergyPoint
	r := rand.New(rand.NewPCG(o.Seed, 0))
	shuffled := slices.Clone(xs)
	var search, trial energySearch
	search.divide(xs, o.MinSegment, func(segments []segment, best int) bool {
		reached := 1
		copy(shuffled, xs) // the last test mixed what is now apart
		for range o.Permutations {
			top := 0.0
			for _, s := range segments {
				part := shuffled[s.lo:s.hi]
				r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
				top = max(top, trial.best(part, o.MinSegment).q)
			}
			if top >= segments[best].q {
				reached++
			}
		}
		p := float64(reached) / float64(o.Permutations+1)
		points = append(points, EnergyPoint{segments[best].at, segments[best].q, p})
		return p <= o.Level
	})
	return points
}

// EDivisiveFixed returns the k best change points of xs in the order found,
// without a test (P is NaN): the deterministic part of EDivisive, which also
// states the edge cases. Fewer than k when the segments become too short.
func EDivisiveFixed(xs []float64, k, minSegment int) []EnergyPoint {
	if len(xs) < minSeries || !allFinite(xs) {
		return nil
	}
	var points []EnergyPoint
	var search energySearch
	search.divide(xs, max(minSegment, 1), func(segments []segment, best int) bool {
		if len(points) >= k {
			return false
		}
		points = append(points, EnergyPoint{segments[best].at, segments[best].q, math.NaN()})
		return true
	})
	return points
}

func allFinite(xs []float64) bool {
	for _, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return false
		}
	}
	return true
}

// split is a place to divide values at: before tau, judged on the values up to
// kappa. q is 0 when there is none.
type split struct {
	tau, kappa int
	q          float64
}

// segment is a piece [lo, hi) of a series with its best split, made at index at.
type segment struct {
	lo, hi, at int
	q          float64
}

// energySearch finds best splits. It keeps its memory between calls.
type energySearch struct {
	full, row, inverse []float64
	segments           []segment
}

// divide splits xs repeatedly where the statistic is largest over all present
// segments, until there is no candidate or accept refuses one.
func (e *energySearch) divide(xs []float64, minSegment int, accept func(segments []segment, best int) bool) {
	candidate := func(lo, hi int) segment {
		s := e.best(xs[lo:hi], minSegment)
		return segment{lo, hi, lo + s.tau, s.q}
	}
	e.segments = append(e.segments[:0], candidate(0, len(xs)))
	for {
		best := 0
		for i, s := range e.segments {
			if s.q > e.segments[best].q {
				best = i
			}
		}
		s := e.segments[best]
		if s.q == 0 || !accept(e.segments, best) {
			return
		}
		e.segments[best] = candidate(s.lo, s.at)
		e.segments = slices.Insert(e.segments, best+1, candidate(s.at, s.hi))
	}
}

// best maximises over tau and kappa the energy statistic
//
//	Q = nm/(n+m) (2/(nm) sum|Xi-Yj| - 2/(n(n-1)) sum|Xi-Xk| - 2/(m(m-1)) sum|Yj-Yk|)
//
// of X = xs[:tau] (n values) and Y = xs[tau:kappa] (m values); the term within
// a single value is 0. With W(a,b) the sum of the distances inside xs[a:b], the
// sum between X and Y is W(0,kappa) - W(0,tau) - W(tau,kappa), and W(tau,.)
// follows from W(tau+1,.) by one running sum: O(n^2) time, O(n) memory.
func (e *energySearch) best(xs []float64, minSegment int) split {
	n := len(xs)
	e.prepare(xs)
	full, row, inverse := e.full[:n+1], e.row[:n+1], e.inverse[:n+1]
	var best split
	for tau := n - 1; tau >= minSegment; tau-- {
		x, within, size := xs[tau], full[tau], float64(tau)
		scaled := within * inverse[tau-1]
		kappa, top := 0, 0.0
		distances := 0.0
		first := min(tau+minSegment, n+1)
		for k := tau + 1; k < first; k++ {
			distances += math.Abs(x - xs[k-1])
			row[k] += distances
		}
		m := float64(minSegment)
		for k := first; k <= n; k++ {
			distances += math.Abs(x - xs[k-1])
			w := row[k] + distances
			row[k] = w
			q := 2 * inverse[k] * (full[k] - within - w - m*scaled - size*w*inverse[k-tau-1])
			if q > top {
				kappa, top = k, q
			}
			m++
		}
		if top > 0 && top >= best.q {
			best = split{tau, kappa, top}
		}
	}
	return best
}

// prepare fills full with W(0,k), inverse with 1/i (any number for i = 0, where
// it multiplies a sum of 0), and row with zeros.
func (e *energySearch) prepare(xs []float64) {
	n := len(xs)
	for len(e.full) <= n {
		i := len(e.full)
		e.full, e.row = append(e.full, 0), append(e.row, 0)
		e.inverse = append(e.inverse, 1/float64(max(i, 1)))
	}
	clear(e.row[:n+1])
	total := 0.0
	for k, x := range xs {
		for _, y := range xs[:k] {
			total += math.Abs(x - y)
		}
		e.full[k+1] = total
	}
}
