package history

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"perfband/internal/perf"
)

// exactly judges one exact metric over runs; values are counts.
func exactly(j *Judge, counts ...float64) (out []Verdict) {
	for _, n := range counts {
		vs, _ := j.Run([]Result{{Class: 1, Known: true, Group: 0, Value: math.Log1p(n), Exact: true}})
		out = append(out, vs[0])
	}
	return out
}

func last(vs []Verdict) Verdict { return vs[len(vs)-1] }

func TestExact(t *testing.T) {
	for _, tc := range []struct {
		name   string
		counts []float64
		want   string
	}{
		{"the same", []float64{16, 16, 16}, "unchanged"},
		{"zero", []float64{0, 0, 0}, "unchanged"},
		{"from zero", []float64{0, 0, 1}, "slower suspected"},
		{"from zero, twice", []float64{0, 0, 1, 1}, "slower confirmed"},
		{"to zero", []float64{3, 3, 0}, "faster suspected"},
		{"a byte in a hundred", []float64{100, 100, 101}, "unchanged"},
		{"two in a hundred", []float64{100, 100, 102}, "slower suspected"},
		{"one run", []float64{16, 32}, "inconclusive few-runs"},
		{"confirmed after two", []float64{100, 100, 116, 116}, "slower confirmed"},
	} {
		v := last(exactly(New(DefaultSettings()), tc.counts...))
		if got := say(v); got != tc.want {
			t.Errorf("%s: %s", tc.name, got)
		}
		if v.Judged && (v.Half != 0 || !math.IsNaN(v.P) || v.Chance != 0 || v.Alpha != 0) {
			t.Errorf("%s: chance has a part in %+v", tc.name, v)
		}
	}
}

// However many equal values there are, and whatever they are, they have no
// spread: the next difference above one in a hundred is claimed.
func TestExactConstantBaseline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "runs")
		count := rapid.Float64Range(0, 1e12).Draw(t, "count")
		j := New(DefaultSettings())
		for i := range n {
			v := last(exactly(j, count))
			if i >= minRuns && (say(v) != "unchanged" || v.Change != 0 || v.Half != 0) {
				t.Fatalf("run %d of %v: %s %+v", i, count, say(v), v)
			}
		}
		if v := last(exactly(j, 1.02*(count+1)-1)); say(v) != "slower suspected" {
			t.Fatalf("2 %% more than %v: %s %+v", count, say(v), v)
		}
	})
}

// An exact metric that does vary is judged by its spread like any other.
func TestExactThatVaries(t *testing.T) {
	j := New(DefaultSettings())
	counts := []float64{1000, 1040, 980, 1010, 990, 1030, 970, 1000}
	v := last(exactly(j, append(counts, 1030)...))
	if v.Outcome == perf.Slower || v.Half <= 0 || math.IsNaN(v.P) {
		t.Errorf("3 %% more: %+v", v)
	}
	if v := last(exactly(j, 1500)); say(v) != "slower suspected" {
		t.Errorf("half as much again: %s", say(v))
	}
}

// Whole modules allocate more for a reason: no machine does it.
func TestExactHasNoShift(t *testing.T) {
	j := New(DefaultSettings())
	for run, count := range []float64{50, 50, 50, 75} {
		var rs []Result
		for i := range 20 {
			rs = append(rs, Result{Series: i, Class: 1, Known: true, Group: 3, Value: math.Log1p(count + float64(i)), Exact: true})
		}
		vs, shifts := j.Run(rs)
		if want := 20 * (run / 3); len(claims(vs)) != want || len(shifts) > 0 {
			t.Errorf("run %d: claimed %v, want %d; %+v", run, claims(vs), want, shifts)
		}
	}
}

// A count that comes back is recovered, also to within one in a hundred and as
// soon as one run confirmed it.
func TestExactRecovery(t *testing.T) {
	for _, after := range []int{1, 2} {
		for _, back := range []float64{100, 100.5} {
			j := New(settings(after))
			exactly(j, 100, 100, 100)
			for range after {
				exactly(j, 150)
			}
			ch := j.Open(0)
			if ch == nil || math.Abs(math.Exp(ch.Ratio)-151.0/101) > 1e-9 || ch.Half > 1e-4 {
				t.Fatalf("after %d: %+v", after, ch)
			}
			if v := last(exactly(j, back)); v.State != perf.Recovered || j.Open(0) != nil {
				t.Errorf("after %d, %v again: %s", after, back, say(v))
			}
		}
	}
	j := New(DefaultSettings())
	exactly(j, 0, 0, 7, 7)
	if v := last(exactly(j, 0)); v.State != perf.Recovered {
		t.Errorf("zero again: %s", say(v))
	}
	j = New(DefaultSettings())
	exactly(j, 100, 100, 100, 150, 150)
	if v := last(exactly(j, 110)); v.State == perf.Recovered || j.Open(0) == nil {
		t.Errorf("half way back: %s", say(v))
	}
}

// Values without any spread do not divide by zero.
func TestNoSpread(t *testing.T) {
	for name, r := range map[string]Result{
		"known":   {Class: 1, Known: true},
		"unknown": {},
		"exact":   {Class: 1, Known: true, Exact: true},
	} {
		j := New(DefaultSettings())
		for run := range 30 {
			var rs []Result
			for s := range 40 {
				r.Series, r.Value = s, 7
				if run == 28 {
					r.Value = 8
				}
				rs = append(rs, r)
			}
			vs, shifts := j.Run(rs)
			for _, v := range vs {
				checkNumbers(t, name, v, r.Exact)
			}
			for _, s := range shifts {
				if math.IsNaN(s.Change) || math.IsNaN(s.Half) || run < 28 {
					t.Fatalf("%s, run %d: %+v", name, run, s)
				}
			}
			if say := say(vs[0]); run > 2 && run < 28 && !strings.HasPrefix(say, "unchanged") {
				t.Fatalf("%s, run %d: %s", name, run, say)
			}
		}
	}
}

// checkNumbers: every number of a verdict is finite, but P of exact metrics.
func checkNumbers(t interface{ Fatalf(string, ...any) }, what string, v Verdict, exact bool) {
	for i, x := range []float64{v.Change, v.Half, v.Alpha, v.Margin, v.Chance, v.Detectable, v.Adjusted} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatalf("%s: number %d of %+v", what, i, v)
		}
	}
	if math.IsNaN(v.P) != (exact && v.Judged && v.Half == 0) || v.P < 0 || v.P > 1 {
		t.Fatalf("%s: p of %+v", what, v)
	}
	if v.Judged && (v.Margin <= 0 || v.Half < 0 || v.Detectable < v.Margin || v.Chance > v.Alpha || v.Runs < minRuns || v.Baseline < 0) {
		t.Fatalf("%s: %+v", what, v)
	}
}
