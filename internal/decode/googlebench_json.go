package decode

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var googleOptions = strictjson.Options{KeepGoing: true, NaN: true}

// googleDocument finds the start of a document: a line that begins with an
// object whose first key is one of the document's. It is -1 if there is none.
func googleDocument(data []byte) int {
	at := 0
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("{")) {
			open := at + bytes.IndexByte(line, '{')
			head := data[open+1 : min(len(data), open+200)]
			head = bytes.TrimLeft(head, " \t\r\n")
			if bytes.HasPrefix(head, []byte(`"context"`)) || bytes.HasPrefix(head, []byte(`"benchmarks"`)) {
				return open
			}
		}
		at += len(line)
	}
	return -1
}

// readJSON reads all documents of a file, one after the other, with other
// output around and within them.
func (g *google) readJSON(data []byte) error {
	other, found := 0, false
	line := 1 // at pos
	for pos := 0; pos < len(data); {
		rest := data[pos:]
		start := googleDocument(rest)
		if start < 0 {
			other += textLines(rest)
			break
		}
		other += textLines(rest[:start])
		found = true
		line += bytes.Count(rest[:start], []byte("\n"))
		n, err := g.document(rest[start:], line)
		if err != nil {
			return err
		}
		line += bytes.Count(rest[start:start+n], []byte("\n"))
		pos += start + n
	}
	if !found {
		d := strictjson.NewDecoder(data, googleOptions)
		d.Skip()
		if err := d.End(); err != nil {
			return err
		}
		return errors.New(`there is no object with "context" and "benchmarks" in it`)
	}
	g.tellOther(other, "around the JSON")
	return nil
}

// textLines counts the lines that are not blank.
func textLines(b []byte) int {
	n := 0
	for line := range bytes.Lines(b) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}

// document reads the document at the start of data, which is in the given line,
// and returns how many bytes it has.
func (g *google) document(data []byte, line int) (int, error) {
	d := strictjson.NewDecoder(data, googleOptions)
	good, listed := 1, false
	at, counted := line, 0 // the line of offset counted
	for key := range fields(d) {
		switch string(key) {
		case "context":
			if raw := d.Raw(); d.Err() == nil {
				g.context(raw)
			}
		case "benchmarks":
			listed = d.Kind() == strictjson.Array
			for ok := d.Array(); ok && d.More(); {
				d.Kind() // moves past blanks
				offset := d.Offset()
				raw := d.Raw()
				if d.Err() != nil {
					break
				}
				at += bytes.Count(data[counted:offset], []byte("\n"))
				counted = offset
				if p := d.Problem(); p != nil {
					g.refuse("", at, p.Msg)
				} else if err := g.record(raw, at); err != nil {
					return 0, err
				}
				good = d.Offset()
			}
		default:
			d.Skip()
		}
	}
	if d.Err() != nil {
		n, err := g.recover(data[good:], line+bytes.Count(data[:good], []byte("\n")))
		return good + n, err
	}
	if !listed {
		g.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: line}, What: `the document has no list "benchmarks"`})
	}
	return d.Offset(), nil
}

func (g *google) refuse(name string, line int, why string) {
	what := "a record is refused"
	if name != "" {
		what = quote(name) + " is refused"
	}
	g.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: line}, What: what, Why: why, Do: "The other records are kept."})
}

// recordBytes bounds one record of a broken document.
const recordBytes = 64 << 10

