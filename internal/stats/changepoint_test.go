package stats

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// noisySteps has normal noise of the given sd around level, which rises by each
// of heights at equal distances.
func noisySteps(seed uint64, n int, level, sd float64, heights ...float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = level + sd*r.NormFloat64()
		for s, h := range heights {
			if i >= n*(s+1)/(len(heights)+1) {
				xs[i] += h
			}
		}
	}
	return xs
}

func indices(points []ChangePoint) []int {
	var is []int
	for _, p := range points {
		is = append(is, p.Index)
	}
	return is
}

func TestChangePointsFindsSteps(t *testing.T) {
	o := DefaultChangePointOptions(true)
	for seed := range uint64(50) {
		got := ChangePoints(noisySteps(seed, 120, 14, 0.005, 0.1, -0.05), o)
		if !reflect.DeepEqual(indices(got), []int{40, 80}) {
			t.Fatalf("seed %d: %+v", seed, got)
		}
		if p := got[0]; math.Abs(p.Change-math.Expm1(0.1)) > 0.01 || p.P > 1e-9 || math.Abs(p.Before-14) > 0.01 {
			t.Errorf("seed %d: %+v", seed, p)
		}
		if p := got[1]; math.Abs(p.Change-math.Expm1(-0.05)) > 0.01 {
			t.Errorf("seed %d: %+v", seed, p)
		}
	}
}

// The rate stated in the docstring, without the minimum magnitude: 500 series
// give 3 to 5 %, so 8 % is four standard errors away.
func TestChangePointsFalseAlarms(t *testing.T) {
	found := 0
	for seed := range uint64(500) {
		if len(ChangePoints(noisySteps(seed, 100, 0, 1), ChangePointOptions{P: 0.001, Logs: true})) > 0 {
			found++
		}
	}
	if found < 1 || found > 40 {
		t.Errorf("%d of 500 series without a change have a change point", found)
	}
}

func TestChangePointsNone(t *testing.T) {
	step := []float64{1, 1, 1, 1, 9, 9, 9, 9}
	if got := ChangePoints(step, DefaultChangePointOptions(false)); len(got) != 1 || got[0].Index != 4 || got[0].P != 0 || got[0].Change != 8 {
		t.Errorf("a step without noise: %+v", got)
	}
	third := make([]float64, 90)
	for i := range third {
		third[i] = 1.0 / 3
	}
	// The sum of 90 thirds is not 30: a mean from it would differ from each value.
	big := []float64{1e308, -1e308, 1e308, -1e308, 1e308, -1e308, 1e308, -1e308, 1e308}
	for name, xs := range map[string][]float64{"nil": nil, "seven": step[:7], "constant": third, "overflow": big} {
		if got := ChangePoints(xs, ChangePointOptions{P: 0.001}); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for at := range step {
			xs := append([]float64(nil), step...)
			xs[at] = bad
			if got := ChangePoints(xs, DefaultChangePointOptions(false)); got != nil {
				t.Errorf("%v at %d: %+v", bad, at, got)
			}
		}
	}
	for _, p := range []float64{0, -1, 1, math.NaN()} {
		if got := ChangePoints(step, ChangePointOptions{P: p}); got != nil {
			t.Errorf("P = %v: %+v", p, got)
		}
	}
}

func TestChangePointsFromZero(t *testing.T) {
	got := ChangePoints([]float64{0, 0, 0, 0, 0, 5, 5, 5, 5, 5}, DefaultChangePointOptions(false))
	if len(got) != 1 || got[0].Index != 5 || !math.IsNaN(got[0].Change) {
		t.Errorf("got %+v, want one point with an undefined change", got)
	}
}

func TestChangePointsMinMagnitude(t *testing.T) {
	xs := noisySteps(3, 100, 5, 0.002, 0.015)
	if got := ChangePoints(xs, ChangePointOptions{P: 0.001, Logs: true}); len(got) != 1 {
		t.Fatalf("1.5 %% without a minimum: %+v", got)
	}
	if got := ChangePoints(xs, DefaultChangePointOptions(true)); len(got) != 0 {
		t.Errorf("1.5 %% is above 2 %%: %+v", got)
	}
}

