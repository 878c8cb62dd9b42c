package decode

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// googleCSVHead begins the first line of the CSV.
const googleCSVHead = "name,iterations,real_time,cpu_time,time_unit"

// googleLines calls take with every line, without colours and line end, until
// there is an error.
func (g *google) googleLines(data []byte, take func(number int, line string) error) error {
	number := 0
	for raw := range bytes.Lines(data) {
		number++
		if len(raw) > limits.LineBytes {
			g.refuse("", number, fmt.Sprintf("the line has %d bytes, more than the limit of %d", len(raw), limits.LineBytes))
			continue
		}
		if err := take(number, strings.TrimRight(stripANSI(string(raw)), " \t\r\n")); err != nil {
			return err
		}
	}
	return nil
}

// readCSV reads tables of CSV with other output around and within them.
func (g *google) readCSV(data []byte) error {
	var head []string
	other := 0
	err := g.googleLines(data, func(number int, line string) error {
		switch {
		case strings.HasPrefix(line, googleCSVHead):
			cells, err := csvCells(line)
			if err != "" || len(cells) > limits.TableColumns {
				g.refuse("the head of the table", number, err)
				return nil
			}
			head = cells
		case head == nil || !strings.HasPrefix(line, `"`):
			if line != "" && head != nil {
				other++
			}
			g.preamble(line)
		default:
			cells, why := csvCells(line)
			if why == "" && len(cells) > len(head) {
				why = fmt.Sprintf("the row has %d cells, the header has %d", len(cells), len(head))
			}
			r := googleRow{line: number}
			if why == "" {
				why = r.fromCSV(head, cells)
			}
			if why != "" {
				g.refuse(strings.Join(cells[:min(1, len(cells))], ""), number, why)
				return nil
			}
			return g.add(&r)
		}
		return nil
	})
	g.tellOther(other, "between the rows")
	return err
}

// fromCSV fills the row from the cells of a line, which may be fewer than the
// columns; why tells what makes it useless.
func (r *googleRow) fromCSV(head, cells []string) (why string) {
	failed, message := false, ""
	for i, cell := range cells {
		switch head[i] {
		case "name":
			r.name = cell
		case "iterations":
			if cell == "" {
				continue
			}
			n, err := strconv.ParseInt(cell, 10, 64)
			if err != nil {
				return fmt.Sprintf("its number of iterations %s cannot be read", quote(cell))
			}
			r.iterations = n
		case "time_unit":
			r.unit, r.scale = cell, timeUnits[cell]
		case "label":
			r.label = cell
		case "error_occurred":
			failed = cell == "true"
		case "error_message":
			message = cell
		default:
			if cell == "" {
				continue
			}
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil && !strings.Contains(strings.ToLower(cell), "nan") {
				return fmt.Sprintf("its %s %s is not a number", head[i], quote(cell))
			}
			r.number(head[i], v)
		}
	}
	switch {
	case failed:
		r.status, r.reason = perf.Fail, "failed: "+message
	case len(cells) > 1 && cells[1] == "" && strings.HasSuffix(r.name, "_BigO"):
		r.stat = "BigO"
	case len(cells) > 1 && cells[1] == "" && strings.HasSuffix(r.name, "_RMS"):
		r.stat = "RMS"
	case r.timed && r.scale == 0:
		return fmt.Sprintf("the unit of time %s is not known", quote(r.unit))
	}
	return ""
}

// number keeps a value of a column; what is not finite stays absent.
func (r *googleRow) number(column string, v float64) {
	r.timed = r.timed || column == perf.RealTime || column == perf.CPUTime
	if _, ok := perf.Some(v).Get(); ok {
		r.values = append(r.values, googleValue{name: column, value: v})
	}
}

// csvCells splits one line of CSV; why tells of an open quote.
func csvCells(line string) (cells []string, why string) {
	for {
		if !strings.HasPrefix(line, `"`) {
			cell, rest, more := strings.Cut(line, ",")
			cells = append(cells, cell)
			if !more {
				return cells, ""
			}
			line = rest
			continue
		}
		line = line[1:]
		var cell strings.Builder
		for {
			i := strings.IndexByte(line, '"')
			if i < 0 {
				return append(cells, cell.String()+line), "a quote is not closed"
			}
			cell.WriteString(line[:i])
			line = line[i+1:]
			if !strings.HasPrefix(line, `"`) {
				break
			}
			cell.WriteByte('"')
			line = line[1:]
		}
		cells = append(cells, cell.String())
		if line == "" {
			return cells, ""
		}
		if line[0] != ',' {
			return cells, "text follows a closed quote"
		}
		line = line[1:]
	}
}

// isGoogleHead tells the head of a table on the console by its words.
func isGoogleHead(words []string) bool {
	return len(words) >= 4 && words[0] == "Benchmark" && strings.HasPrefix(words[1], "Time") && strings.HasPrefix(words[2], "CPU") && words[3] == "Iterations"
}

// readConsole reads what is printed for people.
func (g *google) readConsole(data []byte) error {
	var columns []string // of counters, in a table with a column for each
	inTable, other := false, 0
	err := g.googleLines(data, func(number int, line string) error {
		words := strings.Fields(line)
		switch {
		case isGoogleHead(words):
			inTable, columns = true, nil
			if len(words) > 4 && words[4] != "UserCounters..." {
				columns = words[4:]
			}
			return nil
		case !inTable:
			g.preamble(line)
			return nil
		case strings.Trim(line, "-") == "":
			return nil
		}
		r, ok := googleConsoleRow(line, columns)
		if !ok {
			other++
			return nil
		}
		r.line = number
		return g.add(&r)
	})
	if err == nil && !inTable {
		return fmt.Errorf("there is no table of Google Benchmark in it: a line with Benchmark, Time, CPU and Iterations")
	}
	g.tellOther(other, "between the rows")
	return err
}

