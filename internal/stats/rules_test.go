package stats

import (
	"math/rand/v2"
	"testing"
)

func TestLegacyCI99(t *testing.T) {
	base := Summarize([]float64{98, 99, 100, 101, 102})
	lo, hi := base.MeanCI(0.99)
	for _, c := range []struct {
		median        float64
		lowerIsBetter bool
		want          LegacySide
	}{
		{100, true, LegacyInside}, {lo, true, LegacyInside}, {hi, true, LegacyInside}, {hi, false, LegacyInside},
		{hi + 1e-9, true, LegacyWorse}, {hi + 1e-9, false, LegacyBetter},
		{lo - 1e-9, true, LegacyBetter}, {lo - 1e-9, false, LegacyWorse},
	} {
		if got, ok := LegacyCI99(base, c.median, c.lowerIsBetter); !ok || got != c.want {
			t.Errorf("%v, lower is better %v: %s, want %s", c.median, c.lowerIsBetter, got, c.want)
		}
	}
	flat := Summarize([]float64{5, 5, 5})
	if side, ok := LegacyCI99(flat, 5, true); !ok || side != LegacyInside {
		t.Errorf("the value of a constant baseline is %s", side)
	}
	if side, ok := LegacyCI99(flat, 5.001, true); !ok || side != LegacyWorse {
		t.Errorf("another value than a constant baseline's is %s", side)
	}
}

func TestLegacyPersistent(t *testing.T) {
	base := Summarize([]float64{98, 99, 100, 101, 102})
	for _, c := range []struct {
		first, second       float64
		lowerIsBetter, want bool
	}{
		{200, 200, true, true}, {200, 100, true, false}, {100, 200, true, false}, {200, 50, true, false}, {50, 50, true, false},
		{50, 50, false, true}, {200, 200, false, false},
	} {
		if got, ok := LegacyPersistent(base, c.first, c.second, c.lowerIsBetter); !ok || got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestLegacyRefuses(t *testing.T) {
	good := Summarize([]float64{1, 2, 3})
	for _, base := range []Summary{Summarize(nil), Summarize([]float64{1}), Summarize([]float64{1, nan, 3}), Summarize([]float64{1, inf})} {
		if side, ok := LegacyCI99(base, 2, true); ok {
			t.Errorf("baseline %+v: %s", base, side)
		}
		if _, ok := LegacyPersistent(base, 2, 2, true); ok {
			t.Errorf("baseline %+v is judged", base)
		}
	}
	for _, median := range []float64{nan, inf, -inf} {
		if side, ok := LegacyCI99(good, median, true); ok {
			t.Errorf("median %v: %s", median, side)
		}
		if _, ok := LegacyPersistent(good, 2, median, true); ok {
			t.Errorf("second median %v is judged", median)
		}
		if _, ok := LegacyPersistent(good, median, 2, true); ok {
			t.Errorf("first median %v is judged", median)
		}
	}
}

// Order and unit of the samples change nothing.
func TestLegacyInvariance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 18))
	for range 200 {
		x := normals(r, 15, 100, 1)
		median := 100 + r.NormFloat64()
		want, _ := LegacyCI99(Summarize(x), median, true)
		for i, j := range r.Perm(len(x))[:7] {
			x[i], x[j] = x[j], x[i]
		}
		for i := range x {
			x[i] *= 1024
		}
		if got, _ := LegacyCI99(Summarize(x), 1024*median, true); got != want {
			t.Fatalf("%s, reordered and rescaled %s", want, got)
		}
	}
}

func TestStabilityRule(t *testing.T) {
	rule := StabilityRule{MinN: 3, LowN: 10, LowNCV: 0.03, StableCV: 0.1}
	for _, c := range []struct {
		n    int
		cv   float64
		want bool
	}{
		{0, 0, false}, {1, nan, false}, {2, 0, false}, {3, 0, true}, {3, 0.03, true}, {9, 0.0301, false}, {10, 0.0301, true},
		{10, 0.1, true}, {10, 0.11, false}, {30, nan, false}, {30, inf, false},
	} {
		if got := rule.Stable(c.n, c.cv); got != c.want {
			t.Errorf("n = %d, CV %v: stable %v", c.n, c.cv, got)
		}
	}
}
