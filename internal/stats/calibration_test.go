package stats

import (
	"math"
	"testing"
)

// binomial is P(from <= X <= to) for n trials of probability p, summed.
func binomial(n int, p float64, from, to int) float64 {
	sum := 0.0
	for k := from; k <= to; k++ {
		sum += math.Exp(logChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return sum
}

// At either bound the outcome and all beyond it have half of what is left of
// the level.
func TestClopperPearsonByDefinition(t *testing.T) {
	for _, n := range []int{1, 2, 7, 60, 400} {
		for _, k := range []int{0, 1, n / 3, n / 2, n - 1, n} {
			for _, level := range []float64{0.8, 0.95, 0.99} {
				lo, hi := ClopperPearson(k, n, level)
				if k == 0 && lo != 0 || k == n && hi != 1 || !(lo <= float64(k)/float64(n) && float64(k)/float64(n) <= hi) {
					t.Errorf("%d of %d: [%v, %v]", k, n, lo, hi)
				}
				if k > 0 {
					near(t, "mass above", binomial(n, lo, k, n), (1-level)/2, 1e-9)
				}
				if k < n {
					near(t, "mass below", binomial(n, hi, 0, k), (1-level)/2, 1e-9)
				}
				otherLo, otherHi := ClopperPearson(n-k, n, level)
				if math.Abs(1-otherHi-lo) > 1e-9 || math.Abs(1-otherLo-hi) > 1e-9 {
					t.Errorf("%d of %d: [%v, %v], failures [%v, %v]", k, n, lo, hi, otherLo, otherHi)
				}
			}
		}
	}
	_, hi := ClopperPearson(0, 25, 0.95)
	near(t, "no alarm in 25", hi, 1-math.Pow(0.025, 1./25), 1e-12)
	_, hi59 := ClopperPearson(0, 59, 0.90)
	_, hi58 := ClopperPearson(0, 58, 0.90)
	if hi59 >= 0.05 || hi58 <= 0.05 {
		t.Errorf("one-sided 95 %% bounds of no alarm in 59 and 58: %v and %v", hi59, hi58)
	}
}

func TestCalibrate(t *testing.T) {
	for _, c := range []struct{ alarms, n int }{{0, 100}, {1, 1}, {3, 60}, {11, 200}, {40, 400}, {400, 400}} {
		got, ok := Calibrate(c.alarms, c.n, 0.05)
		lo, hi := ClopperPearson(c.alarms, c.n, 0.95)
		if !ok || got.N != c.n || got.Alarms != c.alarms || got.Alpha != 0.05 || got.Lo != lo || got.Hi != hi || got.Rate != float64(c.alarms)/float64(c.n) {
			t.Errorf("%+v", got)
		}
		near(t, "p", got.PExceeds, binomial(c.n, 0.05, c.alarms, c.n), 1e-9)
	}
}

func TestCalibrateRefuses(t *testing.T) {
	for _, c := range []struct {
		alarms, n int
		alpha     float64
	}{{0, 0, 0.05}, {-1, 5, 0.05}, {6, 5, 0.05}, {1, 5, 0}, {1, 5, 1}, {1, 5, nan}, {0, -3, 0.05}} {
		if got, ok := Calibrate(c.alarms, c.n, c.alpha); ok {
			t.Errorf("%+v gives %+v", c, got)
		}
		lo, hi := ClopperPearson(c.alarms, c.n, c.alpha)
		if !math.IsNaN(lo) || !math.IsNaN(hi) {
			t.Errorf("%+v gives [%v, %v]", c, lo, hi)
		}
	}
}
