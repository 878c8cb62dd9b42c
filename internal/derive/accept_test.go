package derive

import (
	"slices"
	"strings"
	"testing"

	"perfband/internal/config"
	"perfband/internal/perf"
)

// accepting sets acceptances; what follows is true of the configuration file.
func accepting(list ...config.Accepted) func(*config.Config) {
	return func(c *config.Config) { c.Accepted = list }
}

// holds lets the checkout of every run from one on hold an acceptance.
func holds(runs []*Run, from int, a config.Accepted) []*Run {
	for _, run := range runs[from:] {
		run.Meta.Accepted = append(run.Meta.Accepted, a.ID())
	}
	return runs
}

// Whenever an acceptance takes effect, the slowdown of day 6 is closed, and the
// level stays what later runs are compared with.
func TestAccepted(t *testing.T) {
	slow := slices.Concat(steady, []float64{150, 151, 149, 150, 150})
	for _, tc := range []struct {
		name   string
		values []float64
		a      config.Accepted
		from   int // first day whose checkout holds it
		want   []string
	}{
		{"by the commit that made it", slow, config.Accepted{Commit: sha(6)}, 0,
			[]string{"slower accepted", "inconclusive few-runs", "inconclusive noisy"}},
		{"by the beginning of its hash", slow, config.Accepted{Commit: sha(6)[:7]}, 0,
			[]string{"slower accepted", "inconclusive few-runs"}},
		{"in the same commit", slow, config.Accepted{}, 6, []string{"slower accepted", "inconclusive few-runs"}},
		{"one commit later", slow, config.Accepted{}, 7, []string{"slower suspected", "inconclusive few-runs", "inconclusive noisy"}},
		{"when confirmed", slow, config.Accepted{}, 8, []string{"slower suspected", "slower confirmed", "inconclusive noisy"}},
		{"long after", slow, config.Accepted{}, 10, []string{"slower suspected", "slower confirmed"}},
		{"for its metric", slow, config.Accepted{Metric: perf.Time, Commit: sha(6)}, 0, []string{"slower accepted"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, pattern := range []string{"m/A", "m/*", "*/A", "*"} {
				tc.a.Benchmark = pattern
				runs := days(0, tc.values...)
				if tc.a.Commit == "" {
					holds(runs, tc.from, tc.a)
				}
				d := judgedRuns(runs, accepting(tc.a))
				got := saidOf(d, "A", perf.Time)
				if !slices.Equal(got[6:6+len(tc.want)], tc.want) || len(d.Open) > 0 {
					t.Errorf("%s: %q, want %q; open %s", pattern, got[6:], tc.want, openOf(d))
				}
				for _, s := range got[8:] {
					if strings.Contains(s, "slower") || strings.Contains(s, "recovered") {
						t.Errorf("%s: after it: %q", pattern, got[6:])
					}
				}
			}
		})
	}
}

// What the acceptance does not name stays open.
func TestAcceptedOthers(t *testing.T) {
	for name, a := range map[string]config.Accepted{
		"another benchmark":        {Benchmark: "m/B", Commit: sha(6)},
		"another module":           {Benchmark: "x/*", Commit: sha(6)},
		"another metric":           {Benchmark: "m/A", Metric: perf.Allocs, Commit: sha(6)},
		"a commit nobody measured": {Benchmark: "m/A", Commit: strings.Repeat("f", 40)},
		"an earlier commit":        {Benchmark: "m/A", Commit: sha(2)},
		"no run holds it":          {Benchmark: "m/A"},
	} {
		d := judgedRuns(days(0, append(slices.Clone(steady), 150, 151)...), accepting(a))
		if openOf(d) != "A time+" {
			t.Errorf("%s: open %q", name, openOf(d))
		}
	}
}

// A pull request's head counts as well as the commit that was measured.
func TestAcceptedByHead(t *testing.T) {
	runs := days(0, append(slices.Clone(steady), 150, 151)...)
	runs[6].Meta.Run.Head = "abcdef0123"
	d := judgedRuns(runs, accepting(config.Accepted{Benchmark: "m/A", Commit: "abcdef0"}))
	if len(d.Open) > 0 {
		t.Errorf("open %s", openOf(d))
	}
}

// An acceptance takes effect once. A commit that is measured again and again,
// or a checkout that still holds it, does not begin the trend anew each time,
// and another slowdown is found.
func TestAcceptedOnce(t *testing.T) {
	for _, commit := range []bool{true, false} {
		a := config.Accepted{Benchmark: "m/A"}
		values := slices.Concat(steady, []float64{150, 151, 149, 150, 151, 150, 230, 231})
		runs := days(0, values...)
		if commit {
			a.Commit = sha(6)
			for _, run := range runs[6:] {
				run.Meta.Commit.SHA = sha(6)
			}
		} else {
			holds(runs, 6, a)
		}
		d := judgedRuns(runs, accepting(a))
		got := saidOf(d, "A", perf.Time)
		if !strings.HasPrefix(got[11], "unchanged") && !strings.Contains(got[11], "noisy") || got[12] != "slower suspected" || got[13] != "slower confirmed" || openOf(d) != "A time+" {
			t.Errorf("by commit %v: %q", commit, got[6:])
		}
	}
}

