package stats

import (
	"cmp"
	"math"
	"slices"
)

// The most values in either sample for which the distribution of U is computed
// exactly; beyond, the normal approximation is good to a few percent of p.
const (
	exactUntied = 50
	exactTied   = 25
)

// MannWhitney compares two samples by rank: Mann and Whitney (1947), "On a test
// of whether one of two random variables is stochastically larger than the
// other". The smallest samples that can reach p < 0.05 are 4 and 4, p < 0.01 5
// and 5.
type MannWhitney struct {
	N1, N2 int
	// U1 counts the pairs in which the first sample's value is the larger, ties
	// half; U2 = N1 x N2 - U1.
	U1, U2 float64
	Ties   bool
	// Exact tells that P, PLess and PGreater are from the permutation
	// distribution of the mid-ranks: up to 50 values a sample without ties, 25
	// with. Else they are normal, corrected for ties and continuity.
	Exact    bool
	P        float64 // two-sided: twice the smaller tail, at most 1
	PLess    float64 // one-sided: the first sample is the smaller
	PGreater float64 // one-sided: the first sample is the larger
	// Z is the continuity-corrected normal score of U1, PNormal its two-sided p.
	// 0 and 1 when all values are equal.
	Z, PNormal float64
	// CliffsDelta is P(first > second) - P(first < second), in [-1, 1].
	CliffsDelta float64
}

// MannWhitneyU tests x against y. ok is false for an empty sample or a value
// that is not finite.
func MannWhitneyU(x, y []float64) (r MannWhitney, ok bool) {
	if len(x) == 0 || len(y) == 0 || !allFinite(x) || !allFinite(y) {
		return MannWhitney{}, false
	}
	ranks := midRanks(x, y)
	n1, n2 := float64(len(x)), float64(len(y))
	r = MannWhitney{N1: len(x), N2: len(y), Ties: ranks.tied}
	r.U1 = float64(ranks.sum)/2 - n1*(n1+1)/2
	r.U2 = n1*n2 - r.U1
	r.CliffsDelta = 2*r.U1/(n1*n2) - 1
	r.normal(ranks.tieTerm)
	limit := exactUntied
	if r.Ties {
		limit = exactTied
	}
	if r.Exact = max(r.N1, r.N2) <= limit; r.Exact {
		r.PLess, r.PGreater = ranks.tails(len(x))
		r.P = min(1, 2*min(r.PLess, r.PGreater))
	}
	return r, true
}

// normal fills in the normal approximation.
func (r *MannWhitney) normal(tieTerm float64) {
	n1, n2 := float64(r.N1), float64(r.N2)
	n := n1 + n2
	sigma := math.Sqrt(n1 * n2 / 12 * (n + 1 - tieTerm/(n*(n-1))))
	r.P, r.PLess, r.PGreater, r.PNormal = 1, 1, 1, 1
	if !(sigma > 0) {
		return
	}
	d := r.U1 - n1*n2/2
	if d != 0 {
		r.Z = (d - math.Copysign(0.5, d)) / sigma
	}
	r.PNormal = min(1, 2*normalCDF(-math.Abs(r.Z)))
	r.P, r.PLess, r.PGreater = r.PNormal, normalCDF((d+0.5)/sigma), normalCDF(-(d-0.5)/sigma)
}

// rankSet holds the mid-ranks of two joined samples, doubled to be whole.
type rankSet struct {
	doubled []int // ascending
	sum     int   // of the first sample's
	tied    bool
	tieTerm float64 // sum of t^3-t over the groups of t equal values
}

func midRanks(x, y []float64) rankSet {
	type value struct {
		v     float64
		first bool
	}
	all := make([]value, 0, len(x)+len(y))
	for _, v := range x {
		all = append(all, value{v, true})
	}
	for _, v := range y {
		all = append(all, value{v, false})
	}
	slices.SortFunc(all, func(a, b value) int { return cmp.Compare(a.v, b.v) })
	set := rankSet{doubled: make([]int, len(all))}
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].v == all[i].v {
			j++
		}
		for k := i; k < j; k++ {
			set.doubled[k] = i + 1 + j // ranks i+1..j
			if all[k].first {
				set.sum += i + 1 + j
			}
		}
		t := float64(j - i)
		set.tied = set.tied || j-i > 1
		set.tieTerm += t*t*t - t
		i = j
	}
	return set
}

// tails are the exact probabilities that n1 of the ranks, drawn at random, sum
// to at most and at least what the first sample's do.
func (s rankSet) tails(n1 int) (less, greater float64) {
	weights, sum := slices.Clone(s.doubled), s.sum
	if !s.tied { // all even: half the work
		for i := range weights {
			weights[i] /= 2
		}
		sum /= 2
	}
	return tailsOf(subsetSums(weights, n1), sum)
}

// tailsOf gives the shares of the counts up to an index and from it on.
func tailsOf(counts []float64, at int) (below, above float64) {
	total := 0.0
	for i, c := range counts {
		total += c
		if i <= at {
			below += c
		}
		if i >= at {
			above += c
		}
	}
	return min(1, below/total), min(1, above/total)
}

// subsetSums counts, for every sum, the subsets of k of the ascending positive
// weights that have it. A float64 holds all counts that occur here (up to 1e29
// at 50 and 50), and as they are only added no digits cancel.
func subsetSums(weights []int, k int) []float64 {
	top := 0
	for _, w := range weights[len(weights)-k:] {
		top += w
	}
	counts := make([][]float64, k+1)
	for i := range counts {
		counts[i] = make([]float64, top+1)
	}
	counts[0][0] = 1
	prefix := make([]int, len(weights)+1)
	for i, w := range weights {
		prefix[i+1] = prefix[i] + w
		for size := min(k, i+1); size >= 1; size-- {
			// The largest sum of this size so far is that of the last ones.
			for sum := w; sum <= prefix[i+1]-prefix[i+1-size]; sum++ {
				counts[size][sum] += counts[size-1][sum-w]
			}
		}
	}
	return counts[k]
}
