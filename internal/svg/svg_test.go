package svg

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// wellFormed fails unless s is one XML element, and returns its path elements
// by class.
func wellFormed(t *testing.T, s string) map[string][]string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(s))
	paths := map[string][]string{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well formed: %v\n%s", err, s)
		}
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		attr := map[string]string{}
		for _, a := range e.Attr {
			attr[a.Name.Local] = a.Value
			if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
				t.Errorf("attribute %s in <%s>", a.Name.Local, e.Name.Local)
			}
		}
		if e.Name.Local == "path" {
			paths[attr["class"]] = append(paths[attr["class"]], attr["d"])
		}
	}
	return paths
}

// series makes n points of one machine, alternating by step around 100.
func series(n int, half float64) []Point {
	out := make([]Point, n)
	for i := range out {
		v := 100 + float64(i%2)
		out[i] = Point{Run: i, Value: v, Interval: half > 0, Lo: v - half, Hi: v + half}
	}
	return out
}

func trend(lines ...[]Point) Trend {
	n := 0
	t := Trend{ID: "t", Title: "Time", Desc: "Means.", Unit: "µs", Width: 840, Height: 280}
	for _, l := range lines {
		t.Lines = append(t.Lines, Line{l})
		for _, p := range l {
			n = max(n, p.Run+1)
		}
	}
	for i := range n {
		t.Runs = append(t.Runs, fmt.Sprintf("01-%02d\nabcdef%d", i%28, i%10))
	}
	return t
}

func TestTrendMarks(t *testing.T) {
	ps := series(6, 0.5)
	ps[1].Mark, ps[2].Mark, ps[3].Interval = Hollow, Cross, false
	c, err := trend(ps[:4], ps[4:]).Render()
	if err != nil {
		t.Fatal(err)
	}
	paths := wellFormed(t, c.SVG)
	// Line 0: a solid, a hollow, a cross, a solid without an interval; line 1:
	// two solid squares.
	if got := strings.Count(strings.Join(paths["dot"], ""), "z"); got != 4 {
		t.Errorf("%d solid markers, want 4", got)
	}
	if got := strings.Count(strings.Join(paths["hollow"], ""), "z"); got != 1 {
		t.Errorf("%d hollow markers, want 1", got)
	}
	if len(paths["cross"]) != 1 || len(paths["line"]) != 2 || len(paths["band"]) != 0 {
		t.Errorf("paths %v", paths)
	}
	// An error bar is one vertical stroke and two caps.
	if got := strings.Count(strings.Join(paths["bar"], ""), "m"); got != 3*5 {
		t.Errorf("%d strokes of error bars, want 15", got)
	}
	for _, want := range []string{`role="img"`, `<title id="t-t">Time</title>`, `<desc id="t-d">Means. Axis from`, `aria-labelledby="t-t"`} {
		if !strings.Contains(c.SVG, want) {
			t.Errorf("no %s in %s", want, c.SVG)
		}
	}
}

// A band claims knowledge between runs, so only close neighbours have one.
func TestTrendBand(t *testing.T) {
	for _, c := range []struct {
		runs int
		band bool
	}{{2, false}, {20, false}, {120, false}, {200, true}, {2000, true}} {
		chart, err := trend(series(c.runs, 0.5)).Render()
		if err != nil {
			t.Fatal(err)
		}
		paths := wellFormed(t, chart.SVG)
		if got := len(paths["band"]) > 0; got != c.band || (len(paths["bar"]) > 0) == c.band {
			t.Errorf("%d runs: band %v, error bars %v", c.runs, got, len(paths["bar"]) > 0)
		}
	}
}

// Thinning must keep the extremes: a single spike among 10,000 runs is seen.
func TestTrendThins(t *testing.T) {
	ps := series(10_000, 0.5)
	ps[4321].Value, ps[4321].Interval = 400, false
	c, err := trend(ps).Render()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.SVG) > 60_000 {
		t.Errorf("%d bytes", len(c.SVG))
	}
	top := math.Inf(1)
	var y float64
	for _, step := range strings.FieldsFunc(wellFormed(t, c.SVG)["line"][0], func(r rune) bool { return r == 'm' || r == 'l' || r == 'h' }) {
		var dx, dy float64
		if _, vertical, ok := strings.Cut(step, "v"); ok {
			fmt.Sscan(vertical, &dy)
		} else if n, _ := fmt.Sscan(strings.Replace(step, "-", " -", 2), &dx, &dy); n < 2 {
			dy = 0
		}
		y += dy
		top = min(top, y)
	}
	if top > 30 {
		t.Errorf("the spike reaches y = %v only", top)
	}
}

