package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPairedRoundsWithoutTau(t *testing.T) {
	d := []float64{0.01, 0.03, 0.02, 0.04}
	one, _ := OneSampleT(d)
	r, ok := PairedRounds(d, 0, 0)
	if !ok || r.TEstimate != one || r.VarWithin != one.SE*one.SE {
		t.Errorf("%+v, want %+v", r, one)
	}
	ratio, lo, hi := r.Ratio(0.95)
	a, b := r.CI(0.95)
	if ratio != math.Exp(0.025) || lo != math.Exp(a) || hi != math.Exp(b) {
		t.Errorf("ratio %v in [%v, %v]", ratio, lo, hi)
	}
}

func TestPairedRoundsWithTau(t *testing.T) {
	d := []float64{0.01, 0.03, 0.02, 0.04}
	within, _ := PairedRounds(d, 0, 0)
	v := within.VarWithin
	r, _ := PairedRounds(d, v, 5) // both parts equal: (2v)^2/(v^2/3 + v^2/5)
	near(t, "df", r.DF, 4/(1./3+1./5), 1e-12)
	near(t, "SE", r.SE, math.Sqrt(2*v), 1e-12)
	last := within.T()
	for _, tau2 := range []float64{1e-6, 1e-5, 1e-4, 1e-3} {
		r, ok := PairedRounds(d, tau2, 1000)
		if !ok || r.VarWithin != v || !(r.SE > math.Sqrt(tau2)) || r.T() >= last {
			t.Errorf("tau2 %v: %+v", tau2, r)
		}
		last = r.T()
	}
	// Without spread in the rounds tau2 alone decides.
	flat, ok := PairedRounds([]float64{0.02, 0.02, 0.02}, 1e-4, 7)
	if !ok || math.Abs(flat.SE-0.01) > 1e-15 || math.Abs(flat.DF-7) > 1e-12 {
		t.Errorf("equal rounds: %+v", flat)
	}
}

func TestPairedRoundsInvariance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 17))
	d := normals(r, 12, 0.02, 0.01)
	want, _ := PairedRounds(d, 9e-6, 30)
	moved, minus := slices.Clone(d), slices.Clone(d)
	r.Shuffle(len(moved), func(i, j int) { moved[i], moved[j] = moved[j], moved[i] })
	for i := range d {
		moved[i] *= 3
		minus[i] = -d[i]
	}
	got, _ := PairedRounds(moved, 9*9e-6, 30)
	near(t, "three times the effect", got.Value, 3*want.Value, 1e-12)
	near(t, "t", got.T(), want.T(), 1e-9)
	near(t, "p", got.P(), want.P(), 1e-9)
	other, _ := PairedRounds(minus, 9e-6, 30)
	if other.Value != -want.Value || other.SE != want.SE || other.DF != want.DF {
		t.Errorf("%+v, versions exchanged %+v", want, other)
	}
}

func TestRoundsSlower(t *testing.T) {
	r, _ := PairedRounds([]float64{0.03, 0.031, 0.029, 0.03, 0.032}, 0, 0)
	if !r.Slower(r.P(), 0.05, 0.02) {
		t.Errorf("%+v is not slower", r)
	}
	for what, verdict := range map[string]bool{
		"without evidence":         r.Slower(0.05, 0.05, 0.02),
		"with an undefined p":      r.Slower(nan, 0.05, 0.02),
		"below the least effect":   r.Slower(r.P(), 0.05, 0.04),
		"with 0 in the interval":   r.Slower(0, 1e-8, 0.02),
		"although it is faster":    Rounds{TEstimate: TEstimate{-0.1, 0.001, 9}}.Slower(0, 0.05, -1),
		"although nothing differs": Rounds{TEstimate: TEstimate{0, 0, 9}}.Slower(0, 0.05, 0),
	} {
		if verdict {
			t.Errorf("slower %s", what)
		}
	}
}

func TestPairedRoundsRefuses(t *testing.T) {
	good := []float64{0.01, 0.02}
	for _, d := range [][]float64{nil, {0.1}, {0.1, nan}, {inf, 0.1}} {
		if r, ok := PairedRounds(d, 0, 0); ok {
			t.Errorf("%v gives %+v", d, r)
		}
	}
	for _, tau2 := range []float64{-1, nan, inf} {
		if r, ok := PairedRounds(good, tau2, 10); ok {
			t.Errorf("tau2 %v gives %+v", tau2, r)
		}
	}
	if r, ok := PairedRounds(good, 1e-4, 0); ok {
		t.Errorf("a tau2 of nothing gives %+v", r)
	}
}
