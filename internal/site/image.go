package site

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	chart "github.com/wcharczuk/go-chart/v2"
	"github.com/wcharczuk/go-chart/v2/drawing"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/svg"
	"perfband/internal/text"
)

// headlines are the series with an image for READMEs: those cited by a
// document, else the three with the most points; each with two points or more.
func (s *site) headlines() []*derive.Series {
	var all, cited []*derive.Series
	for _, b := range s.benches {
		if b.main == nil || len(b.main.Points) < 2 {
			continue
		}
		all = append(all, b.main)
		if b.last.result.DocRef != "" {
			cited = append(cited, b.main)
		}
	}
	if len(cited) > 0 {
		return cited[:min(len(cited), limits.TrendImages)]
	}
	slices.SortStableFunc(all, func(a, b *derive.Series) int { return cmp.Compare(len(b.Points), len(a.Points)) })
	return all[:min(len(all), 3)]
}

// imagePath is the file of a series' image.
func imagePath(sr *derive.Series) string { return "trend/" + benchSlug(sr.Key) + ".png" }

// drawImages draws the headline series. One that cannot be drawn has no image:
// one bad value must not cost the site.
func (s *site) drawImages() {
	s.images = map[*derive.Series][]byte{}
	for _, sr := range s.headlines() {
		if data, err := s.trendPNG(sr); err == nil {
			s.images[sr] = data
		}
	}
}

func (s *site) imageFiles() error {
	for sr, data := range s.images {
		s.add(imagePath(sr), data)
	}
	return nil
}

// trendPNG draws the newest runs of a series with one line per machine and an
// error bar per run.
func (s *site) trendPNG(sr *derive.Series) ([]byte, error) {
	scale := scaleOf(sr)
	trend := s.trend[sr.Key.Kind]
	first := max(s.position[sr.Points[0].Run], len(trend)-limits.ImageRuns)
	runs := trend[first:]
	lines, all := s.lines(sr, scale, first)
	ticks, err := svg.Ticks(all, scale.Suffix)
	if err != nil {
		return nil, err
	}
	if len(all) < 2 {
		return nil, errors.New("draw trend: fewer than two points")
	}
	grid := chart.Style{StrokeColor: drawing.ColorFromHex("d8dee4"), StrokeWidth: 1}
	label := chart.Style{FontSize: 9, FontColor: drawing.ColorFromHex("57606a"), StrokeColor: drawing.ColorFromHex("d8dee4")}
	c := chart.Chart{
		Title:      text.Cut(text.Visible(sr.Key.Benchmark()), 90),
		TitleStyle: chart.Style{FontSize: 11, FontColor: drawing.ColorFromHex("1c2128")},
		Width:      imageWidth, Height: imageHeight,
		Background: chart.Style{Padding: chart.Box{Top: 40, Left: 16, Right: 24, Bottom: 32}, FillColor: drawing.ColorWhite},
		// The axes span their first to their last tick.
		XAxis:          chart.XAxis{Style: label, Ticks: runTicks(runs)},
		YAxis:          chart.YAxis{Style: label, GridMajorStyle: grid},
		YAxisSecondary: chart.HideYAxis(),
	}
	for _, t := range ticks {
		c.YAxis.Ticks = append(c.YAxis.Ticks, chart.Tick{Value: t.Value, Label: strings.ReplaceAll(t.Label, "\u202f", " ")})
	}
	c.Series = s.imageSeries(lines)
	c.Elements = []chart.Renderable{s.imageLegend(c.Series)}
	var b bytes.Buffer
	if err := c.Render(chart.PNG, &b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Size of an image in pixels.
const imageWidth, imageHeight = 840, 350

// palette are the colours of the machines, as in app.css.
var palette = [svg.Lines]string{"0b5fa5", "a64b00", "7a3ea8", "0f766e", "9d174d", "57606a"}

func (s *site) imageSeries(lines [svg.Lines]svg.Line) []chart.Series {
	var out []chart.Series
	for line, l := range lines {
		if len(l.Points) == 0 {
			continue
		}
		color := drawing.ColorFromHex(palette[line])
		values := chart.ContinuousSeries{Name: text.Cut(s.names[line], 36), Style: chart.Style{StrokeColor: color.WithAlpha(140), StrokeWidth: 1.5, DotColor: color, DotWidth: 3.5}}
		for _, p := range l.Points {
			values.XValues = append(values.XValues, float64(p.Run))
			values.YValues = append(values.YValues, p.Value)
		}
		out = append(out, errorBars{l.Points, color}, values)
	}
	return out
}

// imageLegend names the machines below the plot.
func (s *site) imageLegend(series []chart.Series) chart.Renderable {
	return func(r chart.Renderer, box chart.Box, defaults chart.Style) {
		x := box.Left
		for _, line := range series {
			if line.GetName() == "" {
				continue
			}
			style := chart.Style{Font: defaults.Font, FontSize: 9, FontColor: line.GetStyle().DotColor}
			chart.Draw.Text(r, line.GetName(), x, imageHeight-10, style)
			x += chart.Draw.MeasureText(r, line.GetName(), style).Width() + 20
		}
	}
}

// runTicks label some of the runs, the oldest and the newest among them.
func runTicks(runs []*derive.Run) []chart.Tick {
	labels := runLabels(runs)
	stride := (len(runs) + 9) / 10
	var out []chart.Tick
	for i, l := range labels {
		if back := len(labels) - 1 - i; i == 0 || back%stride == 0 && i >= stride {
			day, _, _ := strings.Cut(l, "\n")
			out = append(out, chart.Tick{Value: float64(i), Label: day})
		}
	}
	return out
}

// errorBars draws the interval of each point; go-chart has no such series.
type errorBars struct {
	points []svg.Point
	color  drawing.Color
}

func (errorBars) GetName() string           { return "" }
func (errorBars) GetYAxis() chart.YAxisType { return chart.YAxisPrimary }
func (errorBars) GetStyle() chart.Style     { return chart.Style{} }
func (errorBars) Validate() error           { return nil }
func (e errorBars) Render(r chart.Renderer, box chart.Box, xr, yr chart.Range, _ chart.Style) {
	r.SetStrokeColor(e.color)
	r.SetStrokeWidth(1.5)
	for _, p := range e.points {
		if !p.Interval {
			continue
		}
		x := box.Left + xr.Translate(float64(p.Run))
		lo := box.Bottom - yr.Translate(max(p.Lo, yr.GetMin()))
		hi := box.Bottom - yr.Translate(min(p.Hi, yr.GetMax()))
		for _, l := range [][4]int{{x, lo, x, hi}, {x - 3, lo, x + 3, lo}, {x - 3, hi, x + 3, hi}} {
			r.MoveTo(l[0], l[1])
			r.LineTo(l[2], l[3])
		}
		r.Stroke()
	}
}
