package decode

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// jmhTable is the head of a text table.
type jmhTable struct {
	prefix                string // what a build tool prints before each line: "[info] "
	params                []string
	edges                 []int // where the columns of the parameters end, in runes
	threads, count, spent bool  // columns between the mode and the score
}

// jmhModes are the names of the modes in a table.
var jmhModes = []string{"thrpt", "avgt", "sample", "ss"}

// jmhHeader finds the head of a text table in a line.
func jmhHeader(line string) (t jmhTable, ok bool) {
	at := strings.Index(line, "Benchmark ")
	if at < 0 || at > 64 || at > 0 && line[at-1] != ' ' {
		return t, false
	}
	t.prefix = line[:at]
	line = line[at:]
	words := strings.Fields(line)
	if len(words) < 4 || words[len(words)-1] != "Units" {
		return t, false
	}
	end, from := 0, 0
	i := 1
	for ; strings.HasPrefix(words[i], "(") && strings.HasSuffix(words[i], ")"); i++ {
		end = from + strings.Index(line[from:], words[i]) + len(words[i])
		from = end
		t.params = append(t.params, words[i][1:len(words[i])-1])
		t.edges = append(t.edges, utf8.RuneCountInString(line[:end]))
	}
	if words[i] != "Mode" {
		return t, false
	}
	for _, w := range words[i+1:] {
		switch w {
		case "Thr":
			t.threads = true
		case "Cnt", "Count", "Samples":
			t.count = true
		case "Sec":
			t.spent = true
		case "Score", "Mean":
			ok = true
		}
	}
	return t, ok
}

// strip takes away what stands before each line of the table: the same text or,
// where that is a time, one of the same length.
func (t *jmhTable) strip(line string) string {
	if rest, ok := strings.CutPrefix(line, t.prefix); ok {
		return rest
	}
	if n := len(t.prefix); len(line) > n && line[n-1] == ' ' && line[n] != ' ' {
		return line[n:]
	}
	return line
}

// decodeJMHText reads the tables at the end of JMH's output, wherever in the
// file they begin.
func decodeJMHText(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	r := jmhRows{s: perf.Suite{Module: in.Module, Kind: in.Kind}}
	log := jmhLog{}
	var t *jmhTable
	number := 0
	for raw := range bytes.Lines(in.Data) {
		number++
		if len(raw) > limits.LineBytes {
			r.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: number},
				What: fmt.Sprintf("a line of %d bytes is skipped", len(raw)), Why: fmt.Sprintf("the limit is %d", limits.LineBytes)})
			continue
		}
		line := strings.TrimRight(stripANSI(string(raw)), " \r\n")
		if head, ok := jmhHeader(line); ok {
			t = &head
			continue
		}
		if t == nil {
			log.line(line)
			continue
		}
		row, isRow, err := t.row(t.strip(line))
		row.line = number
		switch {
		case err != nil:
			r.refuse(row.name, number, err.Error())
		case isRow:
			err = r.add(&row)
		default:
			log.line(line)
		}
		if err != nil && isRow {
			return nil, r.told.all(), err
		}
	}
	switch {
	case t == nil && len(log.runs) == 0:
		return nil, r.told.all(), errors.New("there is no table of JMH in it: a line that begins with Benchmark and ends with Units")
	case t == nil:
		r.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: number},
			What: "the output ends before the table of results", Do: "The iterations of what had ended are kept."})
	}
	if err := log.settle(&r, t != nil); err != nil {
		return nil, r.told.all(), err
	}
	return []perf.Suite{r.s}, r.told.all(), nil
}

// row reads a line of the table; isRow is false for other output. An error
// says why a row cannot be read.
func (t *jmhTable) row(line string) (r jmhRow, isRow bool, err error) {
	words := strings.Fields(line)
	mode := -1
	for i := len(words) - 1; i > 0; i-- {
		if slices.Contains(jmhModes, words[i]) {
			mode = i
			break
		}
	}
	if mode < 1 || len(words)-mode > 9 || line[0] == '#' {
		return r, false, nil
	}
	r.name, r.mode = words[0], words[mode]
	if len(words)-mode < 3 {
		return r, false, errors.New("it is cut off after the mode")
	}
	r.unit = words[len(words)-1]
	if !strings.ContainsAny(r.unit, "/-") && jmhTimes[r.unit] == 0 && r.unit != "counts" && !strings.Contains(r.name, ":") {
		return r, false, fmt.Errorf("it ends with %s, not with a unit", quote(r.unit))
	}
	if err := t.numbers(&r, words[mode+1:len(words)-1]); err != nil {
		return r, false, err
	}
	cells, err := t.cells(line, words[1:mode])
	if err != nil {
		return r, false, err
	}
	for i, p := range t.params {
		if cells[i] != "N/A" && cells[i] != "" {
			r.params = append(r.params, perf.Param{Name: p, Value: cells[i]})
		}
	}
	return r, true, nil
}

// cells splits what stands between name and mode into the parameters: by words
// or, where a value is empty or holds a blank, by the columns of the head.
func (t *jmhTable) cells(line string, words []string) ([]string, error) {
	if len(words) == len(t.params) {
		return words, nil
	}
	runes := []rune(line)
	from := utf8.RuneCountInString(strings.Fields(line)[0])
	var cells []string
	for _, edge := range t.edges {
		if edge < from || edge >= len(runes) || runes[edge] != ' ' {
			return nil, fmt.Errorf("it has %d words before the mode, not a name and %d parameters, and does not fit the columns", len(words)+1, len(t.params))
		}
		cells = append(cells, strings.TrimSpace(string(runes[from:edge])))
		from = edge
	}
	if strings.Join(strings.Fields(strings.Join(cells, " ")), " ") != strings.Join(words, " ") {
		return nil, fmt.Errorf("it has %d words before the mode, not a name and %d parameters", len(words)+1, len(t.params))
	}
	return cells, nil
}

// numbers reads what stands between mode and unit. The sign between score and
// error is whatever a console made of it; older versions print none.
func (t *jmhTable) numbers(r *jmhRow, words []string) (err error) {
	if t.threads && len(words) > 1 {
		r.threads, words = words[0], words[1:]
	}
	if t.count && len(words) > 1 && isDigits([]byte(words[0])) { // a score has decimals
		if r.count, err = strconv.ParseInt(words[0], 10, 64); err != nil {
			return fmt.Errorf("its count %s is out of range", quote(words[0]))
		}
		words = words[1:]
	}
	if t.spent && len(words) > 1 {
		words = words[1:]
	}
	if len(words) == 2 && !isJMHNumber(words[0]) {
		r.about = words[1]
		return nil
	}
	if r.score, err = jmhNumber(words[0]); err != nil {
		return err
	}
	switch {
	case len(words) == 1:
		return nil
	case len(words) == 3 && !isJMHNumber(words[1]), len(words) == 2:
		r.err, err = jmhNumber(words[len(words)-1])
		return err
	}
	return fmt.Errorf("it has %d words between mode and unit", len(words))
}

// isJMHNumber tells a number from a sign.
func isJMHNumber(word string) bool {
	_, err := jmhNumber(word)
	return err == nil
}
