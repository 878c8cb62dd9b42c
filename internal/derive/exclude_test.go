package derive

import (
	"slices"
	"strings"
	"testing"
	"time"

	"perfband/internal/config"
	"perfband/internal/perf"
)

// buildWith builds from entries with a configuration.
func buildWith(t *testing.T, change func(*config.Config), entries ...perf.Entry) *Derived {
	t.Helper()
	opt := Options{Config: config.Default()}
	change(&opt.Config)
	d, diags, err := Build(seq(entries), opt)
	if err != nil || len(diags) > 0 {
		t.Fatalf("Build: %v %v", err, diags)
	}
	return d
}

func excluding(list ...config.Excluded) func(*config.Config) {
	return func(c *config.Config) { c.Excluded = list }
}

// fourDays are two benchmarks on two machines over four days.
func fourDays() (out []perf.Entry) {
	for i, v := range []string{"100 101 102", "101 102 100", "900 900 901", "100 102 101"} {
		e := entry(string(rune('1'+i))+".1", day.AddDate(0, 0, i), "A "+v, "B "+v)
		e.Meta.Env.CPUModel = []string{"fast CPU", "fast CPU", "slow CPU", "fast CPU"}[i]
		out = append(out, e)
	}
	return out
}

// What is left out stands in the run with its reason, and nowhere else.
func TestExcluded(t *testing.T) {
	third := day.AddDate(0, 0, 2)
	for name, tc := range map[string]struct {
		list  []config.Excluded
		left  string // results left out
		whole bool   // a run of which nothing is left
	}{
		"by run":                {[]config.Excluded{{Run: "3", Reason: "bad"}}, "3/A 3/B", true},
		"by attempt":            {[]config.Excluded{{Run: "3.1", Reason: "bad"}}, "3/A 3/B", true},
		"by another attempt":    {[]config.Excluded{{Run: "3.2", Reason: "bad"}}, "", false},
		"by machine":            {[]config.Excluded{{Machine: "slow*", Reason: "bad"}}, "3/A 3/B", false},
		"by time":               {[]config.Excluded{{From: third, To: third.Add(time.Second), Reason: "bad"}}, "3/A 3/B", true},
		"until a time":          {[]config.Excluded{{To: third, Reason: "bad"}}, "1/A 1/B 2/A 2/B", true},
		"from a time":           {[]config.Excluded{{From: third, Reason: "bad"}}, "3/A 3/B 4/A 4/B", true},
		"by benchmark and time": {[]config.Excluded{{Benchmark: "m/*BenchmarkA", From: third, To: third.Add(time.Second), Reason: "bad"}}, "3/A", false},
		"by benchmark and run":  {[]config.Excluded{{Benchmark: "m/*BenchmarkB", Run: "3", Reason: "bad"}}, "3/B", false},
		"by machine and run":    {[]config.Excluded{{Machine: "slow CPU", Run: "2", Reason: "bad"}}, "", false},
		"by two entries":        {[]config.Excluded{{Run: "1", Reason: "bad"}, {Machine: "slow CPU", Reason: "bad"}}, "1/A 1/B 3/A 3/B", true},
	} {
		d := buildWith(t, excluding(tc.list...), fourDays()...)
		var left []string
		runs := 0
		for _, run := range d.Runs {
			for _, r := range run.Results {
				id := run.Meta.Run.RunID + "/" + strings.TrimPrefix(r.Label, "Benchmark")
				if r.Excluded != "" {
					left = append(left, id)
				}
				if r.Excluded != "" && (r.Excluded != "bad" || r.InTrend || r.Metrics[0].N != 3 || r.Metrics[0].Verdict.Outcome != "") {
					t.Errorf("%s: %+v", name, r)
				}
			}
			if run.Excluded != "" {
				runs++
				if run.InTrend || run.Excluded != "excluded: bad" {
					t.Errorf("%s: %+v", name, run)
				}
			}
		}
		if got := strings.Join(left, " "); got != tc.left || (runs > 0) != tc.whole {
			t.Errorf("%s: left out %q, %d whole runs", name, got, runs)
		}
		n := 8 - len(left)
		points := 0
		for _, s := range d.Series {
			points += len(s.Points)
		}
		if points != n {
			t.Errorf("%s: %d points, want %d", name, points, n)
		}
		for _, table := range []string{"stats", "verdicts"} {
			if rows, _ := d.Export(table, ""); len(rows.Rows) != n {
				t.Errorf("%s: %d rows of %s, want %d", name, len(rows.Rows), table, n)
			}
		}
	}
}

