package history

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// past is a random history: benchmarks come and go, machines change, some
// values are exact, some runs are slow as a whole, some benchmarks step.
type past struct {
	series int
	runs   [][]Result
}

func drawPast(t *rapid.T) past {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	p := past{series: 1 + rng.IntN(45)}
	level := make([]float64, p.series)
	for s := range level {
		level[s] = 2 + 12*rng.Float64()
	}
	classes, groups := 1+rng.IntN(3), 1+rng.IntN(4)
	for range 1 + rng.IntN(30) {
		var run []Result
		machine := make([]float64, groups)
		for g := range machine {
			if rng.IntN(6) == 0 {
				machine[g] = 0.3 * rng.NormFloat64()
			}
		}
		class := rng.IntN(classes)
		for s := range p.series {
			if rng.IntN(8) == 0 {
				continue
			}
			if rng.IntN(40) == 0 {
				level[s] += 0.3 * rng.NormFloat64()
			}
			g := s%(groups+1) - 1
			r := Result{Series: s, Class: class, Known: class > 0, Group: g, Spread: 0.05 * rng.Float64(), Value: level[s] + 0.01*float64(1+s%9)*rng.NormFloat64()}
			if g >= 0 {
				r.Value += machine[g]
			}
			if r.Exact = s%7 == 3; r.Exact {
				r.Value = level[s]
			}
			run = append(run, r)
		}
		p.runs = append(p.runs, run)
	}
	return p
}

// outcome is everything a judge says of a run, by series.
type outcome struct {
	verdicts map[int]Verdict
	shifts   []Shift
	open     map[int]Change
}

// judge plays a past. The maps give series and groups their names back.
func (p past) judge(series, group func(int) int) (out []outcome) {
	j := New(DefaultSettings())
	for _, run := range p.runs {
		vs, shifts := j.Run(run)
		o := outcome{map[int]Verdict{}, shifts, map[int]Change{}}
		for i, v := range vs {
			o.verdicts[series(run[i].Series)] = v
		}
		for i := range o.shifts {
			o.shifts[i].Group, o.shifts[i].Class = group(o.shifts[i].Group), 0
		}
		slices.SortFunc(o.shifts, func(a, b Shift) int { return cmp.Compare(a.Group, b.Group) })
		for s := range p.series {
			if ch := j.Open(s); ch != nil {
				o.open[series(s)] = *ch
			}
		}
		out = append(out, o)
	}
	return out
}

func same(n int) int { return n }

// alike compares what was said of two pasts, numbers to rounding.
func alike(t *rapid.T, a, b []outcome) {
	for run := range a {
		if len(a[run].verdicts) != len(b[run].verdicts) || len(a[run].shifts) != len(b[run].shifts) || len(a[run].open) != len(b[run].open) {
			t.Fatalf("run %d: %d and %d verdicts, shifts %+v and %+v, open %+v and %+v", run, len(a[run].verdicts), len(b[run].verdicts),
				a[run].shifts, b[run].shifts, a[run].open, b[run].open)
		}
		for s, v := range a[run].verdicts {
			w := b[run].verdicts[s]
			if say(v) != say(w) || v.Judged != w.Judged || v.Baseline != w.Baseline || v.Runs != w.Runs {
				t.Fatalf("run %d, series %d:\n%+v\n%+v", run, s, v, w)
			}
			near(t, v.Change, w.Change)
			near(t, v.Half, w.Half)
			near(t, v.Margin, w.Margin)
			near(t, v.Detectable, w.Detectable)
		}
		for i, s := range a[run].shifts {
			near(t, s.Change, b[run].shifts[i].Change)
		}
		for s, c := range a[run].open {
			if d := b[run].open[s]; c.Since != d.Since || c.Confirmed != d.Confirmed || c.Before != d.Before {
				t.Fatalf("run %d, series %d is open as %+v and %+v", run, s, c, d)
			}
		}
	}
}

