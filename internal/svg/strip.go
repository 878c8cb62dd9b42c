package svg

import (
	"math"
	"slices"
)

// Strip shows the samples themselves: one column of dots per run. Two clusters
// inside one run, which mean and interval hide, are seen at once. Values are
// in Unit.
type Strip struct {
	ID            string // unique in the page
	Title, Desc   string
	Unit          string
	Width, Height int
	Columns       []Column // oldest run first
}

// Column is one run's samples.
type Column struct {
	Label  string
	Line   int // class of the machine, as in [Trend]
	Values []float64
	Center float64 // the statistic the trend shows
}

// columnDots is the most dots drawn per run; more are thinned by rank, which
// keeps the shape of the distribution.
const columnDots = 60

// Render draws the chart. It fails on NaN and infinities and without samples.
func (s Strip) Render() (Chart, error) {
	var all []Point
	labels := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		labels[i] = c.Label
		for _, v := range append([]float64{c.Center}, c.Values...) {
			if err := finite(v, "a sample of run %d", i); err != nil {
				return Chart{}, err
			}
			all = append(all, Point{Run: i, Value: v})
		}
	}
	a, err := newAxis(all, s.Unit, 8, float64(s.Height)-36)
	if err != nil {
		return Chart{}, err
	}
	var d doc
	d.open("chart", s.ID, s.Width, s.Height, s.Title, s.Desc+" "+a.words()+".")
	x := newColumns(len(labels), labels, 2, float64(s.Width)-a.labelWidth()-8)
	a.draw(&d, x.left, x.right)
	x.draw(&d, labels, float64(s.Height)-19)
	// One path per machine: a path of its own for each run would double the
	// size of the chart.
	var dots, centers [Lines]path
	for i, c := range s.Columns {
		swarm(&dots[c.Line%Lines], &a, x.at(i), math.Min(x.step/2-3, 12), c.Values)
		center := &centers[c.Line%Lines]
		center.moveTo(x.at(i)-9, a.y(c.Center))
		center.lineTo(x.at(i)+9, a.y(c.Center))
	}
	for i := range dots {
		if centers[i].Len() == 0 {
			continue
		}
		d.WriteString(`<g class="m` + string(rune('0'+i)) + `">`)
		d.path("sample", &dots[i])
		d.path("center", &centers[i])
		d.WriteString("</g>")
	}
	d.WriteString("</svg>")
	return Chart{SVG: d.String(), Axis: a.words()}, nil
}

// swarm draws values as dots, moved sideways by up to reach where they would cover each other.
func swarm(p *path, a *axis, x, reach float64, values []float64) {
	const size = 4
	slots := []float64{0}
	for off := float64(size); off <= reach; off += size {
		slots = append(slots, off, -off)
	}
	last := make([]float64, len(slots))
	for i := range last {
		last[i] = math.Inf(1)
	}
	for i, v := range byRank(values, columnDots) {
		y := a.y(v)
		slot := i % len(slots)
		for k := range slots {
			if last[k]-y >= size {
				slot = k
				break
			}
		}
		last[slot] = y
		p.dot(x+slots[slot], y)
	}
}

// byRank returns at most n of the values in ascending order, evenly by rank
// with the smallest and the largest.
func byRank(values []float64, n int) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	if len(sorted) <= n {
		return sorted
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = sorted[(i*(len(sorted)-1)+(n-1)/2)/(n-1)]
	}
	return out
}
