package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// permutations calls f with every order of x, in which equal values count as
// different.
func permutations(x []float64, f func([]float64)) {
	var place func(k int)
	place = func(k int) {
		if k == len(x) {
			f(x)
		}
		for i := k; i < len(x); i++ {
			x[k], x[i] = x[i], x[k]
			place(k + 1)
			x[k], x[i] = x[i], x[k]
		}
	}
	place(0)
}

// The exact p and the variance with ties, by counting all orders.
func TestMannKendallByEnumeration(t *testing.T) {
	for _, x := range [][]float64{{1, 2}, {2, 3, 1}, {1, 3, 2, 4}, {2, 1, 5, 3, 4}, {1, 2, 4, 3, 6, 5, 7}, {1, 1, 2, 3, 3, 3}, {5, 5, 5, 6}} {
		observed, ok := MannKendall(x)
		if !ok {
			t.Fatal("refused")
		}
		all, extreme, squares := 0.0, 0.0, 0.0
		permutations(slices.Clone(x), func(order []float64) {
			r, _ := MannKendall(order)
			all++
			squares += float64(r.S * r.S)
			if max(r.S, -r.S) >= max(observed.S, -observed.S) {
				extreme++
			}
		})
		near(t, "variance of S", observed.VarS, squares/all, 1e-12)
		if observed.Ties {
			if !math.IsNaN(observed.PExact()) {
				t.Errorf("%v: exact p %v with ties", x, observed.PExact())
			}
			continue
		}
		near(t, "exact p", observed.PExact(), extreme/all, 1e-12)
	}
}

func TestMannKendallChoosesP(t *testing.T) {
	rising := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i % (n - 1)) // the last falls back to the first: a tie
		}
		return x
	}
	for _, c := range []struct {
		name  string
		x     []float64
		exact bool
	}{
		{"nine", []float64{2, 1, 3, 4, 5, 6, 7, 8, 9}, true},
		{"nine with ties", rising(9), false},
		{"ten", []float64{2, 1, 3, 4, 5, 6, 7, 8, 9, 10}, false},
	} {
		r, _ := MannKendall(c.x)
		want := r.PNormal()
		if c.exact {
			want = r.PExact()
		}
		if r.P() != want || r.PExact() == r.PNormal() {
			t.Errorf("%s: p = %v, exact %v, normal %v", c.name, r.P(), r.PExact(), r.PNormal())
		}
	}
	if r, ok := MannKendall([]float64{1, 2, 3}); !ok || !math.IsNaN(r.P()) {
		t.Errorf("three values: p = %v", r.P())
	}
	long := make([]float64, 41)
	for i := range long {
		long[i] = float64(i)
	}
	if r, _ := MannKendall(long); !math.IsNaN(r.PExact()) {
		t.Errorf("exact p of 41 values = %v", r.PExact())
	}
}

// Backwards turns the sign; anything that keeps the order changes nothing.
func TestMannKendallInvariance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 200 {
		x := make([]float64, 2+r.IntN(30))
		scaled, grown := make([]float64, len(x)), make([]float64, len(x))
		for i := range x {
			x[i] = float64(r.IntN(12))
			scaled[i], grown[i] = 1e-6*x[i]-3, math.Exp(x[i])
		}
		a, _ := MannKendall(x)
		for _, same := range [][]float64{scaled, grown} {
			if b, _ := MannKendall(same); a.S != b.S || a.VarS != b.VarS || a.Ties != b.Ties {
				t.Fatalf("%v: %+v, transformed %+v", x, a, b)
			}
		}
		slices.Reverse(x)
		if b, _ := MannKendall(x); b.S != -a.S || b.Z() != -a.Z() || b.PNormal() != a.PNormal() {
			t.Fatalf("%v: %+v, backwards %+v", x, a, b)
		}
	}
}

func TestMannKendallEdges(t *testing.T) {
	for _, x := range [][]float64{nil, {1}, {1, 2, nan, 4}, {1, 2, inf}, {-inf, 2, 3}} {
		if r, ok := MannKendall(x); ok {
			t.Errorf("%v gives %+v", x, r)
		}
	}
	r, ok := MannKendall([]float64{3, 3, 3, 3, 3})
	if !ok || r.S != 0 || r.VarS != 0 || r.Z() != 0 || r.P() != 1 || !math.IsNaN(r.TauB) || !r.Ties {
		t.Errorf("constant: %+v, p = %v", r, r.P())
	}
	long := make([]float64, 5001)
	for i := range long {
		long[i] = float64(i)
	}
	if r, _ := MannKendall(long); r.N != 1667 || r.S != 1667*1666/2 || r.TauB != 1 {
		t.Errorf("5,001 rising values: %+v, want all pairs of 1,667 blocks of three", r)
	}
	if r, _ := MannKendall(long[:2000]); r.N != 2000 {
		t.Errorf("2,000 values were cut to %d", r.N)
	}
}

func TestBlockMedians(t *testing.T) {
	at, m := blockMedians([]float64{1, 9, 2, 4, 8, 6, 5}, 3)
	if !slices.Equal(at, []float64{0.5, 2.5, 5}) || !slices.Equal(m, []float64{5, 3, 6}) {
		t.Errorf("at %v medians %v", at, m)
	}
}
