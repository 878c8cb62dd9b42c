package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"perfband/internal/derive"
	"perfband/internal/text"
)

// export prints one derived table.
func export(ctx context.Context, s *session) error {
	what, form := s.opt.str("what"), s.opt.str("format")
	if !slices.Contains(derive.TableNames, what) {
		msg := "--what is missing"
		if what != "" {
			msg = fmt.Sprintf("--what %s: no such table", what)
			if near := text.Nearest(what, derive.TableNames); near != "" {
				msg += fmt.Sprintf(" (did you mean %s?)", near)
			}
		}
		return usagef("%s. The tables are %s", msg, joinWords(derive.TableNames))
	}
	if form != "csv" && form != "json" {
		return usagef("--format %s: an export is csv or json", form)
	}
	d, err := s.deriveTip(ctx, derive.Reach{})
	if err != nil {
		return err
	}
	t, _ := d.Export(what, s.opt.str("run"))
	if run := s.opt.str("run"); run != "" && len(t.Rows) == 0 {
		return &exitError{exitFailed, fmt.Errorf("export: no run %s on branch %s", run, s.opt.str("raw-branch"))}
	}
	w := bufio.NewWriterSize(s.log.Raw(), 1<<16)
	if form == "csv" {
		writeCSV(w, t)
	} else if err := writeJSON(w, t); err != nil {
		return err
	}
	return w.Flush()
}

// writeCSV writes RFC 4180 with LF: foreign text is escaped, numbers are not.
func writeCSV(w *bufio.Writer, t derive.Table) {
	w.WriteString(strings.Join(t.Columns, ",") + "\n")
	for _, row := range t.Rows {
		for i, c := range row {
			if i > 0 {
				w.WriteByte(',')
			}
			if c.Number {
				w.WriteString(c.Text)
			} else {
				w.WriteString(text.CSVCell(c.Text))
			}
		}
		w.WriteByte('\n')
	}
}

// writeJSON writes an array of objects; unknown values are absent.
func writeJSON(w io.Writer, t derive.Table) error {
	var b strings.Builder
	for r, row := range t.Rows {
		if r > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n{")
		first := true
		for i, c := range row {
			if c.Text == "" {
				continue
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			value := c.Text
			if !c.Number {
				q, err := json.Marshal(c.Text)
				if err != nil {
					return err
				}
				value = string(q)
			}
			b.WriteString(`"` + t.Columns[i] + `":` + value)
		}
		b.WriteByte('}')
	}
	_, err := io.WriteString(w, "["+b.String()+"\n]\n")
	return err
}
