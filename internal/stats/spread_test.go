package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"
)

var spreadFallback = SpreadPrior{Beta: [3]float64{-7, 0.5, 0.25}, DF: 4}

// plantSpread draws histories as the model has them: a variance from the prior
// at the covariates, a sample variance from that.
func plantSpread(rng *rand.Rand, p SpreadPrior, n, df int) []SpreadObs {
	chi := func(df int) (s float64) {
		for range df {
			x := rng.NormFloat64()
			s += x * x
		}
		return s
	}
	out := make([]SpreadObs, n)
	for i := range out {
		o := SpreadObs{DF: df, X: [2]float64{rng.NormFloat64(), 3 * rng.NormFloat64()}}
		own := p.Variance(o.X) * p.DF / chi(int(p.DF))
		o.Var = own * chi(df) / float64(df)
		out[i] = o
	}
	return out
}

// The planted prior comes back: the mean of ln(variance) and the trend to a
// tenth, the degrees of freedom as far as that many histories can tell.
func TestFitSpreadPrior(t *testing.T) {
	for _, tc := range []struct {
		prior SpreadPrior
		n, df int
	}{
		{SpreadPrior{[3]float64{-7, 0, 0}, 4}, 2000, 5},
		{SpreadPrior{[3]float64{-7, 0, 0}, 4}, 2000, 19},
		{SpreadPrior{[3]float64{-5, 1.2, -0.3}, 6}, 2000, 3},
		{SpreadPrior{[3]float64{-9, 0.4, 0.2}, 20}, 2000, 8},
		{SpreadPrior{[3]float64{-7, 0, 0}, 2}, 2000, 1},
	} {
		rng := rand.New(rand.NewPCG(uint64(tc.n), uint64(tc.df)))
		got := FitSpreadPrior(plantSpread(rng, tc.prior, tc.n, tc.df), spreadFallback)
		want := tc.prior.Beta
		want[0] += math.Log(tc.prior.DF/2) - mathext.Digamma(tc.prior.DF/2) // of ln(variance), not of the scale
		for i := range got.Beta {
			if math.Abs(got.Beta[i]-want[i]) > 0.1 {
				t.Errorf("%+v, df %d: fitted %+v", tc.prior, tc.df, got)
			}
		}
		if r := got.DF / tc.prior.DF; r < 0.75 || r > 1.34 {
			t.Errorf("%+v, df %d: fitted %+v", tc.prior, tc.df, got)
		}
	}
}

func TestFitSpreadPriorFewHistories(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	obs := plantSpread(rng, SpreadPrior{[3]float64{-5, 2, 1}, 6}, 60, 5)
	for n := range len(obs) + 1 {
		got := FitSpreadPrior(obs[:n], spreadFallback)
		switch trend := got.Beta[1] != 0 || got.Beta[2] != 0; {
		case (got == spreadFallback) != (n < 8):
			t.Errorf("%d histories: %+v", n, got)
		case n >= 8 && trend != (n >= 30):
			t.Errorf("%d histories: a trend is %v: %+v", n, trend, got)
		}
	}
	if got := FitSpreadPrior(nil, SpreadPrior{}); got != (SpreadPrior{}) {
		t.Errorf("%+v", got)
	}
}

// Histories that do not tell a slope apart give none: not covariates that all
// share, nor that are copies of each other, nor that hardly differ.
func TestFitSpreadPriorDegenerate(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, x := range map[string]func(int) [2]float64{
		"zero":        func(int) [2]float64 { return [2]float64{} },
		"shared":      func(int) [2]float64 { return [2]float64{3, -7} },
		"copies":      func(i int) [2]float64 { return [2]float64{float64(i%9) - 4, float64(i%9) - 4} },
		"multiples":   func(i int) [2]float64 { return [2]float64{float64(i%9) - 4, 5 * (float64(i%9) - 4)} },
		"hardly vary": func(int) [2]float64 { return [2]float64{1e-3 * rng.NormFloat64(), 5 + 1e-3*rng.NormFloat64()} },
		"one differs": func(i int) [2]float64 { return [2]float64{float64(i / 99), 0} },
	} {
		obs := plantSpread(rng, SpreadPrior{Beta: [3]float64{-7, 0, 0}, DF: 6}, 100, 5)
		for i := range obs {
			obs[i].X = x(i)
		}
		got := FitSpreadPrior(obs, spreadFallback)
		if math.Abs(got.Beta[1]) > 0.5 || math.Abs(got.Beta[2]) > 0.5 || !(got.DF > 2 && got.DF < 20) {
			t.Errorf("%s: %+v", name, got)
		}
		// Five units away, as far as covariates go, the variance stays credible.
		at := obs[0].X
		near, far := got.Variance(at), got.Variance([2]float64{at[0] + 0.5, at[1] + 0.5})
		if !(near > math.Exp(-8) && near < math.Exp(-6)) || far/near > 2 || near/far > 2 {
			t.Errorf("%s: variance %v, beside it %v", name, near, far)
		}
	}
}