// recover reads on where a document is broken: by output of the benchmarks
// between the records, or because it is cut off. Records begin their line. It
// ends at the next document or the end of data.
func (g *google) recover(data []byte, line int) (int, error) {
	other, closed := 0, false
	pos := 0
	for pos < len(data) {
		if g.told.full("parse") { // trying on might take long
			g.tellRest(line)
			return len(data), nil
		}
		text, _, more := bytes.Cut(data[pos:], []byte("\n"))
		next, lines := pos+len(text), 1
		if more {
			next++
		}
		trimmed := bytes.TrimSpace(text)
		switch {
		case len(trimmed) == 0:
		case trimmed[0] == '{':
			open := pos + bytes.IndexByte(text, '{')
			if pos > 0 && googleDocument(data[open:min(len(data), open+200)]) == 0 {
				g.tellBroken(other, closed, line)
				return pos, nil
			}
			closed = false
			n, err := g.try(data[open:min(len(data), open+recordBytes)], line)
			if err != nil {
				return 0, err
			}
			if n > 0 {
				lines = bytes.Count(data[pos:open+n], []byte("\n"))
				next = open + n
			}
		case bytes.ContainsAny(trimmed[:1], `"]},`):
			closed = trimmed[0] == '}' // the last line of a whole document
		default:
			other++
		}
		line += lines
		pos = next
		if pos < len(data) && data[pos-1] != '\n' { // behind a record, the rest of its line
			rest, _, more := bytes.Cut(data[pos:], []byte("\n"))
			pos += len(rest)
			if more {
				pos++
				line++
			}
			if t := bytes.Trim(rest, " \t\r,"); len(t) > 0 && t[0] != ']' && t[0] != '}' {
				other++
			}
		}
	}
	g.tellBroken(other, closed, line)
	return len(data), nil
}

// try reads the record at the start of data and returns how many bytes it has, 0
// if it cannot be read. The error says that there are too many.
func (g *google) try(data []byte, line int) (int, error) {
	d := strictjson.NewDecoder(data, googleOptions)
	raw := d.Raw()
	var at *strictjson.Error
	switch p := d.Problem(); {
	case errors.As(d.Err(), &at):
		g.refuse("", line+at.Line-1, at.Msg)
		return 0, nil
	case p != nil:
		g.refuse("", line+p.Line-1, p.Msg)
	case bytes.Contains(raw, []byte(`"name"`)):
		return d.Offset(), g.record(raw, line)
	}
	return d.Offset(), nil
}

func (g *google) tellRest(line int) {
	g.told.add(perf.Diagnostic{Severity: perf.Error, Code: "unreadable", Where: perf.Where{Line: line}, What: "the rest of the file is not read",
		Why: "too many records of it are broken", Do: "What was read before is kept."})
}

func (g *google) tellBroken(other int, closed bool, line int) {
	g.tellOther(other, "between the records")
	if !closed {
		g.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: line}, What: "the document is cut off: results may be missing",
			Why: "the list of benchmarks does not end", Do: "See whether the benchmarks ran to their end. What was read is kept."})
	}
}

// context reads what the document says about machine and library.
func (g *google) context(raw []byte) {
	d := strictjson.NewDecoder(raw, googleOptions)
	for key := range fields(d) {
		switch string(key) {
		case "date":
			text, _ := d.Str()
			g.start(text)
		case "num_cpus":
			if n, ok := d.Int(); ok && n > 0 && n < 1<<20 {
				g.suite.Env.CPUCount = int(n)
			}
		case "library_version":
			g.suite.ToolVersion, _ = d.Str()
		case "library_build_type":
			if text, _ := d.Str(); text == "debug" {
				g.tellDebug()
			}
		default:
			d.Skip()
		}
	}
}

// start takes the time a file states: with a zone, or in old versions without
// one, which says too little to be kept.
func (g *google) start(text string) {
	if t, err := time.Parse(time.RFC3339, text); err == nil && g.suite.Started.IsZero() {
		g.suite.Started = t.UTC()
	}
}

// record takes one element of the list. The error says that there are too many.
func (g *google) record(raw []byte, line int) error {
	r, why := g.row(raw, line)
	if why != "" {
		g.refuse(r.name, line, why)
		return nil
	}
	return g.add(&r)
}

// googleRecord is an element of the list while it is read.
type googleRecord struct {
	googleRow
	kind            string
	failed, skipped bool
	message         string
}

