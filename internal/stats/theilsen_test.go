package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTheilSenLine(t *testing.T) {
	x := make([]float64, 20)
	for i := range x {
		x[i] = 3 - 0.5*float64(i)
	}
	want := Line{Slope: -0.5, Intercept: 3, Lo: -0.5, Hi: -0.5}
	if l, ok := TheilSen(x); !ok || l != want {
		t.Errorf("%+v, want %+v", l, want)
	}
	x[4], x[11], x[19] = 500, -900, 1e9 // three of twenty may be anything
	if l, _ := TheilSen(x); l.Slope != -0.5 || l.Intercept != 3 {
		t.Errorf("with outliers %+v", l)
	}
	before := slices.Clone(x)
	TheilSen(x)
	if !slices.Equal(before, x) {
		t.Error("the input was changed")
	}
}

// Every value of the long line stands in the middle of its block, the short
// last block too.
func TestTheilSenLong(t *testing.T) {
	for _, n := range []int{2000, 2001, 5000, 7003} {
		x := make([]float64, n)
		for i := range x {
			x[i] = 10 + 0.25*float64(i)
		}
		if l, ok := TheilSen(x); !ok || l.Slope != 0.25 || l.Intercept != 10 {
			t.Errorf("n = %d: %+v", n, l)
		}
	}
}

func TestTheilSenEquivariance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	for range 200 {
		x := make([]float64, 3+r.IntN(30))
		y, minus := make([]float64, len(x)), make([]float64, len(x))
		for i := range x {
			x[i] = 5 * r.NormFloat64() // no ties: a trend would break them
			y[i] = 4*x[i] + 2*float64(i) + 100
			minus[i] = -x[i]
		}
		a, _ := TheilSen(x)
		b, _ := TheilSen(y)
		for what, v := range map[string][2]float64{"slope": {b.Slope, 4*a.Slope + 2}, "intercept": {b.Intercept, 4*a.Intercept + 100}, "low": {b.Lo, 4*a.Lo + 2}, "high": {b.Hi, 4*a.Hi + 2}} {
			if math.Abs(v[0]-v[1]) > 1e-9 {
				t.Fatalf("%s %v, want %v", what, v[0], v[1])
			}
		}
		if m, _ := TheilSen(minus); math.Abs(m.Slope+a.Slope) > 1e-9 || math.Abs(m.Intercept+a.Intercept) > 1e-9 {
			t.Fatalf("of -x %+v, of x %+v", m, a)
		}
		if a.Lo > a.Slope || a.Slope > a.Hi {
			t.Fatalf("the slope is outside its interval: %+v", a)
		}
	}
}

func TestTheilSenEdges(t *testing.T) {
	for _, x := range [][]float64{nil, {1}, {1, nan, 3}, {1, inf}, {math.MaxFloat64, -math.MaxFloat64}} {
		if l, ok := TheilSen(x); ok {
			t.Errorf("%v gives %+v", x, l)
		}
	}
	if l, ok := TheilSen([]float64{7, 7, 7, 7}); !ok || l != (Line{Intercept: 7}) {
		t.Errorf("constant: %+v", l)
	}
	if l, ok := TheilSen([]float64{1, 4}); !ok || l != (Line{Slope: 3, Intercept: 1, Lo: 3, Hi: 3}) {
		t.Errorf("two values: %+v", l)
	}
}

// At its nominal 95 % the interval holds the true slope: the seed is fixed, so
// the share is too.
func TestTheilSenCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 3))
	held := 0
	const runs = 2000
	for range runs {
		x := make([]float64, 30)
		for i := range x {
			x[i] = 0.05*float64(i) + r.NormFloat64()
		}
		if l, _ := TheilSen(x); l.Lo <= 0.05 && 0.05 <= l.Hi {
			held++
		}
	}
	if share := float64(held) / runs; share < 0.935 || share > 0.965 {
		t.Errorf("the interval holds the slope in %.1f %%", 100*share)
	}
}
