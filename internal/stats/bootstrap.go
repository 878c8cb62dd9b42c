package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// minBootstrapRounds is the number of rounds below which a resample repeats so
// few values that the interval means little.
const minBootstrapRounds = 8

// BootstrapOptions tunes the bootstrap. Zero fields mean the defaults.
type BootstrapOptions struct {
	Level     float64 // of the interval, in (0, 1); default 0.95
	Resamples int     // default 10,000
	// Block is the number of consecutive rounds drawn together (circular block
	// bootstrap), for rounds that depend on their predecessor; default 1. At
	// least four blocks must fit.
	Block int
	Seed  uint64
}

// BootstrapInterval is an interval around an estimate, in the estimate's unit.
type BootstrapInterval struct{ Estimate, Lo, Hi float64 }

// BootstrapMean returns the percentile and the BCa interval of the mean of one
// value per round, usually a log ratio. Both are random, but the same seed gives
// the same bounds. Efron (1987), "Better bootstrap confidence intervals"; with
// blocks, the acceleration comes from leaving out one block at a time.
//
// ok is false for fewer than 8 rounds, for fewer than four blocks, and when a
// value or the sum is not finite. Equal values give zero width.
func BootstrapMean(rounds []float64, o BootstrapOptions) (percentile, bca BootstrapInterval, ok bool) {
	o = o.withDefaults()
	if !o.suits(rounds) {
		return percentile, bca, false
	}
	if slices.Min(rounds) == slices.Max(rounds) {
		flat := BootstrapInterval{rounds[0], rounds[0], rounds[0]}
		return flat, flat, true
	}
	estimate := mean(rounds)
	r := rand.New(rand.NewPCG(o.Seed, 0))
	picks := make([]int, len(rounds))
	means := make([]float64, o.Resamples)
	below := 0
	for b := range means {
		o.draw(r, picks)
		sum := 0.0
		for _, i := range picks {
			sum += rounds[i]
		}
		means[b] = sum / float64(len(picks))
		if means[b] < estimate {
			below++
		}
	}
	slices.Sort(means)
	lo, hi := (1-o.Level)/2, (1+o.Level)/2
	percentile = BootstrapInterval{estimate, Quantile(means, lo), Quantile(means, hi)}
	adjust := o.bcaLevels(rounds, float64(below)/float64(o.Resamples))
	bca = BootstrapInterval{estimate, Quantile(means, adjust(lo)), Quantile(means, adjust(hi))}
	return percentile, bca, true
}

// BootstrapMedianRatio returns the percentile interval of median(y)/median(x),
// resampling the rounds of x and of y separately. There is no BCa here: the
// acceleration comes from a jackknife, which fails for medians.
//
// ok is false for fewer than 8 rounds or four blocks on a side, when a value is
// not finite and positive, and when a bound is not finite. Equal values on each
// side give zero width.
func BootstrapMedianRatio(x, y []float64, o BootstrapOptions) (interval BootstrapInterval, ok bool) {
	o = o.withDefaults()
	if !o.suits(x) || !o.suits(y) || slices.Min(x) <= 0 || slices.Min(y) <= 0 {
		return interval, false
	}
	r := rand.New(rand.NewPCG(o.Seed, 0))
	base, other := newMedianSampler(x), newMedianSampler(y)
	ratios := make([]float64, o.Resamples)
	for b := range ratios {
		below := base.median(r, o)
		ratios[b] = other.median(r, o) / below
	}
	slices.Sort(ratios)
	interval = BootstrapInterval{
		Estimate: Quantile(other.sorted, 0.5) / Quantile(base.sorted, 0.5),
		Lo:       Quantile(ratios, (1-o.Level)/2),
		Hi:       Quantile(ratios, (1+o.Level)/2),
	}
	return interval, allFinite([]float64{interval.Estimate, interval.Lo, interval.Hi})
}

func (o BootstrapOptions) withDefaults() BootstrapOptions {
	if o.Level == 0 {
		o.Level = 0.95
	}
	if o.Resamples <= 0 {
		o.Resamples = 10000
	}
	o.Block = max(o.Block, 1)
	return o
}

func (o BootstrapOptions) suits(rounds []float64) bool {
	if len(rounds) < max(minBootstrapRounds, 4*o.Block) || !(o.Level > 0 && o.Level < 1) || !allFinite(rounds) {
		return false
	}
	largest := max(slices.Max(rounds), -slices.Min(rounds))
	return !math.IsInf(2*float64(len(rounds))*largest, 0) // no sum overflows
}

// draw fills picks with the indices of one resample.
func (o BootstrapOptions) draw(r *rand.Rand, picks []int) {
	n := len(picks)
	for i := 0; i < n; {
		start := r.IntN(n)
		for j := 0; j < o.Block && i < n; j++ {
			picks[i] = (start + j) % n
			i++
		}
	}
}

// bcaLevels returns Efron's correction of a level for the bias, given the share
// of resamples below the estimate, and for the acceleration from a jackknife.
func (o BootstrapOptions) bcaLevels(rounds []float64, share float64) func(float64) float64 {
	half := 0.5 / float64(o.Resamples)
	bias := mathext.NormalQuantile(min(max(share, half), 1-half))
	total := mean(rounds) * float64(len(rounds))
	var left []float64
	for block := range slices.Chunk(rounds, o.Block) {
		rest := total
		for _, x := range block {
			rest -= x
		}
		left = append(left, rest/float64(len(rounds)-len(block)))
	}
	center := mean(left)
	unit := max(slices.Max(left)-center, center-slices.Min(left))
	acceleration := 0.0
	if unit > 0 {
		var squares, cubes float64
		for _, x := range left {
			d := (center - x) / unit // powers of tiny values would vanish
			squares += d * d
			cubes += d * d * d
		}
		acceleration = cubes / (6 * math.Pow(squares, 1.5))
	}
	return func(level float64) float64 {
		z := bias + mathext.NormalQuantile(level)
		return math.Erfc(-(bias+z/(1-acceleration*z))/math.Sqrt2) / 2
	}
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// medianSampler takes medians of resamples by counting ranks: no sorting.
type medianSampler struct {
	sorted []float64
	ranks  []int // of the rounds in their order
	counts []int
	picks  []int
}

func newMedianSampler(rounds []float64) *medianSampler {
	n := len(rounds)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case rounds[a] < rounds[b]:
			return -1
		case rounds[a] > rounds[b]:
			return 1
		}
		return 0
	})
	s := &medianSampler{make([]float64, n), make([]int, n), make([]int, n), make([]int, n)}
	for rank, i := range order {
		s.sorted[rank], s.ranks[i] = rounds[i], rank
	}
	return s
}

func (s *medianSampler) median(r *rand.Rand, o BootstrapOptions) float64 {
	o.draw(r, s.picks)
	clear(s.counts)
	for _, i := range s.picks {
		s.counts[s.ranks[i]]++
	}
	n := len(s.picks)
	rank, seen := 0, s.counts[0]
	for seen <= (n-1)/2 {
		rank++
		seen += s.counts[rank]
	}
	low := s.sorted[rank]
	for seen <= n/2 {
		rank++
		seen += s.counts[rank]
	}
	return low + (s.sorted[rank]-low)/2
}
