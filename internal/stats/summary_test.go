package stats

import (
	"math"
	"testing"
)

// What is undefined stays undefined: nothing turns into 0.
func TestSummarizeUndefined(t *testing.T) {
	empty := Summarize(nil)
	if empty.N != 0 || !math.IsNaN(empty.Mean) || !math.IsNaN(empty.Median) {
		t.Errorf("empty: %+v", empty)
	}
	one := Summarize([]float64{5})
	if one.Mean != 5 || one.Median != 5 || !math.IsNaN(one.StdDev) || !math.IsNaN(one.CV) {
		t.Errorf("one value: %+v", one)
	}
	if lo, hi := one.MeanCI(0.99); !math.IsNaN(lo) || !math.IsNaN(hi) {
		t.Errorf("interval of one value = %v, %v", lo, hi)
	}
	zero := Summarize([]float64{-1, 1})
	if zero.Mean != 0 || !math.IsNaN(zero.CV) {
		t.Errorf("mean 0 has CV %v", zero.CV)
	}
	huge := Summarize([]float64{1e308, -1e308, 1e308})
	if !math.IsNaN(huge.StdDev) {
		t.Errorf("an overflowing spread is %v, want undefined", huge.StdDev)
	}
	flat := Summarize([]float64{3, 3, 3})
	if lo, hi := flat.MeanCI(0.99); lo != 3 || hi != 3 {
		t.Errorf("interval without spread = %v, %v, want zero width", lo, hi)
	}
}

func TestSummarizeLeavesInputAlone(t *testing.T) {
	xs := []float64{3, 1, 2}
	Summarize(xs)
	if xs[0] != 3 || xs[1] != 1 || xs[2] != 2 {
		t.Errorf("input was reordered: %v", xs)
	}
}

func TestUndersampledTails(t *testing.T) {
	for n, want := range map[int][2]bool{99: {true, true}, 100: {false, true}, 499: {false, true}, 500: {false, false}} {
		s := Summarize(make([]float64, n))
		if s.P95Undersampled != want[0] || s.P99Undersampled != want[1] {
			t.Errorf("n = %d: p95 undersampled %v, p99 %v, want %v", n, s.P95Undersampled, s.P99Undersampled, want)
		}
	}
}

func BenchmarkSummarize(b *testing.B) {
	xs := make([]float64, 30)
	for i := range xs {
		xs[i] = float64((i*7919)%101) + 1000
	}
	for b.Loop() {
		s := Summarize(xs)
		s.MeanCI(0.99)
	}
}