// Only differences count on the log scale, only ratios off it.
func TestChangePointsInvariance(t *testing.T) {
	for seed := range uint64(100) {
		logs := noisySteps(seed, 30+int(seed)*2, 10, 0.02, 0.05, 0.03, -0.06)
		want := ChangePoints(logs, DefaultChangePointOptions(true))
		shifted, negated := make([]float64, len(logs)), make([]float64, len(logs))
		for i, x := range logs {
			shifted[i], negated[i] = x+4, -x
		}
		same := func(what string, got, want []ChangePoint, change func(float64) float64) {
			t.Helper()
			if !reflect.DeepEqual(indices(got), indices(want)) {
				t.Fatalf("seed %d, %s: %v, want %v", seed, what, indices(got), indices(want))
			}
			for i := range got {
				if math.Abs(got[i].Change-change(want[i].Change)) > 1e-9 || math.Abs(got[i].P-want[i].P) > 1e-6*want[i].P {
					t.Errorf("seed %d, %s: %+v, want %+v", seed, what, got[i], want[i])
				}
			}
		}
		equal := func(c float64) float64 { return c }
		same("shift", ChangePoints(shifted, DefaultChangePointOptions(true)), want, equal)
		same("sign", ChangePoints(negated, DefaultChangePointOptions(true)), want, func(c float64) float64 { return 1/(1+c) - 1 })
		scaled := make([]float64, len(logs))
		for i, x := range logs {
			scaled[i] = x * 1e6
		}
		plain := DefaultChangePointOptions(false)
		plain.MinMagnitude = 0.0001
		same("scale", ChangePoints(scaled, plain), ChangePoints(logs, plain), equal)
	}
}

// Windows start at the left, so only clear steps are the same from both ends.
func TestChangePointsReversed(t *testing.T) {
	for seed := range uint64(50) {
		xs := noisySteps(seed, 90, 14, 0.003, 0.08, 0.08)
		reversed := make([]float64, len(xs))
		for i, x := range xs {
			reversed[len(xs)-1-i] = x
		}
		got, back := ChangePoints(xs, DefaultChangePointOptions(true)), ChangePoints(reversed, DefaultChangePointOptions(true))
		if len(got) != 2 || len(back) != 2 {
			t.Fatalf("seed %d: %v and %v", seed, got, back)
		}
		for i, p := range got {
			q := back[1-i]
			if q.Index != len(xs)-p.Index || math.Abs((1+p.Change)*(1+q.Change)-1) > 1e-12 || math.Abs(p.P-q.P) > 1e-6*p.P {
				t.Errorf("seed %d: %+v reversed is %+v", seed, p, q)
			}
		}
	}
}

// Every reported mean is that of the values up to the reported neighbours, also
// after points between them were dropped.
func TestChangePointsDescribeTheirSegments(t *testing.T) {
	dropped := 0
	for seed := range uint64(200) {
		xs := noisySteps(seed, 150, 3, 0.01, 0.015, 0.03, -0.01, 0.04)
		o := DefaultChangePointOptions(true)
		got := ChangePoints(xs, o)
		dropped += len(o.weakPoints(xs)) - len(got)
		bounds := append(append([]int{0}, indices(got)...), len(xs))
		for i, p := range got {
			before, after := mean(xs[bounds[i]:bounds[i+1]]), mean(xs[bounds[i+1]:bounds[i+2]])
			if math.Abs(p.Before-before) > 1e-12 || math.Abs(p.After-after) > 1e-12 || p.P >= o.P || o.magnitude(p) <= o.MinMagnitude {
				t.Errorf("seed %d: %+v between means %v and %v", seed, p, before, after)
			}
		}
	}
	if dropped < 50 {
		t.Errorf("only %d points were dropped", dropped)
	}
}

func TestChangePointsLeavesInputAlone(t *testing.T) {
	xs := noisySteps(1, 60, 1, 0.1, 1)
	before := append([]float64(nil), xs...)
	ChangePoints(xs, DefaultChangePointOptions(true))
	EDivisive(xs, EDivisiveOptions{})
	if !reflect.DeepEqual(xs, before) {
		t.Error("input was changed")
	}
}

func TestTTailProbability(t *testing.T) {
	for _, df := range []int{1, 2, 5, 48, 498} {
		for _, p := range []float64{0.5, 0.05, 0.01, 0.001} {
			within(t, "p", tTailProbability(StudentT(1-p/2, df), df), p, 1e-9*p)
			within(t, "p", tTailProbability(-StudentT(1-p/2, df), df), p, 1e-9*p)
		}
	}
	if p := tTailProbability(math.Inf(1), 3); p != 0 {
		t.Errorf("p of an infinite t = %v", p)
	}
	if p, q := tTailProbability(math.NaN(), 3), tTailProbability(9, 0); p != 1 || q != 1 {
		t.Errorf("p of nothing to test = %v, %v", p, q)
	}
}

func BenchmarkChangePoints(b *testing.B) {
	xs := noisySteps(1, 500, 14, 0.03, 0.1, -0.06)
	o := DefaultChangePointOptions(true)
	b.ReportAllocs()
	for b.Loop() {
		if len(ChangePoints(xs, o)) != 2 {
			b.Fatal("not two change points")
		}
	}
}
