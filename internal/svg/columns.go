package svg

import (
	"math"
	"strings"
)

// columns places runs on the horizontal axis: by order, evenly, since dates
// bunch up and commits do not.
type columns struct {
	left, right float64 // of the plot
	first, step float64
	stride      int // every stride-th run has a label, counted from the newest
}

func newColumns(n int, labels []string, left, right float64) columns {
	width := 0.0
	for _, l := range labels {
		for _, line := range strings.Split(l, "\n") {
			width = math.Max(width, textWidth(line, fontSize))
		}
	}
	c := columns{left: left, right: right, stride: 1}
	inset := math.Max(width/2, 8)
	if n <= 1 {
		c.first, c.step = (left+right)/2, right-left
		return c
	}
	c.first, c.step = left+inset, (right-left-2*inset)/float64(n-1)
	c.stride = max(int(math.Ceil((width+10)/c.step)), 1)
	return c
}

// at is the x of run i.
func (c columns) at(i int) float64 { return c.first + float64(i)*c.step }

// draw writes the labels, the newest run always among them.
func (c columns) draw(d *doc, labels []string, y float64) {
	d.WriteString(`<g class="tick" text-anchor="middle">`)
	for i := range labels {
		if (len(labels)-1-i)%c.stride != 0 {
			continue
		}
		for j, line := range strings.Split(labels[i], "\n") {
			d.label(c.at(i), y+float64(j)*14, line)
		}
	}
	d.WriteString("</g>")
}
