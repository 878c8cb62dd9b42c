package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

func TestBootstrapNone(t *testing.T) {
	good := noisySteps(1, 12, 5, 1)
	bad := slices.Clone(good)
	bad[4] = math.NaN()
	infinite := slices.Clone(good)
	infinite[4] = math.Inf(1)
	zero := slices.Clone(good)
	zero[4] = 0
	for name, xs := range map[string][]float64{"nil": nil, "seven": good[:7], "NaN": bad, "infinite": infinite} {
		if _, _, ok := BootstrapMean(xs, BootstrapOptions{}); ok {
			t.Errorf("%s has a mean interval", name)
		}
		if _, ok := BootstrapMedianRatio(xs, good, BootstrapOptions{}); ok {
			t.Errorf("%s has a ratio interval below", name)
		}
		if _, ok := BootstrapMedianRatio(good, xs, BootstrapOptions{}); ok {
			t.Errorf("%s has a ratio interval above", name)
		}
	}
	if _, ok := BootstrapMedianRatio(zero, good, BootstrapOptions{}); ok {
		t.Error("a ratio to durations with a 0")
	}
	if _, _, ok := BootstrapMean(good, BootstrapOptions{Block: 4}); ok {
		t.Error("three blocks have an interval")
	}
	for _, level := range []float64{-0.95, 1, 95, math.NaN()} {
		if _, _, ok := BootstrapMean(good, BootstrapOptions{Level: level}); ok {
			t.Errorf("level %v has an interval", level)
		}
	}
	if _, _, ok := BootstrapMean(good[:8], BootstrapOptions{}); !ok {
		t.Error("eight rounds have no interval")
	}
}

func TestBootstrapFlat(t *testing.T) {
	third := slices.Repeat([]float64{1.0 / 3}, 9)
	seventh := slices.Repeat([]float64{1.0 / 7}, 11)
	percentile, bca, ok := BootstrapMean(third, BootstrapOptions{})
	if want := (BootstrapInterval{third[0], third[0], third[0]}); !ok || percentile != want || bca != want {
		t.Errorf("equal rounds: %+v, %+v, %v", percentile, bca, ok)
	}
	ratio, ok := BootstrapMedianRatio(third, seventh, BootstrapOptions{})
	if want := seventh[0] / third[0]; !ok || ratio != (BootstrapInterval{want, want, want}) {
		t.Errorf("equal rounds: %+v, %v", ratio, ok)
	}
}

// Efron's levels without skew, where they are the normal tail at 2 z0 + z.
func TestBootstrapBias(t *testing.T) {
	o := BootstrapOptions{}.withDefaults()
	adjust := o.bcaLevels([]float64{-4, -3, -2, -1, 1, 2, 3, 4}, 0.6)
	for _, level := range []float64{0.025, 0.5, 0.975} {
		z := 2*mathext.NormalQuantile(0.6) + mathext.NormalQuantile(level)
		within(t, "level", adjust(level), math.Erfc(-z/math.Sqrt2)/2, 1e-9)
	}
}

// Magnitudes at either end of the range neither panic nor give a wrong bound.
func TestBootstrapExtremes(t *testing.T) {
	xs := noisySteps(2, 10, 5, 1)
	_, want, _ := BootstrapMean(xs, BootstrapOptions{})
	for _, scale := range []float64{0x1p-400, 0x1p+400} {
		scaled := make([]float64, len(xs))
		for i, x := range xs {
			scaled[i] = x * scale
		}
		_, got, ok := BootstrapMean(scaled, BootstrapOptions{})
		if !ok {
			t.Fatalf("no interval at scale %v", scale)
		}
		within(t, "lower", got.Lo/scale, want.Lo, 1e-9)
		within(t, "upper", got.Hi/scale, want.Hi, 1e-9)
	}
	huge := slices.Repeat([]float64{1e308, -1e308}, 5)
	if _, _, ok := BootstrapMean(huge, BootstrapOptions{}); ok {
		t.Error("a sum that overflows has an interval")
	}
	if got, ok := BootstrapMedianRatio(slices.Repeat([]float64{1e-300}, 8), slices.Repeat([]float64{1e300}, 8), BootstrapOptions{}); ok {
		t.Errorf("a ratio that overflows: %+v", got)
	}
}

