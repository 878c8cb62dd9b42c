package site

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"image/png"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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

// example is a site with one of everything: three machines, an unstable, an
// expected-unstable, a failed and a missing benchmark, one with a single
// sample, one that only a dry run has, a carried point, a copy, load tests, and
// every sort of verdict (see judge).
func example() *derive.Derived {
	s := newSynthetic()
	for i := range 3 {
		r := s.run(perf.Bench, i)
		r.Meta.Commit.Untrusted = i == 0
		s.add(r, "Widgets.Core", "Router.Route(hops: 3)", i%2, measured(perf.Time, perf.Nanoseconds, s.samples(4310, 0.01, 5)),
			exact(perf.AllocBytes, perf.Bytes, float64(96+8*i))).DocRef = "bench:core/route"
		s.add(r, "Widgets.Core", "Once", 2, measured(perf.Time, perf.Nanoseconds, s.samples(118, 0.01, 1)))
		s.add(r, "Widgets.Core", "Wrap(width: 40)", 0, measured(perf.Time, perf.Nanoseconds, s.samples([]float64{11.6e3, 15.8e3, 15.9e3}[i], 0.01, 5)))
		s.add(r, "Widgets.Core", "Old", 0, measured(perf.Time, perf.Nanoseconds, s.samples(70, 0.01, 5)))
		if i == 0 {
			res := s.add(r, "Widgets.Core", "Wrap(width: 80)", 0, measured(perf.Time, perf.Nanoseconds, s.samples(99e3, 0.01, 5)))
			res.InTrend, res.Excluded = false, "the runner was <throttled>"
		} else {
			s.add(r, "Widgets.Core", "Wrap(width: 80)", 0, measured(perf.Time, perf.Nanoseconds, s.samples(16e3, 0.01, 5)))
		}
		noisy := s.add(r, "Widgets.Polly", "Retry", i, measured(perf.Time, perf.Nanoseconds, s.samples(33e3, 0.3, 6)))
		switch i {
		case 1:
			s.add(r, "Widgets.Core", "Gone", 0, measured(perf.Time, perf.Nanoseconds, s.samples(5, 0.01, 4)))
		case 2:
			noisy.Stability, noisy.StabilityReason = derive.ExpectedUnstable, "it waits for the network"
			r.Results[0].CarriedFrom = s.d.Runs[0].ID
			f := s.add(r, "Widgets.Polly", "Refill", 0)
			f.Status, f.Reason, f.InTrend = perf.Fail, "the process was killed", false
			r.Meta.Missing = []perf.Expected{{Module: "Widgets.Polly", Benchmark: "Acquire"}}
			r.Diagnostics = []perf.Diagnostic{{Severity: perf.Warning, What: "statistics are empty", Where: perf.Where{File: "Widgets.Polly/results.json"}}}
		}
		rate := reported(perf.Throughput, perf.PerSecond, perf.Some(1450+float64(i)*20), perf.Num{}, perf.Num{}, perf.Num{})
		latency := reported(perf.Latency, perf.Nanoseconds, perf.Some(21e6), perf.Some(18e6+float64(i)*1e5), perf.Some(61e6), perf.Num{})
		l := s.run(perf.Load, i)
		s.add(l, "shop", "Checkout", 0, latency, rate, reported(perf.ErrorRate, perf.Ratio, perf.Some(0.004), perf.Num{}, perf.Num{}, perf.Num{}))
		s.add(l, "shop", "Search", 0, rate)
	}
	twin := *s.d.Runs[2]
	twin.DuplicateOf, twin.InTrend, twin.Excluded = twin.ID, false, "copy"
	s.d.Runs = slices.Insert(s.d.Runs, 3, &twin)
	dry := s.run(perf.Bench, 3)
	dry.JobKind, dry.InTrend, dry.Excluded = perf.Dry, false, "dry"
	s.add(dry, "Widgets.Core", "Planned", 0, measured(perf.Time, perf.Nanoseconds, []float64{5e6}))
	return judge(s.finish())
}

func render(t *testing.T, d *derive.Derived) map[string][]byte {
	t.Helper()
	files, err := Render(d)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for i, f := range files {
		if i > 0 && files[i-1].Path >= f.Path {
			t.Errorf("%s after %s", f.Path, files[i-1].Path)
		}
		out[f.Path] = f.Data
	}
	return out
}