// row reads an element of the list; why says what makes it useless.
func (g *google) row(raw []byte, line int) (row googleRow, why string) {
	r := googleRecord{googleRow: googleRow{line: line}}
	d := strictjson.NewDecoder(raw, googleOptions)
	if d.Kind() != strictjson.Object {
		return r.googleRow, "it is no object"
	}
	for key := range fields(d) {
		if w := g.field(&r, d, string(key)); w != "" && why == "" {
			why = w
		}
	}
	if r.kind == "iteration" {
		r.stat = ""
	}
	r.old = !r.typed
	switch scale, ok := timeUnits[r.unit]; {
	case ok:
		r.scale = scale
	case r.unit == "": // what the tool takes by default
		r.unit, r.scale = "ns", 1
	case r.timed:
		why = fmt.Sprintf("the unit of time %s is not known", quote(r.unit))
	}
	switch {
	case r.failed:
		r.status, r.reason = perf.Fail, "failed: "+r.message
	case r.skipped:
		r.status, r.reason = perf.Skipped, "skipped: "+r.message
	}
	return r.googleRow, why
}

// field reads the value of a key; why says what makes the record useless.
func (g *google) field(r *googleRecord, d *strictjson.Decoder, key string) (why string) {
	switch key {
	case "name":
		r.name, _ = d.Str()
	case "run_name":
		r.run, _ = d.Str()
	case "run_type":
		r.kind, _ = d.Str()
		r.typed = true
	case "aggregate_name":
		r.stat, _ = d.Str()
		r.typed = true
	case "aggregate_unit":
		text, _ := d.Str()
		r.ratio = text == "percentage"
	case "threads":
		if n, ok := d.Int(); ok {
			r.threads = strconv.FormatInt(n, 10)
		}
	case "label":
		r.label, _ = d.Str()
	case "time_unit":
		r.unit, _ = d.Str()
	case "iterations":
		r.iterations, _ = d.Int()
	case "repetitions":
		r.reps, _ = d.Int()
	case "error_occurred":
		r.failed, _ = d.Bool()
	case "skipped":
		r.skipped, _ = d.Bool()
	case "error_message", "skip_message":
		r.message, _ = d.Str()
	case "family_index", "per_family_instance_index", "repetition_index":
		d.Skip()
	case "big_o", "cpu_coefficient", "real_coefficient", "rms":
		if r.kind == "iteration" { // a counter of that name
			return g.value(&r.googleRow, d, key)
		}
		d.Skip()
		r.stat = "BigO"
		if key == "rms" {
			r.stat = "RMS"
		}
	default:
		return g.value(&r.googleRow, d, key)
	}
	return ""
}

// value reads a time or counter; why says what makes the record useless.
func (g *google) value(r *googleRow, d *strictjson.Decoder, key string) (why string) {
	r.timed = r.timed || key == perf.RealTime || key == perf.CPUTime
	switch d.Kind() {
	case strictjson.Number:
		raw := bytes.TrimSpace(d.Raw())
		v, err := strconv.ParseFloat(string(raw), 64)
		switch {
		case err != nil:
			return fmt.Sprintf("%s is out of range", quote(key))
		case (v >= 1<<53 || v <= -1<<53) && !bytes.ContainsAny(raw, ".eE"):
			return fmt.Sprintf("%s is an integer beyond 2^53, which is not kept exactly", quote(key))
		}
		r.values = append(r.values, googleValue{name: strings.Clone(key), value: v})
	case strictjson.NaN, strictjson.Null:
		d.Skip()
		if r.stat == "" {
			g.told.add(perf.Diagnostic{Severity: perf.Notice, Code: "no-number", Where: perf.Where{Line: r.line},
				What: fmt.Sprintf("%s: %s is absent", quote(r.name), quote(key)), Why: "the file has NaN, Infinity or null for it"})
		}
	default:
		d.Skip() // a text or list that another version adds
	}
	return ""
}
