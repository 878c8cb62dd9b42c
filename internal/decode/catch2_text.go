package decode

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// catchUnits are the units of the console's durations, in nanoseconds.
var catchUnits = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9}

// isCatchHead tells the first line of the head of a table.
func isCatchHead(line string) bool {
	w := strings.Fields(line)
	return len(w) >= 5 && w[0] == "benchmark" && w[1] == "name" && w[2] == "samples" && w[3] == "iterations"
}

// The parts of what the console reporter prints.
const (
	catchOther   = iota
	catchHeading // test case and sections, between two rules
	catchHead    // of a table, up to a rule
	catchTable
)

// catchConsole reads the lines that the console reporter prints.
type catchConsole struct {
	*catch
	part    int
	rule    int // width of the rules
	heading []string
	path    []string
	meansIn bool // one line a benchmark, with the mean alone
	width   int  // of the column of names
	blanks  int
	name    []string     // lines of the next name
	now     *catchResult // its numbers so far
	other   int
	tables  int
}

// readConsole reads what is printed for people.
func (c *catch) readConsole(data []byte) error {
	r := catchConsole{catch: c}
	number := 0
	for raw := range bytes.Lines(data) {
		number++
		if len(raw) > limits.LineBytes {
			c.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: number}, What: fmt.Sprintf("a line of %d bytes is skipped", len(raw)),
				Why: fmt.Sprintf("the limit is %d", limits.LineBytes)})
			continue
		}
		if err := r.take(strings.TrimRight(stripANSI(string(raw)), " \t\r\n"), number); err != nil {
			return err
		}
	}
	if r.now != nil {
		c.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: number}, What: "the table is cut off: results may be missing",
			Why: "the last benchmark does not end", Do: "See whether the tests ran to their end. What was read is kept."})
	}
	if err := r.flush(number); err != nil {
		return err
	}
	if r.tables == 0 && !bytes.Contains(data, []byte(" is a Catch")) {
		return errors.New("there is no table of Catch2 in it: a line with benchmark name, samples and iterations")
	}
	if r.other > 0 {
		c.told.add(perf.Diagnostic{Severity: perf.Notice, Code: "other-output", What: fmt.Sprintf("lines between the benchmarks that are none were ignored: %d", r.other)})
	}
	return nil
}

// take sorts out what a line is.
func (r *catchConsole) take(line string, number int) error {
	rule := len(line) >= 20 && strings.Trim(line, "-") == ""
	switch {
	case rule && r.part == catchHead:
		r.part, r.blanks = catchTable, 0
	case rule && r.part == catchHeading:
		r.path, r.part = r.titles(), catchOther
	case rule:
		if err := r.flush(number); err != nil {
			return err
		}
		r.part, r.rule, r.heading = catchHeading, len(line), nil
	case isCatchHead(line):
		if err := r.flush(number); err != nil {
			return err
		}
		r.tables++
		r.part, r.meansIn = catchHead, strings.HasSuffix(line, " mean")
		r.width = max(strings.Index(line, "samples")-2, 0)
		if r.meansIn { // its columns of numbers stand at the right
			r.width = max(len(line)-44, 0)
		}
	case len(line) >= 20 && strings.Trim(line, "=") == "":
		r.part = catchOther
		return r.flush(number)
	case r.part == catchHeading:
		r.heading = append(r.heading, line)
	case r.part == catchTable:
		return r.row(line, number)
	default:
		r.outside(line, number)
	}
	return nil
}

// outside reads what stands around the tables.
func (r *catchConsole) outside(line string, number int) {
	if _, version, ok := strings.Cut(line, " is a Catch"); ok {
		version, _, _ = strings.Cut(strings.TrimPrefix(version, "2"), " host")
		r.suite.ToolVersion = strings.TrimPrefix(strings.TrimSpace(version), "v")
	}
	if rest, ok := strings.CutPrefix(line, "test cases:"); ok {
		for part := range strings.SplitSeq(rest, "|") {
			if n, ok := strings.CutSuffix(strings.TrimSpace(part), " failed"); ok {
				r.tellTest(number, "test cases failed: "+n)
			}
		}
	}
}

// titles puts wrapped headings together: the test case, then its sections, which
// are indented by two. Of a title with ": " later lines begin behind that.
func (r *catchConsole) titles() []string {
	var out []string
	last, begin := "", 0 // the line before and where the next of its title begins
	for _, line := range r.heading {
		text := strings.TrimLeft(line, " ")
		if text == "" {
			continue
		}
		indent := len(line) - len(text)
		first, _, _ := strings.Cut(text, " ")
		if len(out) > 0 && indent == begin && utf8.RuneCountInString(last)+1+utf8.RuneCountInString(first) > r.rule {
			out[len(out)-1] = joinWrapped(out[len(out)-1], text)
		} else {
			out = append(out, text)
			begin = indent
			if i := strings.Index(text, ": "); i >= 0 {
				begin += i + 2
			}
		}
		last = line
	}
	return out
}