// Equal variances make a strong prior, not an infinite one; very different ones
// a weak prior.
func TestFitSpreadPriorExtremes(t *testing.T) {
	equal, wild := make([]SpreadObs, 50), make([]SpreadObs, 50)
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range equal {
		equal[i] = SpreadObs{Var: 1e-4, DF: 10}
		wild[i] = SpreadObs{Var: math.Exp(-10 + 12*rng.NormFloat64()), DF: 10}
	}
	p := FitSpreadPrior(equal, spreadFallback)
	if math.Abs(p.DF-2*trigammaInverse(spreadMinTau)) > 1e-9 || p.Beta[1] != 0 {
		t.Errorf("equal variances: %+v", p)
	}
	// A variance of 10 degrees of freedom has 0.9 of its mean as typical value.
	if v := p.Variance([2]float64{}); math.Abs(v/1e-4-1) > 0.15 {
		t.Errorf("equal variances: %v expected", v)
	}
	if p := FitSpreadPrior(wild, spreadFallback); !(p.DF > 0 && p.DF < 0.5) {
		t.Errorf("wild variances: %+v", p)
	}
}

// Adding a constant to a covariate changes no expectation, and neither does the
// order of the histories; scaling variances scales it.
func TestFitSpreadPriorEquivariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		obs := plantSpread(rng, SpreadPrior{[3]float64{-7, 0.5, 0.2}, 5}, rapid.IntRange(8, 80).Draw(t, "n"), 4)
		by, factor := rapid.Float64Range(-5, 5).Draw(t, "by"), rapid.Float64Range(1e-3, 1e3).Draw(t, "factor")
		want := FitSpreadPrior(obs, spreadFallback)
		moved := make([]SpreadObs, len(obs))
		for i, k := range rng.Perm(len(obs)) {
			o := obs[k]
			o.X[1] += by
			o.Var *= factor
			moved[i] = o
		}
		got := FitSpreadPrior(moved, spreadFallback)
		at := obs[0].X
		a, b := factor*want.Variance(at), got.Variance([2]float64{at[0], at[1] + by})
		if math.Abs(a/b-1) > 1e-6 || math.Abs(want.DF/got.DF-1) > 1e-6 {
			t.Fatalf("%+v and %+v: %v and %v", want, got, a, b)
		}
	})
}

func TestModerate(t *testing.T) {
	p := SpreadPrior{Beta: [3]float64{math.Log(0.04), 1, 0}, DF: 4}
	for _, tc := range []struct {
		squares  float64
		df       int
		x        [2]float64
		variance float64
		total    float64
	}{
		{0, 0, [2]float64{}, 0.04, 4},
		{0, 4, [2]float64{}, 0.02, 8},
		{0.24, 4, [2]float64{}, 0.05, 8},
		{0, 0, [2]float64{math.Log(2), 9}, 0.08, 4},
	} {
		v, df := p.Moderate(tc.squares, tc.df, tc.x)
		if math.Abs(v-tc.variance) > 1e-12 || df != tc.total {
			t.Errorf("Moderate(%v, %d, %v) = %v, %v", tc.squares, tc.df, tc.x, v, df)
		}
	}
}

// trigamma is the slope of digamma and falls from infinity to 0, so it has an
// inverse everywhere.
func TestTrigamma(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Exp(rapid.Float64Range(-8, 9).Draw(t, "ln x"))
		h := 1e-4 * x
		slope := (mathext.Digamma(x+h) - mathext.Digamma(x-h)) / (2 * h)
		if y := trigamma(x); math.Abs(y/slope-1) > 1e-4 {
			t.Fatalf("trigamma(%v) = %v, slope %v", x, y, slope)
		}
		y := math.Exp(rapid.Float64Range(-14, 14).Draw(t, "ln y"))
		if back := trigamma(trigammaInverse(y)); math.Abs(back/y-1) > 1e-8 {
			t.Fatalf("trigamma(%v) = %v, want %v", trigammaInverse(y), back, y)
		}
	})
	if got := trigamma(1); math.Abs(got-math.Pi*math.Pi/6) > 1e-14 {
		t.Errorf("trigamma(1) = %v", got)
	}
}

// The moments of ln(chi-squared/df) within and beyond the table.
func TestLogChi(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, df := range []int{1, 2, 19, 63, 64, 200} {
		const n = 20000
		var sum, squares float64
		for range n {
			var s float64
			for range df {
				x := rng.NormFloat64()
				s += x * x
			}
			l := math.Log(s / float64(df))
			sum += l
			squares += l * l
		}
		mean := sum / n
		got := logChi(df)
		if math.Abs(got.mean-mean) > 0.05 || math.Abs(got.variance/(squares/n-mean*mean)-1) > 0.06 {
			t.Errorf("df %d: %+v, simulated %v, %v", df, got, mean, squares/n-mean*mean)
		}
	}
}
