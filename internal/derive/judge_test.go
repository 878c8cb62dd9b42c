package derive

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"perfband/internal/config"
	"perfband/internal/perf"
	"perfband/internal/stats"
)

func TestMinor(t *testing.T) {
	for text, want := range map[string]string{
		"Ubuntu 24.04.4 LTS":            "Ubuntu 24.04 LTS",
		"1.26.8":                        "1.26",
		"go1.26.8":                      "go1.26",
		".NET 9.0.3":                    ".NET 9.0",
		"10.0.26200.7628":               "10.0",
		"10.0.100-preview.1":            "10.0-preview.1",
		"v8.1.2 (build 5.6.7), lib 3.4": "v8.1 (build 5.6), lib 3.4",
		"24.04":                         "24.04",
		"rolling":                       "rolling",
		"":                              "",
	} {
		if got := minor(text); got != want {
			t.Errorf("minor(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestEnvClass(t *testing.T) {
	base := perf.Env{CPUModel: "C", OS: "linux", OSVersion: "24.04.1", Arch: "amd64", Toolchain: map[string]string{"go": "1.26.8", "cc": "14.2.0"}}
	class, known := envClass(base)
	if !known {
		t.Error("a machine with a processor's name is known")
	}
	same := func(change func(*perf.Env)) (timing, exact bool) {
		e := base
		e.Toolchain = map[string]string{"go": "1.26.8", "cc": "14.2.0"}
		change(&e)
		c, _ := envClass(e)
		return c == class, exactClass(e) == exactClass(base)
	}
	for name, tc := range map[string]struct {
		change        func(*perf.Env)
		timing, exact bool
	}{
		"patch levels": {func(e *perf.Env) { e.OSVersion, e.Toolchain["go"], e.Toolchain["cc"] = "24.04.9", "1.26.9", "14.2.9" }, true, true},
		"kernel":       {func(e *perf.Env) { e.Kernel, e.MemoryBytes = "6.9", 5 }, true, true},
		"cores":        {func(e *perf.Env) { e.CPUCount = 4 }, false, true},
		"processor":    {func(e *perf.Env) { e.CPUModel = "D" }, false, true},
		"unknown":      {func(e *perf.Env) { e.CPUModel = "" }, false, true},
		"system":       {func(e *perf.Env) { e.OS = "darwin" }, false, false},
		"its version":  {func(e *perf.Env) { e.OSVersion = "26.04.1" }, false, false},
		"architecture": {func(e *perf.Env) { e.Arch = "arm64" }, false, false},
		"toolchain":    {func(e *perf.Env) { e.Toolchain["go"] = "1.27.0" }, false, false},
		"another tool": {func(e *perf.Env) { e.Toolchain["ld"] = "2" }, false, false},
	} {
		if timing, exact := same(tc.change); timing != tc.timing || exact != tc.exact {
			t.Errorf("%s: same class %v, of exact metrics %v", name, timing, exact)
		}
	}
	if _, known := envClass(perf.Env{OS: "linux"}); known {
		t.Error("a machine without a processor's name is not known")
	}
}

// What is remembered of the last machine is forgotten with the first difference.
func TestPlace(t *testing.T) {
	var p place
	for _, e := range []perf.Env{{}, {}, {CPUModel: "C"}, {CPUModel: "C", OS: "o"}, {CPUModel: "C", OS: "o", OSVersion: "1"}, {CPUModel: "C", OS: "o", OSVersion: "1", Arch: "a"},
		{CPUModel: "C", OS: "o", OSVersion: "1", Arch: "a", Toolchain: map[string]string{"go": "1.2"}},
		{CPUModel: "C", OS: "o", OSVersion: "1", Arch: "a", Toolchain: map[string]string{"go": "1.3"}},
		{CPUModel: "D", OS: "o", OSVersion: "1", Arch: "a", Toolchain: map[string]string{"go": "1.3"}}, {}} {
		class, known := envClass(e)
		if got := p.of(e); got.class != class || got.known != known || got.exact != exactClass(e) {
			t.Errorf("%+v: %+v", e, got)
		}
	}
}

// Times of another processor are not compared, allocations are.
func TestOtherProcessor(t *testing.T) {
	runs := make([]*Run, 0, 8)
	for i := range 8 {
		r := of("A", timed(100), made(perf.AllocBytes, perf.Lower, 64))
		if i >= 6 {
			r = of("A", timed(300), made(perf.AllocBytes, perf.Lower, 128))
			r.Env.CPUModel = "CPU 2"
		}
		runs = append(runs, runWith(i, r))
	}
	d := judgedRuns(runs, nil)
	if got := saidOf(d, "A", perf.Time)[6:]; !slices.Equal(got, []string{"inconclusive other-machine", "inconclusive other-machine"}) {
		t.Errorf("time: %q", got)
	}
	if got := saidOf(d, "A", perf.AllocBytes)[6:]; !slices.Equal(got, []string{"slower suspected", "slower confirmed"}) {
		t.Errorf("allocations: %q", got)
	}
}

// More is better for some metrics: half of it is slower, twice of it faster.
func TestDirection(t *testing.T) {
	for _, tc := range []struct {
		name   string
		better perf.Better
		factor float64
		want   string
	}{
		{"custom:rate", perf.Higher, 0.5, "slower suspected"},
		{"custom:rate", perf.Higher, 2, "faster suspected"},
		{"custom:cost", perf.Lower, 0.5, "faster suspected"},
		{"custom:cost", perf.Lower, 2, "slower suspected"},
		{"custom:odd", perf.UnknownBetter, 2, "none unknown-direction"},
		{"custom:odd", "", 2, "none unknown-direction"},
		{perf.GC0, perf.Lower, 2, "none not-judged"},
		{perf.CPU, perf.Lower, 2, "none not-judged"},
	} {
		for _, exact := range []bool{false, true} {
			var runs []*Run
			for i, v := range append(slices.Clone(steady), 100*tc.factor) {
				if exact && i < len(steady) {
					v = 100
				}
				m := made(tc.name, tc.better, v)
				m.Exact = exact
				runs = append(runs, runWith(i, of("A", m)))
			}
			d := judgedRuns(runs, nil)
			if got := newestOf(d, "A", tc.name); got != tc.want {
				t.Errorf("%s %s x %v, exact %v: %s", tc.name, tc.better, tc.factor, exact, got)
			}
			v := runs[6].Results[0].Metrics[0].Verdict
			ratio, ok := v.Ratio.Get()
			if worse := (tc.factor > 1) == (tc.better == perf.Lower); ok && (ratio > 1) != worse {
				t.Errorf("%s %s x %v, exact %v: ratio %v", tc.name, tc.better, tc.factor, exact, ratio)
			}
			if exact && ok && math.Abs(math.Abs(math.Log2(ratio))-1) > 1e-9 {
				t.Errorf("%s: the ratio of exact counts is %v", tc.name, ratio)
			}
		}
	}
}

// A count that was 0 has no ratio, and is judged all the same.
func TestFromZero(t *testing.T) {
	for _, tc := range []struct {
		counts []float64
		want   string
		ratio  string
	}{
		{[]float64{0, 0, 0, 0}, "unchanged", ""},
		{[]float64{0, 0, 0, 2}, "slower suspected", ""},
		{[]float64{2, 2, 2, 0}, "faster suspected", "0"},
		{[]float64{2, 2, 2, 3}, "slower suspected", "1.5"},
	} {
		var runs []*Run
		for i, n := range tc.counts {
			runs = append(runs, runWith(i, of("A", made(perf.Allocs, perf.Lower, n))))
		}
		d := judgedRuns(runs, nil)
		v := runs[3].Results[0].Metrics[0].Verdict
		if said(v) != tc.want || v.Ratio.String() != tc.ratio {
			t.Errorf("%v: %s, ratio %q", tc.counts, said(v), v.Ratio)
		}
		if v.Level.String() != "1" || v.PValue.String() != "" || runs[3].Claims.Judged != 1 || runs[3].Claims.Chance != 0 {
			t.Errorf("%v: %+v, %+v", tc.counts, v, runs[3].Claims)
		}
		if d.Badge.State == "grey" {
			t.Errorf("%v: %+v", tc.counts, d.Badge)
		}
	}
}

// What cannot be compared as a ratio is said so, and no NaN comes of it.
func TestNoRatio(t *testing.T) {
	for name, v := range map[string]perf.Num{"zero": perf.Some(0), "negative": perf.Some(-3), "absent": {}} {
		runs := days(0, steady...)
		r := of("A", timed(1))
		m := &r.Metrics[0]
		m.Mean, m.Median = v, v
		d := judgedRuns(append(runs, runWith(6, r), runWith(7, of("A", timed(100)))), nil)
		got := saidOf(d, "A", perf.Time)
		if got[6] != "none no-ratio" || strings.Contains(got[7], "slower") || strings.Contains(got[7], "few-runs") {
			t.Errorf("%s: %q", name, got[6:])
		}
	}
}

// Carried results are no evidence, side results no benchmarks.
func TestCarriedAndSide(t *testing.T) {
	runs := days(0, steady...)
	carried := of("A", timed(400))
	carried.CarriedFrom = "1.1"
	side := of("host", timed(400))
	side.Side = true
	runs = append(runs, runWith(6, carried, side), runWith(7, of("A", timed(100))))
	d := judgedRuns(runs, nil)
	if got := saidOf(d, "A", perf.Time); got[6] != "none carried" || strings.Contains(got[7], "recovered") || strings.Contains(got[7], "faster") {
		t.Errorf("carried: %q", got[6:])
	}
	if got := saidOf(d, "host", perf.Time); got[0] != "" {
		t.Errorf("side: %q", got)
	}
	if len(d.Open) > 0 || runs[6].Claims != (Claims{}) {
		t.Errorf("open %s, claims %+v", openOf(d), runs[6].Claims)
	}
}

// Each metric is a family of its own: the adjusted p is that of its results.
func TestAdjustedP(t *testing.T) {
	var runs []*Run
	for i := range 8 {
		var rs []*Result
		for k := range 6 {
			rs = append(rs, of(fmt.Sprint("B", k), timed(100+float64((i*(k+3))%7)), made(perf.RealTime, perf.Lower, 50+float64((i*(k+2))%5))))
		}
		runs = append(runs, runWith(i, rs...))
	}
	judgedRuns(runs, nil)
	for m := range 2 {
		var ps []float64
		for _, r := range runs[7].Results {
			p, ok := r.Metrics[m].Verdict.PValue.Get()
			if !ok {
				t.Fatal("no p")
			}
			ps = append(ps, p)
		}
		for k, want := range stats.BenjaminiHochberg(ps) {
			if got := runs[7].Results[k].Metrics[m].Verdict.PAdjusted; got != perf.Some(want).Round12() {
				t.Errorf("metric %d, benchmark %d: %v, want %v", m, k, got, want)
			}
		}
	}
}

// A platform shift is told of its module and machine.
func TestShifts(t *testing.T) {
	var runs []*Run
	for i := range 8 {
		var rs []*Result
		for k := range 8 {
			v := 100 + float64((i*(k+3))%5)/5
			if i == 7 {
				v *= 1.4
			}
			rs = append(rs, of(fmt.Sprint("B", k), timed(v)))
		}
		runs = append(runs, runWith(i, rs...))
	}
	d := judgedRuns(runs, nil)
	if s := runs[7].Shifts; len(s) != 1 || s[0].Module != "m" || s[0].CPU != "CPU 1" || s[0].Metric != perf.Time || s[0].Results != 8 ||
		math.Abs(s[0].Ratio.Or(0)-1.4) > 0.02 || !(s[0].Lo.Or(0) < 1.4 && s[0].Hi.Or(0) > 1.4) {
		t.Errorf("%+v", s)
	}
	if len(d.Open) > 0 || runs[7].Claims.Slower > 0 || len(runs[6].Shifts) > 0 {
		t.Errorf("open %s, claims %+v, before %+v", openOf(d), runs[7].Claims, runs[6].Shifts)
	}
}

// A benchmark counts once, by its worst metric, whatever else it has.
func TestClaims(t *testing.T) {
	runs := days(0, steady...)
	for i := range runs {
		runs[i].Results = append(runs[i].Results, of("two", timed(steady[i]), made(perf.AllocBytes, perf.Lower, 64)), of("C", timed(steady[5-i])))
	}
	worse := runWith(6, of("A", timed(160)), of("two", timed(50), made(perf.AllocBytes, perf.Lower, 128)), of("C", timed(100.2)), of("new", timed(5)))
	again := runWith(7, of("A", timed(160)), of("two", timed(50), made(perf.AllocBytes, perf.Lower, 128)), of("C", timed(100)), of("new", timed(5)))
	judgedRuns(append(runs, worse, again), nil)
	for _, r := range worse.Results {
		v, m := r.Verdict()
		if want := map[string]string{"A": "time slower suspected", "two": "alloc_bytes slower suspected", "new": "time inconclusive few-runs"}[r.Key.Name]; want != "" && m+" "+said(*v) != want {
			t.Errorf("%s is %s %s, want %s", r.Key.Name, m, said(*v), want)
		}
	}
	for _, tc := range []struct {
		run                  *Run
		suspected, confirmed int
	}{{worse, 2, 0}, {again, 0, 2}} {
		c := tc.run.Claims
		if c.Slower != 2 || c.Faster != 0 || c.Suspected != tc.suspected || c.Confirmed != tc.confirmed || c.Judged != 3 || c.Unchanged+c.Inconclusive != 2 || !(c.Chance > 0 && c.Chance < 0.5) {
			t.Errorf("%+v", c)
		}
	}
}

// The settings of the configuration reach the judge.
func TestSettings(t *testing.T) {
	runs := func() []*Run { return days(0, append(slices.Clone(steady), 160)...) }
	if d := judgedRuns(runs(), func(c *config.Config) { c.Verdict.ConfirmAfter = 1 }); openOf(d) != "A time+" {
		t.Errorf("confirmed after 1: open %q", openOf(d))
	}
	if d := judgedRuns(runs(), func(c *config.Config) { c.Verdict.Margin, c.Verdict.MinMargin = 0.9, 0.9 }); openOf(d) != "" {
		t.Errorf("margin 90 %%: open %q", openOf(d))
	}
	d := judgedRuns(runs(), func(c *config.Config) { c.Verdict.Alpha = 0.001 })
	if v := d.Runs[6].Results[0].Metrics[0].Verdict; v.Level.String() != "0.999" || d.Runs[6].Claims.Chance > 0.001 {
		t.Errorf("alpha 0.001: %+v", v)
	}
	if s := settings(config.Verdict{Alpha: 0.1, Margin: 0.1, MinMargin: 0.05}); math.Abs(s.AlphaUnknown-0.02) > 1e-12 {
		t.Errorf("unknown machines get alpha %v", s.AlphaUnknown)
	}
}
