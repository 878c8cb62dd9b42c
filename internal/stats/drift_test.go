package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// run makes n values around level(share of the run passed) with noise of sd
// 0.5 % that repeats exactly.
func run(n int, level func(at float64) float64) []float64 {
	r := rand.New(rand.NewPCG(7, 4))
	x := make([]float64, n)
	for i := range x {
		x[i] = 1000 * level(float64(i)/float64(n)) * math.Exp(0.005*r.NormFloat64())
	}
	return x
}

func ramp(by float64) func(float64) float64 { return func(at float64) float64 { return 1 + by*at } }

func step(by, when float64) func(float64) float64 {
	return func(at float64) float64 {
		if at < when {
			return 1
		}
		return 1 + by
	}
}

func TestFindDriftKinds(t *testing.T) {
	for _, c := range []struct {
		name      string
		x         []float64
		kind      DriftKind
		direction DriftDirection
		magnitude float64
	}{
		{"raw ramp", run(30, ramp(0.2)), DriftGradual, DriftIncrease, 1.15},
		{"raw ramp down", run(30, ramp(-0.2)), DriftGradual, DriftDecrease, 0.846},
		{"raw step", run(30, step(0.2, 0.5)), DriftSudden, DriftIncrease, 1.2},
		{"raw step down", run(30, step(-0.2, 0.5)), DriftSudden, DriftDecrease, 0.8},
		{"blocks of a ramp", run(400, ramp(0.2)), DriftGradual, DriftIncrease, 1.146},
		{"blocks of a ramp down", run(400, ramp(-0.2)), DriftGradual, DriftDecrease, 0.846},
		{"flat", run(400, ramp(0)), "", "", 1},
		{"a ramp below the least size", run(400, ramp(0.05)), "", "", 1.037},
		{"there and back", run(400, func(at float64) float64 { return 1 + 0.3*math.Abs(at-0.5) }), "", "", 1},
	} {
		d, ok := FindDrift(c.x)
		if !ok || d.Kind != c.kind || d.Direction != c.direction || math.Abs(d.Magnitude-c.magnitude) > 0.01 {
			t.Errorf("%s: %+v, want %s %s of %v", c.name, d, c.kind, c.direction, c.magnitude)
		}
	}
}

// Between two levels, the second reached in the middle block, nothing but the
// noise inside the levels adds to S: with 25 of 45 pairs p stays above 0.01
// unless they rise too.
func TestFindDriftStepInBlocks(t *testing.T) {
	x := run(400, func(at float64) float64 { return step(0.2, 0.5)(at) + 0.01*at })
	if d, ok := FindDrift(x); !ok || d.Kind != DriftSudden || d.Direction != DriftIncrease {
		t.Errorf("a step between rising levels: %+v", d)
	}
}

func TestFindDriftThresholds(t *testing.T) {
	// Quarters of 1000 and of the last value, everything between rising.
	series := func(last float64) []float64 {
		x := make([]float64, 12)
		for i := range x {
			x[i] = 1000 + (last-1000)*float64(max(0, min(i-2, 7)))/7
		}
		return x
	}
	if d, _ := FindDrift(series(1050)); d.Magnitude != 1.05 || d.Kind == "" {
		t.Errorf("at the least size: %+v", d)
	}
	if d, _ := FindDrift(series(1049)); d.Kind != "" || !(d.P < 0.001) {
		t.Errorf("below the least size: %+v", d)
	}
	// Five values in order are no evidence (p = 2/120), six are (2/720).
	if d, ok := FindDrift([]float64{1, 2, 3, 4, 5}); !ok || d.Kind != "" {
		t.Errorf("five values: %+v", d)
	}
	if d, ok := FindDrift([]float64{1, 2, 3, 4, 5, 6}); !ok || d.Kind != DriftGradual {
		t.Errorf("six values: %+v", d)
	}
}

func TestFindDriftJudgesBlocksFromForty(t *testing.T) {
	x := run(40, ramp(0.3))
	_, blocks := blockMedians(x, 10)
	long, _ := FindDrift(x)
	if want, _ := MannKendall(blocks); long.P != want.P() {
		t.Errorf("40 values: p = %v, of ten block medians %v", long.P, want.P())
	}
	short, _ := FindDrift(x[:39])
	if want, _ := MannKendall(x[:39]); short.P != want.P() {
		t.Errorf("39 values: p = %v, of the raw values %v", short.P, want.P())
	}
}

// Autocorrelated values without a trend: on them all, Mann-Kendall is wrong in
// 19 % at nominal 5 %; on ten block medians nearly right.
func TestFindDriftUnderAutocorrelation(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 5))
	const runs = 2000
	raw, blocked := 0, 0
	for range runs {
		x := make([]float64, 100)
		last := 0.0
		for i := range x {
			last = 0.4*last + r.NormFloat64()
			x[i] = 1000 + last
		}
		if m, _ := MannKendall(x); m.P() < 0.05 {
			raw++
		}
		if d, _ := FindDrift(x); d.P < 0.05 {
			blocked++
		}
	}
	if float64(raw)/runs < 0.15 || float64(blocked)/runs > 0.075 {
		t.Errorf("false alarms: raw %.1f %%, blocks %.1f %%", 100*float64(raw)/runs, 100*float64(blocked)/runs)
	}
}

func TestFindDriftScale(t *testing.T) {
	for _, level := range []func(float64) float64{ramp(0.2), ramp(0), step(-0.2, 0.5)} {
		x := run(36, level)
		y := slices.Clone(x)
		for i := range y {
			y[i] *= 1024 // exact
		}
		a, _ := FindDrift(x)
		if b, _ := FindDrift(y); a != b {
			t.Errorf("%+v, scaled %+v", a, b)
		}
	}
}

func TestFindDriftEdges(t *testing.T) {
	for _, x := range [][]float64{nil, {1}, {1, 2, 3}, {1, 2, nan, 4, 5}, {1, 2, inf, 4}, {0, 0, 1, 1}, {1, 1, 0, 0}, {-1, -2, -3, -4}} {
		if d, ok := FindDrift(x); ok {
			t.Errorf("%v gives %+v", x, d)
		}
	}
	for _, n := range []int{4, 39, 40} {
		if d, ok := FindDrift(slices.Repeat([]float64{5}, n)); !ok || d != (Drift{Magnitude: 1, P: 1}) {
			t.Errorf("%d equal values: %+v", n, d)
		}
	}
}
