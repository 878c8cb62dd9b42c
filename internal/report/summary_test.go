package report

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func metric(name string, u perf.Unit, mean, half float64, n int) derive.Metric {
	m := derive.Metric{Name: name, Unit: u, Better: perf.Lower, N: n, Mean: perf.Some(mean), Median: perf.Some(mean)}
	if half > 0 {
		m.CI = perf.Interval{Level: 0.99, Lo: perf.Some(mean - half), Hi: perf.Some(mean + half)}
	}
	return m
}

func result(module, name string, ms ...derive.Metric) *derive.Result {
	return &derive.Result{Key: perf.Key{Kind: perf.Bench, Module: module, Name: name}, Label: name, Status: perf.OK,
		Stability: derive.Stable, Metrics: ms}
}

// sample is a run with one of everything the summary tells.
func sample() (*derive.Derived, *derive.Run, Info) {
	run := &derive.Run{ID: "24618369617.1", Kind: perf.Bench, Started: time.Date(2026, 4, 19, 2, 58, 0, 0, time.UTC), InTrend: true,
		Counts: derive.Counts{Benchmarks: 1727, Failed: 1, Missing: 1, Stable: 1640, Unstable: 84, ExpectedUnstable: 3, Carried: 61},
		CPUs:   []derive.CPUCount{{Model: "AMD EPYC 7763", Results: 79}, {Model: "", Results: 19}}}
	run.Meta.Commit = perf.Commit{SHA: "9f2c1ab000000000000000000000000000000000", Untrusted: true}
	run.Meta.Run.Ref = "refs/heads/main"
	run.Meta.Missing = []perf.Expected{{Module: "Encina.Polly", Benchmark: "RateLimit_Refill"}}
	failed := result("Encina.Polly", "Retry(attempts: 3)")
	failed.Status, failed.Reason = perf.Fail, "the process was killed"
	other := metric(perf.Time, perf.Nanoseconds, 118, 9, 3)
	other.CI.Level = 0.999
	exact := metric(perf.AllocBytes, perf.Bytes, 1216, 0, 1)
	exact.Exact = true
	run.Results = []*derive.Result{
		result("Encina", "Mediator.Send_Command", metric(perf.Time, perf.Nanoseconds, 4310, 60, 15), exact), failed,
		result("Encina", "Once", metric(perf.Time, perf.Nanoseconds, 812.5, 0, 1)),
		result("Encina", "Tool", other), result("Encina", "Allocations", exact),
		result("Encina", "Throughput", metric(perf.Throughput, perf.PerSecond, 12e6, 4e5, 5)),
	}
	left := result("Encina", "Left out", metric(perf.Time, perf.Nanoseconds, 4310, 60, 15))
	left.Excluded = "the host was throttled"
	run.Results = append(run.Results, left)
	d := &derive.Derived{Level: 0.99}
	judge(d, run)
	run.Diagnostics = []perf.Diagnostic{{Severity: perf.Warning, What: "statistics of 3 benchmarks are empty", Where: perf.Where{File: "Encina.Refit/result.json"},
		Why: "they were run once", Do: "They are stored raw and not used for trends."}}
	return d, run, Info{RunURL: "https://github.com/o/r/actions/runs/24618369617", SiteURL: "https://o.github.io/r/perf/",
		RawBranch: "perf-raw", RawCommit: "77aa01c000000000000000000000000000000000", RawFiles: 4, RawBytes: 217088,
		SiteBranch: "gh-pages", SiteCommit: "0be5120000000000000000000000000000000000", SiteBytes: 31744}
}

func num(v float64) perf.Num { return perf.Some(v) }

// verdict of a state with an interval of five in a hundred.
func verdict(o perf.Outcome, s perf.State, ratio float64, reasons ...string) perf.Verdict {
	return perf.Verdict{Outcome: o, State: s, Baseline: "24610000000.1", Ratio: num(ratio), Lo: num(0.95 * ratio), Hi: num(1.05 * ratio),
		PValue: num(0.0001), PAdjusted: num(0.0123), Reasons: reasons}
}

