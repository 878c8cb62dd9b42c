package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var adjustments = map[string]func([]float64) []float64{
	"Bonferroni": Bonferroni, "Holm": Holm, "Benjamini-Hochberg": BenjaminiHochberg, "Benjamini-Yekutieli": BenjaminiYekutieli,
}

// sameBits compares values among which NaN may be.
func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) })
}

// The definitions, spelled out over all pairs.
func TestAdjustmentsByDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 13))
	for range 50 {
		p := make([]float64, 1+r.IntN(20))
		for i := range p {
			p[i] = math.Round(100*math.Pow(r.Float64(), 3)) / 100 // with ties and zeros
		}
		m := float64(len(p))
		holm, bh := Holm(p), BenjaminiHochberg(p)
		for i := range p {
			wantHolm, wantBH := 0.0, 1.0
			for j := range p {
				below, upTo := 0.0, 0.0
				for k := range p {
					if p[k] < p[j] {
						below++
					}
					if p[k] <= p[j] {
						upTo++
					}
				}
				if p[j] <= p[i] {
					wantHolm = max(wantHolm, min(1, (m-below)*p[j]))
				}
				if p[j] >= p[i] {
					wantBH = min(wantBH, m*p[j]/upTo)
				}
			}
			near(t, "Holm", holm[i], wantHolm, 1e-12)
			near(t, "BH", bh[i], wantBH, 1e-12)
		}
	}
}

func TestAdjustmentProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 14))
	for name, adjust := range adjustments {
		for range 50 {
			p := make([]float64, 1+r.IntN(30))
			for i := range p {
				p[i] = math.Pow(r.Float64(), 4)
			}
			before := slices.Clone(p)
			got := adjust(p)
			if !slices.Equal(p, before) {
				t.Fatalf("%s changed its input", name)
			}
			order := r.Perm(len(p))
			moved, want := make([]float64, len(p)), make([]float64, len(p))
			for to, from := range order {
				moved[to], want[to] = p[from], got[from]
			}
			if !slices.Equal(adjust(moved), want) {
				t.Fatalf("%s depends on the order", name)
			}
			for i := range p {
				for j := range p {
					if !(got[i] >= p[i] && got[i] <= 1) || p[i] < p[j] && got[i] > got[j] {
						t.Fatalf("%s of %v is %v", name, p, got)
					}
				}
			}
			// What was not tested does not count in the family.
			with := slices.Concat([]float64{nan}, p, []float64{-0.1, 1.1, inf})
			if !sameBits(adjust(with), slices.Concat([]float64{nan}, got, []float64{nan, nan, nan})) {
				t.Fatalf("%s: undefined values count", name)
			}
		}
	}
}

func TestAdjustmentEdges(t *testing.T) {
	for name, adjust := range adjustments {
		if got := adjust(nil); len(got) != 0 {
			t.Errorf("%s of nothing is %v", name, got)
		}
		for _, p := range []float64{0, 0.03, 1} {
			if got := adjust([]float64{p}); !slices.Equal(got, []float64{p}) {
				t.Errorf("%s of one p %v is %v", name, p, got)
			}
		}
		if got := adjust([]float64{nan, nan}); !sameBits(got, []float64{nan, nan}) {
			t.Errorf("%s of undefined values is %v", name, got)
		}
	}
	same := []float64{0.01, 0.01, 0.01, 0.01}
	for name, want := range map[string]float64{"Bonferroni": 0.04, "Holm": 0.04, "Benjamini-Hochberg": 0.01, "Benjamini-Yekutieli": 0.01 * (1 + 1./2 + 1./3 + 1./4)} {
		for _, got := range adjustments[name](same) {
			near(t, name+" of four equal values", got, want, 1e-12)
		}
	}
}