// joinWrapped joins what a console wrapped: at a blank, or without one behind a
// character at which it may break.
func joinWrapped(a, b string) string {
	n := len(a)
	if n > 1 && strings.IndexByte(`/\-=&`, a[n-1]) >= 0 && a[n-2] != ' ' {
		return a + b
	}
	return a + " " + b
}

// row takes a line of a table. A benchmark has its name, wrapped if it is long;
// in the last line of it samples, iterations and an estimate; below the mean and
// the standard deviation, each with two bounds.
func (r *catchConsole) row(line string, number int) error {
	if line == "" {
		if r.blanks++; r.blanks > 1 || r.meansIn {
			r.part = catchOther
			return r.flush(number)
		}
		return nil
	}
	r.blanks = 0
	if name, why, ok := strings.Cut(line, "Benchmark failed ("); ok {
		if name = strings.TrimSpace(name); name != "" {
			r.piece(name)
		}
		if r.now == nil {
			r.now = &catchResult{unit: "ns"}
		}
		r.now.failed = "failed: " + strings.TrimSuffix(why, ")")
		return r.flush(number)
	}
	words := wordsOf(line)
	three, at := catchDurations(words)
	switch {
	case len(three) == 3 && r.now != nil:
		r.text(line[:words[at].at])
		return r.numbers(three, number)
	case len(three) == 1 && at >= 2:
		samples, err1 := strconv.ParseInt(words[at-2].text, 10, 64)
		_, err2 := strconv.ParseUint(words[at-1].text, 10, 64)
		if err1 != nil || err2 != nil {
			break
		}
		if r.now != nil {
			if err := r.flush(number); err != nil {
				return err
			}
		}
		r.text(line[:words[at-2].at])
		r.now = &catchResult{samples: max(samples, 0), iterations: words[at-1].text, unit: "ns"}
		if r.meansIn {
			r.now.mean[0], r.now.unit = three[0].value, three[0].unit
			return r.flush(number)
		}
		return nil
	}
	if r.now != nil || strings.HasPrefix(line, " ") {
		r.other++
		return nil
	}
	r.piece(line)
	return nil
}

// text takes what stands left of a line's numbers.
func (r *catchConsole) text(s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	if r.now != nil { // below the first line, so it can only go on
		r.name = append(r.name, s)
		return
	}
	r.piece(s)
}

// piece takes a line of a name. What is before it belongs to the name only if
// that had to be wrapped there.
func (r *catchConsole) piece(s string) {
	first, _, _ := strings.Cut(s, " ")
	if n := len(r.name); n > 0 && utf8.RuneCountInString(r.name[n-1])+1+utf8.RuneCountInString(first) <= r.width {
		r.other += n
		r.name = nil
	}
	r.name = append(r.name, s)
}

// numbers takes a line of three durations.
func (r *catchConsole) numbers(d []catchDuration, number int) error {
	into := &r.now.mean
	first := !r.now.started()
	if !first {
		into = &r.now.stddev
	} else {
		r.now.unit = d[0].unit
	}
	for i := range d {
		into[i] = d[i].value
	}
	if first {
		r.now.level = [2]float64{0.95, 0.95}
		return nil
	}
	return r.flush(number)
}

// started reports that the line of the mean was read, which says so by the level.
func (r *catchResult) started() bool { return r.level[0] > 0 }

// flush ends the benchmark being read.
func (r *catchConsole) flush(number int) error {
	now, name := r.now, r.name
	r.now, r.name = nil, nil
	if now == nil && len(name) == 0 {
		return nil
	}
	if now == nil {
		now = &catchResult{unit: "ns"}
	}
	now.path = r.path
	for i, s := range name {
		if i == 0 {
			now.name = s
		} else {
			now.name = joinWrapped(now.name, s)
		}
	}
	return r.add(now, number)
}

// catchDuration is a number with its unit.
type catchDuration struct {
	value perf.Num // in ns
	unit  string
}

// catchDurations reads the durations at the end of a line, three of them or one,
// and the index of the word they begin with.
func catchDurations(words []word) (out []catchDuration, at int) {
	at = len(words)
	for at >= 2 && len(out) < 3 {
		scale := catchUnits[words[at-1].text]
		v, ok := googleNumber(words[at-2].text)
		if scale == 0 || !ok {
			break
		}
		if shifted, ok := parseLocal(words[at-2].text, '.', scale); ok {
			v = shifted
		} else {
			v *= scale
		}
		out = append([]catchDuration{{perf.Some(v), words[at-1].text}}, out...)
		at -= 2
	}
	return out, at
}
