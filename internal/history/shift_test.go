package history

import (
	"math"
	"math/rand/v2"
	"testing"

	"perfband/internal/perf"
)

// suite is a number of benchmarks measured together on one machine.
type suite struct {
	j     *Judge
	rng   *rand.Rand
	n     int
	known bool
	sd    float64
}

func newSuite(n int, known bool, sd float64) *suite {
	return &suite{New(DefaultSettings()), rand.New(rand.NewPCG(uint64(n), 99)), n, known, sd}
}

// run judges the suite with what is added to all and to single benchmarks.
func (s *suite) run(all float64, single map[int]float64) ([]Verdict, []Shift) {
	var rs []Result
	for i := range s.n {
		rs = append(rs, Result{Series: i, Class: 1, Known: s.known, Group: 4, Spread: s.sd / 2,
			Value: 8 + float64(i)/10 + all + single[i] + s.sd*s.rng.NormFloat64()})
	}
	return s.j.Run(rs)
}

func (s *suite) runs(n int) *suite {
	for range n {
		s.run(0, nil)
	}
	return s
}

func claims(vs []Verdict) (out []int) {
	for i, v := range vs {
		if v.Outcome == perf.Slower || v.Outcome == perf.Faster {
			out = append(out, i)
		}
	}
	return out
}

// What a machine does to all benchmarks is told once and claimed of none.
func TestPlatformShift(t *testing.T) {
	for _, known := range []bool{true, false} {
		s := newSuite(40, known, 0.01).runs(8)
		vs, shifts := s.run(0.25, nil)
		if len(shifts) != 1 || shifts[0].Group != 4 || shifts[0].Class != 1 || shifts[0].Results != 40 || math.Abs(shifts[0].Change-0.25) > 0.02 || !(shifts[0].Half < 0.02) {
			t.Fatalf("known %v: %+v", known, shifts)
		}
		if c := claims(vs); len(c) > 0 {
			t.Errorf("known %v: claimed %v", known, c)
		}
		for i, v := range vs {
			if math.Abs(v.Change) > 0.08 || len(v.Reasons) == 0 || v.Reasons[0] != Shifted {
				t.Errorf("known %v: benchmark %d: %+v", known, i, v)
			}
		}
		if vs, shifts := newSuite(40, known, 0.01).runs(8).run(0, nil); len(shifts) > 0 || len(claims(vs)) > 2 {
			t.Errorf("known %v, nothing happened: %+v, claimed %v", known, shifts, claims(vs))
		}
	}
}

// A benchmark that changed while the machine did is found all the same.
func TestChangeWithinShift(t *testing.T) {
	for _, known := range []bool{true, false} {
		vs, shifts := newSuite(40, known, 0.01).runs(8).run(0.25, map[int]float64{3: 0.3, 20: -0.3})
		if len(shifts) != 1 {
			t.Fatalf("known %v: %+v", known, shifts)
		}
		if vs[3].Outcome != perf.Slower || vs[20].Outcome != perf.Faster || len(claims(vs)) != 2 {
			t.Errorf("known %v: claimed %v; %+v", known, claims(vs), vs[3])
		}
		if math.Abs(vs[3].Change-0.3) > 0.05 || math.Abs(vs[3].Adjusted-8.3-0.3) > 0.05 {
			t.Errorf("known %v: change %v, adjusted %v", known, vs[3].Change, vs[3].Adjusted)
		}
	}
}

// Half of the benchmarks that change do not pass for the machine.
func TestManyChangesAreNoShift(t *testing.T) {
	changed := map[int]float64{}
	for i := range 16 {
		changed[i] = 0.4
	}
	vs, shifts := newSuite(40, true, 0.01).runs(8).run(0, changed)
	if c := claims(vs); len(shifts) > 0 || len(c) != 16 || c[15] != 15 {
		t.Errorf("shifts %+v, claimed %v", shifts, claims(vs))
	}
}

// What moved by itself does not count in what the machine did: nearly half of
// the benchmarks that become slower do not make the others look faster.
func TestMoversDoNotPull(t *testing.T) {
	changed := map[int]float64{}
	for i := range 36 {
		changed[i] = 0.4
	}
	vs, _ := newSuite(80, true, 0.03).runs(15).run(0, changed)
	var sum float64
	for _, v := range vs[36:] {
		sum += v.Change
	}
	if mean := sum / 44; math.Abs(mean) > 0.015 {
		t.Errorf("those that did not change moved by %v", mean)
	}
}

// Machines that nobody knows differ from run to run. What they do is taken out
// of the past too, so that the rest tells a benchmark's own change.
func TestUnknownMachinesDiffer(t *testing.T) {
	s := newSuite(30, false, 0.01)
	rng := rand.New(rand.NewPCG(8, 8))
	for range 15 {
		s.run(0.25*rng.NormFloat64(), nil)
	}
	vs, _ := s.run(0.25*rng.NormFloat64(), map[int]float64{7: 0.25})
	if vs[7].Outcome != perf.Slower || vs[7].Half > 0.15 || len(claims(vs)) != 1 {
		t.Errorf("claimed %v, number 7: %+v", claims(vs), vs[7])
	}
}

