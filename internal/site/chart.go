package site

import (
	"fmt"
	"html/template"
	"slices"

	"perfband/internal/derive"
	"perfband/internal/perf"
	"perfband/internal/svg"
	"perfband/internal/text"
)

// figure is a chart with what its caption needs.
type figure struct {
	ID, Title string
	SVG       template.HTML
	Axis      string        // range in words
	Problem   template.HTML // why there is no chart
	Machines  []legend
	Carried   bool // some points are carried forward
	Unstable  bool // some points are of unstable results
	Claims    bool // something is claimed of some points
	Steps     bool // the level changes
}

// legend is a machine's entry.
type legend struct {
	Class, Symbol, Name string
}

// point is what is plotted of a point, in a display unit: the value of
// [derive.Metric.Center] with its own interval. ok is false without a value.
func point(p derive.Point, scale text.Scale) (sp svg.Point, ok bool) {
	v, ok := p.Metric.Center().Get()
	if !ok {
		return sp, false
	}
	sp.Value = v / scale.Factor
	if _, lo, hi, ok := center(p.Metric); ok {
		sp.Interval, sp.Lo, sp.Hi = true, lo/scale.Factor, hi/scale.Factor
	}
	switch {
	case p.Result.CarriedFrom != "":
		sp.Mark = svg.Cross
	case p.Result.Stability == derive.Unstable || p.Result.Stability == derive.ExpectedUnstable:
		sp.Mark = svg.Hollow
	}
	return sp, true
}

// lines are the drawable points of a series by machine, each placed by its run's
// position since run number first of the trend; all holds them together.
func (s *site) lines(sr *derive.Series, scale text.Scale, first int) (lines [svg.Lines]svg.Line, all []svg.Point) {
	for _, p := range sr.Points {
		sp, ok := point(p, scale)
		if !ok || s.position[p.Run] < first {
			continue
		}
		sp.Run = s.position[p.Run] - first
		sp.Claim = claimMark(sr, p)
		l := &lines[s.machines[p.Result.Env.CPUModel]]
		l.Points = append(l.Points, sp)
		all = append(all, sp)
	}
	return lines, all
}

// claimMark is how a chart shows what is claimed of a point.
func claimMark(sr *derive.Series, p derive.Point) svg.Claim {
	v := &p.Metric.Verdict
	if !claimed(v) {
		return svg.Claim{}
	}
	c := svg.Claim{Kind: svg.Slower, Sure: v.State != perf.Suspected,
		Title: string(v.Outcome) + ", " + change(sr.Metric, sr.Better, v.Ratio, v.Lo, v.Hi)}
	if v.Outcome == perf.Faster {
		c.Kind = svg.Faster
	}
	if v.State != perf.NoState {
		c.Title = string(v.Outcome) + ", " + string(v.State) + ", " + change(sr.Metric, sr.Better, v.Ratio, v.Lo, v.Hi)
	}
	c.Title += ", run of " + p.Run.Started.UTC().Format("2006-01-02")
	return c
}

// stepMarks are the steps of a series for its chart, whose first column is run
// number first of the trend.
func (s *site) stepMarks(sr *derive.Series, first int) []svg.Step {
	var out []svg.Step
	for i, st := range sr.Steps {
		out = append(out, svg.Step{Before: s.position[st.Before] - first, After: s.position[st.After] - first,
			Title: fmt.Sprintf("Step %d: about %s", i+1, stepChange(sr, st))})
	}
	return out
}

// stepChange writes the size of a step. It has no interval and is no verdict.
func stepChange(sr *derive.Series, st derive.Step) string {
	return change(sr.Metric, sr.Better, st.Ratio, st.Ratio, st.Ratio)
}

// scaleOf is the one display unit of a series: that of its largest value.
func scaleOf(sr *derive.Series) text.Scale {
	largest := 0.0
	for _, p := range sr.Points {
		largest = max(largest, p.Metric.Center().Or(0))
	}
	return text.ScaleOf(largest, unit(sr.Unit))
}

