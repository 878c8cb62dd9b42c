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

// slowed are runs of the benchmarks named after what happens to them: in the
// last two runs or, with a ?, in the last one alone.
func slowed(factors map[string]float64) []*Run {
	var runs []*Run
	names := make([]string, 0, len(factors))
	for n := range factors {
		names = append(names, n)
	}
	slices.Sort(names)
	for i, v := range append(slices.Clone(steady), 100, 100.5) {
		var rs []*Result
		for k, n := range names {
			r := of(n, timed(v*float64(k+1)))
			if i == 7 || i == 6 && n[len(n)-1] != '?' {
				r = of(n, timed(v*float64(k+1)*factors[n]))
			}
			r.Key.Module = n // no platform shift
			rs = append(rs, r)
		}
		runs = append(runs, runWith(i, rs...))
	}
	return runs
}

// Confirmed slowdowns come first, then the largest, then by name.
func TestOpenOrder(t *testing.T) {
	d := judgedRuns(slowed(map[string]float64{"a": 1.3, "b?": 3, "c": 1.8, "d": 1, "e": 0.5, "f": 1.3, "g?": 1.5}), nil)
	if got := openOf(d); got != "c time+, a time+, f time+, b? time, g? time" && got != "c time+, f time+, a time+, b? time, g? time" {
		t.Errorf("open %s", got)
	}
	o := d.Open[0]
	if o.Since.ID != "6.1" || o.Before.ID != "5.1" || o.Confirmed.ID != "7.1" || math.Abs(o.Ratio.Or(0)-1.8) > 0.03 || !(o.Lo.Or(0) > 1.5 && o.Lo.Or(9) < 1.8 && o.Hi.Or(0) > 1.8) || o.Label != "c" {
		t.Errorf("%+v", o)
	}
	o = d.Open[3]
	if o.Since.ID != "7.1" || o.Before.ID != "6.1" || o.Confirmed != nil || math.Abs(o.Ratio.Or(0)-3) > 0.1 || o.Lo != (perf.Num{}) {
		t.Errorf("%+v", o)
	}
}

func TestBadge(t *testing.T) {
	quiet := slowed(map[string]float64{"a": 1, "b": 1})
	many := func(judged, fresh int) []*Run {
		runs := slowed(map[string]float64{"a": 1, "b": 1, "c": 1, "d": 1})
		last := runs[7]
		last.Results = last.Results[:judged]
		for k := range fresh {
			last.Results = append(last.Results, of(fmt.Sprint("new", k), timed(5)))
		}
		return runs
	}
	excluded := slowed(map[string]float64{"a": 1, "b": 1})
	bad := runWith(8, of("a", timed(900)), of("b", timed(900)))
	for _, r := range bad.Results {
		r.InTrend, r.Excluded = false, "bad machine"
	}
	for name, tc := range map[string]struct {
		runs          []*Run
		state, symbol string
		message       string
		count         int
	}{
		"nothing":            {nil, "grey", "?", "no data", 0},
		"first run":          {days(0, 100), "grey", "?", "1 measured, not judged", 1},
		"a few judged":       {many(1, 2), "grey", "?", "1 of 3 judged", 3},
		"half judged":        {many(2, 2), "green", "✓", "no slowdown (4)", 4},
		"quiet":              {quiet, "green", "✓", "no slowdown (2)", 2},
		"faster":             {slowed(map[string]float64{"a": 0.5, "b": 1}), "green", "✓", "no slowdown (2)", 2},
		"slower":             {slowed(map[string]float64{"a": 1.13, "b": 1}), "amber", "▲", "1 slower (2)", 2},
		"seriously slower":   {slowed(map[string]float64{"a": 2, "b": 1}), "red", "▲▲", "1 slower by ≥ WORST %", 2},
		"two, one seriously": {slowed(map[string]float64{"a": 2, "b": 1.2, "c": 1}), "red", "▲▲", "2 slower, worst by ≥ WORST %", 3},
		"results left out":   {append(excluded, bad), "green", "✓", "no slowdown (2)", 2},
		"stale":              {append(slowed(map[string]float64{"a": 1}), runWith(38, of("a"))), "grey", "?", "stale: 2026-04-08", 1},
	} {
		if name == "stale" {
			tc.runs[len(tc.runs)-1].InTrend = false
		}
		d := judgedRuns(tc.runs, nil)
		if tc.state == "red" { // what it says is the lower bound, rounded down
			lo, _ := d.Open[0].Lo.Get()
			if lo < 1.7 || lo > 2 {
				t.Errorf("%s: at least %v", name, lo)
			}
			tc.message = strings.Replace(tc.message, "WORST", fmt.Sprint(int(100*(lo-1))), 1)
		}
		if want := (Badge{tc.state, tc.message, tc.symbol, tc.count}); d.Badge != want {
			t.Errorf("%s: %+v, want %+v", name, d.Badge, want)
		}
	}
	d := judgedRuns(slowed(map[string]float64{"a": 2, "b": 1}), func(c *config.Config) { c.Verdict.Serious = 2 })
	if d.Badge.State != "amber" {
		t.Errorf("serious only above 200 %%: %+v", d.Badge)
	}
	days := append(slowed(map[string]float64{"a": 1}), runWith(12, of("a")))
	days[8].InTrend = false
	if d := judgedRuns(days, func(c *config.Config) { c.Verdict.StaleAfterDays = 4 }); d.Badge.Message != "stale: 2026-04-08" {
		t.Errorf("stale after 4 days: %+v", d.Badge)
	}
}