// Results of no group have no shift, however many there are.
func TestNoGroupNoShift(t *testing.T) {
	j := New(DefaultSettings())
	for run := range 9 {
		var rs []Result
		for i := range 20 {
			rs = append(rs, Result{Series: i, Class: 1, Known: true, Group: -1, Value: 9 + 0.3*float64(run/8) + 0.002*float64((i*run)%5)})
		}
		vs, shifts := j.Run(rs)
		if want := 20 * (run / 8); len(claims(vs)) != want || len(shifts) > 0 {
			t.Errorf("run %d: %d claims, want %d; %+v", run, len(claims(vs)), want, shifts)
		}
	}
}

// The interval of a result does not depend on the result: were it wider for
// longer times, a slowdown would hide itself.
func TestIntervalBeforeResult(t *testing.T) {
	half := func(e float64) float64 {
		j, rng := New(DefaultSettings()), rand.New(rand.NewPCG(9, 9))
		result := func(i int) Result {
			return Result{Series: i, Class: 1, Known: true, Group: -1, Value: float64(i) / 5, Spread: 0.01}
		}
		for range 12 {
			var rs []Result
			for i := range 60 { // noisier the longer it takes
				rs = append(rs, result(i))
				rs[i].Value += 0.01 * math.Exp(float64(i)/20) * rng.NormFloat64()
			}
			j.Run(rs)
		}
		r := result(20)
		r.Value += e
		vs, _ := j.Run([]Result{r})
		return vs[0].Half
	}
	want := half(0)
	for _, e := range []float64{0.2, 1, -2} {
		if got := half(e); got != want || got == 0 {
			t.Errorf("%v away: half width %v, want %v", e, got, want)
		}
	}
}

// Groups do not tell of each other, nor do classes or results without a group.
func TestShiftStaysInItsGroup(t *testing.T) {
	j := New(DefaultSettings())
	run := func(add float64) ([]Verdict, []Shift) {
		var rs []Result
		for i := range 30 {
			group, e := i%3-1, 0.0 // a third without a group
			if group == 1 {
				e = add
			}
			rs = append(rs, Result{Series: i, Class: 1, Known: true, Group: group, Value: 9 + e + 0.002*float64((i*j.run)%5)})
		}
		return j.Run(rs)
	}
	for range 8 {
		run(0)
	}
	vs, shifts := run(0.3)
	if len(shifts) != 1 || shifts[0].Group != 1 || shifts[0].Results != 10 {
		t.Fatalf("%+v", shifts)
	}
	for i, v := range vs {
		if shifted := len(v.Reasons) > 0 && v.Reasons[0] == Shifted; shifted != (i%3-1 == 1) {
			t.Errorf("benchmark %d: %+v", i, v)
		}
	}
}

// Of two benchmarks on an unknown machine only the one whose measured value
// moved is claimed: the other is not made faster by its neighbour.
func TestWhoMoved(t *testing.T) {
	for _, n := range []int{2, 3} {
		s := newSuite(n, false, 0.003).runs(15)
		vs, _ := s.run(0, map[int]float64{0: 0.8})
		if vs[0].Outcome != perf.Slower {
			t.Errorf("%d benchmarks: the one that moved is %s", n, say(vs[0]))
		}
		for i, v := range vs[1:] {
			if v.Outcome == perf.Faster || v.Outcome == perf.Slower {
				t.Errorf("%d benchmarks: number %d is %s", n, i+1, say(v))
			}
		}
	}
}

// On a known machine a few neighbours tell no shift: their own noise is larger.
func TestFewNeighboursTellNothing(t *testing.T) {
	s := newSuite(3, true, 0.003).runs(10)
	vs, _ := s.run(0.3, nil)
	if c := claims(vs); len(c) != 3 {
		t.Errorf("claimed %v", c)
	}
}

func TestMedianWithout(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		xs := make([]float64, 2+rng.IntN(9))
		for i := range xs {
			xs[i] = float64(rng.IntN(6))
		}
		at := rng.IntN(len(xs))
		x := xs[at]
		rest := append(append([]float64{}, xs[:at]...), xs[at+1:]...)
		sorted := append([]float64{}, xs...)
		median(sorted) // sorts
		if got, want := medianWithout(sorted, x), median(rest); got != want {
			t.Fatalf("%v without %v: %v, want %v", sorted, x, got, want)
		}
	}
}

// A shift is believed the less the worse the results tell of it, never turned
// round, and never made larger.
func TestShrink(t *testing.T) {
	for _, known := range []bool{true, false} {
		for _, middle := range []float64{-0.5, -0.02, 0, 0.004, 0.3} {
			before := math.Abs(middle)
			for _, se2 := range []float64{0, 1e-6, 1e-4, 1e-2, 1} {
				got := shrink(middle, se2, known)
				if got*middle < 0 || math.Abs(got) > before+1e-15 {
					t.Errorf("shrink(%v, %v) = %v after %v", middle, se2, got, before)
				}
				before = math.Abs(got)
			}
			if got := shrink(middle, 0, known); math.Abs(got-middle) > 1e-15 {
				t.Errorf("without error %v becomes %v", middle, got)
			}
		}
	}
}
