package decode

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// table is a header with rows of as many cells.
type table struct {
	header []string
	rows   []tableRow
}

type tableRow struct {
	line  int
	cells []string
}

// column returns the index of the first of the named columns, -1 without one.
func (t *table) column(names ...string) int {
	for _, name := range names {
		for i, h := range t.header {
			if h == name {
				return i
			}
		}
	}
	return -1
}

// cell is the trimmed text in a column, "" when there is no such column.
func (r *tableRow) cell(column int) string {
	if column < 0 {
		return ""
	}
	return strings.TrimSpace(r.cells[column])
}

// readCSV reads a table separated by commas, semicolons or tabs. A row with
// another number of cells than the header cannot be read safely: cells have
// moved. It is refused, named by what rowName makes of its cells.
func readCSV(data []byte, told *problems, rowName func(header, cells []string) string) (table, error) {
	if err := checkLines(data); err != nil {
		return table{}, err
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = separatorOf(data)
	r.FieldsPerRecord = -1
	var t table
	for {
		cells, err := r.Read()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			d := &perf.Diagnostic{Severity: perf.Error, Code: "unreadable", What: "the table cannot be read", Why: err.Error(), Err: err}
			var at *csv.ParseError
			if errors.As(err, &at) {
				d.Where.Line, d.Where.Col = at.StartLine, at.Column
				d.Why = fmt.Sprintf("the row that begins in line %d: %v", at.StartLine, at.Err)
			}
			return table{}, d
		}
		line, _ := r.FieldPos(0)
		switch {
		case t.header == nil:
			if len(cells) > limits.TableColumns {
				return table{}, fmt.Errorf("the table has %d columns, more than the limit of %d", len(cells), limits.TableColumns)
			}
			for _, c := range cells {
				t.header = append(t.header, strings.TrimSpace(c))
			}
		case len(cells) != len(t.header):
			told.add(raggedRow(rowName(t.header, cells), line, len(cells), len(t.header)))
		case len(t.rows) >= limits.Benchmarks:
			return table{}, tooMany(line)
		default:
			t.rows = append(t.rows, tableRow{line: line, cells: cells})
		}
	}
}

// checkLines refuses a table with a line too long to be one of results.
func checkLines(data []byte) error {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if len(line) > limits.LineBytes {
			return fmt.Errorf("line %d has %d bytes, more than the limit of %d", number, len(line), limits.LineBytes)
		}
	}
	return nil
}

func raggedRow(name string, line, cells, columns int) perf.Diagnostic {
	d := perf.Diagnostic{
		Severity: perf.Error, Code: "parse", Where: perf.Where{Line: line},
		What: fmt.Sprintf("%s is refused: the row has %d cells, the header has %d", name, cells, columns),
		Do:   "The other rows are kept.",
	}
	if cells > columns {
		d.Why = "numbers with decimal commas were written without quotes"
		d.Do = "Run the tool with an invariant culture (LANG=C). " + d.Do
	}
	return d
}

// separatorOf picks the separator that the first line has most of, outside
// quotes.
func separatorOf(data []byte) rune {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	counts := map[rune]int{}
	quoted := false
	for _, c := range string(line) {
		if c == '"' {
			quoted = !quoted
		} else if !quoted {
			counts[c]++
		}
	}
	best := ','
	for _, c := range []rune{';', '\t'} {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return best
}
