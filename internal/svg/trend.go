package svg

import (
	"math"
	"strconv"
	"strings"
)

// Trend is a line chart of one statistic over runs. Values are in Unit.
type Trend struct {
	ID            string // unique in the page
	Title, Desc   string
	Unit          string   // "" for none
	Width, Height int      // of the view box
	Runs          []string // label under each run, oldest first; "\n" starts a second line
	Lines         []Line   // one per machine; line i has class and marker i modulo [Lines]
	Steps         []Step   // changes of level, drawn as numbered rules
}

// Step is a change of level that happened after one run and not after another.
type Step struct {
	Before, After int    // indexes into Runs
	Title         string // its accessible name
}

// Line joins the points of one machine, in run order.
type Line struct{ Points []Point }

// Point is one run's value with the interval of that very statistic.
type Point struct {
	Run      int // index into Runs
	Value    float64
	Interval bool // whether Lo and Hi are known
	Lo, Hi   float64
	Mark     Mark
	Claim    Claim
}

// Claim is what is said about a point: it stands in a ring with an arrow head
// on the side of its direction. The ring is dashed as long as one run alone
// says so. Shapes and titles tell the same as the colours.
type Claim struct {
	Kind  ClaimKind
	Sure  bool
	Title string // the claim in words, its accessible name
}

// ClaimKind is the direction of a claim.
type ClaimKind uint8

// The directions, by what is good or bad, not by up or down.
const (
	NoClaim ClaimKind = iota
	Slower
	Faster
)

// Mark is how a point is drawn.
type Mark uint8

// The marks: measured, measured but unstable, taken over from an earlier run.
const (
	Solid Mark = iota
	Hollow
	Cross
)

// closeBy is the distance in pixels below which neighbours share a band instead
// of having an error bar each. A band between distant runs would claim to know
// what was between them.
const closeBy = 6

// outlines are the marker shapes, in the order of [Symbol].
var outlines = [Lines]outline{
	{-3.5, 0, "a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z"},
	{-3.2, -3.2, "h6.4v6.4h-6.4z"},
	{0, -4.4, "l4.4 7.6h-8.8z"},
	{0, -4.6, "l4.6 4.6-4.6 4.6-4.6-4.6z"},
	{0, 4.4, "l4.4-7.6h-8.8z"},
	{-1.4, -4, "h2.8v2.6h2.6v2.8h-2.6v2.6h-2.8v-2.6h-2.6v-2.8h2.6z"},
}

// Render draws the chart. It fails on NaN and infinities, on a chart without
// points, and on points outside Runs.
func (t Trend) Render() (Chart, error) {
	var all []Point
	for _, l := range t.Lines {
		for _, p := range l.Points {
			if err := checkPoint(p, len(t.Runs)); err != nil {
				return Chart{}, err
			}
		}
		all = append(all, l.Points...)
	}
	a, err := newAxis(all, t.Unit, 8, float64(t.Height)-36)
	if err != nil {
		return Chart{}, err
	}
	var d doc
	d.open("chart", t.ID, t.Width, t.Height, t.Title, strings.TrimSpace(t.Desc+" "+a.words()+"."))
	x := newColumns(len(t.Runs), t.Runs, 2, float64(t.Width)-a.labelWidth()-8)
	a.draw(&d, x.left, x.right)
	x.draw(&d, t.Runs, float64(t.Height)-19)
	for i, s := range t.Steps {
		if s.Before < 0 || s.Before >= len(t.Runs) || s.After < 0 || s.After >= len(t.Runs) {
			return Chart{}, finite(math.NaN(), "the place of step %d", i+1)
		}
		drawStep(&d, s, i+1, &a, x)
	}
	for i, l := range t.Lines {
		if len(l.Points) == 0 {
			continue
		}
		d.WriteString(`<g class="m` + string(rune('0'+i%Lines)) + `">`)
		drawLine(&d, l.Points, &a, x, i%Lines)
		d.WriteString("</g>")
	}
	for _, l := range t.Lines {
		drawClaims(&d, l.Points, &a, x)
	}
	d.WriteString("</svg>")
	return Chart{SVG: d.String(), Axis: a.words()}, nil
}

// drawStep draws a dashed rule halfway between the runs of a step, with its
// number at the foot.
func drawStep(d *doc, s Step, number int, a *axis, x columns) {
	at := (x.at(s.Before) + x.at(s.After)) / 2
	var rule path
	rule.moveTo(at, a.top)
	rule.lineTo(at, a.bottom)
	d.titledGroup("tick", s.Title, func() {
		d.path("step", &rule)
		d.label(at+3, a.bottom-4, strconv.Itoa(number))
	})
}

// drawClaims rings the points that something is claimed of.
func drawClaims(d *doc, points []Point, a *axis, x columns) {
	for _, p := range points {
		class, up := "claim slower", -1.0
		switch p.Claim.Kind {
		case NoClaim:
			continue
		case Faster:
			class, up = "claim faster", 1
		}
		if !p.Claim.Sure {
			class += " suspected"
		}
		px, py := x.at(p.Run), a.y(p.Value)
		var ring, head path
		ring.outline(px, py, outline{-8, 0, "a8 8 0 1 0 16 0a8 8 0 1 0-16 0z"})
		// The head stands where it points to, or where there is room.
		middle := py + up*14
		if middle < a.top+3 || middle > a.bottom-3 {
			middle = py - up*14
		}
		head.moveTo(px-5, middle-up*3)
		head.lineTo(px, middle+up*3)
		head.lineTo(px+5, middle-up*3)
		head.WriteByte('z')
		d.titledGroup(class, p.Claim.Title, func() {
			d.path("ring", &ring)
			d.path("head", &head)
		})
	}
}

