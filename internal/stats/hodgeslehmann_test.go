package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// drawn makes n values with or without ties.
func drawn(r *rand.Rand, n int, ties bool) []float64 {
	out := make([]float64, n)
	for i := range out {
		if out[i] = r.NormFloat64(); ties {
			out[i] = math.Round(2 * out[i])
		}
	}
	return out
}

// The estimate is the median of the sorted differences, to the last bit.
func TestHodgesLehmannByEnumeration(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	for i := range 300 {
		x, y := drawn(r, 1+r.IntN(12), i%2 == 0), drawn(r, 1+r.IntN(12), i%2 == 0)
		var all []float64
		for _, a := range x {
			for _, b := range y {
				all = append(all, b-a)
			}
		}
		slices.Sort(all)
		s, ok := HodgesLehmann(x, y, 0.95)
		if want := all[(len(all)-1)/2]/2 + all[len(all)/2]/2; !ok || s.Estimate != want {
			t.Fatalf("%v %v: %v, want %v", x, y, s.Estimate, want)
		}
		if math.Signbit(s.Estimate) && s.Estimate == 0 {
			t.Fatalf("%v %v: minus zero", x, y)
		}
	}
}

// The interval holds exactly the shifts the test does not reject.
func TestHodgesLehmannInvertsTest(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 10))
	for _, size := range [][2]int{{4, 4}, {5, 9}, {12, 7}, {20, 20}} {
		x, y := drawn(r, size[0], false), drawn(r, size[1], false)
		s, _ := HodgesLehmann(x, y, 0.95)
		if !(s.Level >= 0.95 && s.Level < 1) || !(s.Lo <= s.Estimate && s.Estimate <= s.Hi) {
			t.Fatalf("%v: %+v", size, s)
		}
		for _, c := range []struct {
			shift    float64
			rejected bool
		}{{s.Lo - 1e-9, true}, {s.Lo + 1e-9, false}, {s.Hi - 1e-9, false}, {s.Hi + 1e-9, true}} {
			moved := slices.Clone(y)
			for i := range moved {
				moved[i] -= c.shift
			}
			if m, _ := MannWhitneyU(x, moved); (m.P <= 0.05) != c.rejected {
				t.Errorf("%v: shift %v of %+v has p %v", size, c.shift, s, m.P)
			}
		}
		m, _ := MannWhitneyU(x, y)
		if outside := s.Lo > 0 || s.Hi < 0; outside != (m.P <= 0.05) {
			t.Errorf("%v: p %v and interval %+v disagree", size, m.P, s)
		}
	}
}

func TestHodgesLehmannEquivariance(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for range 50 {
		x, y := drawn(r, 1+r.IntN(20), false), drawn(r, 1+r.IntN(20), false)
		want, _ := HodgesLehmann(x, y, 0.9)
		back, _ := HodgesLehmann(y, x, 0.9)
		if back != (Shift{-want.Estimate, -want.Hi, -want.Lo, want.Level}) {
			t.Fatalf("%+v, exchanged %+v", want, back)
		}
		r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		for i := range x {
			x[i] *= 8
		}
		for i := range y {
			y[i] *= 8
		}
		got, _ := HodgesLehmann(x, y, 0.9)
		if got != (Shift{8 * want.Estimate, 8 * want.Lo, 8 * want.Hi, want.Level}) {
			t.Fatalf("%+v, times 8 and reordered %+v", want, got)
		}
	}
}

func TestHodgesLehmannEdges(t *testing.T) {
	good := []float64{1, 2, 3.5}
	for _, bad := range [][]float64{nil, {1, nan}, {-inf, 2}} {
		if s, ok := HodgesLehmann(bad, good, 0.95); ok {
			t.Errorf("%v gives %+v", bad, s)
		}
		if s, ok := HodgesLehmann(good, bad, 0.95); ok {
			t.Errorf("%v gives %+v", bad, s)
		}
	}
	if s, ok := HodgesLehmann([]float64{-math.MaxFloat64}, []float64{math.MaxFloat64}, 0.95); ok {
		t.Errorf("an overflowing shift gives %+v", s)
	}
	undefined := func(what string, s Shift, ok bool) {
		t.Helper()
		if !ok || !math.IsNaN(s.Lo) || !math.IsNaN(s.Hi) || !math.IsNaN(s.Level) {
			t.Errorf("%s: %+v, want no interval", what, s)
		}
	}
	s, ok := HodgesLehmann([]float64{1, 2}, []float64{2, 3}, 0.95)
	undefined("ties", s, ok)
	for _, level := range []float64{0, 1, -1, nan} {
		s, ok = HodgesLehmann(good, []float64{7, 8}, level)
		undefined("level", s, ok)
	}
	r := rand.New(rand.NewPCG(7, 12))
	s, ok = HodgesLehmann(drawn(r, 3000, false), drawn(r, 3000, false), 0.95)
	undefined("9 million pairs", s, ok)
	if math.Abs(s.Estimate) > 0.1 {
		t.Errorf("shift of equal distributions %v", s.Estimate)
	}
	// One value a side: the only difference, with no confidence at all.
	if s, ok := HodgesLehmann([]float64{1}, []float64{3}, 0.95); !ok || s != (Shift{2, 2, 2, 0}) {
		t.Errorf("one value a side: %+v", s)
	}
	// Three a side cannot reach 95 %: the whole range, and 1 - 2/20 of confidence.
	if s, _ := HodgesLehmann([]float64{1, 2, 3}, []float64{4.5, 5.5, 6.5}, 0.95); s.Lo != 1.5 || s.Hi != 5.5 || math.Abs(s.Level-0.9) > 1e-12 {
		t.Errorf("three values a side: %+v", s)
	}
}