// trendFigure draws a series over all runs of its kind since its first point,
// one line per machine; nil when there is nothing to draw. What cannot be drawn
// is said in its place: one bad value must not cost the site.
func (s *site) trendFigure(id string, sr *derive.Series, width, height int) *figure {
	if sr == nil || len(sr.Points) == 0 {
		return nil
	}
	scale := scaleOf(sr)
	first := s.position[sr.Points[0].Run]
	runs := s.trend[sr.Key.Kind][first:]
	f := &figure{ID: id, Title: metricTitle(sr.Metric), Steps: len(sr.Steps) > 0}
	lines, drawn := s.lines(sr, scale, first)
	if len(drawn) == 0 {
		return nil
	}
	for _, p := range drawn {
		f.Carried = f.Carried || p.Mark == svg.Cross
		f.Unstable = f.Unstable || p.Mark == svg.Hollow
		f.Claims = f.Claims || p.Claim.Kind != svg.NoClaim
	}
	for i, l := range lines {
		if len(l.Points) > 0 {
			f.Machines = append(f.Machines, s.legend(i))
		}
	}
	newest := sr.Points[len(sr.Points)-1]
	c, err := svg.Trend{
		ID: id, Title: f.Title + " over the runs", Unit: scale.Suffix, Width: width, Height: height,
		Desc: fmt.Sprintf("%s of %d runs, the newest of %s; the table holds the same values.",
			centerName(newest.Metric), len(drawn), newest.Run.Started.UTC().Format("2006-01-02")),
		Runs: runLabels(runs), Lines: lines[:], Steps: s.stepMarks(sr, first),
	}.Render()
	f.set(c, err)
	return f
}

// set takes a drawn chart, or the reason why there is none.
func (f *figure) set(c svg.Chart, err error) {
	f.SVG, f.Axis = template.HTML(c.SVG), c.Axis
	if err != nil {
		f.Problem = sentence(err.Error())
	}
}

func (s *site) legend(line int) legend {
	return legend{Class: fmt.Sprint("m", line), Symbol: svg.Symbol(line), Name: s.names[line]}
}

// runLabels name runs by day and commit.
func runLabels(runs []*derive.Run) []string {
	layout := "01-02"
	if len(runs) > 0 && runs[0].Started.UTC().Year() != runs[len(runs)-1].Started.UTC().Year() {
		layout = "2006-01-02"
	}
	out := make([]string, len(runs))
	for i, r := range runs {
		out[i] = r.Started.UTC().Format(layout)
		if sha := r.Meta.Commit.SHA; isCommit(sha) {
			out[i] += "\n" + shortSHA(sha)
		}
	}
	return out
}

// stripFigure draws the samples of the newest runs that have them, nil without.
func (s *site) stripFigure(id string, sr *derive.Series) *figure {
	if sr == nil {
		return nil
	}
	scale := scaleOf(sr)
	var runs []*derive.Run
	var columns []svg.Column
	for _, p := range slices.Backward(sr.Points) {
		v, ok := p.Metric.Center().Get()
		if !ok || len(p.Metric.Samples) == 0 {
			continue
		}
		values := make([]float64, len(p.Metric.Samples))
		for i, x := range p.Metric.Samples {
			values[i] = x / scale.Factor
		}
		runs = append(runs, p.Run)
		columns = append(columns, svg.Column{Line: s.machines[p.Result.Env.CPUModel], Values: values, Center: v / scale.Factor})
		if len(columns) == derive.StripRuns {
			break
		}
	}
	if len(columns) == 0 {
		return nil
	}
	slices.Reverse(runs)
	slices.Reverse(columns)
	for i, l := range runLabels(runs) {
		columns[i].Label = l
	}
	c, err := svg.Strip{ID: id, Title: "Samples of the newest runs", Unit: scale.Suffix, Width: chartWidth, Height: 220,
		Desc: fmt.Sprintf("One column of dots per run, %d runs.", len(columns)), Columns: columns}.Render()
	f := &figure{ID: id, Title: "Samples of the newest " + text.HTMLNumbers.Count(len(columns)) + " runs"}
	if len(columns) == 1 {
		f.Title = "Samples of the newest run"
	}
	f.set(c, err)
	return f
}

// spark draws the course of a result's metric for a list: the runs on the same
// CPU model, since times of different machines do not compare.
func (s *site) spark(r *derive.Result, m *derive.Metric) template.HTML {
	sr := seriesOf(s.series[r.Key.ID()], m)
	if sr == nil {
		return absent
	}
	var ps []svg.Point
	for _, p := range sr.Points {
		if sp, ok := point(p, text.Scale{Factor: 1}); ok && p.Result.Env.CPUModel == r.Env.CPUModel {
			ps = append(ps, sp)
		}
	}
	if len(ps) < 2 {
		return `<span class="muted">first on this machine</span>`
	}
	// A sparkline repeats what the row and the benchmark's page say; one that
	// cannot be drawn is left out there.
	out, err := svg.Spark(ps, fmt.Sprintf("%d runs on this machine", len(ps)))
	if err != nil {
		return absent
	}
	return template.HTML(out)
}

// Sizes of charts in units of their view box. A narrow screen scrolls a chart
// in its box rather than shrink its text.
const (
	chartWidth  = 840
	chartHeight = 280
	smallWidth  = 400
	smallHeight = 170
)