func near(t *rapid.T, a, b float64) {
	if math.Abs(a-b) > 1e-6*(1e-3+math.Abs(a)) {
		t.Fatalf("%v and %v", a, b)
	}
}

// The order of the results of a run has no influence, to the last bit.
func TestOrderOfResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPast(t)
		want := p.judge(same, same)
		rng := rand.New(rand.NewPCG(3, 4))
		for i, run := range p.runs {
			p.runs[i] = slices.Clone(run)
			rng.Shuffle(len(run), func(a, b int) { p.runs[i][a], p.runs[i][b] = p.runs[i][b], p.runs[i][a] })
		}
		got := p.judge(same, same)
		for run := range want {
			for s, v := range got[run].verdicts { // NaN is not equal to itself
				w := want[run].verdicts[s]
				if math.IsNaN(v.P) && math.IsNaN(w.P) {
					v.P, w.P = 0, 0
				}
				got[run].verdicts[s], want[run].verdicts[s] = v, w
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("another order gives another verdict:\n%+v\n%+v", got, want)
		}
	})
}

// What series, classes and groups are called has no influence.
func TestNamesOfSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPast(t)
		want := p.judge(same, same)
		rng := rand.New(rand.NewPCG(7, rapid.Uint64().Draw(t, "names")))
		series, class, group := rng.Perm(p.series), rng.Perm(5), rng.Perm(9)
		q := past{series: p.series}
		for _, run := range p.runs {
			var renamed []Result
			for _, r := range run {
				r.Series, r.Class = series[r.Series], class[r.Class]
				if r.Group >= 0 {
					r.Group = group[r.Group]
				}
				renamed = append(renamed, r)
			}
			q.runs = append(q.runs, renamed)
		}
		back := func(perm []int) func(int) int {
			return func(n int) int { return slices.Index(perm, n) }
		}
		alike(t, want, q.judge(back(series), back(group)))
	})
}

// Units have no influence: a constant added to all values of all series changes
// nothing. Added to those of some series it changes nothing as long as there
// are too few histories for the spread to depend on the time scale.
func TestScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPast(t)
		want := p.judge(same, same)
		few := p.series*3 < 30 // each on three machines
		some := rapid.Bool().Draw(t, "some") && few
		by := rapid.Float64Range(-10, 10).Draw(t, "by")
		q := past{series: p.series}
		for _, run := range p.runs {
			moved := slices.Clone(run)
			for i := range moved {
				if !some || moved[i].Series%2 == 0 {
					moved[i].Value += by
				}
			}
			q.runs = append(q.runs, moved)
		}
		alike(t, want, q.judge(same, same))
	})
}

// Whatever was measured, every number is finite, an unchanged verdict lies
// inside its margin, a claim outside, and the past stays bounded.
func TestVerdictsHoldTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPast(t)
		j := New(settings(1 + len(p.runs)%3))
		for _, run := range p.runs {
			vs, _ := j.Run(run)
			for i, v := range vs {
				checkNumbers(t, "verdict", v, run[i].Exact)
				switch {
				case v.Outcome == "unchanged" && math.Abs(v.Change)+v.Half > v.Margin,
					(v.Outcome == "slower" || v.Outcome == "faster") && (math.Abs(v.Change) <= v.Half || math.Abs(v.Change) < v.Margin || (v.Change > 0) != (v.Outcome == "slower") || v.State == ""),
					v.Outcome == "inconclusive" && v.State == "" && len(v.Reasons) == 0,
					!v.Judged && v.Outcome != "inconclusive":
					t.Fatalf("%+v", v)
				}
			}
		}
		for _, tr := range j.tracks {
			for _, b := range append(slices.Clone(tr.classes), tr.before...) {
				if b.n() > window {
					t.Fatalf("a baseline of %d results", b.n())
				}
			}
			if tr.suspect != nil && len(tr.suspect.results) >= j.set.ConfirmAfter || len(tr.classes) > 3 || len(tr.before) > 3 {
				t.Fatalf("%+v", tr)
			}
		}
	})
}