// judge gives the sample one verdict of each sort.
func judge(d *derive.Derived, run *derive.Run) {
	of := func(name string, v perf.Verdict) *derive.Result {
		r := result("Encina", name, metric(perf.Time, perf.Nanoseconds, 100, 1, 15))
		r.Metrics[0].Verdict = v
		run.Results = append(run.Results, r)
		return r
	}
	before := &derive.Run{ID: "24600000000.1", Kind: perf.Bench, Started: time.Date(2026, 4, 12, 2, 58, 0, 0, time.UTC)}
	first := &derive.Run{ID: "24610000000.1", Kind: perf.Bench, Started: time.Date(2026, 4, 18, 2, 58, 0, 0, time.UTC)}
	confirmed := of("Confirmed", verdict(perf.Slower, perf.Confirmed, 1.3))
	suspected := of("Suspected", verdict(perf.Slower, perf.Suspected, 1.16))
	again := of("Again", verdict(perf.Slower, perf.Suspected, 1.2))
	earlier := of("Earlier", verdict(perf.Unchanged, "", 1))
	of("Accepted", verdict(perf.Slower, "", 1.4, "accepted"))
	of("Small gain", verdict(perf.Faster, perf.Confirmed, 0.9))
	of("Large gain", verdict(perf.Faster, perf.Suspected, 0.5))
	of("Back", verdict(perf.Inconclusive, perf.Recovered, 1.01, "noisy"))
	of("Noisy", verdict(perf.Inconclusive, "", 1.01, "platform-shift", "noisy"))
	of("New", perf.Verdict{Outcome: perf.Inconclusive, Reasons: []string{"few-runs"}})
	gone := of("Retired", verdict(perf.Slower, perf.Confirmed, 3))
	d.Series = []*derive.Series{{Key: gone.Key, Metric: perf.Time, Retired: "removed in 2.0"}, {Key: earlier.Key, Metric: perf.Time}}
	allocs := run.Results[0] // also allocates more than it did
	allocs.Metrics[1].Verdict = perf.Verdict{Outcome: perf.Slower, State: perf.Suspected, Baseline: first.ID, Ratio: num(2), Lo: num(2), Hi: num(2)}
	open := func(r *derive.Result, metric string, since, confirmed *derive.Run, ratio, half float64) {
		o := derive.Open{Key: r.Key, Label: r.Label, Metric: metric, Since: since, Before: before, Confirmed: confirmed, Ratio: num(ratio)}
		if confirmed != nil {
			o.Lo, o.Hi = num(ratio-half), num(ratio+half)
		}
		d.Open = append(d.Open, o)
	}
	open(earlier, perf.Time, before, first, 1.5, 0.1)
	open(confirmed, perf.Time, first, run, 1.31, 0.04)
	open(again, perf.Time, first, first, 1.25, 0.05)
	open(suspected, perf.Time, run, nil, 1.16, 0)
	open(allocs, perf.AllocBytes, run, nil, 2, 0)
	other := result("checkout", "browse")
	other.Key.Kind = perf.Load
	open(other, perf.Latency, run, run, 4, 1)
	run.Claims = derive.Claims{Slower: 6, Faster: 2, Unchanged: 1711, Inconclusive: 8, Suspected: 3, Confirmed: 2, Recovered: 1, Judged: 1719, Chance: 12.4}
	run.Shifts = []derive.Shift{{Module: "Encina", Metric: perf.Time, CPU: "AMD EPYC 7763", Ratio: num(1.06), Lo: num(1.05), Hi: num(1.07), Results: 45}}
}

func TestSummaryGolden(t *testing.T) {
	path := filepath.Join("..", "..", "testdata", "report", "summary.md")
	got := Summary(sample())
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("summary differs (-want +got); -update rewrites it:\n%s", diff)
	}
}