func TestTrendCorners(t *testing.T) {
	flat := series(5, 0)
	for i := range flat {
		flat[i].Value = 7
	}
	for name, tr := range map[string]Trend{
		"single point":    trend(series(1, 0)),
		"single interval": trend(series(1, 2)),
		"flat":            trend(flat),
		"zero":            trend([]Point{{}}),
		"zero width":      trend([]Point{{Value: 5, Interval: true, Lo: 5, Hi: 5}, {Run: 1, Value: 5, Interval: true, Lo: 5, Hi: 5}}),
		"negative":        trend([]Point{{Value: -5}, {Run: 1, Value: -3}}),
		"tiny":            trend([]Point{{Value: 5e-324}, {Run: 1, Value: 1e-320}}),
		"huge":            trend([]Point{{Value: 1e307}, {Run: 1, Value: 2e307}}),
		"nearly equal":    trend([]Point{{Value: 1e15}, {Run: 1, Value: 1e15 + 1}}),
		"no labels":       {ID: "x", Width: 400, Height: 170, Runs: []string{"", ""}, Lines: []Line{{series(2, 1)}}},
		"inverted bounds": trend([]Point{{Value: 5, Interval: true, Lo: 6, Hi: 4}}),
	} {
		c, err := tr.Render()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wellFormed(t, c.SVG)
		if strings.Contains(c.SVG, "NaN") || strings.Contains(c.SVG, "Inf") || len(c.SVG) > 4000 {
			t.Errorf("%s: %s", name, c.SVG)
		}
	}
}