// A run of several entries loses the one that is named and no other, whichever
// stands first; and what is left out neither joins nor displaces what counts.
func TestExcludedEntry(t *testing.T) {
	shards := func() []perf.Entry {
		a, b := entry("7.1", day, "A 100 101", "X 7 7"), entry("7.1", day, "B 200 201", "X 70 70")
		a.Meta.Run.ID, a.Meta.Run.Shard, a.Path = "7.1.arm", "arm", a.Path+".arm"
		b.Meta.Run.ID, b.Meta.Run.Shard, b.Path = "7.1.x64", "x64", b.Path+".x64"
		return []perf.Entry{a, b}
	}
	for run, want := range map[string]struct{ left, mean string }{
		"7.1.arm": {"A X", "70"},
		"7.1.x64": {"B X", "7"},
	} {
		d := buildWith(t, excluding(config.Excluded{Run: run, Reason: "bad"}), shards()...)
		var left []string
		for _, r := range d.Runs[0].Results {
			name := strings.TrimPrefix(r.Label, "Benchmark")
			if r.Excluded != "" {
				left = append(left, name)
			} else if name == "X" && (r.Metrics[0].Mean.String() != want.mean || r.Metrics[0].N != 2 || len(r.Key.Params) > 0) {
				t.Errorf("%s: X is %+v", run, r)
			}
		}
		slices.Sort(left)
		if got := strings.Join(left, " "); got != want.left || !d.Runs[0].InTrend || d.Runs[0].Excluded != "" {
			t.Errorf("%s: left out %q, run excluded %q", run, got, d.Runs[0].Excluded)
		}
		if len(d.Series) != 2 {
			t.Errorf("%s: %d series", run, len(d.Series))
		}
	}
	d := buildWith(t, excluding(config.Excluded{Run: "7.1.arm", Reason: "bad"}, config.Excluded{Run: "7.1.x64", Reason: "worse"}), shards()...)
	if d.Runs[0].InTrend || !strings.HasPrefix(d.Runs[0].Excluded, "excluded: ") {
		t.Errorf("both entries: %+v", d.Runs[0])
	}
}

// A retired series keeps its page and its results, and leaves the lists.
func TestRetired(t *testing.T) {
	retire := excluding(config.Excluded{Benchmark: "m/A", Reason: "replaced by B"})
	d := judgedRuns(days(0, append(slices.Clone(steady), 150, 151)...), retire)
	if s := d.Series[0]; s.Retired != "replaced by B" || len(s.Points) != 8 || len(d.Open) > 0 {
		t.Errorf("retired %q, %d points, open %s", s.Retired, len(s.Points), openOf(d))
	}
	if got := saidOf(d, "A", perf.Time)[7]; got != "slower confirmed" {
		t.Errorf("its verdict is %q", got)
	}
	if d.Badge.State == "red" || d.Badge.State == "amber" {
		t.Errorf("%+v", d.Badge)
	}
}

// What is left out does not become the past of what counts.
func TestExcludedIsNoPast(t *testing.T) {
	runs := days(0, 100, 101, 99, 500, 510, 490, 100, 150)
	for _, run := range runs[3:6] {
		run.Results[0].InTrend, run.Results[0].Excluded = false, "bad"
	}
	d := judgedRuns(runs, nil)
	got := saidOf(d, "A", perf.Time)
	if got[3] != "" || strings.Contains(got[6], "recovered") || strings.Contains(got[6], "faster") || got[7] != "slower suspected" {
		t.Errorf("%q", got)
	}
}
