package site

import (
	"bytes"
	"html/template"
	"strconv"
)

// table writes an HTML table. Tables hold nearly all of a page's bytes, so
// they are written directly; the cells are HTML already, made by the functions
// of html.go, which escape.
type table struct {
	buf  bytes.Buffer
	cols int
	body bool
}

// col is a column: its head, and whether its cells are text (else numbers,
// aligned on the right).
type col struct {
	head string
	text bool
}

// newTable starts a table. The first column heads the rows. class picks the
// layout: "cards" become cards on a narrow screen, "data" scrolls in its box.
func newTable(class, caption string, cols ...col) *table {
	t := &table{cols: len(cols)}
	// The style sheet aligns the text columns by these classes, t2 for the
	// second column: cells without attributes keep the pages small.
	for i, c := range cols {
		if c.text {
			class += " t" + strconv.Itoa(i+1)
		}
	}
	t.buf.WriteString(`<table class="` + class + `"><caption>` + string(esc(caption)) + "</caption><thead><tr>")
	for _, c := range cols {
		t.buf.WriteString(`<th scope="col">` + string(esc(c.head)) + "</th>")
	}
	t.buf.WriteString("</tr></thead>\n")
	return t
}

// group starts a group of rows under a heading.
func (t *table) group(title template.HTML) {
	t.endBody()
	t.buf.WriteString(`<tbody><tr class="group"><th scope="rowgroup" colspan="` + strconv.Itoa(t.cols) + `">` + string(title) + "</th></tr>\n")
	t.body = true
}

// more says that n further rows are left out, if any are.
func (t *table) more(n int) {
	if n > 0 {
		t.group("and " + count(n) + " more: the raw files have them, and <code>perfband export --what stats</code>")
	}
}

// row adds a row with one cell per column.
func (t *table) row(cells ...template.HTML) {
	if !t.body {
		t.buf.WriteString("<tbody>")
		t.body = true
	}
	t.buf.WriteString(`<tr><th scope="row">` + string(cells[0]) + "</th>")
	for _, c := range cells[1:] {
		t.buf.WriteString("<td>" + string(c) + "</td>")
	}
	t.buf.WriteString("</tr>\n")
}

func (t *table) endBody() {
	if t.body {
		t.buf.WriteString("</tbody>\n")
		t.body = false
	}
}

// html ends the table.
func (t *table) html() template.HTML {
	t.endBody()
	t.buf.WriteString("</table>")
	return template.HTML(t.buf.String())
}
