package stats

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

// statistic is Q by its definition, for X = xs[:tau] and Y = xs[tau:kappa].
func statistic(xs []float64, tau, kappa int) float64 {
	x, y := xs[:tau], xs[tau:kappa]
	between := 0.0
	for _, a := range x {
		for _, b := range y {
			between += math.Abs(a - b)
		}
	}
	inside := func(v []float64) float64 {
		sum := 0.0
		for i := range v {
			for j := range i {
				sum += math.Abs(v[i] - v[j])
			}
		}
		if len(v) < 2 {
			return 0
		}
		return sum * 2 / float64(len(v)*(len(v)-1))
	}
	n, m := float64(len(x)), float64(len(y))
	return n * m / (n + m) * (2/(n*m)*between - inside(x) - inside(y))
}

func TestEnergySearchIsTheMaximum(t *testing.T) {
	var search energySearch // shared: its memory must not leak between series
	for seed := range uint64(120) {
		n := int(seed) % 40
		xs := noisySteps(seed, n, 3, 1, 0.7)
		for _, minSegment := range []int{1, 2, 5} {
			want := 0.0
			for tau := minSegment; tau <= n-minSegment; tau++ {
				for kappa := tau + minSegment; kappa <= n; kappa++ {
					want = max(want, statistic(xs, tau, kappa))
				}
			}
			got := search.best(xs, minSegment)
			within(t, "q", got.q, want, 1e-9)
			if want == 0 {
				continue
			}
			if got.tau < minSegment || got.kappa-got.tau < minSegment {
				t.Fatalf("%+v has segments below %d", got, minSegment)
			}
			within(t, "q at the split", statistic(xs, got.tau, got.kappa), want, 1e-9)
		}
	}
}

func TestEDivisive(t *testing.T) {
	xs := noisySteps(5, 90, 100, 1, 8, -5)
	got := EDivisive(xs, EDivisiveOptions{MinSegment: 5, Seed: 1})
	if len(got) != 2 || got[0].Index != 30 || got[1].Index != 60 || got[0].P != 1.0/500 {
		t.Fatalf("got %+v", got)
	}
	if again := EDivisive(xs, EDivisiveOptions{MinSegment: 5, Seed: 1}); !reflect.DeepEqual(got, again) {
		t.Errorf("the same seed gave %+v and %+v", got, again)
	}
	moved := make([]float64, len(xs))
	for i, x := range xs {
		moved[i] = 8*x - 1000 // a power of two leaves every bit of a distance
	}
	for i, p := range EDivisive(moved, EDivisiveOptions{MinSegment: 5, Seed: 1}) {
		if p.Index != got[i].Index || p.P != got[i].P || math.Abs(p.Q-8*got[i].Q) > 1e-9*p.Q {
			t.Errorf("moved and scaled: %+v, want %+v", p, got[i])
		}
	}
	quiet := noisySteps(6, 40, 0, 1)
	seeds := map[float64]bool{}
	for seed := range uint64(5) {
		seeds[eDivisiveTested(quiet, EDivisiveOptions{Seed: seed}.withDefaults())[0].P] = true
	}
	if len(seeds) < 2 {
		t.Errorf("five seeds gave the same p: %v", seeds)
	}
}

// The test is exact whatever the distribution: P(p <= 0.05) is 0.05.
func TestEDivisiveLevel(t *testing.T) {
	const series = 200
	found := 0
	for seed := range uint64(series) {
		if len(EDivisive(noisySteps(seed, 20, 0, 1), EDivisiveOptions{Level: 0.05, Seed: seed})) > 0 {
			found++
		}
	}
	if found < 1 || found > 23 { // 10 expected, standard deviation 3.1
		t.Errorf("%d of %d series without a change have a change point", found, series)
	}
}

func TestEDivisiveNone(t *testing.T) {
	flat := slices.Repeat([]float64{1.1}, 30)
	bad := noisySteps(1, 30, 0, 1, 9)
	bad[3] = math.NaN()
	for name, xs := range map[string][]float64{"nil": nil, "seven": {1, 1, 1, 9, 9, 9, 9}, "constant": flat, "NaN": bad} {
		if EDivisive(xs, EDivisiveOptions{}) != nil || EDivisiveFixed(xs, 2, 1) != nil {
			t.Errorf("%s has a change point", name)
		}
	}
	if got := EDivisiveFixed(noisySteps(1, 20, 0, 1), 50, 7); len(got) != 1 {
		t.Errorf("20 values in segments of at least 7: %+v", got)
	}
}