// A change of machine is no step, a change on each machine is one, and so is a
// change on the only one.
func TestSteps(t *testing.T) {
	run := func(cpus func(i int) string, value func(i int) float64) string {
		var runs []*Run
		for i := range 24 {
			r := of("A", timed(value(i)*(1+0.003*float64(i*5%7))))
			r.Env.CPUModel = cpus(i)
			runs = append(runs, runWith(i, r))
		}
		d := judgedRuns(runs, nil)
		out := ""
		for _, s := range d.Series[0].Steps {
			out += fmt.Sprintf("%s-%s %.2f;", s.Before.ID, s.After.ID, s.Ratio.Or(0))
			if p := s.PValue.Or(1); !(p < 0.001) {
				out += " p " + s.PValue.String()
			}
		}
		table, _ := d.Export("steps", "")
		if len(table.Rows) != len(d.Series[0].Steps) {
			out += " exported otherwise"
		}
		return out
	}
	alone := func(int) string { return "C" }
	turns := func(i int) string { return []string{"C", "D"}[i%2] }
	late := func(i int) string { return []string{"C", "D"}[i/12] }
	rare := func(i int) string { return map[bool]string{true: "D", false: "C"}[i == 20 || i == 22] }
	flat := func(int) float64 { return 100 }
	step := func(i int) float64 { return 100 * []float64{1, 1.5}[i/12] }
	onD := func(cpus func(int) string, by float64, of func(int) float64) func(int) float64 {
		return func(i int) float64 {
			if cpus(i) == "D" {
				return by * of(i)
			}
			return of(i)
		}
	}
	for name, tc := range map[string]struct {
		cpus  func(int) string
		value func(int) float64
		want  string
	}{
		"nothing":                {alone, flat, ""},
		"one machine":            {alone, step, "11.1-12.1 1.50;"},
		"two machines in turn":   {turns, onD(turns, 2, flat), ""},
		"both became slower":     {turns, onD(turns, 2, step), "11.1-12.1 1.50;"},
		"another machine":        {late, onD(late, 2, flat), ""},
		"a machine seldom seen":  {rare, onD(rare, 3, flat), ""},
		"which does not hide it": {rare, onD(rare, 3, step), "11.1-12.1 1.50;"},
	} {
		if got := run(tc.cpus, tc.value); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
