package derive

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"perfband/internal/config"
	"perfband/internal/perf"
)

// Error rates are compared in percentage points, each scenario by itself: what
// happens to others is no machine's doing.
func TestErrorRates(t *testing.T) {
	run := func(i int, rates ...float64) *Run {
		var rs []*Result
		for k, rate := range rates {
			rs = append(rs, scenario(fmt.Sprintf("s%d", k), made(perf.ErrorRate, perf.Lower, rate)))
		}
		return runWith(i, rs...)
	}
	past := func(last ...float64) []*Run {
		var runs []*Run
		for i := range 6 {
			runs = append(runs, run(i, 0, 0, 0, 0, 0, 0))
		}
		return append(runs, run(6, last...))
	}
	d := judgedRuns(past(0.03, 0.03, 0.03, 0.03, 0, 0.001), nil)
	for name, want := range map[string]string{"s0": "slower suspected", "s3": "slower suspected", "s4": "unchanged", "s5": "unchanged"} {
		if got := newestOf(d, name, perf.ErrorRate); got != want && !(want == "unchanged" && strings.HasPrefix(got, "inconclusive")) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if v := d.Runs[6].Results[0].Metrics[0].Verdict; math.Abs(v.Ratio.Or(0)-4) > 1e-9 {
		t.Errorf("0 and 3 %% with one point added are as 4 to 1, not %v", v.Ratio)
	}
	if d := judgedRuns(past(0.03, 0.03, 0.03, 0.03, 0.03, 0.03), nil); d.Runs[6].Claims.Slower != 6 || len(d.Runs[6].Shifts) > 0 {
		t.Errorf("all fail together: claims %+v, shifts %+v", d.Runs[6].Claims, d.Runs[6].Shifts)
	}
}

// More processors are another machine, also when only the results tell.
func TestProcessorsAreAClass(t *testing.T) {
	with := func(cpus int, procs string) *Result {
		r := of("A", timed(100))
		r.Env.CPUCount = cpus
		if procs != "" {
			r.Dims = []perf.Param{{Name: "procs", Value: procs}}
		}
		return r
	}
	for name, tc := range map[string]struct{ before, after *Result }{
		"cpu count": {with(4, ""), with(16, "")},
		"procs":     {with(0, "4"), with(0, "16")},
	} {
		var runs []*Run
		for i := range 6 {
			r := *tc.before
			r.Metrics = []Metric{timed(steady[i])}
			runs = append(runs, runWith(i, &r))
		}
		tc.after.Metrics = []Metric{timed(40)}
		d := judgedRuns(append(runs, runWith(6, tc.after)), nil)
		if got := newestOf(d, "A", perf.Time); got != "inconclusive other-machine" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Open slowdowns of exact metrics have the ratio of the values.
func TestOpenExactRatio(t *testing.T) {
	bytes := func(vs ...float64) *Derived {
		var runs []*Run
		for i, v := range vs {
			runs = append(runs, runWith(i, of("A", timed(100), made(perf.AllocBytes, perf.Lower, v))))
		}
		return judgedRuns(runs, nil)
	}
	for _, tc := range []struct {
		values []float64
		ratio  float64 // 0: none
		badge  string
	}{
		{[]float64{424, 424, 424, 424, 495, 495}, 495.0 / 424, "red 1 slower by ≥ 16 %"},
		{[]float64{0, 0, 0, 0, 16, 16}, 0, "red 1 slower (1)"},
		{[]float64{0, 0, 0, 0, 16, 17}, 0, "red 1 slower (1)"},
		{[]float64{0, 0, 0, 0, 24, 24, 104, 104}, 0, "red 1 slower (1)"},
		{[]float64{16, 16, 16, 16, 48}, 3, "amber 1 slower (1)"},
		{[]float64{0, 0, 0, 0, 16}, 0, "amber 1 slower (1)"},
		// It is that of the runs that confirmed it, whatever the newest one is.
		{[]float64{1, 1, 1, 1, 3, 3, 0}, 3, "red 1 slower by ≥ 200 %"},
		{[]float64{1, 1, 1, 1, 3, 3, 7}, 3, "red 1 slower by ≥ 200 %"},
	} {
		d := bytes(tc.values...)
		if len(d.Open) != 1 {
			t.Errorf("%v: open %+v", tc.values, d.Open)
			continue
		}
		if r, ok := d.Open[0].Ratio.Get(); ok != (tc.ratio > 0) || ok && math.Abs(r-tc.ratio) > 1e-9 {
			t.Errorf("%v: ratio %v", tc.values, d.Open[0].Ratio)
		}
		if got := d.Badge.State + " " + d.Badge.Message; got != tc.badge {
			t.Errorf("%v: badge %s, want %s", tc.values, got, tc.badge)
		}
	}
	// 0 is 0, whatever rounding made of it.
	count := made(perf.Allocs, perf.Lower, 16)
	if mid, lo, hi := exactRatio(&count, 16, math.Log1p(16)-1e-12, 0); mid != (perf.Num{}) || lo != mid || hi != mid {
		t.Errorf("from 0, but for rounding: %v, from %v to %v", mid, lo, hi)
	}
	// Where the counts vary all the same there is an interval, which counts.
	o := bytes(1000, 1010, 990, 1005, 995, 1002, 1400, 1410).Open[0]
	if lo, hi := o.Lo.Or(0), o.Hi.Or(0); !(1.2 < lo && lo < 1.38 && 1.42 < hi && hi < 1.6) || math.Abs(o.Ratio.Or(0)-1.405) > 0.005 {
		t.Errorf("counts that vary: %v, from %v to %v", o.Ratio, o.Lo, o.Hi)
	}
}

// A slowdown of a benchmark that is gone from its module is listed, and colours
// nothing any more.
func TestGoneBenchmark(t *testing.T) {
	var runs []*Run
	for i, v := range append(append([]float64{}, steady...), 200, 200) {
		runs = append(runs, runWith(i, of("A", timed(v)), of("B", timed(2*steady[i%6]))))
	}
	for later := range goneAfter + 1 {
		d := judgedRuns(runs, nil)
		gone := later >= goneAfter
		if len(d.Open) != 1 || d.Open[0].Gone != gone || (d.Badge.State == "red") == gone {
			t.Errorf("after %d runs without it: open %+v, badge %+v", later, d.Open, d.Badge)
		}
		runs = append(runs, runWith(8+later, of("B", timed(200))))
	}
}

// All benchmarks of a known machine slower at once are no good news.
func TestShiftBadge(t *testing.T) {
	for name, tc := range map[string]struct {
		cpu     string
		factor  float64
		message string
	}{
		"known machine":   {"CPU 1", 1.3, "amber platform shift +29 %"},
		"a little":        {"CPU 1", 1.055, "green no slowdown (8)"},
		"faster":          {"CPU 1", 0.7, "green no slowdown (8)"},
		"unknown machine": {"", 1.3, "green no slowdown (8)"},
	} {
		var runs []*Run
		for i := range 9 {
			var rs []*Result
			for k := range 8 {
				v := steady[(i+k)%6] * float64(k+1)
				if i == 8 {
					v *= tc.factor
				}
				r := of(fmt.Sprintf("b%d", k), timed(v))
				r.Env.CPUModel = tc.cpu
				rs = append(rs, r)
			}
			runs = append(runs, runWith(i, rs...))
		}
		d := judgedRuns(runs, nil)
		if got := d.Badge.State + " " + d.Badge.Message; len(d.Runs[8].Shifts) != 1 || got != tc.message {
			t.Errorf("%s: shifts %+v, badge %s, want %s", name, d.Runs[8].Shifts, got, tc.message)
		}
	}
}

// A list shows another metric's verdict where the headline has none, and retired
// benchmarks are in no count.
func TestVerdictOfResult(t *testing.T) {
	var runs []*Run
	for i, v := range append(append([]float64{}, steady...), 100) {
		r := of("A", timed(v), made("zero", perf.Lower, 0))
		r.Metrics[0], r.Metrics[1] = made(perf.Time, perf.Lower, 0), timed(v)
		r.Metrics[1].Name = perf.CPUTime
		runs = append(runs, runWith(i, r, of("B", timed(v))))
	}
	d := judgedRuns(runs, func(c *config.Config) { c.Excluded = []config.Excluded{{Benchmark: "m/B", Reason: "old"}} })
	if v, name := d.Runs[6].Results[0].Verdict(); name != perf.CPUTime || v.Outcome == perf.None {
		t.Errorf("shown is %s of %s", said(*v), name)
	}
	if c := d.Runs[6].Claims; c.Judged != 1 || c.Slower+c.Faster+c.Unchanged+c.Inconclusive != 1 {
		t.Errorf("counted %+v", c)
	}
}

// An acceptance without effect is told.
func TestUnusedAcceptances(t *testing.T) {
	opt := Options{Config: config.Default()}
	opt.Config.Accepted = []config.Accepted{
		{Benchmark: "m/*", Reason: "used", Commit: sha(3), Line: 2},
		{Benchmark: "other/*", Reason: "no such benchmark", Line: 3},
		{Benchmark: "*A", Reason: "no such commit", Commit: "deadbeef", Line: 4},
		{Benchmark: "*A", Reason: "waits for its commit", Line: 5},
	}
	var entries []perf.Entry
	for i := range 6 {
		e := entry(fmt.Sprintf("%d.1", i), day.AddDate(0, 0, i), "A 100 101 102")
		e.Meta.Commit.SHA = sha(i)
		entries = append(entries, e)
	}
	_, diags, err := Build(seq(entries), opt)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, diag := range diags {
		got = append(got, fmt.Sprintf("%s %s %d: %s", diag.Severity, diag.Where.File, diag.Where.Line, diag.Why))
	}
	want := []string{"warning " + config.AcceptedName + " 3: no benchmark in trends is called other/*",
		"notice " + config.AcceptedName + " 4: no run measured commit deadbeef"}
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// While a slowdown is open, all at its level say so; what recovers does not.
func TestReasonOpen(t *testing.T) {
	d := judgedRuns(days(0, append(slices.Clone(steady), 150, 151, 150, 151, 100)...), nil)
	want := []string{"slower suspected", "slower confirmed", "inconclusive open;noisy", "inconclusive open;noisy", "inconclusive recovered noisy"}
	if got := saidOf(d, "A", perf.Time)[6:]; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
