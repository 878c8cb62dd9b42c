package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"perfband/internal/perf"
)

// one is a result of a known machine, of no group.
func one(series int, value float64) Result {
	return Result{Series: series, Class: 1, Known: true, Group: -1, Value: value, Spread: 0.01}
}

// say is a verdict in short.
func say(v Verdict) string {
	var reasons []string
	for _, r := range v.Reasons {
		reasons = append(reasons, string(r))
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", v.Outcome, v.State, strings.Join(reasons, ";"))), " ")
}

// play judges one series over runs.
func play(j *Judge, values ...float64) (out []string) {
	for _, v := range values {
		vs, _ := j.Run([]Result{one(0, v)})
		out = append(out, say(vs[0]))
	}
	return out
}

func wantWords(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func settings(confirmAfter int) Settings {
	s := DefaultSettings()
	s.ConfirmAfter = confirmAfter
	return s
}

// quiet is six results within 1 % of each other: the next one is judged
// unchanged near 10 and claimed from 10.2 on.
var quiet = []float64{10, 10.01, 9.995, 10.005, 10, 9.99}

func TestFirstRuns(t *testing.T) {
	got := play(New(DefaultSettings()), 10, 10.1, 10.2)
	wantWords(t, "first runs", got, "inconclusive few-runs", "inconclusive few-runs", "inconclusive noisy")
}

func TestOtherMachine(t *testing.T) {
	j := New(DefaultSettings())
	play(j, quiet...)
	r := one(0, 15)
	r.Class = 2
	for i, want := range []string{"inconclusive other-machine", "inconclusive other-machine", "inconclusive noisy"} {
		vs, _ := j.Run([]Result{r})
		if say(vs[0]) != want || vs[0].Judged != (i == 2) {
			t.Errorf("run %d on another machine: %+v", i, vs[0])
		}
	}
	wantWords(t, "back on the first machine", play(j, 10), "inconclusive noisy")
	if j.tracks[0].classes[0].n() != len(quiet)+1 {
		t.Error("results of another machine got into the baseline")
	}
}

// An unknown machine is a class of its own, and is judged.
func TestUnknownMachineIsJudged(t *testing.T) {
	j := New(DefaultSettings())
	r := Result{Class: 3, Group: -1}
	for _, v := range quiet {
		r.Value = v
		j.Run([]Result{r})
	}
	r.Value = 10.9
	vs, _ := j.Run([]Result{r})
	if v := vs[0]; v.Outcome != perf.Slower || v.State != perf.Suspected || v.Alpha != 0.01 {
		t.Errorf("%+v", v)
	}
}

func TestLifeOfASlowdown(t *testing.T) {
	j := New(DefaultSettings())
	play(j, quiet...)
	got := play(j, 10.5, 10.51)
	wantWords(t, "a slowdown", got, "slower suspected", "slower confirmed")
	ch := j.Open(0)
	if ch == nil || ch.Since != 6 || ch.Confirmed != 7 || ch.Before != 5 || math.Abs(ch.Ratio-0.505) > 0.01 || !(ch.Half > 0 && ch.Half < 0.2) {
		t.Fatalf("open: %+v", ch)
	}
	for _, s := range play(j, 10.5, 10.505, 10.495, 10.5) {
		if strings.Contains(s, "slower") {
			t.Errorf("at the slow level: %s", s)
		}
	}
	if j.Open(0) == nil {
		t.Fatal("closed while it lasts")
	}
	got = play(j, 10)
	if !strings.Contains(got[0], "recovered") || j.Open(0) != nil {
		t.Fatalf("back: %q, open %+v", got, j.Open(0))
	}
	got = play(j, 10.01, 10.5, 10.5)
	if !strings.HasPrefix(got[1], "slower suspected") || !strings.HasPrefix(got[2], "slower confirmed") {
		t.Errorf("again: %q", got)
	}
	if ch := j.Open(0); ch == nil || ch.Since != 14 || ch.Confirmed != 15 {
		t.Errorf("open again: %+v", ch)
	}
}

// One slow run is suspected, and nothing more when the next one is not.
func TestOneSlowRun(t *testing.T) {
	j := New(DefaultSettings())
	play(j, quiet...)
	got := play(j, 10.5, 10)
	if got[0] != "slower suspected" || strings.Contains(got[1], "s ") || j.Suspicion(0) != 0 || j.Open(0) != nil {
		t.Errorf("%q", got)
	}
	if n := j.tracks[0].classes[0].n(); n != len(quiet)+2 {
		t.Errorf("the slow run is not part of the past: %d results", n)
	}
	if runs := j.tracks[0].classes[0].obs; runs[6].run != 6 || runs[7].run != 7 {
		t.Errorf("out of order: %+v", runs)
	}
}

func TestSuspicion(t *testing.T) {
	j := New(DefaultSettings())
	play(j, quiet...)
	play(j, 10.5)
	before, since, newest, ratio := j.SuspectedSince(0)
	if j.Suspicion(0) != 1 || since != 6 || before != 5 || newest != 6 || math.Abs(ratio-0.5) > 0.01 {
		t.Errorf("suspicion %v since %d after %d, %v", j.Suspicion(0), since, before, ratio)
	}
	if j.Suspicion(7) != 0 || j.Open(7) != nil {
		t.Error("a series nobody measured is suspected")
	}
	j.Accept(7)
}

// A claim of the other direction begins a suspicion of its own.
func TestOppositeClaims(t *testing.T) {
	j := New(DefaultSettings())
	play(j, quiet...)
	got := play(j, 10.8, 9.2)
	wantWords(t, "opposite", got, "slower suspected", "faster suspected")
	if j.Suspicion(0) != -1 || j.Open(0) != nil {
		t.Errorf("suspicion %v", j.Suspicion(0))
	}
	j = New(DefaultSettings())
	play(j, quiet...)
	wantWords(t, "faster", play(j, 9.2, 9.2), "faster suspected", "faster confirmed")
	if j.Open(0) != nil {
		t.Error("a speed-up is no open slowdown")
	}
	for _, s := range play(j, 9.2, 9.21) {
		if strings.Contains(s, "faster") || strings.Contains(s, "slower") {
			t.Errorf("at the new level: %s", s)
		}
	}
}

func TestConfirmAfter(t *testing.T) {
	j := New(settings(1))
	play(j, quiet...)
	wantWords(t, "after one", play(j, 10.5), "slower confirmed")
	if ch := j.Open(0); ch == nil || ch.Since != 6 || ch.Confirmed != 6 {
		t.Errorf("%+v", ch)
	}
	j = New(settings(3))
	play(j, quiet...)
	wantWords(t, "after three", play(j, 10.5, 10.5, 10.5), "slower suspected", "slower suspected", "slower confirmed")
	j = New(settings(3))
	play(j, quiet...)
	got := play(j, 10.5, 10.5, 10)
	if strings.Contains(got[2], "slower") || j.Open(0) != nil {
		t.Errorf("two of three: %q", got)
	}
}

// A second slowdown adds to the first; what undoes both in part leaves the rest
// open, what undoes them closes the change.
func TestChangesAdd(t *testing.T) {
	slow := func() *Judge {
		j := New(DefaultSettings())
		play(j, quiet...)
		play(j, 10.5, 10.5, 10.5, 10.5, 11, 11)
		return j
	}
	j := slow()
	if ch := j.Open(0); ch == nil || ch.Since != 6 || ch.Confirmed != 11 || math.Abs(ch.Ratio-1) > 0.02 {
		t.Fatalf("twice: %+v", ch)
	}
	long := New(DefaultSettings())
	play(long, quiet...)
	play(long, 10.5, 10.5)
	first := long.Open(0).Half
	for range 20 { // the second change is known better than the first
		play(long, 10.5)
	}
	play(long, 11, 11)
	if both := long.Open(0).Half; both <= first {
		t.Errorf("a change is known to %v, it and another to %v", first, both)
	}
	play(j, 11, 11, 10.5, 10.5)
	if ch := j.Open(0); ch == nil || math.Abs(ch.Ratio-0.5) > 0.02 {
		t.Errorf("half undone: %+v", ch)
	}
	j = slow()
	play(j, 11, 11, 9, 9)
	if j.Open(0) != nil {
		t.Errorf("faster than ever, and still open: %+v", j.Open(0))
	}
}

// A long slow time is no part of the past it came from; a short one is, since
// it may come again.
func TestRecoveryBaseline(t *testing.T) {
	for _, tc := range []struct{ slow, want int }{{2, 6 + 2 + 1}, {5, 6 + 5 + 1}, {6, 6 + 1}, {15, 6 + 1}} {
		j := New(DefaultSettings())
		play(j, quiet...)
		for range tc.slow {
			play(j, 10.5)
		}
		if got := play(j, 10); !strings.Contains(got[0], "recovered") {
			t.Errorf("%d slow runs: %q", tc.slow, got)
		}
		if n := j.tracks[0].classes[0].n(); n != tc.want {
			t.Errorf("%d slow runs: %d results, want %d", tc.slow, n, tc.want)
		}
	}
}

// A claim counts over machines that do not know the benchmark yet.
func TestSuspicionAcrossMachines(t *testing.T) {
	j := New(DefaultSettings())
	play(j, quiet...)
	play(j, 10.5)
	r := one(0, 20)
	r.Class = 2
	if vs, _ := j.Run([]Result{r}); say(vs[0]) != "inconclusive other-machine" {
		t.Errorf("%+v", vs[0])
	}
	wantWords(t, "next on the first machine", play(j, 10.5), "slower confirmed")
	if ch := j.Open(0); ch.Since != 6 || ch.Confirmed != 8 {
		t.Errorf("%+v", ch)
	}
	if n := find(j.tracks[0].classes, 2).n(); n != 1 {
		t.Errorf("the other machine's past has %d results: they are of the new level", n)
	}
}

func TestAccept(t *testing.T) {
	values := map[string][]float64{
		"nothing":   nil,
		"suspected": {10.5},
		"confirmed": {10.5, 10.5},
		"worse":     {10.5, 10.5, 11},
	}
	since := map[string]int{"nothing": 5, "suspected": 6, "confirmed": 6, "worse": 6}
	for name, extra := range values {
		j := New(DefaultSettings())
		play(j, quiet...)
		play(j, extra...)
		j.Accept(0)
		if j.Open(0) != nil || j.Suspicion(0) != 0 || j.tracks[0].before != nil {
			t.Errorf("%s: not closed", name)
		}
		want := len(quiet) + len(extra) - since[name]
		b := j.tracks[0].classes[0]
		if b.n() != want || b.obs[0].run != since[name] {
			t.Errorf("%s: the baseline is %+v", name, b.obs)
		}
		if got := play(j, 10); strings.Contains(got[0], "recovered") {
			t.Errorf("%s: recovered from what was accepted: %q", name, got)
		}
	}
	j := New(settings(1))
	play(j, quiet...)
	play(j, 10.5)
	j.Accept(0)
	for i, s := range play(j, 10.5, 10.5, 10.49, 10.505) {
		if strings.Contains(s, "slower") || strings.Contains(s, "faster") {
			t.Errorf("run %d at the accepted level: %s", i, s)
		}
	}
}

// Two clusters of earlier results are told as such.
func TestTwoClusters(t *testing.T) {
	j := New(DefaultSettings())
	r := Result{Class: 0, Group: -1}
	var got string
	for i := range 16 {
		r.Value = 10 + 0.4*float64(i%2) + 0.001*float64(i)
		vs, _ := j.Run([]Result{r})
		got = say(vs[0])
	}
	if got != "inconclusive two-clusters" {
		t.Errorf("%q", got)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	b := &baseline{}
	wrong := 0
	for range 2000 {
		b.obs = nil
		for i := range 20 {
			b.obs = append(b.obs, obs{run: i, value: 0.3 * rng.NormFloat64()})
		}
		if b.clusters(math.Log(1.05)) {
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("normal noise lies in two clusters in %d of 2000 cases", wrong)
	}
}

// A change beyond the interval but below the margin is told, not claimed.
func TestSmallChange(t *testing.T) {
	j := New(DefaultSettings())
	r := one(0, 0)
	for s := range 40 { // a suite as quiet as this benchmark
		for i := range 20 {
			for len(j.tracks) <= s {
				j.tracks = append(j.tracks, track{})
			}
			r.Series, r.Value = s, 10+0.001*float64((i*7+s)%5)
			j.tracks[s].add(r, obs{run: i, value: r.Value, raw: r.Value, cv: math.NaN()})
		}
	}
	j.run = 19
	vs, _ := j.Run([]Result{one(0, 10.05)})
	if say(vs[0]) != "inconclusive small" || vs[0].Margin != math.Log(1.05) {
		t.Errorf("%s %+v", say(vs[0]), vs[0])
	}
	vs, _ = j.Run([]Result{one(1, 10.06), one(2, 10.003)})
	if say(vs[0]) != "slower suspected" || say(vs[1]) != "unchanged" {
		t.Errorf("%s, %s", say(vs[0]), say(vs[1]))
	}
}

// The margin lies between the smallest and the full one, five standard
// deviations in between.
func TestMargin(t *testing.T) {
	j := New(DefaultSettings())
	for _, tc := range []struct{ sd, want float64 }{{0.001, math.Log(1.05)}, {0.015, 0.075}, {0.5, math.Log(1.1)}} {
		if got := j.margin(&candidate{variance: tc.sd * tc.sd}); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("sd %v: margin %v, want %v", tc.sd, got, tc.want)
		}
	}
}

func TestWindow(t *testing.T) {
	j := New(DefaultSettings())
	for i := range 100 {
		j.Run([]Result{one(0, 10+0.001*float64(i%7)), {Series: 1, Class: i % 3, Known: true, Group: -1, Value: 5}})
	}
	b := j.tracks[0].classes[0]
	if b.n() != 20 || b.obs[0].run != 80 || b.newest() != 99 || cap(b.obs) > 64 {
		t.Errorf("%d results from run %d to %d, room for %d", b.n(), b.obs[0].run, b.newest(), cap(b.obs))
	}
	if n := len(j.tracks[1].classes); n != 3 {
		t.Errorf("%d baselines for three machines", n)
	}
	if v, _ := j.Run([]Result{one(0, 10)}); v[0].Runs != 20 || v[0].Baseline != 99 {
		t.Errorf("%+v", v[0])
	}
}
