package svg

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// axis is a vertical scale in data units.
type axis struct {
	lo, hi float64
	step   float64 // between ticks
	top    float64 // y of hi
	bottom float64 // y of lo
	unit   string
}

// newAxis spans the points with their intervals. It is never tighter than
// three typical intervals around its middle, so that noise does not fill the
// chart; and an interval far wider than typical does not squash the others,
// but runs out of the chart. It does not start at 0, where a step of 5 %
// could not be seen, and does not go below 0 when no value does.
func newAxis(points []Point, unit string, top, bottom float64) (axis, error) {
	a := axis{top: top, bottom: bottom, unit: unit}
	if len(points) == 0 {
		return a, errors.New("draw chart: no points")
	}
	typical := typicalHalf(points)
	reach := 3 * typical
	lo, hi := math.Inf(1), math.Inf(-1)
	smallest := math.Inf(1)
	for _, p := range points {
		l, h := p.Value, p.Value
		if p.Interval {
			l, h = math.Max(p.Lo, p.Value-reach), math.Min(p.Hi, p.Value+reach)
		}
		lo, hi = math.Min(lo, math.Min(l, p.Value)), math.Max(hi, math.Max(h, p.Value))
		smallest = math.Min(smallest, p.Value)
	}
	mid := lo/2 + hi/2
	half := math.Max(1.06*(hi-mid), reach)
	if half < 1e-9*math.Abs(mid) || half == 0 {
		half = math.Max(0.05*math.Abs(mid), math.SmallestNonzeroFloat64*1e6)
		if mid == 0 {
			half = 1
		}
	}
	lo, hi = mid-half, mid+half
	if smallest >= 0 && lo < 0 {
		lo = 0
	}
	if math.IsInf(hi-lo, 0) {
		return a, errors.New("draw chart: the values span more than a number can hold")
	}
	a.step = tickStep(hi-lo, 5)
	// Ends on a tenth of a step read well in the caption.
	fine := a.step / 10
	a.lo, a.hi = math.Floor(lo/fine+1e-6)*fine, math.Ceil(hi/fine-1e-6)*fine
	return a, nil
}

// Tick is a round value on an axis with its text.
type Tick struct {
	Value float64
	Label string
}

// Ticks are the round values of the scale that charts here would use for some
// points in the given unit, for other ways to draw them. The first and the last
// enclose the scale. It fails without points.
func Ticks(points []Point, unit string) ([]Tick, error) {
	a, err := newAxis(points, unit, 0, 0)
	if err != nil {
		return nil, err
	}
	a.lo, a.hi = math.Floor(a.lo/a.step+1e-9)*a.step, math.Ceil(a.hi/a.step-1e-9)*a.step
	var out []Tick
	for _, v := range a.ticks() {
		out = append(out, Tick{v, a.withUnit(a.format(v, a.step))})
	}
	return out, nil
}

// typicalHalf is the median half width of the intervals, 0 without any.
func typicalHalf(points []Point) float64 {
	var halves []float64
	for _, p := range points {
		if p.Interval {
			halves = append(halves, p.Hi/2-p.Lo/2)
		}
	}
	if len(halves) == 0 {
		return 0
	}
	slices.Sort(halves)
	return math.Max(halves[(len(halves)-1)/2], 0)
}

// tickStep is the smallest of 1, 2, 5 x 10^k that cuts span into at most n parts.
func tickStep(span float64, n int) float64 {
	base := math.Pow(10, math.Floor(math.Log10(span/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if span/(base*m) <= float64(n) {
			return base * m
		}
	}
	return base * 20
}

// ticks are the round values within the axis.
func (a *axis) ticks() []float64 {
	first, last := math.Ceil(a.lo/a.step-1e-9), math.Floor(a.hi/a.step+1e-9)
	var out []float64
	for i := 0; i <= 20 && first+float64(i) <= last; i++ {
		out = append(out, (first+float64(i))*a.step)
	}
	return out
}

// y is the height of v, kept within the chart.
func (a *axis) y(v float64) float64 {
	f := (v - a.lo) / (a.hi - a.lo)
	return a.bottom - math.Min(math.Max(f, 0), 1)*(a.bottom-a.top)
}

// outside tells on which side v leaves the axis: -1 below, 1 above, 0 inside.
func (a *axis) outside(v float64) int {
	switch {
	case v < a.lo:
		return -1
	case v > a.hi:
		return 1
	}
	return 0
}

// format writes v with the decimals that multiples of step need.
func (a *axis) format(v, step float64) string {
	s := ""
	if m := math.Max(math.Abs(a.lo), math.Abs(a.hi)); m >= 1e7 || m < 1e-4 {
		s = strconv.FormatFloat(v, 'g', 6, 64)
	} else {
		decimals := min(max(int(-math.Floor(math.Log10(step)+1e-9)), 0), 9)
		s = strconv.FormatFloat(v, 'f', decimals, 64)
	}
	return strings.ReplaceAll(s, "-", "\u2212")
}

func (a *axis) withUnit(s string) string {
	if a.unit == "" {
		return s
	}
	return s + "\u202f" + a.unit
}

// words describes the span for the caption.
func (a *axis) words() string {
	from := a.format(a.lo, a.step/10)
	to := a.withUnit(a.format(a.hi, a.step/10))
	if a.lo == 0 {
		return "Axis from 0 to " + to
	}
	return "Axis from " + from + " to " + to + ", not from 0"
}

// draw writes grid lines and their numbers, these on the side of the newest
// run: a narrow screen shows that end first. The caller has left room for
// [axis.labelWidth] there.
func (a *axis) draw(d *doc, left, right float64) {
	var grid path
	d.WriteString(`<g class="tick">`)
	for _, v := range a.ticks() {
		y := a.y(v)
		grid.moveTo(left, y)
		grid.lineTo(right, y)
		d.label(right+6, y+4, a.withUnit(a.format(v, a.step)))
	}
	d.WriteString("</g>")
	d.path("grid", &grid)
}

// labelWidth is the room the widest tick label needs.
func (a *axis) labelWidth() float64 {
	w := 0.0
	for _, v := range a.ticks() {
		w = math.Max(w, textWidth(a.withUnit(a.format(v, a.step)), fontSize))
	}
	return w
}