func TestRefusals(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, tr := range map[string]Trend{
		"NaN value":       trend([]Point{{Value: nan}}),
		"infinite value":  trend([]Point{{Value: inf}}),
		"NaN bound":       trend([]Point{{Value: 1, Interval: true, Lo: nan, Hi: 2}}),
		"infinite bound":  trend([]Point{{Value: 1, Interval: true, Lo: 0, Hi: inf}}),
		"no points":       trend(),
		"run out of list": {Lines: []Line{{[]Point{{Run: 3}}}}, Runs: []string{"a"}},
		"too wide":        trend([]Point{{Value: -math.MaxFloat64}, {Run: 1, Value: math.MaxFloat64}}),
	} {
		if _, err := tr.Render(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := (Strip{Columns: []Column{{Values: []float64{1, nan}}}}).Render(); err == nil {
		t.Error("strip with NaN: no error")
	}
	if _, err := Spark([]Point{{Value: nan}}, ""); err == nil {
		t.Error("spark with NaN: no error")
	}
}

func TestAxis(t *testing.T) {
	for _, c := range []struct {
		name  string
		ps    []Point
		words string
	}{
		{"never tighter than three intervals", []Point{{Value: 100, Interval: true, Lo: 99, Hi: 101}}, "Axis from 97.0 to 103.0 µs, not from 0"},
		{"a wide interval does not squash the others", append(series(9, 1), Point{Run: 9, Value: 100, Interval: true, Lo: 0, Hi: 1000}), "Axis from 96.8 to 103.2 µs, not from 0"},
		{"not below 0", []Point{{Value: 1, Interval: true, Lo: -1, Hi: 3}}, "Axis from 0 to 7.0 µs"},
		{"flat", []Point{{Value: 100}, {Run: 1, Value: 100}}, "Axis from 95.0 to 105.0 µs, not from 0"},
	} {
		a, err := newAxis(c.ps, "µs", 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(a.words(), "\u202f", " "); got != c.words {
			t.Errorf("%s: %q, want %q", c.name, got, c.words)
		}
	}
	for _, c := range []struct {
		span, want float64
	}{{1, 0.2}, {4.4, 1}, {10, 2}, {11, 5}, {26, 10}, {0.003, 0.001}} {
		if got := tickStep(c.span, 5); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("tickStep(%v) = %v, want %v", c.span, got, c.want)
		}
	}
}

func TestTicksEncloseThePoints(t *testing.T) {
	ticks, err := Ticks(series(4, 0.5), "µs")
	if err != nil {
		t.Fatal(err)
	}
	if first, last := ticks[0], ticks[len(ticks)-1]; first.Value > 99.5 || last.Value < 101.5 || first.Label != "99\u202fµs" {
		t.Errorf("ticks %v", ticks)
	}
}

func TestStrip(t *testing.T) {
	many := make([]float64, 500)
	for i := range many {
		many[i] = float64(i)
	}
	s := Strip{ID: "s", Title: "Samples", Unit: "ns", Width: 840, Height: 220, Columns: []Column{
		{Label: "01-01", Values: many, Center: 250}, {Label: "01-02", Line: 1, Values: []float64{100, 100, 100}, Center: 100}}}
	c, err := s.Render()
	if err != nil {
		t.Fatal(err)
	}
	dots := wellFormed(t, c.SVG)["sample"]
	if len(dots) != 2 || strings.Count(dots[0], "h0") != columnDots || strings.Count(dots[1], "h0") != 3 {
		t.Fatalf("dots %v", dots)
	}
	// Equal samples must not cover each other.
	if strings.Contains(dots[1], "m0 0h0") {
		t.Errorf("dots cover each other: %s", dots[1])
	}
	thinned := byRank(many, 60)
	if len(thinned) != 60 || thinned[0] != 0 || thinned[59] != 499 {
		t.Errorf("thinned to %d: %v … %v", len(thinned), thinned[0], thinned[len(thinned)-1])
	}
}

func TestSpark(t *testing.T) {
	for _, n := range []int{1, 2, 60, 500} {
		s, err := Spark(series(n, 0.5), `<"course">`)
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, s)
		if len(s) > 900 || !strings.Contains(s, "&lt;&#34;course&#34;&gt;") {
			t.Errorf("%d points: %s", n, s)
		}
	}
}

func TestEscaping(t *testing.T) {
	evil := "</title><script>alert(1)</script>\x00\x1b]]>\"' &amp; \uFFFE"
	tr := trend(series(3, 1))
	tr.ID, tr.Title, tr.Desc, tr.Unit, tr.Runs[0] = evil, evil, evil, evil, evil
	c, err := tr.Render()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{c.SVG, Badge{Label: evil, Message: evil, Color: evil, Name: evil}.Render()} {
		wellFormed(t, s)
		if strings.Contains(s, "<script") {
			t.Errorf("markup came through: %s", s)
		}
	}
}

func TestBadge(t *testing.T) {
	got := Badge{Label: "performance", Message: "2 slower (487)", Color: "#9a6700", Name: "performance: 2 slower of 487"}.Render()
	wellFormed(t, got)
	for _, want := range []string{`aria-label="performance: 2 slower of 487"`, `<title>performance: 2 slower of 487</title>`,
		`fill="#9a6700"`, `textLength="71">performance</text>`, `textLength="80">2 slower (487)</text>`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// The expected widths were measured by a browser: 11 px of DejaVu Sans without
// kerning.
func TestTextWidth(t *testing.T) {
	for s, want := range map[string]float64{"": 0, "performance": 70.64, "2 slower (487)": 79.37, "µ≥": 16.22, "iiii": 12.22, "WWWW": 43.51} {
		if got := textWidth(s, 11); math.Abs(got-want) > 0.01 {
			t.Errorf("textWidth(%q) = %.2f, want %.2f", s, got, want)
		}
	}
}

// A claim is told by a ring, an arrow head, its dashes and a title: each works
// without colour.
func TestTrendClaims(t *testing.T) {
	ps := series(6, 0.5)
	ps[1].Claim = Claim{Slower, false, "slower, suspected <1>"}
	ps[2].Claim = Claim{Slower, true, "slower, confirmed"}
	ps[4].Claim = Claim{Faster, true, "faster, confirmed"}
	ps[5].Value, ps[5].Lo, ps[5].Hi, ps[5].Claim = 130, 129, 131, Claim{Slower, true, "at the edge"}
	c, err := trend(ps).Render()
	if err != nil {
		t.Fatal(err)
	}
	paths := wellFormed(t, c.SVG)
	if len(paths["ring"]) != 4 || len(paths["head"]) != 4 {
		t.Fatalf("%d rings and %d heads, want 4", len(paths["ring"]), len(paths["head"]))
	}
	for _, want := range []string{`<g class="claim slower suspected"><title>slower, suspected &lt;1&gt;</title>`, `<g class="claim faster"><title>faster, confirmed</title>`} {
		if !strings.Contains(c.SVG, want) {
			t.Errorf("no %s", want)
		}
	}
	// Heads of slower and faster point in opposite directions, also where there
	// is no room above the point, and none leaves the chart.
	for i, up := range []bool{true, true, false, true} {
		var x, y float64
		head := paths["head"][i]
		if up != strings.Contains(head, "l5-6l5 6z") || up == strings.Contains(head, "l5 6l5-6z") {
			t.Errorf("head %d: %s", i, head)
		}
		if _, err := fmt.Sscanf(head, "m%g %g", &x, &y); err != nil || y < 8 || y > 244 {
			t.Errorf("head %d begins at %v, %v (%v)", i, x, y, err)
		}
	}
}

func TestTrendSteps(t *testing.T) {
	tr := trend(series(6, 0.5))
	tr.Steps = []Step{{1, 2, "step 1: a & b"}, {3, 5, "step 2"}}
	c, err := tr.Render()
	if err != nil {
		t.Fatal(err)
	}
	if got := wellFormed(t, c.SVG)["step"]; len(got) != 2 {
		t.Errorf("%d steps, want 2", len(got))
	}
	if !strings.Contains(c.SVG, "<title>step 1: a &amp; b</title>") || !strings.Contains(c.SVG, ">2</text>") {
		t.Error("a step has no name or no number")
	}
	tr.Steps = []Step{{1, 6, "beyond"}}
	if _, err := tr.Render(); err == nil {
		t.Error("a step beyond the runs was drawn")
	}
}
