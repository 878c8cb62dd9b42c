package stats

import (
	"math"
	"testing"
)

var nan, inf = math.NaN(), math.Inf(1)

// near compares with a relative bound.
func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestStudentTClosedForms(t *testing.T) {
	for _, x := range []float64{-300, -7, -1.4, -1, -0.3, -1e-9, 0, 1e-9, 0.5, 1, 2, 40} {
		near(t, "one degree", StudentTCDF(x, 1), 0.5+math.Atan(x)/math.Pi, 1e-12*max(1, math.Abs(x)))
		near(t, "two degrees", StudentTCDF(x, 2), 0.5+x/(2*math.Sqrt(2+x*x)), 1e-12*max(1, x*x))
	}
	// Far out only the closed form of the tail has digits.
	near(t, "far tail", StudentTCDF(-1e6, 1), math.Atan(1e-6)/math.Pi, 1e-12)
	near(t, "distance from the median", StudentTCDF(1e-9, 1)-0.5, 1e-9/math.Pi, 1e-6)
}

// The density integrated by Simpson's rule, for degrees that have no closed form.
func TestStudentTCDFIntegrates(t *testing.T) {
	for _, df := range []float64{0.7, 2.5, 9.95, 55.776, 1000.25} {
		a, _ := math.Lgamma((df + 1) / 2)
		b, _ := math.Lgamma(df / 2)
		density := func(x float64) float64 {
			return math.Exp(a-b-(df+1)/2*math.Log1p(x*x/df)) / math.Sqrt(df*math.Pi)
		}
		const x, steps = 1.7, 2000
		sum := density(0) + density(x)
		for i := 1; i < steps; i++ {
			sum += float64(2+2*(i%2)) * density(x*float64(i)/steps)
		}
		near(t, "P(T <= 1.7)", StudentTCDF(x, df), 0.5+sum*x/steps/3, 1e-11)
	}
}

func TestStudentTQuantileInvertsCDF(t *testing.T) {
	for _, df := range []float64{0.5, 1, 2.5, 7.94426, 21.9537, 300.3, 12345.6} {
		for _, p := range []float64{1e-6, 0.001, 0.025, 0.3, 0.49, 0.7, 0.9, 0.995} {
			q := StudentTQuantile(p, df)
			near(t, "p", StudentTCDF(q, df), p, 1e-9)
			near(t, "two-sided p", StudentTTwoSided(q, df), 2*min(p, 1-p), 1e-8)
		}
	}
	for df := 1; df <= 400; df++ {
		for _, p := range []float64{0.005, 0.95, 0.975, 0.995} {
			if got, want := StudentTQuantile(p, float64(df)), StudentT(p, df); got != want {
				t.Errorf("p = %v, df = %d: %v and %v differ", p, df, got, want)
			}
		}
	}
}

func TestStudentTEdges(t *testing.T) {
	for _, bad := range []float64{0, -1, nan} {
		if q, c := StudentTQuantile(0.9, bad), StudentTCDF(1, bad); !math.IsNaN(q) || !math.IsNaN(c) {
			t.Errorf("df = %v: quantile %v, probability %v", bad, q, c)
		}
	}
	for _, bad := range []float64{-0.1, 1.1, nan} {
		if q := StudentTQuantile(bad, 5); !math.IsNaN(q) {
			t.Errorf("the %v quantile is %v", bad, q)
		}
	}
	if c := StudentTCDF(nan, 5); !math.IsNaN(c) {
		t.Errorf("P(T <= NaN) = %v", c)
	}
	for _, df := range []float64{1, 5.5, inf} {
		if lo, hi := StudentTQuantile(0, df), StudentTQuantile(1, df); lo != -inf || hi != inf {
			t.Errorf("df = %v: the ends are %v and %v", df, lo, hi)
		}
		if lo, mid, hi := StudentTCDF(-inf, df), StudentTCDF(0, df), StudentTCDF(inf, df); lo != 0 || mid != 0.5 || hi != 1 {
			t.Errorf("df = %v: probabilities at -Inf, 0, Inf are %v, %v, %v", df, lo, mid, hi)
		}
	}
	// Many degrees approach the normal distribution.
	near(t, "normal quantile", StudentTQuantile(0.975, 1e7), StudentTQuantile(0.975, inf), 1e-6)
	near(t, "normal probability", StudentTCDF(-1.96, 1e7), StudentTCDF(-1.96, inf), 1e-6)
}