func checkPoint(p Point, runs int) error {
	if p.Run < 0 || p.Run >= runs {
		return finite(math.NaN(), "the column of run %d of %d", p.Run, runs)
	}
	if err := finite(p.Value, "the value of run %d", p.Run); err != nil {
		return err
	}
	if !p.Interval {
		return nil
	}
	if err := finite(p.Lo, "the lower bound of run %d", p.Run); err != nil {
		return err
	}
	return finite(p.Hi, "the upper bound of run %d", p.Run)
}

func drawLine(d *doc, points []Point, a *axis, x columns, shape int) {
	points, dense := thin(points, x)
	var line, band, bar, dot, hollow, cross path
	for i, p := range points {
		if i == 0 {
			line.moveTo(x.at(p.Run), a.y(p.Value))
		} else {
			line.lineTo(x.at(p.Run), a.y(p.Value))
		}
		if dense || inBand(points, i, x) {
			continue
		}
		drawInterval(&bar, p, a, x.at(p.Run))
		px, py := x.at(p.Run), a.y(p.Value)
		switch p.Mark {
		case Solid:
			dot.outline(px, py, outlines[shape])
		case Hollow:
			hollow.outline(px, py, outlines[shape])
		case Cross:
			for _, s := range []float64{-1, 1} {
				cross.moveTo(px-3.5, py-3.5*s)
				cross.lineTo(px+3.5, py+3.5*s)
			}
		}
	}
	drawBands(&band, points, a, x)
	d.path("band", &band)
	if len(points) > 1 {
		d.path("line", &line)
	}
	d.path("bar", &bar)
	d.path("dot", &dot)
	d.path("hollow", &hollow)
	d.path("cross", &cross)
}

// near says whether points i and i+1 are close enough to share a band.
func near(points []Point, i int, x columns) bool {
	return i >= 0 && i+1 < len(points) && points[i].Interval && points[i+1].Interval &&
		x.at(points[i+1].Run)-x.at(points[i].Run) < closeBy
}

func inBand(points []Point, i int, x columns) bool {
	return near(points, i-1, x) || near(points, i, x)
}

// drawBands fills between the bounds of each stretch of close neighbours.
func drawBands(band *path, points []Point, a *axis, x columns) {
	for i := 0; i < len(points); i++ {
		j := i
		for near(points, j, x) {
			j++
		}
		if j == i {
			continue
		}
		band.moveTo(x.at(points[i].Run), a.y(points[i].Hi))
		start := [2]int{band.x, band.y}
		for k := i + 1; k <= j; k++ {
			band.lineTo(x.at(points[k].Run), a.y(points[k].Hi))
		}
		for k := j; k >= i; k-- {
			band.lineTo(x.at(points[k].Run), a.y(points[k].Lo))
		}
		band.WriteByte('z')
		band.x, band.y = start[0], start[1]
		i = j
	}
}

// drawInterval draws an error bar; an end that leaves the chart is an arrow
// head instead of a cap.
func drawInterval(bar *path, p Point, a *axis, x float64) {
	if !p.Interval {
		return
	}
	bar.moveTo(x, a.y(p.Lo))
	bar.lineTo(x, a.y(p.Hi))
	for _, v := range []float64{p.Lo, p.Hi} {
		back := 4 * float64(a.outside(v))
		bar.moveTo(x-3, a.y(v)+back)
		if back != 0 {
			bar.lineTo(x, a.y(v))
		}
		bar.lineTo(x+3, a.y(v)+back)
	}
}

// thin reduces a line with more than one point per pixel to the first,
// smallest, largest and last value of each pixel column, with the widest
// interval. It reports whether it did.
func thin(points []Point, x columns) ([]Point, bool) {
	if x.step >= 1 || len(points) < 2 {
		return points, false
	}
	var out []Point
	for i := 0; i < len(points); {
		j := i
		lo, hi := i, i
		span := points[i]
		for ; j < len(points) && math.Floor(x.at(points[j].Run)) == math.Floor(x.at(points[i].Run)); j++ {
			p := points[j]
			if p.Value < points[lo].Value {
				lo = j
			}
			if p.Value > points[hi].Value {
				hi = j
			}
			if p.Interval {
				if !span.Interval {
					span = p
				}
				span.Lo, span.Hi = math.Min(span.Lo, p.Lo), math.Max(span.Hi, p.Hi)
			}
		}
		last := -1
		for _, k := range []int{i, min(lo, hi), max(lo, hi), j - 1} {
			if k <= last {
				continue
			}
			last = k
			p := points[k]
			p.Interval, p.Lo, p.Hi = span.Interval, span.Lo, span.Hi
			out = append(out, p)
		}
		i = j
	}
	return out, true
}
