package stats

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestCPUShare(t *testing.T) {
	// One busy thread on 16 cores is a sixteenth of the machine, and one core.
	if p, c := CPUPercentOfMachine(900, 100, 1000, 16), CPUCoresUsed(900, 100, 1000); p != 6.25 || c != 1 {
		t.Errorf("%v %% of the machine, %v cores", p, c)
	}
	// Clamped: clocks of different grain, or more cores than were known.
	if p, c := CPUPercentOfMachine(4100, 100, 1000, 4), CPUCoresUsed(4100, 100, 1000); p != 100 || c != 4.2 {
		t.Errorf("%v %% of the machine, %v cores", p, c)
	}
	if p := CPUPercentOfMachine(75, 0, 100, 1.5); p != 50 {
		t.Errorf("half of a quota of 1.5 cores is %v %%", p)
	}
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.Float64Range(0, 1e12)
		user, system, wall := times.Draw(t, "user"), times.Draw(t, "system"), rapid.Float64Range(1e-3, 1e12).Draw(t, "wall")
		cores := float64(rapid.IntRange(1, 256).Draw(t, "cores"))
		p := CPUPercentOfMachine(user, system, wall, cores)
		if !(p >= 0 && p <= 100) || p != CPUPercentOfMachine(system, user, wall, cores) || p != CPUPercentOfMachine(user*1024, system*1024, wall*1024, cores) {
			t.Fatalf("%v %%", p)
		}
	})
}

func TestCPUShareUnknown(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, in := range [][4]float64{
		{1, 1, 0, 4}, {1, 1, -1, 4}, {1, 1, nan, 4}, {1, 1, inf, 4},
		{-1, 1, 10, 4}, {1, -1, 10, 4}, {nan, 1, 10, 4}, {1, nan, 10, 4}, {inf, 1, 10, 4}, {1, inf, 10, 4},
	} {
		if p, c := CPUPercentOfMachine(in[0], in[1], in[2], in[3]), CPUCoresUsed(in[0], in[1], in[2]); !math.IsNaN(p) || !math.IsNaN(c) {
			t.Errorf("%v: %v %%, %v cores, want unknown", in, p, c)
		}
	}
	for _, cores := range []float64{0, -1, nan, inf} {
		if p := CPUPercentOfMachine(1, 1, 10, cores); !math.IsNaN(p) {
			t.Errorf("%v cores: %v %%, want unknown", cores, p)
		}
	}
}

func TestCoresFromQuota(t *testing.T) {
	unknown := math.NaN()
	for _, c := range []struct {
		cpuMax string
		numCPU int
		want   float64
	}{
		{"max 100000\n", 4, 4},
		{"max", 4, 4},
		{"150000 100000\n", 4, 1.5},
		{"50000 100000", 4, 0.5},
		{"800000 100000", 4, 4}, // a quota above the machine limits nothing
		{"400000 100000", 4, 4},
		{"-1\n 100000\n", 2, 2}, // cgroup v1 without a quota
		{"150000\n 100000\n", 2, 1.5},
		{"", 8, 8},
		{" \n", 8, 8},
		{"100000", 8, unknown}, // a quota without its period
		{"0 100000", 8, unknown},
		{"100000 0", 8, unknown},
		{"-5 100000", 8, unknown},
		{"1e5 100000", 8, unknown},
		{"NaN 100000", 8, unknown},
		{"99999999999999999999 100000", 8, unknown},
		{"100000 100000 100000", 8, unknown},
		{"max 100000", 0, unknown},
		{"100000 100000", -1, unknown},
	} {
		if got := CoresFromQuota(c.cpuMax, c.numCPU); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%q of %d: %v, want %v", c.cpuMax, c.numCPU, got, c.want)
		}
	}
}