// golden tells which files the golden site holds: not those that are embedded
// as they are, nor images, whose bytes differ between architectures.
func golden(path string) bool {
	return path != "app.css" && path != "icon.svg" && path != "method/index.html" && !strings.HasSuffix(path, ".png")
}

func TestGolden(t *testing.T) {
	dir := filepath.Join("..", "..", "testdata", "site", "small")
	got := render(t, example())
	maps.DeleteFunc(got, func(path string, _ []byte) bool { return !golden(path) })
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		for path, data := range got {
			write(t, filepath.Join(dir, filepath.FromSlash(path)), data)
		}
	}
	want := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		want[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	for path, data := range got {
		if diff := cmp.Diff(string(want[path]), string(data)); diff != "" {
			t.Errorf("%s differs (-want +got); -update rewrites it:\n%s", path, diff)
		}
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestDeterministic(t *testing.T) {
	a, b := render(t, example()), render(t, example())
	for path := range a {
		if !bytes.Equal(a[path], b[path]) {
			t.Errorf("%s differs between two runs", path)
		}
	}
}

// A run's page must not change when later runs come: the site's history would
// otherwise hold a copy of every run page for every publish.
func TestRunPagesStayTheSame(t *testing.T) {
	longer, shorter := render(t, history(6, 30, 5)), render(t, history(5, 30, 5))
	compared := 0
	for path, data := range shorter {
		if strings.HasPrefix(path, "run/") {
			compared++
			if !bytes.Equal(data, longer[path]) {
				t.Errorf("%s changed", path)
			}
		}
	}
	if compared != 5 {
		t.Errorf("%d run pages, want 5", compared)
	}
}

func TestWhatPagesSay(t *testing.T) {
	site := render(t, example())
	page := func(match string) string {
		for path, data := range site {
			if strings.Contains(path, match) {
				return string(data)
			}
		}
		t.Fatalf("no page %s", match)
		return ""
	}
	for _, c := range []struct{ page, want string }{
		{"index.html", `<strong class="slower">▲ 2 slower</strong>, 0 faster, = 1 unchanged, ? 2 inconclusive, 1 not judged of 6 benchmarks; 1 recovered.`},
		{"index.html", "2 claims in this run, where chance alone would make about 0.3 if nothing had changed."},
		{"index.html", "4 benchmarks of Widgets.<wbr>Core on AMD EPYC 7763 64-Core Processor are slower together, time +6.0\u202f% [+4.0, +8.0]: judged relative to that."},
		{"index.html", "Open slowdowns: 1 confirmed, 2 suspected"},
		{"index.html", `id="retired"`},
		{"index.html", "replaced by Route"},
		{"bench/widgets.core-wrap-width-40", "▲ open slowdown</strong>, confirmed: time +36\u202f% [+30, +42] since the run of"},
		{"bench/widgets.core-wrap-width-40", "▲ slower</span></strong>, confirmed: time +35\u202f% [+28, +42] against earlier runs"},
		{"bench/widgets.core-wrap-width-40", "The 95\u202f% interval comes from how much earlier runs differ"},
		{"bench/widgets.core-wrap-width-40", "A change is claimed from 5.0\u202f% on; one of 9.8\u202f%"},
		{"bench/widgets.core-wrap-width-40", "Only a co-run"},
		{"bench/widgets.core-wrap-width-40", "2 of 5 samples are outliers"},
		{"bench/widgets.core-wrap-width-40", "high:<wbr> 41,<wbr> against a median of 12 in 8 other runs"},
		{"bench/widgets.core-wrap-width-40", `<g class="claim slower suspected">`},
		{"bench/widgets.core-wrap-width-40", `<path class="step"`},
		{"bench/widgets.core-wrap-width-40", "/compare/"},
		{"bench/widgets.core-wrap-width-80", "the runner was &lt;throttled&gt;"},
		{"bench/widgets.core-wrap-width-80", "not yet a claim to act on"},
		{"bench/widgets.core-old", "Retired</strong>, so it stands in no list: replaced by Route"},
		{"load/index.html", "2 scenarios"},
		{"load/index.html", "8\u202f% higher [+3, +13]"},
		{"runs/index.html", `<strong class="slower">▲ 2 slower</strong>`},
		{"runs/index.html", "none judged"},
		{"index.html", "✗ 1 failed"},
		{"index.html", "✗ 1 missing"},
		{"index.html", "A newer run"},
		{"index.html", "single value"},
		{"bench/widgets.core-router", "Carried forward from run"},
		{"bench/widgets.core-router", "It was not measured again because its sources did not change"},
		{"bench/widgets.core-router", "<small>exact</small> allocated"},
		{"bench/widgets.core-gone", "The newest run"},
		{"bench/widgets.core-once", "single value"},
		{"bench/widgets.core-planned", "Not a measurement: dry job"},
		{"bench/widgets.core-planned", "No trend yet"},
		{"bench/widgets.polly-refill", "the process was killed"},
		{"bench/widgets.polly-retry", "it waits for the network"},
		{"load/index.html", "✗ 0.40\u202f%"},
		{"load/index.html", "not reported"},
		{"unstable/index.html", "Expected to be unstable"},
		{"runs/index.html", "copy of the run of"},
		{"runs/index.html", "not a measurement: dry job"},
		{"run/bench-24600000000.1/", "it may not be what was measured"},
		{"run/bench-24600002026.1/", "https://github.com/example/widgets/tree/perf-raw/benchmarks/2026-03-03/24600002026.1"},
		{"run/bench-24600002026.1/", "other machine"},
		{"run/bench-24600003039.1/", "measured, but not a measurement: dry job."},
	} {
		if c.page == "index.html" {
			c.page = "" // the first match would be any folder's
			if !strings.Contains(string(site["index.html"]), c.want) {
				t.Errorf("index.html does not say %q", c.want)
			}
			continue
		}
		if !strings.Contains(page(c.page), c.want) {
			t.Errorf("%s does not say %q", c.page, c.want)
		}
	}
}

func TestEmpty(t *testing.T) {
	site := render(t, &derive.Derived{Level: 0.99, Badge: derive.Badge{State: "grey", Symbol: "?", Message: "no data"}})
	if got := string(site["index.html"]); !strings.Contains(got, "mode: publish") || !strings.Contains(got, "Nothing has been measured yet") {
		t.Error("the overview does not say how to set it up")
	}
	checkSite(t, site)
}

// Runs in which nothing is as it should be still make a whole site.
func TestCorners(t *testing.T) {
	for name, build := range map[string]func(*synthetic){
		"one run, one sample": func(s *synthetic) {
			s.add(s.run(perf.Bench, 0), "m", "n", 0, measured(perf.Time, perf.Nanoseconds, []float64{5}))
		},
		"run without results": func(s *synthetic) { s.run(perf.Bench, 0) },
		"only a dry run": func(s *synthetic) {
			r := s.run(perf.Bench, 0)
			r.JobKind, r.InTrend, r.Excluded = perf.Dry, false, "dry"
			s.add(r, "m", "n", 0, measured(perf.Time, perf.Nanoseconds, []float64{5}))
		},
		"many dry runs after the newest in the trend": func(s *synthetic) {
			for i := range limits.RunPages + 2 {
				r := s.run(perf.Bench, i)
				if i > 0 {
					r.JobKind, r.InTrend, r.Excluded = perf.Dry, false, "dry"
				}
				s.add(r, "m", "n", 0, measured(perf.Time, perf.Nanoseconds, []float64{5, 6}))
			}
		},
		"only load tests": func(s *synthetic) {
			s.add(s.run(perf.Load, 0), "m", "n", 0, reported(perf.Throughput, perf.PerSecond, perf.Some(5), perf.Num{}, perf.Num{}, perf.Num{}))
		},
		"co-run": func(s *synthetic) {
			s.add(s.run(perf.Corun, 0), "m", "n", 0, measured(perf.Time, perf.Nanoseconds, []float64{5, 6}))
		},
		"no numbers at all": func(s *synthetic) {
			for i := range 2 {
				r := s.run(perf.Bench, i)
				s.add(r, "m", "absent", 0, derive.Metric{Name: perf.Time, Unit: perf.Nanoseconds})
				s.add(r, "m", "no metrics", 0)
			}
		},
		"unknown run": func(s *synthetic) {
			r := s.run(perf.Bench, 0)
			*r = derive.Run{Kind: perf.Bench, InTrend: true}
			s.add(r, "", "", 0, measured("custom:", "", []float64{5, 6})).Env = perf.Env{}
		},
		"zeros": func(s *synthetic) {
			for i := range 2 {
				s.add(s.run(perf.Bench, i), "m", "n", 0, measured(perf.Time, perf.Nanoseconds, []float64{0, 0, 0}))
			}
		},
		"extremes": func(s *synthetic) {
			for i, v := range []float64{1e300, 5e-324, 0} {
				s.add(s.run(perf.Bench, i), "m", "n", 0, measured("custom:x", "widgets per fortnight and more", []float64{v, v}), exact("custom:y", "x", v))
			}
		},
		"too wide to draw": func(s *synthetic) {
			for i, v := range []float64{-1.7e308, 1.7e308} {
				s.add(s.run(perf.Bench, i), "m", "n", 0, exact("custom:x", "x", v), exact("custom:y", "x", v))
			}
		},
		"many machines": func(s *synthetic) {
			for i := range 12 {
				r := s.run(perf.Bench, i)
				s.add(r, "m", "n", 0, measured(perf.Time, perf.Nanoseconds, []float64{5, 6})).Env.CPUModel = fmt.Sprint("CPU ", i)
				r.CPUs = []derive.CPUCount{{Model: fmt.Sprint("CPU ", i), Results: 1}}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSynthetic()
			build(s)
			site := render(t, s.finish())
			checkSite(t, site)
			for path, data := range site {
				for _, bad := range []string{"NaN", "Inf", "%!"} {
					if strings.HasSuffix(path, ".html") && bytes.Contains(data, []byte(bad)) {
						t.Errorf("%s holds %s", path, bad)
					}
				}
			}
		})
	}
}

func TestCuts(t *testing.T) {
	s := newSynthetic()
	for i := range limits.PointRows + 5 {
		r := s.run(perf.Bench, i)
		n := 1
		if i == limits.PointRows+4 {
			n = limits.OverviewRows + 5
		}
		for b := range n {
			s.add(r, "m", fmt.Sprintf("b%03d", b), 0, measured(perf.Time, perf.Nanoseconds, s.samples(5, 0.01, 3)))
		}
		for f := range limits.RunProblems + 2 {
			s.add(r, "f", fmt.Sprintf("f%03d", f), 0).Status = perf.Fail
		}
	}
	site := render(t, s.finish())
	for path, want := range map[string]string{
		"index.html": "The first 50 of 55 results are shown", "bench/m-b000-": "The newest 60 of 65 points are listed",
		"run/bench-24600064832.1/index.html": "and 2 more",
	} {
		found := false
		for p, data := range site {
			if p == path || path == "bench/m-b000-" && strings.HasPrefix(p, path) {
				found = true
				if !bytes.Contains(data, []byte(want)) {
					t.Errorf("%s does not say %q", p, want)
				}
			}
		}
		if !found {
			t.Errorf("no page %s", path)
		}
	}
	runs := 0
	for p := range site {
		if strings.HasPrefix(p, "run/") {
			runs++
		}
	}
	if runs != limits.RunPages {
		t.Errorf("%d run pages, want %d", runs, limits.RunPages)
	}
	checkSite(t, site)
}

func TestData(t *testing.T) {
	site := render(t, example())
	var index struct {
		Schema   int
		Kind     string
		Formulas int
		Runs     []map[string]any
	}
	if err := json.Unmarshal(site["data/v1/index.json"], &index); err != nil {
		t.Fatal(err)
	}
	if index.Schema != 1 || index.Kind != "perfband" || index.Formulas != derive.Formulas || len(index.Runs) != 8 {
		t.Errorf("index %+v", index)
	}
	if got := index.Runs[3]["duplicate_of"]; got != "24600001013.1" {
		t.Errorf("copy of %v", got)
	}
	var latest struct {
		Kind string
		Runs []struct {
			Run     string
			Results []struct {
				Benchmark string
				Metrics   []map[string]any
			}
		}
	}
	if err := json.Unmarshal(site["data/v1/latest.json"], &latest); err != nil {
		t.Fatal(err)
	}
	if latest.Kind != "latest" || len(latest.Runs) != 2 || latest.Runs[0].Run != "24600002026.1" {
		t.Fatalf("latest %+v", latest)
	}
	for _, r := range latest.Runs[0].Results {
		if r.Benchmark != "Once" {
			continue
		}
		if _, ok := r.Metrics[0]["ci_lo"]; ok {
			t.Error("a single sample has an interval")
		}
		if _, ok := r.Metrics[0]["mean"]; !ok {
			t.Error("a single sample has no mean")
		}
	}
}

func TestImages(t *testing.T) {
	site := render(t, example())
	images := 0
	for path, data := range site {
		if !strings.HasPrefix(path, "trend/") {
			continue
		}
		images++
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		colors := map[[3]uint32]bool{}
		for x := range img.Bounds().Dx() {
			for y := range img.Bounds().Dy() {
				r, g, b, _ := img.At(x, y).RGBA()
				colors[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
			}
		}
		drawn := 0
		for _, hex := range palette[:5] { // the sixth is the grey of the labels
			var c [3]uint32
			fmt.Sscanf(hex, "%2x%2x%2x", &c[0], &c[1], &c[2])
			if colors[c] {
				drawn++
			}
		}
		if drawn != 2 {
			t.Errorf("%s is drawn in the colours of %d machines, want 2", path, drawn)
		}
	}
	// Only the benchmark that a document cites; without one, three.
	if images != 1 {
		t.Errorf("%d images, want 1", images)
	}
	d := example()
	for _, r := range d.Runs {
		for _, res := range r.Results {
			res.DocRef = ""
		}
	}
	images = 0
	for path := range render(t, d) {
		if strings.HasPrefix(path, "trend/") {
			images++
		}
	}
	if images != 3 {
		t.Errorf("%d images without citations, want 3", images)
	}
}

func TestBadge(t *testing.T) {
	for _, c := range []struct {
		in                    derive.Badge
		message, svg, shields string
	}{
		{derive.Badge{State: "green", Message: "no slowdown (487)"}, "no slowdown (487)", "#1a7f37", "brightgreen"},
		{derive.Badge{State: "amber", Message: "2 slower (487)"}, "2 slower (487)", "#9a6700", "yellow"},
		{derive.Badge{State: "red", Message: "1 slower by ≥ 16 %"}, "1 slower by ≥ 16 %", "#cf222e", "red"},
		{derive.Badge{State: "grey", Message: "727 measured, not judged"}, "727 measured, not judged", "#6e7781", "lightgrey"},
		{derive.Badge{}, "no data", "#6e7781", "lightgrey"},
		{derive.Badge{State: "nonsense", Message: "<b>&\u202e"}, `<b>&\u{202E}`, "#6e7781", "lightgrey"},
	} {
		files, err := Badge(c.in)
		if err != nil {
			t.Fatal(err)
		}
		var shields map[string]any
		if err := json.Unmarshal(files[0].Data, &shields); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"schemaVersion": 1.0, "label": "performance", "message": c.message, "color": c.shields, "isError": false, "cacheSeconds": 3600.0}
		if diff := cmp.Diff(want, shields); diff != "" {
			t.Errorf("badge.json (-want +got):\n%s", diff)
		}
		checkXML(t, "badge.svg", files[1].Data)
		if !bytes.Contains(files[1].Data, []byte(c.svg)) {
			t.Errorf("%s: not in colour %s", c.message, c.svg)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	d := history(24, 800, 15)
	b.ReportAllocs()
	for b.Loop() {
		files, err := Render(d)
		if err != nil {
			b.Fatal(err)
		}
		total := 0
		for _, f := range files {
			total += len(f.Data)
		}
		b.ReportMetric(float64(total)/1e6, "MB/site")
		b.ReportMetric(float64(len(files)), "files")
	}
}

// A load test's CPU log is no scenario: it would be a row of "not reported".
func TestSideResultsAreNoScenarios(t *testing.T) {
	run := &derive.Run{ID: "1.1", Kind: perf.Load, InTrend: true, Started: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}
	run.Counts.Benchmarks = 1
	for _, name := range []string{"checkout", "measuring process"} {
		r := &derive.Result{Key: perf.Key{Kind: perf.Load, Module: "m", Name: name}, Label: name, Status: perf.OK, Side: name != "checkout",
			Metrics: []derive.Metric{{Name: perf.Requests, Unit: perf.Count, Mean: perf.Some(5), Reported: true}}}
		run.Results = append(run.Results, r)
	}
	s := newSite(&derive.Derived{Level: 0.99, Runs: []*derive.Run{run}})
	table := string(s.scenarioTable(run, "../"))
	if !strings.Contains(table, "checkout") || strings.Contains(table, "measuring") {
		t.Errorf("scenarios:\n%s", table)
	}
}