// preamble reads a line before the results.
func (g *google) preamble(line string) {
	if rest, ok := strings.CutPrefix(line, "Run on ("); ok {
		n, _, _ := strings.Cut(rest, " ")
		if cpus, err := strconv.ParseUint(n, 10, 16); err == nil {
			g.suite.Env.CPUCount = int(cpus)
		}
		return
	}
	if strings.HasPrefix(line, "***WARNING*** Library was built as DEBUG") {
		g.tellDebug()
		return
	}
	g.start(line)
}

// word is a word of a line and where it begins.
type word struct {
	text string
	at   int
}

// wordsOf splits a line at blanks.
func wordsOf(line string) []word {
	var out []word
	for i := 0; i < len(line); {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		start := i
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		if i > start {
			out = append(out, word{line[start:i], start})
		}
	}
	return out
}

// googleConsoleRow reads a row: the name, which may hold blanks, two times with
// their units, the iterations and counters.
func googleConsoleRow(line string, columns []string) (r googleRow, ok bool) {
	for _, end := range []struct {
		mark, reason string
		status       perf.Status
	}{{" ERROR OCCURRED: '", "failed: ", perf.Fail}, {" SKIPPED: '", "skipped: ", perf.Skipped}} {
		if name, message, ok := strings.Cut(line, end.mark); ok {
			r.name, r.status, r.reason = strings.TrimSpace(name), end.status, end.reason+strings.TrimSuffix(message, "'")
			return r, r.name != ""
		}
	}
	words := wordsOf(line)
	for i := 1; i+3 < len(words); i++ {
		real, okReal := googleNumber(words[i].text)
		cpu, okCPU := googleNumber(words[i+2].text)
		unit := words[i+1].text
		if !okReal || !okCPU || unit != words[i+3].text || !isGoogleUnit(unit) {
			continue
		}
		r.name = strings.TrimSpace(line[:words[i].at])
		r.unit, r.scale = unit, timeUnits[unit]
		r.number(perf.RealTime, real)
		r.number(perf.CPUTime, cpu)
		words = words[i+4:]
		if len(words) == 0 {
			r.stat = "BigO"
			if unit == "%" {
				r.stat = "RMS"
			}
			return r, true
		}
		n, err := strconv.ParseInt(words[0].text, 10, 64)
		if err != nil || r.scale == 0 && unit != "%" {
			return r, false
		}
		r.iterations = n
		if r.ratio = unit == "%"; r.ratio { // a statistic, as no repetition has one
			at := strings.LastIndexByte(r.name, '_')
			r.stat, r.typed = r.name[at+1:], true
			return r, at > 0
		}
		r.counters(line, words[1:], columns)
		return r, true
	}
	return r, false
}

// counters reads what follows the iterations: counters by column or as
// name=value, rates as old versions print them, and the label.
func (r *googleRow) counters(line string, words []word, columns []string) {
	for len(words) > 0 {
		w := words[0].text
		name, value, named := strings.Cut(w, "=")
		switch {
		case len(columns) > 0:
			name, value, named = columns[0], w, true
			columns = columns[1:]
		case !named && strings.HasSuffix(w, "B/s"):
			name, value = "bytes_per_second", strings.TrimSuffix(w, "B/s")
		case !named && len(words) > 1 && words[1].text == "items/s":
			name, value = "items_per_second", w
			words = words[1:]
		}
		v, ok := googleHuman(value, name == "bytes_per_second" || !named)
		if name == "" || !ok {
			break
		}
		r.number(name, v)
		words = words[1:]
	}
	if len(words) > 0 {
		r.label = line[words[0].at:]
	}
}

// isGoogleUnit tells the units of the two time columns: of a time, a share, or
// a complexity.
func isGoogleUnit(s string) bool {
	if timeUnits[s] > 0 || s == "%" {
		return true
	}
	switch s {
	case "(1)", "N", "lgN", "NlgN", "N^2", "N^3", "f(N)":
		return true
	}
	return false
}

// googleNumber reads a number as printf writes it.
func googleNumber(s string) (float64, bool) {
	t := strings.TrimLeft(s, "+-")
	if t == "nan" || t == "inf" {
		v, err := strconv.ParseFloat(s, 64)
		return v, err == nil
	}
	if strings.Trim(s, "0123456789.eE+-") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// googleHuman reads a number with a prefix and perhaps the unit of a rate (/s)
// or of an inverted one (s). Binary says that all prefixes are powers of 1024.
func googleHuman(s string, binary bool) (float64, bool) {
	s = strings.TrimSuffix(strings.TrimSuffix(s, "s"), "/")
	if v, ok := googleNumber(s); ok {
		return v, true
	}
	digits := strings.TrimRight(s, "kKMGTPEZYmunpfazyi")
	prefix := s[len(digits):]
	v, ok := googleNumber(digits)
	if !ok {
		return 0, false
	}
	step := 1000.0
	if base, isBinary := strings.CutSuffix(prefix, "i"); isBinary || binary {
		prefix, step = base, 1024
	}
	switch at := strings.Index("kMGTPEZY", strings.Replace(prefix, "K", "k", 1)); {
	case len(prefix) != 1:
		return 0, false
	case at >= 0:
		for range at + 1 {
			v *= step
		}
		return v, true
	default:
		for range 1 + strings.Index("munpfazy", prefix) {
			v /= 1000
		}
		return v, true
	}
}
