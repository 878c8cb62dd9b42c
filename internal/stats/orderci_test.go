package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// exactAtMost is P(Bin(n, num/den) <= k) in exact arithmetic.
func exactAtMost(n, k int, num, den int64) float64 {
	sum, yes, no := new(big.Int), big.NewInt(num), big.NewInt(den-num)
	for i := 0; i <= k; i++ {
		term := new(big.Int).Binomial(int64(n), int64(i))
		term.Mul(term, new(big.Int).Exp(yes, big.NewInt(int64(i)), nil))
		sum.Add(sum, term.Mul(term, new(big.Int).Exp(no, big.NewInt(int64(n-i)), nil)))
	}
	p, _ := new(big.Rat).SetFrac(sum, new(big.Int).Exp(big.NewInt(den), big.NewInt(int64(n)), nil)).Float64()
	return p
}

// one..n in mixed order, so that a value is its own order.
func shuffled(n int) []float64 {
	xs := make([]float64, n)
	for i, j := range rand.New(rand.NewPCG(1, uint64(n))).Perm(n) {
		xs[i] = float64(j + 1)
	}
	return xs
}

// Coverage and orders against exact arithmetic, and no narrower interval would do.
func TestPercentileCIExact(t *testing.T) {
	for _, n := range []int{1, 2, 5, 6, 29, 64, 200, 367, 368, 500} {
		for _, p := range []int64{50, 95, 99} {
			for _, level := range []float64{0.90, 0.95, 0.99} {
				ci := PercentileCI(shuffled(n), float64(p)/100, level)
				tail := (1 - level) / 2
				atMost := func(k int) float64 { return exactAtMost(n, k, p, 100) }
				if got := atMost(ci.HiOrder-1) - atMost(ci.LoOrder-1); math.Abs(got-ci.Achieved) > 1e-12 || got < level-1e-12 {
					t.Errorf("n %d, p %d %%, level %v: achieved %v, exactly %v", n, p, level, ci.Achieved, got)
				}
				if below := atMost(ci.LoOrder - 1); below > tail+1e-12 || atMost(ci.LoOrder) <= tail {
					t.Errorf("n %d, p %d %%, level %v: lower order %d", n, p, level, ci.LoOrder)
				}
				if above := 1 - atMost(ci.HiOrder-1); above > tail+1e-12 || 1-atMost(ci.HiOrder-2) <= tail {
					t.Errorf("n %d, p %d %%, level %v: upper order %d", n, p, level, ci.HiOrder)
				}
				if lo, hi := float64(ci.LoOrder), float64(ci.HiOrder); ci.LoOrder > 0 && ci.Lo != lo || ci.HiOrder <= n && ci.Hi != hi {
					t.Errorf("n %d: bounds %v and %v at orders %v and %v", n, ci.Lo, ci.Hi, lo, hi)
				}
			}
		}
	}
}

func TestIntervalNeedsValues(t *testing.T) {
	for _, c := range []struct {
		p, level float64
		least    int // values for a finite upper bound
	}{{0.5, 0.95, 6}, {0.5, 0.99, 8}, {0.99, 0.95, 368}, {0.95, 0.95, 72}} {
		for n, bounded := range map[int]bool{c.least - 1: false, c.least: true} {
			if ci := PercentileCI(shuffled(n), c.p, c.level); math.IsInf(ci.Hi, 1) == bounded {
				t.Errorf("p %v at %v, n %d: upper bound %v", c.p, c.level, n, ci.Hi)
			}
		}
	}
	if ci := MedianCI(shuffled(5), 0.95); !math.IsInf(ci.Lo, -1) || !math.IsInf(ci.Hi, 1) || ci.LoOrder != 0 || ci.HiOrder != 6 || ci.Achieved != 1 {
		t.Errorf("five values at 95 %%: %+v", ci)
	}
}

// A level that is met exactly counts as met: 31/32 is what n = 6 offers.
func TestMedianCIExactLevel(t *testing.T) {
	for n := 3; n <= 40; n++ {
		level := 1 - math.Ldexp(1, 1-n)
		if ci := MedianCI(shuffled(n), level); ci.LoOrder != 1 || ci.HiOrder != n || math.Abs(ci.Achieved-level) > 1e-14 {
			t.Errorf("n %d at %v: %+v", n, level, ci)
		}
	}
}

func TestIntervalProperties(t *testing.T) {
	methods := map[string]func([]float64, float64) OrderInterval{
		"median": MedianCI, "benchstat": BenchstatMedianCI,
		"p95": func(xs []float64, level float64) OrderInterval { return PercentileCI(xs, 0.95, level) },
	}
	for name, method := range methods {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				xs := samples(1, 30).Draw(t, "xs")
				level := rapid.SampledFrom([]float64{0.5, 0.9, 0.95, 0.99}).Draw(t, "level")
				kept := slices.Clone(xs)
				ci := method(xs, level)
				if !slices.Equal(xs, kept) {
					t.Fatal("the values were changed")
				}
				if !(ci.Lo <= ci.Hi) || ci.Achieved < level || ci.Achieved > 1 {
					t.Fatalf("%+v", ci)
				}
				if other := method(rapid.Permutation(xs).Draw(t, "permuted"), level); other != ci {
					t.Fatalf("another order gives %+v, not %+v", other, ci)
				}
				doubled := make([]float64, len(xs))
				for i, x := range xs {
					doubled[i] = 8 * x
				}
				want := ci
				want.Lo, want.Hi = 8*ci.Lo, 8*ci.Hi
				if other := method(doubled, level); other != want {
					t.Fatalf("scaled values give %+v, not %+v", other, want)
				}
			})
			same := method(slices.Repeat([]float64{7}, 30), 0.5)
			if same.Lo != 7 || same.Hi != 7 {
				t.Errorf("constants: %+v", same)
			}
			for _, xs := range [][]float64{nil, {}, {1, math.NaN(), 3}, {1, math.Inf(1)}} {
				refusedInterval(t, method(xs, 0.95))
			}
			for _, level := range []float64{0, 1, -1, 2, math.NaN()} {
				refusedInterval(t, method(shuffled(20), level))
			}
		})
	}
	for _, p := range []float64{0, 1, -1, math.NaN()} {
		refusedInterval(t, PercentileCI(shuffled(20), p, 0.95))
	}
	refusedInterval(t, BenchstatMedianCI(shuffled(31), 0.95))
}

func refusedInterval(t *testing.T, ci OrderInterval) {
	t.Helper()
	if !math.IsNaN(ci.Lo) || !math.IsNaN(ci.Hi) || !math.IsNaN(ci.Achieved) {
		t.Errorf("an interval where there is none: %+v", ci)
	}
}

// The promise of an order interval: it covers the true value at least as often as
// it says, whatever the distribution.
func TestMedianCICovers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const rounds, n = 20000, 20
	covered, achieved := 0, 0.0
	for range rounds {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = r.ExpFloat64()
		}
		ci := MedianCI(xs, 0.95)
		achieved = ci.Achieved
		if ci.Lo <= math.Ln2 && math.Ln2 <= ci.Hi {
			covered++
		}
	}
	sd := math.Sqrt(achieved * (1 - achieved) / rounds)
	if got := float64(covered) / rounds; math.Abs(got-achieved) > 4*sd {
		t.Errorf("covered %v, promised %v", got, achieved)
	}
}