func TestSummaryHeadline(t *testing.T) {
	for _, c := range []struct {
		run  derive.Run
		want string
	}{
		{derive.Run{Kind: perf.Bench, Counts: derive.Counts{Benchmarks: 727}}, "727 benchmarks measured, not judged"},
		{derive.Run{Kind: perf.Load, Counts: derive.Counts{Benchmarks: 1, Failed: 2}}, "1 scenario measured, not judged, 2 failed"},
		{derive.Run{Kind: perf.Bench, Excluded: "dry", Counts: derive.Counts{Benchmarks: 3}}, "3 benchmarks reported, not in trends (dry)"},
		{derive.Run{Kind: perf.Bench, Excluded: "copy", DuplicateOf: "1", Counts: derive.Counts{Benchmarks: 3}}, "3 benchmarks, a copy of an earlier run"},
		{derive.Run{Kind: perf.Bench}, "0 benchmarks measured, not judged"},
		{derive.Run{Kind: perf.Bench, Counts: derive.Counts{Benchmarks: 3}, Claims: derive.Claims{Inconclusive: 3}, Results: undecidedResults("noisy", "few-runs", "few-runs")},
			"3 benchmarks measured, not judged: too few earlier runs"},
		{derive.Run{Kind: perf.Bench, Counts: derive.Counts{Benchmarks: 547}, Claims: derive.Claims{Slower: 2, Faster: 1, Unchanged: 484, Inconclusive: 60, Judged: 500}},
			"2 slower, 1 faster, 484 unchanged, 60 inconclusive"},
		{derive.Run{Kind: perf.Bench, Counts: derive.Counts{Benchmarks: 5, Missing: 1}, Claims: derive.Claims{Unchanged: 5, Judged: 5}}, "0 slower, 0 faster, 5 unchanged, 1 missing"},
	} {
		c.run.InTrend = c.run.Excluded == ""
		got, _, _ := strings.Cut(Summary(&derive.Derived{Level: 0.99}, &c.run, Info{}), "\n")
		if got != "## perfband publish: "+c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func undecidedResults(reasons ...string) []*derive.Result {
	var out []*derive.Result
	for _, why := range reasons {
		r := result("m", why, metric(perf.Time, perf.Nanoseconds, 1, 0, 1))
		r.Metrics[0].Verdict = perf.Verdict{Outcome: perf.Inconclusive, Reasons: []string{why}}
		out = append(out, r)
	}
	return out
}

// A change is written so that nobody reads it backwards, and only with numbers
// that are known.
func TestChange(t *testing.T) {
	none := perf.Num{}
	for _, c := range []struct {
		claim claim
		want  string
	}{
		{claim{metric: perf.Time, ratio: num(1.16), lo: num(1.1), hi: num(1.22)}, "+16 % [+10, +22]"},
		{claim{metric: perf.Time, ratio: num(1.16)}, "+16.0 %"},
		{claim{metric: perf.Throughput, ratio: num(2), lo: num(1.9), hi: num(2.1)}, "2.00× slower [1.90, 2.10]"},
		{claim{metric: "latency_p95", ratio: num(2), lo: num(1.9), hi: num(2.1)}, "2.00× slower [1.90, 2.10]"},
		{claim{metric: perf.AllocBytes, ratio: num(2), lo: num(2), hi: num(2)}, "2.00× worse (exact)"},
		{claim{metric: perf.AllocBytes, ratio: num(1.131378), lo: num(1.131368), hi: num(1.131388)}, "+13.1 % (exact)"},
		{claim{metric: perf.Allocs, ratio: num(0), lo: num(0), hi: num(0)}, "−100.0 % (exact)"},
		{claim{metric: perf.Allocs, ratio: none}, "from 0"},
		{claim{metric: perf.ErrorRate, value: num(0.004), ratio: num(5), lo: num(4), hi: num(6)}, "now 0.40 %"},
		{claim{metric: perf.ErrorRate, ratio: num(5)}, "–"},
	} {
		if got := change(c.claim); got != c.want {
			t.Errorf("%+v: %q, want %q", c.claim, got, c.want)
		}
	}
}

// hostile are names that would be markup, links, mentions or references, or
// would break a table.
var hostile = []string{
	"a|b", "`x`_``y``", "<img src=x onerror=alert(1)>", "</details></summary><h1>big</h1>", "--><script>alert(1)</script>",
	"[docs](javascript:alert(1))", "![p](https://tracker.test/p.png)", "@everyone @octocat", "Fixes #1", "GH-1", "octo/repo#1",
	"https://tracker.test/a?b=c", "www.tracker.test", "a@b.test", ":rocket:", "a\nb\r\n| c |", "Send\u202edrawkcab", "tab\there",
	"0123456789abcdef0123456789abcdef01234567", "$\\href{https://tracker.test}{x}$", "\\|", "&lt;b&gt;", strings.Repeat("x|`@a", 800),
}

// outsideCode is a line of Markdown without its code spans: a run of backticks
// up to the next run of the same length.
func outsideCode(line string) string {
	fence := regexp.MustCompile("`+")
	var out strings.Builder
	for {
		open := fence.FindStringIndex(line)
		if open == nil {
			return out.String() + line
		}
		out.WriteString(line[:open[0]])
		rest := line[open[1]:]
		end := -1
		for _, at := range fence.FindAllStringIndex(rest, -1) {
			if at[1]-at[0] == open[1]-open[0] {
				end = at[1]
				break
			}
		}
		if end < 0 {
			return out.String() + rest
		}
		line = rest[end:]
	}
}

func TestSummaryHostileNames(t *testing.T) {
	for _, name := range hostile {
		d, run, info := sample()
		clean := strings.Count(Summary(d, run, info), "\n")
		d.Open[0].Key.Name, d.Open[0].Metric, d.Open[0].Since.ID, run.Shifts[0].Module, run.Shifts[0].CPU = name, name, name, name, name
		for _, r := range run.Results {
			r.Metrics = slices.Clone(r.Metrics)
			for i := range r.Metrics {
				if v := &r.Metrics[i].Verdict; v.Outcome != "" {
					v.Reasons, v.Baseline = append(v.Reasons, name), name
				}
			}
		}
		run.Results[6].Key.Name, run.Results[6].Excluded = name, name
		run.Results[0].Key.Name, d.Open[4].Key.Name, run.Results[1].Reason, run.CPUs[0].Model = name, name, name, name
		run.Meta.Missing[0].Benchmark, run.Diagnostics[0].What, run.Meta.Run.Ref, run.ID = name, name, name, name
		got := Summary(d, run, info)
		if n := strings.Count(got, "\n"); n != clean {
			t.Errorf("%.40q: %d lines, want %d", name, n, clean)
		}
		for _, line := range strings.Split(got, "\n") {
			bare := outsideCode(line)
			bare = strings.NewReplacer("https://github.com/o/r", "", "https://o.github.io/r", "", "<details><summary>", "", "</summary>", "", "</details>", "").Replace(bare)
			for _, bad := range []string{"@", "#1", "GH-1", "tracker", "<", "![", "javascript", "\u202e", ":rocket:"} {
				if strings.Contains(bare, bad) {
					t.Errorf("%.40q: %q stands free in %q", name, bad, line)
				}
			}
		}
	}
}

// An address that is no plain web address must not become a link.
func TestSummaryLinks(t *testing.T) {
	d, run, info := sample()
	for _, bad := range []string{"", "javascript:alert(1)", "https://x/) [y](https://z", "//x", "https:///x", "ftp://x/y"} {
		info.RunURL, info.SiteURL = bad, bad
		if got := Summary(d, run, info); strings.Contains(got, "](") {
			t.Errorf("%q became a link:\n%s", bad, got)
		}
	}
}

func TestSummaryStaysSmall(t *testing.T) {
	d, run, info := sample()
	long := strings.Repeat("\U0001F680|`", 2000)
	for i := range 20_000 {
		r := result("M", long, metric(perf.Time, perf.Nanoseconds, float64(i+1), 0.1, 10))
		r.Metrics[0].Verdict = verdict([]perf.Outcome{perf.Slower, perf.Faster}[i%2], perf.Suspected, 2, long)
		d.Open = append(d.Open, derive.Open{Key: r.Key, Metric: long, Since: d.Open[0].Since, Ratio: num(2)})
		run.Shifts = append(run.Shifts, derive.Shift{Module: long, CPU: long, Metric: long})
		if i%2 == 0 {
			r.Status, r.Reason = perf.Fail, long
		}
		run.Results = append(run.Results, r)
		run.Diagnostics = append(run.Diagnostics, perf.Diagnostic{What: long, Why: long})
		run.Meta.Missing = append(run.Meta.Missing, perf.Expected{Module: "M", Benchmark: long})
		run.CPUs = append(run.CPUs, derive.CPUCount{Model: long, Results: 1})
	}
	got := Summary(d, run, info)
	if len(got) > limits.SummaryBytes {
		t.Errorf("%d bytes", len(got))
	}
	for _, want := range []string{"and 9 981 more", "and 19 981 more", "9 816 more are on the dashboard"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q", want)
		}
	}
}
