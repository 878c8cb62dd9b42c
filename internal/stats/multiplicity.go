package stats

import (
	"cmp"
	"math"
	"slices"
)

// The adjustments below take the p values of one family of tests and return
// them adjusted, in the same order: reject where the adjusted value is at most
// the level. A value outside [0, 1], NaN above all, is a test that was not made:
// it does not count in the family and comes back as NaN.

// Bonferroni is min(1, m p), m the size of the family.
func Bonferroni(ps []float64) []float64 {
	return adjusted(ps, func(p []float64) {
		for i := range p {
			p[i] = min(1, float64(len(p))*p[i])
		}
	})
}

// Holm bounds the chance of even one false rejection, whatever the dependence:
// max over j <= i of min(1, (m-j+1) p_(j)), Holm (1979), "A simple sequentially
// rejective multiple test procedure".
func Holm(ps []float64) []float64 {
	return adjusted(ps, func(p []float64) {
		for i := range p {
			p[i] = min(1, float64(len(p)-i)*p[i])
			if i > 0 {
				p[i] = max(p[i], p[i-1])
			}
		}
	})
}

// BenjaminiHochberg bounds the expected share of false rejections among all,
// for independent or positively dependent tests: min over j >= i of
// min(1, m p_(j)/j), Benjamini and Hochberg (1995), "Controlling the false
// discovery rate".
func BenjaminiHochberg(ps []float64) []float64 {
	return adjusted(ps, func(p []float64) { stepUp(p, 1) })
}

// BenjaminiYekutieli is BenjaminiHochberg for any dependence, larger by the
// factor 1 + 1/2 + ... + 1/m: Benjamini and Yekutieli (2001), "The control of the
// false discovery rate in multiple testing under dependency".
func BenjaminiYekutieli(ps []float64) []float64 {
	return adjusted(ps, func(p []float64) {
		harmonic := 0.0
		for i := range p {
			harmonic += 1 / float64(i+1)
		}
		stepUp(p, harmonic)
	})
}

func stepUp(p []float64, factor float64) {
	m := float64(len(p))
	for i := len(p) - 1; i >= 0; i-- {
		p[i] = min(1, factor*m/float64(i+1)*p[i])
		if i < len(p)-1 {
			p[i] = min(p[i], p[i+1])
		}
	}
}

// adjusted applies a procedure to the sorted p values that are defined.
func adjusted(ps []float64, procedure func(ascending []float64)) []float64 {
	out := make([]float64, len(ps))
	var index []int
	for i, p := range ps {
		if out[i] = math.NaN(); p >= 0 && p <= 1 {
			index = append(index, i)
		}
	}
	slices.SortStableFunc(index, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	sorted := make([]float64, len(index))
	for k, i := range index {
		sorted[k] = ps[i]
	}
	procedure(sorted)
	for k, i := range index {
		out[i] = sorted[k]
	}
	return out
}
