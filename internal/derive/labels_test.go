package derive

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/config"
	"perfband/internal/perf"
	"perfband/internal/stats"
)

// odd are samples with one outlier by every rule, and with a drift.
var (
	oddSamples = "100 101 102 100 101 102 100 101 102 100 101 102 100 101 500"
	drifting   = "100 101 102 103 105 106 108 109 111 112 114 115 117 118 120 121"
)

func labelRows(d *Derived) (out []string) {
	t, _ := d.Export("labels", "")
	for _, row := range t.Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text)
		}
		out = append(out, strings.Join(cells, "|"))
	}
	return out
}

func TestLabelsTable(t *testing.T) {
	entries := []perf.Entry{entry("1.1", day, "Odd "+oddSamples, "Drift "+drifting, "Even 100 101 102 101 100 101 102 100")}
	for _, rule := range []string{"iqr", "mad", "zscore", "grubbs"} {
		d := buildWith(t, func(c *config.Config) { c.Stats.Outliers = rule }, entries...)
		want := []string{
			"1.1|m|example.test/m.BenchmarkDrift||time|drift|gradual||16|1.1724137931|increase",
			"1.1|m|example.test/m.BenchmarkOdd||time|outliers|" + rule + "|1|15||",
		}
		if diff := cmp.Diff(want, labelRows(d)); diff != "" {
			t.Errorf("%s: %s", rule, diff)
		}
		for _, r := range d.Runs[0].Results {
			n := map[string]int{"BenchmarkOdd": 15, "BenchmarkDrift": 16, "BenchmarkEven": 8}[r.Label]
			if m := r.Metrics[0]; m.N != n || r.Label == "BenchmarkOdd" && m.Max.String() != "500" {
				t.Errorf("%s: statistics of %s leave samples out", rule, r.Label)
			}
		}
	}
	if d := buildWith(t, excluding(config.Excluded{Run: "1", Reason: "bad"}), entries...); len(labelRows(d)) > 0 {
		t.Errorf("labels of what is left out: %v", labelRows(d))
	}
}

func TestLabelWords(t *testing.T) {
	l := Labels{Outliers: 2, OutlierRule: stats.OutlierRule("mad"), Drift: "sudden", DriftDirection: "decrease", DriftRatio: perf.Some(0.75)}
	want := []string{"2 of 9 samples are outliers (mad)", "sudden decrease while measuring: last quarter 0.75 x the first"}
	if diff := cmp.Diff(want, l.Words(9)); diff != "" {
		t.Error(diff)
	}
	if words := (Labels{OutlierRule: "iqr"}).Words(9); words != nil {
		t.Errorf("nothing odd: %q", words)
	}
}

// anomaliesOf are those of the newest of runs with one count or share each.
func anomaliesOf(metric string, work []float64, values ...float64) string {
	var runs []*Run
	for i, v := range values {
		m := made(metric, perf.Lower, v)
		if work != nil {
			m.Labels.Work = work[i]
		}
		runs = append(runs, runWith(i, of("A", timed(100), m)))
	}
	judgedRuns(runs, nil)
	var out []string
	for _, a := range runs[len(runs)-1].Results[0].Anomalies {
		out = append(out, a.Metric+" "+a.Reason)
	}
	return strings.Join(out, "; ")
}

func TestAnomalies(t *testing.T) {
	for name, tc := range map[string]struct{ got, want string }{
		"collections":            {anomaliesOf(perf.GC0, nil, 12, 12, 13, 11, 12, 12, 41), "gc0 high: 41, against a median of 12 in 6 other runs"},
		"as ever":                {anomaliesOf(perf.GC1, nil, 12, 12, 13, 11, 12, 12, 12), ""},
		"few runs":               {anomaliesOf(perf.GC2, nil, 12, 12, 13, 11, 41), ""},
		"of more work":           {anomaliesOf(perf.GC0, []float64{100, 100, 100, 100, 100, 100, 350}, 12, 12, 13, 11, 12, 12, 42), ""},
		"of more work, as many":  {anomaliesOf(perf.GC0, []float64{100, 100, 100, 100, 100, 100, 400}, 12, 12, 13, 11, 12, 12, 12), "gc0 low: 12, against a median of 48 in 6 other runs"},
		"of unknown work":        {anomaliesOf(perf.GC0, []float64{100, 100, 100, 100, 100, 100, 0}, 12, 12, 13, 11, 12, 12, 12), ""},
		"CPU":                    {anomaliesOf(perf.CPU, nil, 0.5, 0.5, 0.52, 0.49, 0.5, 0.5, 0.9), "cpu high: 90, against a median of 50 in 6 other runs"},
		"less CPU":               {anomaliesOf(perf.CPU, nil, 0.5, 0.5, 0.52, 0.49, 0.5, 0.5, 0.2), "cpu low: 20, against a median of 50 in 6 other runs"},
		"other metrics are none": {anomaliesOf(perf.RSS, nil, 12, 12, 13, 11, 12, 12, 41), ""},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %q, want %q", name, tc.got, tc.want)
		}
	}
}

