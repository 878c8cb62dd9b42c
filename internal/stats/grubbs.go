package stats

import (
	"cmp"
	"math"
	"slices"
)

// grubbsStep is one test of the most extreme value among n.
type grubbsStep struct {
	n           int
	g, critical float64 // |x - mean| / standard deviation, and its bound
	index       int     // into the values
	significant bool
}

// grubbs tests the most extreme value and, as long as it is significant, what
// remains without it. It stops before fewer than three values and where there is
// no spread that can be computed.
func grubbs(xs []float64) (steps []grubbsStep) {
	left := make([]int, len(xs)) // indices by value, so that sums have one order
	for i := range left {
		left[i] = i
	}
	slices.SortStableFunc(left, func(a, b int) int { return cmp.Compare(xs[a], xs[b]) })
	for len(left) >= 3 {
		at, g := mostExtreme(xs, left)
		if !(g > 0) {
			break
		}
		critical := grubbsCritical(len(left))
		step := grubbsStep{n: len(left), g: g, critical: critical, index: left[at], significant: g > critical}
		steps = append(steps, step)
		if !step.significant {
			break
		}
		left = slices.Delete(left, at, at+1)
	}
	return steps
}

// grubbsCritical is (n-1)/sqrt(n) x sqrt(t^2/(n-2+t^2)) with t the 1-alpha/(2n)
// quantile of Student's t with n-2 degrees of freedom, n >= 3.
func grubbsCritical(n int) float64 {
	nf := float64(n)
	t := StudentT(1-grubbsAlpha/(2*nf), n-2)
	return (nf - 1) / math.Sqrt(nf) * math.Sqrt(t*t/(nf-2+t*t))
}

// mostExtreme finds the value farthest from the mean, the one with the smallest
// index among equals, and its distance in standard deviations: 0 when all are
// equal, NaN when the spread is beyond a float's range. ascending are indices
// into xs by value. The mean is rounded to a float64, as other programs do whose
// values of G are compared with.
func mostExtreme(xs []float64, ascending []int) (at int, distance float64) {
	values := make([]float64, len(ascending))
	for i, index := range ascending {
		values[i] = xs[index]
	}
	moved, middle := centred(values)
	s := Summarize(moved)
	if s.Min == s.Max {
		return 0, 0
	}
	if s.StdDev == 0 {
		return 0, math.NaN() // the squares underflowed
	}
	mean := middle + s.Mean
	farthest := -1.0
	for i, v := range values {
		d := math.Abs(v - mean)
		if d > farthest || d == farthest && ascending[i] < ascending[at] {
			farthest, at = d, i
		}
	}
	return at, farthest / s.StdDev
}

// grubbsLabels are the indices of the significant values, ascending, but never so
// many that fewer than three values stay.
func grubbsLabels(steps []grubbsStep, n int) (indices []int) {
	for _, s := range steps {
		if s.significant && len(indices) < n-outlierKeep {
			indices = append(indices, s.index)
		}
	}
	slices.Sort(indices)
	return indices
}
