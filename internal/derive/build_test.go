package derive

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/config"
	"perfband/internal/perf"
)

var day = time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)

// entry is an archived Go benchmark run; lines are "name value...".
func entry(id string, day time.Time, lines ...string) perf.Entry {
	var b strings.Builder
	b.WriteString("pkg: example.test/m\n")
	for _, l := range lines {
		name, values, _ := strings.Cut(l, " ")
		for v := range strings.FieldsSeq(values) {
			fmt.Fprintf(&b, "Benchmark%s 100 %s ns/op\n", name, v)
		}
	}
	runID, attempt, _ := strings.Cut(id, ".")
	e := perf.Entry{Path: "benchmarks/" + day.Format("2006-01-02") + "/" + id, Content: b.String(),
		Modules: []perf.EntryModule{{Folder: "m", Module: "m"}},
		Raw:     fstest.MapFS{"m/bench.txt": {Data: []byte(b.String())}}}
	e.Meta.Run = perf.Run{ID: id, RunID: runID, Kind: perf.Bench, Started: day}
	if attempt != "" {
		fmt.Sscan(attempt, &e.Meta.Run.Attempt)
	}
	return e
}

func seq(entries []perf.Entry) iter.Seq2[perf.Entry, error] {
	return func(yield func(perf.Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func build(t *testing.T, entries ...perf.Entry) *Derived {
	t.Helper()
	d, diags, err := Build(seq(entries), Options{Config: config.Default()})
	if err != nil || len(diags) > 0 {
		t.Fatalf("Build: %v %v", err, diags)
	}
	return d
}

// dump is everything exported, as text.
func dump(d *Derived) string {
	var b strings.Builder
	for _, name := range TableNames {
		t, _ := d.Export(name, "")
		for _, row := range t.Rows {
			for _, c := range row {
				b.WriteString(c.Text + "|")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func ids(d *Derived) string {
	var out []string
	for _, r := range d.Runs {
		id := r.ID
		if r.DuplicateOf != "" {
			id += "(copy)"
		}
		out = append(out, id)
	}
	return strings.Join(out, " ")
}

// The order in which entries are found never shows.
func TestBuildIgnoresOrderOfEntries(t *testing.T) {
	var entries []perf.Entry
	for i := range 8 {
		entries = append(entries, entry(fmt.Sprintf("%d.1", 100+i), day.AddDate(0, 0, i), fmt.Sprintf("A %d %d %d", 100+i, 101+i, 102), "B 5 5 5"))
	}
	again := entry("103.1", day.AddDate(0, 0, 9), "A 103 104 102", "B 5 5 5")
	entries = append(entries, again)
	want := dump(build(t, entries...))
	if !strings.Contains(want, "BenchmarkA") || strings.Count(want, "\n") < 3*8 {
		t.Fatalf("nothing to compare:\n%s", want)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		if d := cmp.Diff(want, dump(build(t, entries...))); d != "" {
			t.Fatalf("another order gives another result:\n%s", d)
		}
	}
}

func TestCopiesOfOneRunCollapse(t *testing.T) {
	a := entry("7", day, "A 100 101 102")
	b := entry("7", day.AddDate(0, 0, 1), "A 100 101 102")
	c := entry("8", day.AddDate(0, 0, 2), "A 100 101 103")
	d := build(t, c, b, a)
	if got := ids(d); got != "7 7(copy) 8" {
		t.Errorf("runs = %s", got)
	}
	if n := len(d.Series[0].Points); n != 2 {
		t.Errorf("the trend has %d points, want 2: a copy is not a measurement", n)
	}
	cp := d.Runs[1]
	if cp.DuplicateOf != "7" || cp.Counts.Benchmarks != 1 || cp.InTrend || len(cp.Diagnostics) != 1 {
		t.Errorf("copy: %+v", cp)
	}
	if d.Runs[0].OriginPath != a.Path {
		t.Errorf("the earliest folder must count, not %s", d.Runs[0].OriginPath)
	}
}

func TestNewestAttemptPerShardCounts(t *testing.T) {
	linux := entry("7.1", day, "A 100 100 100")
	linux.Meta.Run.Shard = "linux"
	arm := entry("7.1", day, "B 200 200 200")
	arm.Meta.Run.Shard, arm.Path = "arm", arm.Path+".arm"
	again := entry("7.2", day, "A 150 150 150")
	again.Meta.Run.Shard = "linux"
	d := build(t, linux, arm, again)
	if got := ids(d); got != "7.2" {
		t.Fatalf("runs = %s", got)
	}
	var got []string
	for _, r := range d.Runs[0].Results {
		got = append(got, r.Label+"="+r.Metrics[0].Mean.String())
	}
	if want := "BenchmarkA=150 BenchmarkB=200"; strings.Join(got, " ") != want {
		t.Errorf("results = %v, want %s", got, want)
	}
}

// Calls of one run add up, whatever date they ended in; a newer attempt
// replaces all calls of the older one.
func TestSecondCalls(t *testing.T) {
	first := entry("7.1", day, "A 100 100 100")
	call := entry("7.1", day, "B 101 101 101")
	call.Path, call.Meta.Run.SecondCall = call.Path+".xaaaaaaaa", "aaaaaaaa"
	night := entry("7.1", day.AddDate(0, 0, 1), "C 102 102 102")
	d := build(t, first, call, night)
	if len(d.Runs) != 1 || len(d.Runs[0].Results) != 3 {
		t.Fatalf("three calls of one run: %s\n%s", ids(d), dump(d))
	}
	again := entry("7.2", day.AddDate(0, 0, 2), "B 201 201 201")
	d = build(t, first, call, night, again)
	if r := d.Runs[0]; len(d.Runs) != 1 || len(r.Results) != 1 || r.Results[0].Metrics[0].N != 3 || r.ID != "7.2" || len(r.Diagnostics) != 3 {
		t.Errorf("after another attempt: %s\n%s %v", ids(d), dump(d), r.Diagnostics)
	}
}

// The same bytes under two names are one measurement.
func TestSameFileCountsOnce(t *testing.T) {
	e := entry("1.1", day, "A 100 101 102")
	fsys := e.Raw.(fstest.MapFS)
	fsys["m/copy.txt"] = fsys["m/bench.txt"]
	e.Meta.Files = []perf.FileInfo{{Path: "raw/m/bench.txt", SHA256: "s", Bytes: 1}, {Path: "raw/m/copy.txt", SHA256: "s", Bytes: 1}}
	r := build(t, e).Runs[0]
	if r.Results[0].Metrics[0].N != 3 || len(r.Diagnostics) != 1 || r.Diagnostics[0].Code != "same-file" {
		t.Errorf("n = %d, %v", r.Results[0].Metrics[0].N, r.Diagnostics)
	}
}

// A failure beside numbers never takes their key.
func TestFailureKeepsGoodKey(t *testing.T) {
	e := entry("1.1", day)
	e.Raw = fstest.MapFS{"m/a.txt": {Data: []byte("pkg: p\n--- FAIL: BenchmarkA\nFAIL\n")}, "m/b.txt": {Data: []byte("pkg: p\nBenchmarkA 10 5 ns/op\n")}}
	for _, r := range build(t, e).Runs[0].Results {
		if good := r.Key.Benchmark() == "p.BenchmarkA"; good != (r.Status == perf.OK) {
			t.Errorf("%s is %s", r.Key, r.Status)
		}
	}
}

// A child commit comes after its parent even when its clock was behind.
func TestRunsOrderedByAncestry(t *testing.T) {
	sha := func(c string) string { return strings.Repeat(c, 40) }
	child := entry("1.1", day, "A 1 1 1")
	child.Meta.Commit = perf.Commit{SHA: sha("b"), Parents: []string{sha("a")}, Time: day.Add(-time.Hour)}
	parent := entry("2.1", day.AddDate(0, 0, 1), "A 1 1 1")
	parent.Meta.Commit = perf.Commit{SHA: sha("a"), Time: day}
	if got := ids(build(t, child, parent)); got != "2.1 1.1" {
		t.Errorf("order = %s, want the parent first", got)
	}
	parent.Meta.Commit.Parents = []string{sha("b")} // forged: each the other's parent
	if got := ids(build(t, child, parent)); got != "1.1 2.1" {
		t.Errorf("order = %s, want time order where ancestry contradicts itself", got)
	}
}

func TestStability(t *testing.T) {
	for _, tc := range []struct {
		name, values string
		want         Stability
		reason       string
	}{
		{"two samples", "100 100", Unstable, "n = 2, at least 3 needed"},
		{"three, small spread", "100 101 102", Stable, ""},
		{"three, over 3 %", "100 104 108", Unstable, "CV 3.8 % > 3.0 % (n = 3)"},
		{"ten, under 10 %", "100 104 108 100 104 108 100 104 108 104", Stable, ""},
		{"ten, over 10 %", "100 140 100 140 100 140 100 140 100 140", Unstable, "CV 17.6 % > 10.0 % (n = 10)"},
		{"all zero", "0 0 0", Unstable, "the mean is not positive"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := build(t, entry("1.1", day, "A "+tc.values)).Runs[0].Results[0]
			if r.Stability != tc.want || r.StabilityReason != tc.reason {
				t.Errorf("%q (%s), want %q (%s)", r.Stability, r.StabilityReason, tc.want, tc.reason)
			}
		})
	}
}

func TestTrendMembership(t *testing.T) {
	for _, tc := range []struct {
		name     string
		change   func(*perf.Run)
		excluded string
	}{
		{"default branch", func(r *perf.Run) { r.Ref, r.DefaultBranch = "refs/heads/main", "main" }, ""},
		{"branch unknown", func(*perf.Run) {}, ""},
		{"another branch", func(r *perf.Run) { r.Ref, r.DefaultBranch = "refs/heads/x", "main" }, "other branch"},
		{"pull request", func(r *perf.Run) { r.Ref = "refs/pull/7/merge" }, "other branch"},
		{"dry", func(r *perf.Run) { r.JobKind = perf.Dry }, "dry"},
		{"short", func(r *perf.Run) { r.JobKind = perf.Short }, "short"},
		{"medium", func(r *perf.Run) { r.JobKind = perf.Medium }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := entry("1.1", day, "A 1 1 1")
			tc.change(&e.Meta.Run)
			d := build(t, e)
			if r := d.Runs[0]; r.Excluded != tc.excluded || r.InTrend != (tc.excluded == "") {
				t.Errorf("excluded %q, in trend %v", r.Excluded, r.InTrend)
			}
			if (len(d.Series) > 0) != (tc.excluded == "") {
				t.Errorf("%d series", len(d.Series))
			}
			if len(d.Runs[0].Results) != 1 {
				t.Error("a run outside trends must be kept all the same")
			}
		})
	}
}

// The ADR's rule is recorded beside the verdict, and does not decide it.
func TestLegacySignalIsNotAVerdict(t *testing.T) {
	d := build(t, runsOf("100 101 102", "101 101 101", "105 105 106")...)
	var got []string
	for _, p := range d.Series[0].Points {
		v := p.Metric.Verdict
		got = append(got, fmt.Sprintf("%s %v", v.Outcome, v.LegacyCI99))
	}
	if d := cmp.Diff([]string{"inconclusive false", "inconclusive false", "inconclusive true"}, got); d != "" {
		t.Error(d)
	}
}

// Results that share a key are joined or told apart, never merged by name.
func TestDistinct(t *testing.T) {
	e := entry("1.1", day, "A 100 101")
	e.Raw.(fstest.MapFS)["m/more.txt"] = &fstest.MapFile{Data: []byte("pkg: example.test/m\nBenchmarkA 100 103 ns/op\n")}
	r := build(t, e).Runs[0].Results
	if len(r) != 1 || r[0].Metrics[0].N != 3 || r[0].Rows != 3 {
		t.Errorf("repeats in two files: %d results, %+v", len(r), r[0])
	}
	e = entry("1.1", day, "A-2 100 101")
	e.Raw.(fstest.MapFS)["m/more.txt"] = &fstest.MapFile{Data: []byte("pkg: example.test/m\nBenchmarkA-4 100 60 ns/op\n")}
	r = build(t, e).Runs[0].Results
	if len(r) != 2 || r[0].Key.Benchmark() == r[1].Key.Benchmark() {
		t.Errorf("two processor counts: %v", dump(build(t, e)))
	}
}

func TestExportUnknownTable(t *testing.T) {
	if _, ok := (&Derived{}).Export("everything", ""); ok {
		t.Error("an unknown table was exported")
	}
}