// An anomaly is exported and changes no verdict.
func TestAnomalyIsNoVerdict(t *testing.T) {
	var runs []*Run
	for i, v := range append(slices.Clone(steady), 100) {
		gc := 12.0
		if i == 6 {
			gc = 99
		}
		runs = append(runs, runWith(i, of("A", timed(v), made(perf.GC0, perf.Lower, gc))))
	}
	d := judgedRuns(runs, nil)
	if rows := labelRows(d); len(rows) != 1 || rows[0] != "6.1|m|A||gc0|anomaly|unlike-others||||high: 99, against a median of 12 in 6 other runs" {
		t.Errorf("%q", rows)
	}
	if got := newestOf(d, "A", perf.Time); strings.HasPrefix(got, "slower") {
		t.Errorf("the time is %s", got)
	}
	if got := newestOf(d, "A", perf.GC0); got != "none not-judged" {
		t.Errorf("collections are %s", got)
	}
}

// What is new in a derivation is remembered: labels, what is left out and why,
// and acceptances.
func TestMemoKeepsLabelsAndLists(t *testing.T) {
	a := config.Accepted{Benchmark: "m/*", Reason: "meant"}
	opt := Options{Config: config.Default(), Reach: SiteReach}
	opt.Config.Accepted = []config.Accepted{a}
	opt.Config.Excluded = []config.Excluded{{Run: "2", Benchmark: "m/*Even", Reason: "bad"}}
	var entries []perf.Entry
	for i := range 9 {
		v := 100
		if i >= 6 {
			v = 170
		}
		e := entry(fmt.Sprint(i+1, ".1"), day.AddDate(0, 0, i), "Odd "+oddSamples, "Drift "+drifting, fmt.Sprintf("Even %d %d %d", v+i%3, v+1, v+2), fmt.Sprint("One ", v+i%2))
		e.ID, e.DateID, e.Meta.Commit.SHA = fmt.Sprint("id", i), fmt.Sprint("date", i), sha(i)
		if i >= 6 {
			e.Meta.Accepted = []string{a.ID()}
		}
		entries = append(entries, e)
	}
	fresh, _, err := Build(seq(entries), opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(fresh.Open) > 0 || !strings.Contains(dump(fresh), "accepted") {
		t.Fatalf("nothing was accepted: open %s", openOf(fresh))
	}
	files, err := fresh.MemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for _, f := range files {
		fsys[f.Path] = &fstest.MapFile{Data: f.Data}
	}
	if opt.Memo, err = ReadMemo(fsys, opt); err != nil {
		t.Fatal(err)
	}
	opt.Reread = func(folder string) (perf.Entry, error) {
		return perf.Entry{}, fmt.Errorf("%s was read again", folder)
	}
	again, _, err := Build(opt.Memo.Entries(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(dump(fresh), dump(again)); diff != "" {
		t.Errorf("remembered otherwise:\n%s", diff)
	}
	for i, run := range fresh.Runs {
		for k, r := range run.Results {
			s := again.Runs[i].Results[k]
			if r.Excluded != s.Excluded || r.InTrend != s.InTrend || len(r.Metrics) != len(s.Metrics) {
				t.Errorf("run %s: %+v is remembered as %+v", run.ID, r, s)
			}
			for m := range r.Metrics {
				if diff := cmp.Diff(r.Metrics[m].Labels, s.Metrics[m].Labels, cmp.AllowUnexported(perf.Num{})); diff != "" {
					t.Errorf("run %s: %s", run.ID, diff)
				}
			}
		}
	}
	// Other lists are another basis.
	opt.Config.Excluded = nil
	if m, err := ReadMemo(fsys, opt); err != nil || len(m.Known()) > 0 {
		t.Errorf("a memo of other lists was used: %v", err)
	}
}

// BenchmarkJudge derives what rests on all runs together: 2,000 benchmarks over
// 500 runs.
func BenchmarkJudge(b *testing.B) {
	var runs []*Run
	for i := range 500 {
		rs := make([]*Result, 0, 2000)
		for k := range 2000 {
			noise := 0.02 * math.Sin(float64(k*k+1)*float64(i*i+7))
			r := of(fmt.Sprint("B", k), timed(float64(k+9)*(1+noise)))
			r.Key.Module, r.Env.CPUModel = fmt.Sprint("m", k/50), fmt.Sprint("CPU ", (i*7+k/50)%3)
			rs = append(rs, r)
		}
		runs = append(runs, runWith(i, rs...))
	}
	for b.Loop() {
		d := &Derived{Runs: runs}
		d.judge(Options{Config: config.Default()})
		b.ReportMetric(float64(len(d.Open)), "open")
	}
}
