package history

import (
	"math"
	"math/rand/v2"
	"testing"

	"perfband/internal/perf"
)

// TestLastingShift: a machine that stays slower does not blind its suite. What a
// benchmark does meanwhile is found, the levels show no step of their own, and
// after some runs the new speed is what results are compared with.
func TestLastingShift(t *testing.T) {
	s := newSuite(10, true, 0.01).runs(12)
	var told []int
	for run := range 20 {
		single := map[int]float64{}
		if run >= 8 {
			single[3] = math.Log(1.25)
		}
		vs, shifts := s.run(0.26, single)
		if len(shifts) > 0 {
			told = append(told, run)
		}
		for i, v := range vs {
			claim := v.Outcome == perf.Slower || v.Outcome == perf.Faster
			switch {
			case i == 3 && (run == 8 || run == 9):
				if v.Outcome != perf.Slower {
					t.Errorf("run %d: the slow benchmark is %s", run, say(v))
				}
			case claim && v.State == perf.Confirmed:
				t.Errorf("run %d, benchmark %d: %s", run, i, say(v))
			case i != 3 && math.Abs(v.Adjusted-8-float64(i)/10) > 0.06:
				t.Errorf("run %d, benchmark %d: level %v", run, i, v.Adjusted-8-float64(i)/10)
			}
		}
	}
	if len(told) != recent || told[0] != 0 {
		t.Errorf("told in runs %v, want the first %d", told, recent)
	}
	if s.j.Open(3) == nil {
		t.Error("the slow benchmark is not open")
	}
}

// A shift that ends is no new speed.
func TestPassingShift(t *testing.T) {
	s := newSuite(10, true, 0.01).runs(12)
	for range recent - 1 {
		s.run(0.26, nil)
	}
	for range 6 {
		vs, shifts := s.run(0, nil)
		if len(shifts) > 0 || len(claims(vs)) > 1 {
			t.Errorf("shifts %+v, claims %v", shifts, claims(vs))
		}
	}
}

// TestHalfSlower: what did not move is not claimed faster because others became
// slower.
func TestHalfSlower(t *testing.T) {
	for n, slow := range map[int]int{4: 2, 6: 3, 10: 6} {
		s := newSuite(n, true, 0.01).runs(10)
		single := map[int]float64{}
		for i := range slow {
			single[i] = 0.25
		}
		for range 3 {
			vs, _ := s.run(0, single)
			for i := slow; i < n; i++ {
				if vs[i].Outcome == perf.Faster {
					t.Errorf("%d of %d slower: benchmark %d is %s", slow, n, i, say(vs[i]))
				}
			}
		}
	}
}

// TestExactBlips: one different value among equal ones does not make an exact
// metric noisy, so that a change that lasts is still found at once.
func TestExactBlips(t *testing.T) {
	for name, past := range map[string][]float64{
		"allocations":  {0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1},
		"three in 100": {100, 100, 100, 100, 100, 100, 103, 100, 100, 100, 103, 103},
	} {
		j := New(DefaultSettings())
		vs := exactly(j, past...)
		if v := vs[len(vs)-1]; v.Outcome != perf.Slower || v.State != perf.Confirmed {
			t.Errorf("%s: the last is %s", name, say(v))
		}
	}
	// One that varies all the time is noisy.
	j := New(DefaultSettings())
	confirmed := 0
	for _, v := range exactly(j, 100, 104, 99, 103, 101, 97, 104, 100, 98, 103, 99, 104, 104, 97) {
		if v.State == perf.Confirmed {
			confirmed++
		}
	}
	if confirmed > 0 {
		t.Errorf("%d confirmed changes of a count that varies", confirmed)
	}
}

// TestNoisyAmongQuiet: a benchmark that is noisier than all others speaks for
// itself and is not claimed again and again.
func TestNoisyAmongQuiet(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	claimed, confirmed, n := 0, 0, 0
	for range 60 {
		s := newSuite(20, true, 0.01)
		s.rng = rng
		for run := range 60 {
			vs, _ := s.run(0, map[int]float64{0: 0.10 * rng.NormFloat64()})
			if run < 5 {
				continue
			}
			n++
			if vs[0].Outcome == perf.Slower || vs[0].Outcome == perf.Faster {
				claimed++
			}
			if vs[0].State == perf.Confirmed {
				confirmed++
			}
		}
	}
	if float64(claimed) > 0.07*float64(n) || float64(confirmed) > 0.007*float64(n) {
		t.Errorf("of %d results %d claimed, %d confirmed", n, claimed, confirmed)
	}
	t.Logf("of %d results %d claimed, %d confirmed", n, claimed, confirmed)
}

// TestRecoveryNeedsEvidence: a level known from two different values tells
// nothing, so a result of another machine does not end a slowdown.
func TestRecoveryNeedsEvidence(t *testing.T) {
	j := New(DefaultSettings())
	on := func(class int, value float64) Verdict {
		vs, _ := j.Run([]Result{{Series: 0, Class: class, Known: true, Group: -1, Value: value}})
		return vs[0]
	}
	for range 8 {
		on(1, 5)
	}
	on(0, 5)
	on(0, 5.6) // slow already, and nothing to compare it with
	on(1, 5.6)
	if v := on(1, 5.6); v.State != perf.Confirmed {
		t.Fatalf("the slowdown is %s", say(v))
	}
	if v := on(0, 5.6); v.State == perf.Recovered || j.Open(0) == nil {
		t.Errorf("the same level on the other machine: %s", say(v))
	}
}

// TestSuspicionWaits: results of a machine without earlier evidence neither
// confirm nor refute a suspicion.
func TestSuspicionWaits(t *testing.T) {
	j := New(DefaultSettings())
	on := func(class int, value float64) Verdict {
		vs, _ := j.Run([]Result{{Series: 0, Class: class, Known: true, Group: -1, Value: value}})
		return vs[0]
	}
	for i := range 9 {
		on(1, 5+0.01*float64(i%2))
	}
	if v := on(1, 5.5); v.State != perf.Suspected {
		t.Fatalf("suspected: %s", say(v))
	}
	for range 7 {
		on(2, 5.5)
	}
	if v := on(1, 5.5); v.State != perf.Confirmed || j.Open(0).Since != 9 {
		t.Errorf("back on the first machine: %s, open %+v", say(v), j.Open(0))
	}
}