func TestBootstrapSeed(t *testing.T) {
	xs, ys := noisySteps(1, 20, 5, 1), noisySteps(2, 15, 6, 1)
	a, _, _ := BootstrapMean(xs, BootstrapOptions{Seed: 1})
	b, _, _ := BootstrapMean(xs, BootstrapOptions{Seed: 1})
	c, _, _ := BootstrapMean(xs, BootstrapOptions{Seed: 2})
	if a != b || a == c || math.Abs(a.Lo-c.Lo) > 0.1*(a.Hi-a.Lo) {
		t.Errorf("seeds 1, 1 and 2: %+v, %+v, %+v", a, b, c)
	}
	d, _ := BootstrapMedianRatio(xs, ys, BootstrapOptions{Seed: 1})
	e, _ := BootstrapMedianRatio(xs, ys, BootstrapOptions{Seed: 1})
	if d != e || !(d.Lo < d.Estimate && d.Estimate < d.Hi) {
		t.Errorf("seed 1 twice: %+v, %+v", d, e)
	}
}

// Moving and scaling the rounds moves and scales the interval; mirroring them
// mirrors it, up to the luck of the draw.
func TestBootstrapInvariance(t *testing.T) {
	xs := noisySteps(4, 25, 0, 1)
	for i, x := range xs {
		xs[i] = math.Exp(x) // skewed, so that BCa has something to correct
	}
	moved, mirrored := make([]float64, len(xs)), make([]float64, len(xs))
	for i, x := range xs {
		moved[i], mirrored[i] = 3*x+100, -x
	}
	p, b, _ := BootstrapMean(xs, BootstrapOptions{Seed: 9})
	mp, mb, _ := BootstrapMean(moved, BootstrapOptions{Seed: 9})
	within(t, "percentile", mp.Lo, 3*p.Lo+100, 1e-9)
	within(t, "percentile", mp.Hi, 3*p.Hi+100, 1e-9)
	within(t, "bca", mb.Lo, 3*b.Lo+100, 1e-9)
	within(t, "bca", mb.Hi, 3*b.Hi+100, 1e-9)
	if !(b.Hi > p.Hi && b.Lo > p.Lo) {
		t.Errorf("right-skewed rounds: BCa %+v is not to the right of %+v", b, p)
	}
	_, back, _ := BootstrapMean(mirrored, BootstrapOptions{Seed: 9})
	width := b.Hi - b.Lo
	within(t, "mirrored bca", -back.Lo, b.Hi, 0.05*width)
	within(t, "mirrored bca", -back.Hi, b.Lo, 0.05*width)
}

// Rounds that follow their predecessor have a wider interval when drawn in
// blocks; independent ones do not.
func TestBootstrapBlocks(t *testing.T) {
	noise := noisySteps(8, 200, 0, 1)
	walk := slices.Clone(noise)
	for i := range walk[1:] {
		walk[i+1] += 0.7 * walk[i]
	}
	ratio := func(xs []float64) float64 {
		single, _, _ := BootstrapMean(xs, BootstrapOptions{})
		blocks, bca, ok := BootstrapMean(xs, BootstrapOptions{Block: 10})
		if !ok || !(bca.Lo < bca.Estimate && bca.Estimate < bca.Hi) {
			t.Errorf("with blocks: %+v, %v", bca, ok)
		}
		return (blocks.Hi - blocks.Lo) / (single.Hi - single.Lo)
	}
	if r := ratio(walk); r < 1.5 {
		t.Errorf("dependent rounds: blocks widen by %v", r)
	}
	if r := ratio(noise); r < 0.6 || r > 1.3 {
		t.Errorf("independent rounds: blocks widen by %v", r)
	}
}

// The sampler's medians are those of sorting what was drawn.
func TestMedianSampler(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for n := 1; n < 12; n++ {
		rounds := noisySteps(uint64(n), n, 5, 1)
		rounds[n/2] = rounds[0] // a tie
		s := newMedianSampler(rounds)
		for range 50 {
			got := s.median(r, BootstrapOptions{Block: 1})
			drawn := make([]float64, n)
			for i, k := range s.picks {
				drawn[i] = rounds[k]
			}
			slices.Sort(drawn)
			within(t, "median", got, Quantile(drawn, 0.5), 1e-12)
		}
	}
}

func BenchmarkBootstrapMean(b *testing.B) {
	xs := noisySteps(1, 30, 0, 0.01)
	b.ReportAllocs()
	for b.Loop() {
		BootstrapMean(xs, BootstrapOptions{})
	}
}

func BenchmarkBootstrapMedianRatio(b *testing.B) {
	xs, ys := noisySteps(1, 30, 5, 0.1), noisySteps(2, 30, 5, 0.1)
	b.ReportAllocs()
	for b.Loop() {
		BootstrapMedianRatio(xs, ys, BootstrapOptions{})
	}
}
