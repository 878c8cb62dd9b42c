package site

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"perfband/internal/derive"
	"perfband/internal/perf"
)

// codes are the reason codes in the sources of a package: constants of type
// Reason, what functions named refused return, and what is put into Reasons.
func codes(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	texts := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if s, _ := strconv.Unquote(l.Value); s != "" && !slices.Contains(out, s) {
					out = append(out, s)
				}
			}
			return true
		})
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if id, ok := n.Type.(*ast.Ident); ok && id.Name == "Reason" {
					texts(n)
				}
			case *ast.FuncDecl:
				if n.Name.Name == "refused" {
					ast.Inspect(n.Body, func(n ast.Node) bool {
						if r, ok := n.(*ast.ReturnStmt); ok {
							texts(r)
						}
						return true
					})
				}
			case *ast.AssignStmt:
				for i, l := range n.Lhs {
					if sel, ok := l.(*ast.SelectorExpr); ok && sel.Sel.Name == "Reasons" && i < len(n.Rhs) {
						texts(n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	return out
}

// Every reason a verdict can have is explained, and nothing else is.
func TestEveryReasonHasWords(t *testing.T) {
	want := append(codes(t, "../history"), codes(t, "../derive")...)
	slices.Sort(want)
	want = slices.Compact(want)
	if len(want) < 13 {
		t.Errorf("only %d codes found in the sources: %q", len(want), want)
	}
	var got []string
	for _, w := range whys {
		got = append(got, w.code)
		if w.short == "" || !strings.HasSuffix(w.sentence, ".") || w.help != "" && !strings.HasSuffix(w.help, ".") {
			t.Errorf("%s: %q, %q, %q", w.code, w.short, w.sentence, w.help)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("explained are %q, used are %q", got, want)
	}
	doc, err := os.ReadFile("../../docs/data.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range want {
		if !strings.Contains(string(doc), "`"+code+"`") {
			t.Errorf("docs/data.md does not name %s", code)
		}
	}
	if w := whyOf("new<code>"); w.short != "new<code>" || !strings.Contains(string(verdictCell(&perf.Verdict{Outcome: perf.None, Reasons: []string{"new<code>"}})), "new&lt;code&gt;") {
		t.Errorf("an unknown code reads %+v", w)
	}
}

func TestChange(t *testing.T) {
	n := func(v float64) perf.Num { return perf.Some(v) }
	for _, c := range []struct {
		metric        string
		better        perf.Better
		ratio, lo, hi perf.Num
		want          string
	}{
		{perf.Time, perf.Lower, n(1.18), n(1.09), n(1.28), "+18 % [+9, +28]"},
		{perf.Time, perf.Lower, n(2.18), n(1.46), n(3.28), "2.2× slower [1.5, 3.3]"},
		{perf.Time, perf.Lower, n(0.5), n(0.4), n(0.6), "2.0× faster [1.7, 2.5]"},
		{perf.Time, perf.Lower, n(0.96), n(0.93), n(0.99), "−4 % [−7, −1]"},
		// Costs are inverted where more is better: a ratio above 1 is a loss.
		{perf.Throughput, perf.Higher, n(1 / 0.92), n(1 / 0.96), n(1 / 0.88), "8 % lower [−12, −4]"},
		{perf.Throughput, perf.Higher, n(1 / 1.08), n(1 / 1.13), n(1 / 1.03), "8 % higher [+3, +13]"},
		{perf.Throughput, perf.Higher, n(2), n(1.6), n(2.5), "2.0× lower [1.6, 2.5]"},
		{perf.AllocBytes, perf.Lower, n(1.95), n(1.94), n(1.96), "1.950× higher [1.940, 1.960]"},
		{perf.AllocBytes, perf.Lower, n(1.0588), n(1.0588), n(1.0588), "+5.9 %"},
		{perf.AllocBytes, perf.Lower, n(1), n(1), n(1), "0 %"},
		{perf.AllocBytes, perf.Lower, n(0), n(0), n(0), "−100 %"},
		{perf.AllocBytes, perf.Lower, perf.Num{}, perf.Num{}, perf.Num{}, "from or to 0"},
		{perf.AllocBytes, perf.Lower, n(3), n(2), perf.Num{}, "+200 % (interval open)"},
		{"latency_p95", perf.Lower, n(1.6), n(1.5), n(1.7), "1.60× slower [1.50, 1.70]"},
		{perf.ErrorRate, perf.Lower, n(5), n(4), n(6), "5.0× higher [4.0, 6.0], 1 % added to both"},
		{perf.Throughput, perf.Higher, n(0), n(0), n(0), "from or to 0"},
	} {
		got := strings.ReplaceAll(change(c.metric, c.better, c.ratio, c.lo, c.hi), "\u202f", " ")
		if strings.ReplaceAll(got, "× ", "×\u0020") != c.want {
			t.Errorf("%s %s %v [%v, %v]: %q, want %q", c.metric, c.better, c.ratio, c.lo, c.hi, got, c.want)
		}
	}
}

// A claim stands on the overview with its interval, as does an open slowdown.
func TestClaimsAreOnTheOverview(t *testing.T) {
	page := string(render(t, example())["index.html"])
	for _, row := range []struct{ name, change, state string }{
		{"Wrap(<wbr>width:<wbr> 40)", "+36\u202f% [+30, +42]", "▲ confirmed"},
		{"Wrap(<wbr>width:<wbr> 80)", "+18\u202f% [+9, +28]", "▲ suspected"},
		{"Checkout", "+40\u202f% [+20, +60]", "▲ suspected"},
	} {
		found := false
		for _, line := range strings.Split(page, "\n") {
			found = found || strings.Contains(line, row.name) && strings.Contains(line, row.change) && strings.Contains(line, row.state)
		}
		if !found {
			t.Errorf("no row of %s, %s, %s", row.name, row.change, row.state)
		}
	}
	// Accepted claims are not open, yet they are claims of the run.
	d := example()
	d.Open = nil
	page = string(render(t, d)["index.html"])
	for _, want := range []string{"Claims of the newest run", "+35\u202f% [+28, +42]", "+18\u202f% [+9, +28]"} {
		if !strings.Contains(page, want) {
			t.Errorf("without open slowdowns the overview does not say %q", want)
		}
	}
	// A retired series is in no list.
	if table := page[strings.Index(page, "Newest values"):strings.Index(page, `id="retired"`)]; strings.Contains(table, ">Old<") {
		t.Error("a retired series stands in the table")
	}
}

// The counts of a run hold retired benchmarks too; lists do not, and say so.
func TestRetiredClaims(t *testing.T) {
	d := example()
	for _, sr := range d.Series {
		if sr.Key.Name == "Old" {
			sr.Points[2].Metric.Verdict = numbers(perf.Slower, perf.Suspected, 1.3, 1.2, 1.4)
			sr.Points[2].Run.Claims.Slower++
			sr.Points[2].Run.Claims.Unchanged--
		}
	}
	page := string(render(t, d)["index.html"])
	if !strings.Contains(page, "▲ 3 slower") || !strings.Contains(page, "1 claim of retired benchmarks in no list") {
		t.Error("the claim of a retired benchmark is not told")
	}
	if strings.Contains(page, "[+20, +40]") {
		t.Error("the claim of a retired benchmark is listed")
	}
}

// Nothing may look like good news without evidence: not the cells, not the
// pages, and no colour.
func TestNothingIsUnchangedWithoutEvidence(t *testing.T) {
	bare := without(perf.Unchanged)
	if got := verdictCell(&bare); strings.Contains(string(got), "unchanged") || !strings.Contains(string(got), "inconclusive") {
		t.Errorf("without an interval: %s", got)
	}
	exact := perf.Verdict{Outcome: perf.Unchanged, Level: perf.Some(1)}
	if got := verdictCell(&exact); got != "= unchanged" {
		t.Errorf("exact: %s", got)
	}
	d := example()
	for _, r := range d.Runs {
		for _, res := range r.Results {
			for i := range res.Metrics {
				if res.Metrics[i].Verdict.Outcome != "" {
					res.Metrics[i].Verdict, res.Metrics[i].Tails = without(perf.Unchanged), nil
				}
			}
		}
		r.Claims, r.Shifts = derive.Claims{}, nil
	}
	d.Open = nil
	for p, data := range render(t, d) {
		if strings.HasSuffix(p, ".html") && p != "method/index.html" && strings.Contains(string(data), "= unchanged") {
			t.Errorf("%s says unchanged", p)
		}
	}
	css, err := fs.ReadFile(os.DirFS("assets"), "app.css")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?i)#1a7f37|green`).Match(css) {
		t.Error("pages know the colour green")
	}
}

// What a run without any verdict says, and that its list of claims is empty.
func TestNotJudged(t *testing.T) {
	d := history(1, 3, 5)
	for _, res := range d.Runs[0].Results {
		for i := range res.Metrics {
			res.Metrics[i].Verdict = without(perf.Inconclusive, "few-runs")
		}
	}
	d.Runs[0].Claims = derive.Claims{Inconclusive: 3}
	page := string(render(t, d)["index.html"])
	if want := "<strong>3 benchmarks</strong> measured, <strong>none judged</strong>. There are fewer than two earlier runs"; !strings.Contains(page, want) {
		t.Errorf("the overview does not say %q", want)
	}
	for _, bad := range []string{"Open slowdowns", "Claims of", "▲", "▼"} {
		if strings.Contains(page, bad) {
			t.Errorf("the overview says %q", bad)
		}
	}
}

// Very many claims are cut, and the cut is told.
func TestManyClaims(t *testing.T) {
	s := newSynthetic()
	r := s.run(perf.Bench, 0)
	const n = 60
	for i := range n {
		s.add(r, "m", fmt.Sprintf("B%02d", i), 0, measured(perf.Time, perf.Nanoseconds, s.samples(5, 0.01, 3)))
	}
	d := s.finish()
	for _, res := range r.Results {
		res.Metrics[0].Verdict = numbers(perf.Slower, perf.Suspected, 1.2, 1.1, 1.3)
		d.Open = append(d.Open, derive.Open{Key: res.Key, Metric: perf.Time, Since: r, Ratio: perf.Some(1.2)})
	}
	tally(r)
	site := render(t, d)
	for p, want := range map[string]string{"index.html": "and 10 more", "run/bench-" + r.ID + "/index.html": "and 10 more"} {
		if !strings.Contains(string(site[p]), want) {
			t.Errorf("%s does not say %q", p, want)
		}
	}
	checkSite(t, site)
}

// The data files tell verdicts, claims, shifts, open slowdowns, steps and labels.
func TestVerdictData(t *testing.T) {
	site := render(t, example())
	var index struct {
		Runs []struct {
			Run         string
			DuplicateOf string `json:"duplicate_of"`
			InTrend     bool   `json:"in_trend"`
			Claims      *claimCounts
		}
	}
	var latest struct {
		Runs []struct {
			Claims  *claimCounts
			Shifts  []shiftData
			Results []latestResult
		}
		Open  []openData
		Steps []stepData
	}
	for p, v := range map[string]any{"data/v1/index.json": &index, "data/v1/latest.json": &latest} {
		if err := json.Unmarshal(site[p], v); err != nil {
			t.Fatal(p, err)
		}
	}
	for _, r := range index.Runs {
		if judged := r.InTrend && r.DuplicateOf == ""; judged != (r.Claims != nil) {
			t.Errorf("run %s: claims %+v", r.Run, r.Claims)
		}
	}
	bench := latest.Runs[0]
	if want := (claimCounts{Slower: 2, Unchanged: 1, Inconclusive: 2, Suspected: 1, Confirmed: 1, Recovered: 1, Judged: 4, Chance: 0.3}); bench.Claims == nil || *bench.Claims != want {
		t.Errorf("claims %+v, want %+v", bench.Claims, want)
	}
	if len(bench.Shifts) != 1 || bench.Shifts[0].Ratio.Or(0) != 1.06 || bench.Shifts[0].Results != 4 {
		t.Errorf("shifts %+v", bench.Shifts)
	}
	if len(latest.Steps) != 1 || latest.Steps[0].Benchmark != "Wrap(width: 40)" || latest.Steps[0].Before != "24600000000.1" || latest.Steps[0].After != "24600001013.1" {
		t.Errorf("steps %+v", latest.Steps)
	}
	if len(latest.Open) != 3 || latest.Open[0].State != perf.Confirmed || latest.Open[0].Sure != "24600002026.1" || latest.Open[1].State != perf.Suspected || latest.Open[2].Metric != "latency_p95" {
		t.Errorf("open %+v", latest.Open)
	}
	seen := map[string]bool{}
	for _, run := range latest.Runs {
		for _, r := range run.Results {
			for _, m := range r.Metrics {
				switch {
				case r.Benchmark == "Wrap(width: 40)":
					seen[r.Benchmark] = m.Verdict != nil && m.Verdict.State == perf.Confirmed && m.Verdict.Hi.Or(0) == 1.42 && m.Labels != nil && m.Labels.Outliers == 2 && len(r.Anomalies) == 1
				case r.Benchmark == "Checkout" && m.Metric == perf.Latency:
					seen[r.Benchmark] = len(m.Tails) == 1 && m.Tails[0].Verdict.Outcome == perf.Slower
				case r.Benchmark == "Old":
					seen[r.Benchmark] = r.Retired != "" && m.Labels == nil
				}
			}
		}
	}
	for _, name := range []string{"Wrap(width: 40)", "Checkout", "Old"} {
		if !seen[name] {
			t.Errorf("%s is not told as it was judged", name)
		}
	}
}
