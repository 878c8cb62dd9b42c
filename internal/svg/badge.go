package svg

import (
	"fmt"
	"math"
)

// Badge is a README badge: two fields on one line. Unlike charts it is shown
// as an image of its own, so it carries its colours with it.
type Badge struct {
	Label   string
	Message string
	Color   string // of the message field, "#rrggbb"
	Name    string // accessible name: the state in words
}

// Render draws the badge. The text says the state by itself; the width comes
// from the advances of DejaVu Sans, and textLength fits other fonts to it.
func (b Badge) Render() string {
	const size, pad = 11, 6
	lw, mw := math.Ceil(textWidth(b.Label, size)), math.Ceil(textWidth(b.Message, size))
	left, right := lw+2*pad, mw+2*pad
	var d doc
	fmt.Fprintf(&d, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]g" height="20" viewBox="0 0 %[1]g 20" role="img" aria-label="`, left+right)
	d.text(b.Name)
	d.WriteString(`"><title>`)
	d.text(b.Name)
	fmt.Fprintf(&d, `</title><clipPath id="r"><rect width="%g" height="20" rx="3"/></clipPath><g clip-path="url(#r)">`, left+right)
	fmt.Fprintf(&d, `<rect width="%g" height="20" fill="#424a53"/><rect x="%g" width="%g" height="20" fill="`, left, left, right)
	d.text(b.Color)
	d.WriteString(`"/></g><g fill="#fff" font-family="DejaVu Sans,Verdana,Geneva,sans-serif" font-size="11">`)
	fmt.Fprintf(&d, `<text x="%d" y="14" textLength="%g">`, pad, lw)
	d.text(b.Label)
	fmt.Fprintf(&d, `</text><text x="%g" y="14" textLength="%g">`, left+pad, mw)
	d.text(b.Message)
	d.WriteString("</text></g></svg>\n")
	return d.String()
}