// A run that measures other benchmarks or other kinds does not use an
// acceptance up: each benchmark waits until it is measured.
func TestAcceptedWaits(t *testing.T) {
	a := config.Accepted{Benchmark: "*"}
	for name, first := range map[string]*Run{
		"another benchmark": runWith(5, of("B", timed(7))),
		"another kind":      runWith(5, scenario("s", made(perf.Latency, perf.Lower, 7))),
		"another metric":    runWith(5, of("A", made(perf.RealTime, perf.Lower, 7))),
	} {
		runs := append(days(0, steady[:5]...), first)
		runs = append(runs, days(6, 150, 151, 150, 151, 150)...)
		d := judgedRuns(holds(runs, 5, a), accepting(a))
		got := saidOf(d, "A", perf.Time)
		if got[5] != "slower accepted" || len(d.Open) > 0 {
			t.Errorf("%s first: %q, open %s", name, got[5:], openOf(d))
		}
	}
	// What is open is closed at once, by whichever run brings the acceptance.
	runs := append(days(0, append(slices.Clone(steady), 150, 151)...), runWith(8, of("B", made(perf.RealTime, perf.Lower, 7))))
	if d := judgedRuns(holds(runs, 8, a), accepting(a)); len(d.Open) > 0 {
		t.Errorf("open %s", openOf(d))
	}
}

// Where nothing is claimed an acceptance says nothing, and begins the trend anew.
func TestAcceptedQuietly(t *testing.T) {
	d := judgedRuns(days(0, steady...), accepting(config.Accepted{Benchmark: "m/A", Commit: sha(4)}))
	got := saidOf(d, "A", perf.Time)
	if strings.Contains(got[4], "accepted") || strings.Contains(got[4], "few-runs") || got[5] != "inconclusive few-runs" {
		t.Errorf("%q", got)
	}
}

// Two acceptances of one benchmark, and of one nobody has measured.
func TestAcceptedTwice(t *testing.T) {
	values := slices.Concat(steady, []float64{150, 151, 150, 151, 150, 151, 150, 225, 226, 225})
	list := []config.Accepted{{Benchmark: "m/A", Commit: sha(6)}, {Benchmark: "m/A", Commit: sha(13)}, {Benchmark: "m/gone", Commit: sha(6)}}
	d := judgedRuns(days(0, values...), accepting(list...))
	got := saidOf(d, "A", perf.Time)
	if got[6] != "slower accepted" || got[13] != "slower accepted" || got[14] != "inconclusive few-runs" || len(d.Open) > 0 {
		t.Errorf("%q, open %s", got[6:], openOf(d))
	}
	if d := judgedRuns(days(0, values...), accepting(list[0])); openOf(d) != "A time+" {
		t.Errorf("with the first alone: open %s", openOf(d))
	}
	// Both at once do no more than one.
	list[1].Commit, list[1].Reason = sha(6), "again"
	d = judgedRuns(days(0, values[:9]...), accepting(list...))
	if got := saidOf(d, "A", perf.Time); !slices.Equal(got[6:], []string{"slower accepted", "inconclusive few-runs", "inconclusive noisy"}) {
		t.Errorf("both at once: %q", got[6:])
	}
	runs := days(0, values[:9]...)
	for i := range list[:2] {
		list[i].Commit = ""
		holds(runs, 7, list[i])
	}
	d = judgedRuns(runs, accepting(list[:2]...))
	if got := saidOf(d, "A", perf.Time); !slices.Equal(got[6:], []string{"slower suspected", "inconclusive few-runs", "inconclusive noisy"}) {
		t.Errorf("both at once, a commit later: %q", got[6:])
	}
}

// An acceptance ends the open slowdown and takes what its own run adds, whatever
// number of runs confirm.
func TestAcceptedWorse(t *testing.T) {
	for after := 1; after <= 3; after++ {
		values := slices.Concat(steady, []float64{150, 151, 150, 151, 230, 231, 230})
		d := judgedRuns(days(0, values...), func(c *config.Config) {
			c.Verdict.ConfirmAfter = after
			c.Accepted = []config.Accepted{{Benchmark: "m/A", Commit: sha(10)}}
		})
		got := saidOf(d, "A", perf.Time)
		if len(d.Open) > 0 || got[10] != "slower accepted" {
			t.Errorf("confirmed after %d: %q, open %s", after, got[6:], openOf(d))
		}
	}
}

// A percentile of a load test is accepted by its name in lists.
func TestAcceptedPercentile(t *testing.T) {
	var runs []*Run
	for i, v := range append(slices.Clone(steady), 150, 151) {
		m := made(perf.Latency, perf.Lower, v)
		m.P95, m.P99 = perf.Some(2*v), perf.Some(3*v)
		runs = append(runs, runWith(i, scenario("s", m)))
	}
	d := judgedRuns(runs, accepting(config.Accepted{Benchmark: "m/s", Metric: "latency_p95", Commit: sha(6)}))
	if openOf(d) != "s latency+, s latency_p99+" {
		t.Errorf("open %s", openOf(d))
	}
}
