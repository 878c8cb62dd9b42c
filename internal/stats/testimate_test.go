package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func normals(r *rand.Rand, n int, mean, sd float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = mean + sd*r.NormFloat64()
	}
	return out
}

func TestWelchTEquivariance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 15))
	for range 100 {
		x, y := normals(r, 2+r.IntN(20), 10, 1), normals(r, 2+r.IntN(20), 10.5, 2)
		e, ok := WelchT(x, y)
		if !ok {
			t.Fatal("refused")
		}
		if least, most := float64(min(len(x), len(y))-1), float64(len(x)+len(y)-2); e.DF < least-1e-9 || e.DF > most+1e-9 {
			t.Fatalf("%v degrees of freedom of %d and %d values", e.DF, len(x), len(y))
		}
		back, _ := WelchT(y, x)
		near(t, "difference, samples exchanged", back.Value, -e.Value, 1e-12)
		near(t, "t, samples exchanged", back.T(), -e.T(), 1e-12)
		near(t, "p, samples exchanged", back.P(), e.P(), 1e-12)
		moved := func(xs []float64) []float64 {
			out := slices.Clone(xs)
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
			for i := range out {
				out[i] = 1e4*out[i] + 3e4
			}
			return out
		}
		big, _ := WelchT(moved(x), moved(y))
		near(t, "difference, rescaled", big.Value, 1e4*e.Value, 1e-9)
		near(t, "standard error, rescaled", big.SE, 1e4*e.SE, 1e-9)
		near(t, "df, rescaled", big.DF, e.DF, 1e-9)
		near(t, "p, rescaled", big.P(), e.P(), 1e-8)
		small, wide := e.TOST(0.5), big.TOST(0.5e4)
		near(t, "TOST, rescaled", wide.P, small.P, 1e-8)
	}
}

// Against a sample without spread around 0 Welch is the one-sample test, and
// equal sizes and spreads have the degrees of freedom of both.
func TestWelchTLimits(t *testing.T) {
	y := []float64{0.3, 1.1, -0.2, 0.8, 0.9}
	one, _ := OneSampleT(y)
	two, _ := WelchT([]float64{0, 0, 0}, y)
	if two.Value != one.Value || math.Abs(two.SE-one.SE) > 1e-15 || math.Abs(two.DF-4) > 1e-12 {
		t.Errorf("%+v, want %+v", two, one)
	}
	shifted := []float64{2.3, 3.1, 1.8, 2.8, 2.9}
	if e, _ := WelchT(y, shifted); math.Abs(e.DF-8) > 1e-9 || math.Abs(e.Value-2) > 1e-12 {
		t.Errorf("equal spreads: %+v", e)
	}
	// By hand: mean 0.58, variance 0.277, t = 0.58/sqrt(0.277/5).
	near(t, "t", one.T(), 0.58/math.Sqrt(0.277/5), 1e-12)
}

func TestTEstimateWithoutSpread(t *testing.T) {
	same, ok := WelchT([]float64{5, 5, 5}, []float64{5, 5})
	if lo, hi := same.CI(0.95); !ok || lo != 0 || hi != 0 || same.P() != 1 || same.T() != 0 || same.TOST(0.1).P != 0 {
		t.Errorf("equal constants: %+v in [%v, %v], p %v, equivalence %+v", same, lo, hi, same.P(), same.TOST(0.1))
	}
	other, ok := WelchT([]float64{5, 5, 5}, []float64{6, 6})
	if !ok || other.P() != 0 || !math.IsInf(other.T(), 1) || other.DF != 3 {
		t.Errorf("different constants: %+v, p %v", other, other.P())
	}
	if in, out := other.TOST(1.5).P, other.TOST(0.5).P; in != 0 || out != 1 {
		t.Errorf("different constants: equivalence p %v within the margin, %v outside", in, out)
	}
}

// P < alpha exactly when the 1-2 alpha interval is within the margins.
func TestTOSTIsTheInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 16))
	claimed := 0
	for range 500 {
		e, _ := OneSampleT(normals(r, 2+r.IntN(15), 0.3, 1))
		lo, hi := e.CI(0.90)
		p := e.TOST(0.7)
		within := lo > -0.7 && hi < 0.7
		if within != (p.P < 0.05) || p.P != max(p.PLower, p.PUpper) {
			t.Fatalf("interval [%v, %v], %+v", lo, hi, p)
		}
		if within {
			claimed++
		}
	}
	if claimed < 50 || claimed > 450 {
		t.Errorf("%d of 500 claimed equivalent: the test compares nothing", claimed)
	}
}

func TestTEstimateRefuses(t *testing.T) {
	good := []float64{1, 2, 4}
	for _, bad := range [][]float64{nil, {1}, {1, nan}, {1, inf, 2}, {-inf, 1}, {1e308, -1e308}} {
		if e, ok := OneSampleT(bad); ok {
			t.Errorf("%v gives %+v", bad, e)
		}
		if e, ok := WelchT(bad, good); ok {
			t.Errorf("%v before gives %+v", bad, e)
		}
		if e, ok := WelchT(good, bad); ok {
			t.Errorf("%v after gives %+v", bad, e)
		}
	}
	e, _ := OneSampleT(good)
	for _, margin := range []float64{0, -1, nan} {
		if p := e.TOST(margin); !math.IsNaN(p.P) || !math.IsNaN(p.PLower) || !math.IsNaN(p.PUpper) {
			t.Errorf("margin %v: %+v", margin, p)
		}
	}
}
