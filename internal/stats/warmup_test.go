package stats

import (
	"math"
	"testing"
	"time"
)

// warmedUp feeds durations until the warm-up ends; d gives that of iteration i, from 1.
func warmedUp(plan WarmupPlan, d func(i int) time.Duration) WarmupResult {
	w := NewWarmup(plan)
	for i := 1; i <= 1000; i++ {
		if w.Add(d(i)) != WarmupRunning {
			break
		}
	}
	return w.Result()
}

func steady(int) time.Duration { return time.Millisecond }

func TestWarmupConstants(t *testing.T) {
	for _, c := range []struct {
		name string
		plan WarmupPlan
		want WarmupPlan
	}{
		{"default", WarmupDefault, WarmupPlan{0.05, 100, 3 * time.Second}},
		{"fast", WarmupFast, WarmupPlan{0, 10, time.Second}},
		{"high precision", WarmupHighPrecision, WarmupPlan{0.02, 200, 10 * time.Second}},
	} {
		if c.plan != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, c.plan, c.want)
		}
	}
	if WarmupMinIterations != 50 || WarmupCheckEvery != 5 || WarmupWindow != 10 || WarmupPassesNeeded != 3 {
		t.Error("the rule has other constants than documented")
	}
}

// The earliest stable is after checks at 50, 55 and 60, seen from outside.
func TestWarmupChecks(t *testing.T) {
	w := NewWarmup(WarmupDefault)
	for i := 1; i <= 60; i++ {
		state := w.Add(time.Millisecond)
		r := w.Result()
		if want := max(0, i/5-9); r.Passes != want || math.IsNaN(r.LastCV) != (i < 50) || (state == WarmupStable) != (i == 60) || r.Iterations != i || r.State != state {
			t.Errorf("after %d: %+v, want %d passes", i, r, want)
		}
	}
	if after := w.Result(); w.Add(time.Hour) != WarmupStable || w.Result() != after {
		t.Errorf("an ended warm-up changed: %+v", w.Result())
	}
}

// Only the last ten iterations count, in whatever order they lie in memory, and
// passes must be in a row.
func TestWarmupWindow(t *testing.T) {
	spikeAt := func(at int) WarmupResult {
		return warmedUp(WarmupDefault, func(i int) time.Duration {
			if i == at {
				return 2 * time.Millisecond
			}
			return time.Millisecond
		})
	}
	for at, want := range map[int]int{40: 60, 41: 65, 45: 65, 46: 70, 50: 70, 51: 75, 56: 80, 60: 80, 61: 60} {
		if r := spikeAt(at); r.State != WarmupStable || r.Iterations != want {
			t.Errorf("a spike at %d: %+v, want stable after %d", at, r, want)
		}
	}
}

// CV exactly at the target does not pass. Nine equal values and one larger have a
// CV that a float represents well enough to ask for exactly.
func TestWarmupStrict(t *testing.T) {
	saw := func(i int) time.Duration { return time.Duration(900 + 200*(i%2)) }
	cv := warmedUp(WarmupPlan{TargetCV: 1, MaxIterations: 100}, saw).LastCV
	if math.Abs(cv-math.Sqrt(10./9)/10) > 1e-15 {
		t.Fatalf("CV = %v", cv)
	}
	if r := warmedUp(WarmupPlan{TargetCV: cv, MaxIterations: 100}, saw); r.State != WarmupMaxIterations || r.Passes != 0 {
		t.Errorf("a CV equal to the target passes: %+v", r)
	}
	if r := warmedUp(WarmupPlan{TargetCV: math.Nextafter(cv, 1), MaxIterations: 100}, saw); r.State != WarmupStable {
		t.Errorf("a CV below the target fails: %+v", r)
	}
}

func TestWarmupCaps(t *testing.T) {
	slow := func(int) time.Duration { return 200 * time.Millisecond }
	zero := func(int) time.Duration { return 0 }
	noisy := func(i int) time.Duration { return time.Duration(1+i%2) * time.Millisecond }
	for _, c := range []struct {
		name       string
		plan       WarmupPlan
		d          func(int) time.Duration
		state      WarmupState
		iterations int
	}{
		{"noise", WarmupDefault, noisy, WarmupMaxIterations, 100},
		{"noise, high precision", WarmupHighPrecision, noisy, WarmupMaxIterations, 200},
		{"slow: before any check", WarmupDefault, slow, WarmupMaxTime, 15},
		{"slow, high precision", WarmupHighPrecision, slow, WarmupMaxTime, 50},
		{"fixed", WarmupFast, steady, WarmupMaxIterations, 10},
		{"fixed, slow", WarmupFast, slow, WarmupMaxTime, 5},
		{"fixed, both caps at once", WarmupPlan{MaxIterations: 5, MaxTime: time.Second}, slow, WarmupMaxIterations, 5},
		{"fixed without a time", WarmupPlan{MaxIterations: 300}, slow, WarmupMaxIterations, 300},
		{"stable and both caps at once", WarmupPlan{0.05, 60, 60 * time.Millisecond}, steady, WarmupStable, 60},
		{"no time at all", WarmupDefault, zero, WarmupMaxIterations, 100},
		{"a clock set back", WarmupDefault, func(int) time.Duration { return -time.Hour }, WarmupMaxIterations, 100},
		{"more time than a duration holds", WarmupPlan{MaxIterations: 5, MaxTime: math.MaxInt64}, func(int) time.Duration { return math.MaxInt64 - 1 }, WarmupMaxTime, 2},
	} {
		if r := warmedUp(c.plan, c.d); r.State != c.state || r.Iterations != c.iterations || (r.State == WarmupStable) != (r.Passes == WarmupPassesNeeded) {
			t.Errorf("%s: %+v, want %s after %d", c.name, r, c.state, c.iterations)
		}
	}
}

// The decision does not depend on the unit: the CV has none.
func TestWarmupScale(t *testing.T) {
	series := func(factor time.Duration) WarmupResult {
		return warmedUp(WarmupPlan{TargetCV: 0.05, MaxIterations: 100}, func(i int) time.Duration {
			return factor * time.Duration(1000+1000/i+(i*i*7919)%97)
		})
	}
	small, large := series(1), series(4096)
	large.Elapsed /= 4096
	if small != large || small.State != WarmupStable {
		t.Errorf("%+v and %+v", small, large)
	}
}
