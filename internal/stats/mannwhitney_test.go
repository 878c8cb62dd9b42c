package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// countedU is U of x by comparing all pairs.
func countedU(x, y []float64) float64 {
	u := 0.0
	for _, a := range x {
		for _, b := range y {
			if a > b {
				u++
			} else if a == b {
				u += 0.5
			}
		}
	}
	return u
}

// enumerate gives the exact one-sided p by all assignments of the joined values.
func enumerate(x, y []float64) (less, greater float64) {
	joined := slices.Concat(x, y)
	observed := countedU(x, y)
	total := 0.0
	for set := range 1 << len(joined) {
		var a, b []float64
		for i, v := range joined {
			if set>>i&1 == 1 {
				a = append(a, v)
			} else {
				b = append(b, v)
			}
		}
		if len(a) != len(x) {
			continue
		}
		total++
		u := countedU(a, b)
		if u <= observed {
			less++
		}
		if u >= observed {
			greater++
		}
	}
	return less / total, greater / total
}

func TestMannWhitneyByEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 6))
	for i := range 60 {
		values := 3 + r.IntN(4) // many ties
		if i%2 == 0 {
			values = 1000
		}
		draw := func() []float64 {
			out := make([]float64, 1+r.IntN(5))
			for i := range out {
				out[i] = float64(r.IntN(values))
			}
			return out
		}
		x, y := draw(), draw()
		got, ok := MannWhitneyU(x, y)
		if !ok || !got.Exact {
			t.Fatalf("%v %v: %+v", x, y, got)
		}
		less, greater := enumerate(x, y)
		near(t, "less", got.PLess, less, 1e-12)
		near(t, "greater", got.PGreater, greater, 1e-12)
		near(t, "two-sided", got.P, min(1, 2*min(less, greater)), 1e-12)
		if u := countedU(x, y); got.U1 != u || got.U2 != float64(len(x)*len(y))-u {
			t.Errorf("U %v and %v, counted %v", got.U1, got.U2, u)
		}
	}
}

func TestMannWhitneyInvariance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, n := range []int{6, 20, 60} { // exact, and normal for 60
		x, y := make([]float64, n), make([]float64, n+3)
		for i := range x {
			x[i] = float64(r.IntN(n))
		}
		for i := range y {
			y[i] = float64(r.IntN(n)) + 1
		}
		want, _ := MannWhitneyU(x, y)
		mapped := func(f func(float64) float64) MannWhitney {
			a, b := slices.Clone(x), slices.Clone(y)
			for _, s := range [][]float64{a, b} {
				r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
				for i := range s {
					s[i] = f(s[i])
				}
			}
			got, _ := MannWhitneyU(a, b)
			return got
		}
		for _, f := range []func(float64) float64{
			func(v float64) float64 { return v },
			func(v float64) float64 { return 1e9*v - 5 },
			func(v float64) float64 { return math.Exp(v / 10) },
		} {
			if got := mapped(f); got != want {
				t.Errorf("n = %d: %+v, reordered and rescaled %+v", n, want, got)
			}
		}
		back, _ := MannWhitneyU(y, x)
		near(t, "p, samples exchanged", back.P, want.P, 1e-12)
		near(t, "one-sided p, samples exchanged", back.PLess, want.PGreater, 1e-12)
		near(t, "the other", back.PGreater, want.PLess, 1e-12)
		near(t, "delta, samples exchanged", back.CliffsDelta, -want.CliffsDelta, 1e-12)
		if back.U1 != want.U2 || back.Z != -want.Z {
			t.Errorf("exchanged %+v of %+v", back, want)
		}
	}
}

func TestMannWhitneyLimits(t *testing.T) {
	series := func(n int, from, by float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = from + by*float64(i)
		}
		return out
	}
	for _, c := range []struct {
		x, y  []float64
		exact bool
	}{
		{series(50, 0, 1), series(50, 0.5, 1), true},
		{series(51, 0, 1), series(3, 0.5, 1), false},
		{series(3, 0.5, 1), series(51, 0, 1), false},
		{series(25, 0, 1), series(25, 0, 1), true},
		{series(26, 0, 1), series(3, 0, 1), false},
	} {
		r, _ := MannWhitneyU(c.x, c.y)
		if r.Exact != c.exact {
			t.Errorf("%d and %d values, ties %v: exact %v", r.N1, r.N2, r.Ties, r.Exact)
		}
		if r.Exact && math.Abs(r.P-r.PNormal) > 0.01 {
			t.Errorf("%d and %d values: exact p %v, normal %v", r.N1, r.N2, r.P, r.PNormal)
		}
		if !r.Exact && (r.P != r.PNormal || math.Abs(2*min(r.PLess, r.PGreater)-r.P) > 1e-12) {
			t.Errorf("normal p %v, one-sided %v and %v", r.P, r.PLess, r.PGreater)
		}
	}
	// Separated samples: 2/70 is below 0.05, 2/252 below 0.01.
	for n, want := range map[int]float64{3: 2.0 / 20, 4: 2.0 / 70, 5: 2.0 / 252} {
		r, _ := MannWhitneyU(series(n, 0, 1), series(n, 100, 1))
		near(t, "p of separated samples", r.P, want, 1e-12)
	}
	near(t, "all the mass", sumOf(subsetSums(midRanks(series(50, 0, 1), series(50, 0.5, 1)).doubled, 50)), math.Exp(logChoose(100, 50)), 1e-9)
}

func sumOf(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum
}

func TestMannWhitneyEdges(t *testing.T) {
	good := []float64{1, 2, 3}
	for _, bad := range [][]float64{nil, {1, nan}, {inf, 2}} {
		if r, ok := MannWhitneyU(bad, good); ok {
			t.Errorf("%v gives %+v", bad, r)
		}
		if r, ok := MannWhitneyU(good, bad); ok {
			t.Errorf("%v gives %+v", bad, r)
		}
	}
	for _, n := range []int{1, 25, 26} {
		c := slices.Repeat([]float64{4}, n)
		r, ok := MannWhitneyU(c, c)
		if !ok || r.P != 1 || r.PLess != 1 || r.PGreater != 1 || r.Z != 0 || r.PNormal != 1 || r.CliffsDelta != 0 {
			t.Errorf("%d equal values on both sides: %+v", n, r)
		}
	}
	if r, ok := MannWhitneyU([]float64{2}, []float64{1}); !ok || r.P != 1 || r.PGreater != 0.5 || r.CliffsDelta != 1 {
		t.Errorf("one value a side: %+v", r)
	}
}

func BenchmarkMannWhitneyExact(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	x, y := make([]float64, exactUntied), make([]float64, exactUntied)
	for i := range x {
		x[i], y[i] = r.Float64(), r.Float64()
	}
	for b.Loop() {
		MannWhitneyU(x, y)
	}
}
