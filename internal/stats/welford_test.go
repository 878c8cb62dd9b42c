package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// samples draws values of one scale with ties, such as durations are.
func samples(minLen, maxLen int) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		scale := rapid.SampledFrom([]float64{0.25, 1, 1024, 1 << 30}).Draw(t, "scale")
		whole := rapid.SliceOfN(rapid.IntRange(-40, 1000), minLen, maxLen).Draw(t, "whole")
		xs := make([]float64, len(whole))
		for i, w := range whole {
			xs[i] = float64(w) * scale
		}
		return xs
	})
}

// nearly allows for rounding in sums of a few dozen values.
func nearly(got, want, scale float64) bool {
	return math.IsNaN(got) && math.IsNaN(want) || math.Abs(got-want) <= 1e-13*max(math.Abs(scale), math.Abs(want))
}

func accumulated(xs []float64) (a Accumulator) {
	for _, x := range xs {
		a.Add(x)
	}
	return a
}

func TestAccumulatorAgreesWithSummary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := samples(0, 40).Draw(t, "xs")
		a, s := accumulated(xs), Summarize(xs)
		largest := max(math.Abs(s.Min), math.Abs(s.Max), 0)
		if a.N() != s.N || !nearly(a.Mean(), s.Mean, largest) || !nearly(a.Variance(), s.StdDev*s.StdDev, largest*largest) {
			t.Fatalf("n %d, mean %v, variance %v; summary %+v", a.N(), a.Mean(), a.Variance(), s)
		}
	})
}

func TestAccumulatorMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := samples(0, 40).Draw(t, "xs")
		cut := rapid.IntRange(0, len(xs)).Draw(t, "cut")
		whole, merged, right := accumulated(xs), accumulated(xs[:cut]), accumulated(xs[cut:])
		merged.Merge(right)
		largest := 0.0
		for _, x := range xs {
			largest = max(largest, math.Abs(x))
		}
		if merged.N() != whole.N() || !nearly(merged.Mean(), whole.Mean(), largest) || !nearly(merged.Variance(), whole.Variance(), largest*largest) {
			t.Fatalf("merged %+v, whole %+v", merged, whole)
		}
	})
	for _, xs := range [][]float64{nil, {0.1, 0.2, 0.4}, {1e200, 1e200}} {
		full := accumulated(xs)
		left, right := full, Accumulator{}
		left.Merge(Accumulator{})
		right.Merge(full)
		if left != full || right != full {
			t.Errorf("the empty accumulator is no identity: %+v, %+v", left, right)
		}
	}
}

// Naive sums of squares lose everything at this offset.
func TestAccumulatorLargeOffset(t *testing.T) {
	a, b := accumulated([]float64{1e9 + 4, 1e9 + 7}), accumulated([]float64{1e9 + 13, 1e9 + 16})
	a.Merge(b)
	if a.Mean() != 1e9+10 || a.Variance() != 30 {
		t.Errorf("mean %v, variance %v", a.Mean(), a.Variance())
	}
}

func TestAccumulatorUndefined(t *testing.T) {
	var empty Accumulator
	one := accumulated([]float64{5})
	if !math.IsNaN(empty.Mean()) || !math.IsNaN(empty.Variance()) || one.Mean() != 5 || !math.IsNaN(one.Variance()) || !math.IsNaN(one.CV()) {
		t.Errorf("empty %+v, one %+v", empty, one)
	}
	if a := accumulated([]float64{-1, 1}); !math.IsNaN(a.CV()) || a.Variance() != 2 {
		t.Errorf("mean 0 has CV %v", a.CV())
	}
	if a := accumulated([]float64{0.1, 0.1, 0.1}); a.Variance() != 0 || a.CV() != 0 {
		t.Errorf("constants have variance %v, CV %v", a.Variance(), a.CV())
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, xs := range [][]float64{{bad}, {bad, 1, 2}, {1, 2, bad}} {
			a := accumulated(xs)
			if !math.IsNaN(a.Mean()) || !math.IsNaN(a.Variance()) || !math.IsNaN(a.CV()) {
				t.Errorf("%v: mean %v, variance %v", xs, a.Mean(), a.Variance())
			}
		}
	}
	if a := accumulated([]float64{1e308, -1e308}); !math.IsNaN(a.Variance()) {
		t.Errorf("an overflowing spread is %v", a.Variance())
	}
}
