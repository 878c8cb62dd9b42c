// Package svg writes charts and badges as accessible SVG text. It is
// opinionated about four things. Charts carry a title and a description and
// take their colours from the page's style sheet by class, so they follow the
// reader's colour scheme under a content policy without inline styles.
// Coordinates have one decimal, so the same chart is the same bytes. Every text
// is escaped here. A number that cannot be drawn is an error, never a gap that
// looks like data.
//
// Classes used: "chart", "spark", "grid", "tick", "m0" … "m5" (one per machine),
// "line", "band", "bar" (intervals), "dot", "hollow", "cross", "sample", "center",
// "last", "step", "claim" with "slower" or "faster" and "suspected", of "ring" and
// "head".
package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
)

// Chart is a drawn chart.
type Chart struct {
	SVG string
	// Axis says in words what the vertical axis spans, for the caption:
	// "Axis from 9.4 to 38 µs, not from 0".
	Axis string
}

// Lines is how many lines can be told apart by colour and marker shape.
const Lines = 6

// Symbol is the character that looks like the marker of line i, for legends.
func Symbol(i int) string { return [Lines]string{"●", "■", "▲", "◆", "▼", "✚"}[i%Lines] }

// fontSize of the text in charts, in units of the view box.
const fontSize = 12

// doc collects SVG text.
type doc struct{ bytes.Buffer }

// open starts a chart of the given size with its accessible name and
// description. id must be unique within the page.
func (d *doc) open(class, id string, width, height int, title, desc string) {
	fmt.Fprintf(d, `<svg class="%s" viewBox="0 0 %d %d" role="img" aria-labelledby="`, class, width, height)
	d.text(id + "-t")
	if desc != "" {
		d.WriteString(`" aria-describedby="`)
		d.text(id + "-d")
	}
	d.WriteString(`"><title id="`)
	d.text(id + "-t")
	d.WriteString(`">`)
	d.text(title)
	d.WriteString("</title>")
	if desc != "" {
		d.WriteString(`<desc id="`)
		d.text(id + "-d")
		d.WriteString(`">`)
		d.text(desc)
		d.WriteString("</desc>")
	}
}

// text writes s escaped for element content and attribute values; characters
// XML cannot hold become U+FFFD.
func (d *doc) text(s string) {
	// Writing to a bytes.Buffer does not fail.
	_ = xml.EscapeText(d, []byte(s))
}

// label writes one text element.
func (d *doc) label(x, y float64, s string) {
	d.WriteString(`<text x="`)
	d.num(x)
	d.WriteString(`" y="`)
	d.num(y)
	d.WriteString(`">`)
	d.text(s)
	d.WriteString("</text>")
}

// path writes one path element, nothing when there is no data.
func (d *doc) path(class string, p *path) {
	if p.Len() == 0 {
		return
	}
	d.WriteString(`<path class="` + class + `" d="`)
	d.Write(p.Bytes())
	d.WriteString(`"/>`)
}

// titledGroup writes a group with its accessible name.
func (d *doc) titledGroup(class, title string, inside func()) {
	d.WriteString(`<g class="` + class + `"><title>`)
	d.text(title)
	d.WriteString("</title>")
	inside()
	d.WriteString("</g>")
}

// num writes a coordinate with at most one decimal.
func (d *doc) num(v float64) { d.Write(appendTenths(d.AvailableBuffer(), tenths(v))) }

// path collects path data. Moves are relative to the last position, which is
// kept in tenths so that rounding never adds up.
type path struct {
	bytes.Buffer
	x, y int
}

func (p *path) moveTo(x, y float64) { p.step('m', tenths(x), tenths(y)) }

func (p *path) lineTo(x, y float64) {
	switch tx, ty := tenths(x), tenths(y); {
	case ty == p.y:
		p.Write(appendTenths(append(p.AvailableBuffer(), 'h'), tx-p.x))
		p.x = tx
	case tx == p.x:
		p.Write(appendTenths(append(p.AvailableBuffer(), 'v'), ty-p.y))
		p.y = ty
	default:
		p.step('l', tx, ty)
	}
}

func (p *path) step(c byte, x, y int) {
	b := appendTenths(append(p.AvailableBuffer(), c), x-p.x)
	if y >= p.y {
		b = append(b, ' ')
	}
	p.Write(appendTenths(b, y-p.y))
	p.x, p.y = x, y
}

// dot adds a zero-length stroke, which round line ends make a dot.
func (p *path) dot(x, y float64) {
	p.moveTo(x, y)
	p.WriteString("h0")
}

// outline adds a closed shape around (x, y).
func (p *path) outline(x, y float64, o outline) {
	p.moveTo(x+o.x, y+o.y)
	p.WriteString(o.data)
}

// outline is a closed shape: where it starts from its middle, and the relative
// path data from there back to there.
type outline struct {
	x, y float64
	data string
}

func tenths(v float64) int { return int(math.Round(v * 10)) }

func appendTenths(b []byte, t int) []byte {
	if t < 0 {
		b = append(b, '-')
		t = -t
	}
	if t >= 10 || t == 0 {
		b = strconv.AppendInt(b, int64(t/10), 10)
	}
	if t%10 != 0 {
		b = append(b, '.', byte('0'+t%10))
	}
	return b
}

// finite refuses what cannot be drawn.
func finite(v float64, format string, args ...any) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("draw chart: %s is %v, not a number that can be drawn", fmt.Sprintf(format, args...), v)
	}
	return nil
}
