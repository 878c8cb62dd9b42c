package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var luau = Format{
	Name:    "luau",
	Aliases: []string{"benchmarkluau"},
	Tool:    "Luau bench.py",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "what Luau's `bench/bench.py` prints, and the file of results it writes (`bench.json`)",
		Reads:  "from the file the time of every run as samples; from the output average and minimum with the interval; tests that failed",
		Absent: "from the output single runs, their number, median and maximum; the start; the machine",
		Notes: []string{
			"Column `StdDev%` and the number after `+/-` are half the width of a 95 % interval in percent of the average, whatever the column is called; only without SciPy, of which the output then warns, they are a standard deviation.",
			"With `--compare` the driver (the VM's name) is a parameter if the file has more than one. The speedup and its significance follow from the rest and are not read, nor is the row Total.",
		},
	},
	Sniff: func(_ string, head []byte) Confidence {
		switch luauShape(head) {
		case luauJSON, luauText:
			return Certain
		}
		return No
	},
	Decode: decodeLuau,
}

// The shapes in which bench.py gives results.
const (
	luauJSON = iota + 1
	luauText
)

// luauShape tells the shape of a file from its beginning, 0 for none.
func luauShape(head []byte) int {
	d := strictjson.NewDecoder(head, strictjson.Options{})
	if d.Kind() == strictjson.Array && d.Array() && d.More() && d.Array() && d.More() && d.Array() {
		texts := 0
		for texts < 4 && d.More() && d.Kind() == strictjson.String {
			d.Skip()
			texts++
		}
		if texts == 4 && d.More() && d.Kind() == strictjson.Array {
			return luauJSON
		}
	}
	for line := range bytes.Lines(head) {
		if bytes.Contains(line, []byte("StdDev%")) || bytes.Contains(line, []byte("ms +/- ")) || bytes.Contains(line, []byte("FAILED")) {
			text := strings.TrimRight(stripANSI(string(line)), " \r\n")
			if _, ok := luauLine(text); ok || luauHead(luauCells(text)) != nil {
				return luauText
			}
		}
	}
	return 0
}

func decodeLuau(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	l := luauReader{stat: "interval"}
	read := l.readText
	if luauShape(in.Data[:min(len(in.Data), headBytes)]) == luauJSON {
		read = l.readJSON
	}
	if err := read(in.Data); err != nil {
		return nil, l.told.all(), err
	}
	return []perf.Suite{l.suite(in)}, l.told.all(), nil
}

// luauResult is one test on one driver.
type luauResult struct {
	name, driver string
	min, mean    perf.Num // in ms
	spread       perf.Num // in percent of the mean
	samples      []float64
	failed       string
	tabled       bool // the table had it too
}

// luauReader collects the results of one file.
type luauReader struct {
	results []luauResult
	open    map[[2]string][]int // results that the table has still to repeat
	stat    string              // what the spread is
	told    problems
}

func (l *luauReader) add(r luauResult, line int) error {
	if len(l.results) >= limits.Benchmarks {
		return tooMany(line)
	}
	l.results = append(l.results, r)
	return nil
}

// suite makes results of what was read.
func (l *luauReader) suite(in Input) perf.Suite {
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	drivers := map[string]bool{}
	for i := range l.results {
		drivers[l.results[i].driver] = true
	}
	for i := range l.results {
		r := &l.results[i]
		b := perf.Benchmark{Name: r.name, Rows: 1, Status: perf.OK, JobKind: perf.Default}
		if r.driver != "" {
			p := perf.Param{Name: "driver", Value: r.driver}
			b.Identity = append(b.Identity, p)
			if len(drivers) > 1 {
				b.Params = append(b.Params, p)
			}
		}
		if r.failed != "" {
			b.Status, b.Reason = perf.Fail, r.failed
			s.Benchmarks = append(s.Benchmarks, b)
			continue
		}
		m := perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: "ms", Scale: 1e6}}
		for k, v := range r.samples {
			sample(&m, v, 0, k+1)
		}
		reported(&m, "mean", r.mean, 0)
		if mean, ok := r.mean.Get(); ok {
			if p, ok := r.spread.Get(); ok && l.stat == "interval" {
				half := mean * p / 100
				m.Reported[0].CI = perf.Interval{Level: 0.95, Lo: perf.Some((mean - half) * 1e6), Hi: perf.Some((mean + half) * 1e6)}
			} else if ok {
				reported(&m, "stddev", perf.Some(mean*p/100), 0)
			}
		}
		reported(&m, "min", r.min, 0)
		if len(m.Samples)+len(m.Reported) > 0 {
			b.Metrics = []perf.Metric{m}
		}
		s.Benchmarks = append(s.Benchmarks, b)
	}
	return s
}

// readText reads the lines printed after each test and the table at the end,
// which repeats them.
func (l *luauReader) readText(data []byte) error {
	l.open = map[[2]string][]int{}
	var columns map[string]int
	number, found := 0, false
	for raw := range bytes.Lines(data) {
		number++
		if len(raw) > limits.LineBytes {
			l.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: number}, What: fmt.Sprintf("a line of %d bytes is skipped", len(raw)),
				Why: fmt.Sprintf("the limit is %d", limits.LineBytes)})
			continue
		}
		line := strings.TrimRight(stripANSI(string(raw)), " \t\r\n")
		if strings.Contains(line, "scipy package is not installed") {
			l.stat = "stddev"
		}
		if r, ok := luauLine(line); ok {
			found, columns = true, nil
			key := [2]string{r.name, r.driver}
			l.open[key] = append(l.open[key], len(l.results))
			if err := l.add(r, number); err != nil {
				return err
			}
			continue
		}
		cells := luauCells(line)
		if head := luauHead(cells); head != nil {
			found, columns = true, head
			continue
		}
		if strings.Trim(line, "-+| ") == "" {
			continue // a rule
		}
		if len(cells) < 5 {
			columns = nil // other output follows
		}
		if columns == nil {
			continue
		}
		if err := l.row(columns, cells, number); err != nil {
			return err
		}
	}
	if !found {
		return errors.New("there is neither a SUCCESS line nor a table of Luau's bench.py in it")
	}
	return nil
}

// row takes a row of the table.
func (l *luauReader) row(columns map[string]int, cells []string, line int) error {
	cell := func(name string) string {
		if i, ok := columns[name]; ok && i < len(cells) {
			return cells[i]
		}
		return ""
	}
	r := luauResult{name: cell("Test"), driver: cell("Driver"), tabled: true}
	if r.name == "Total" && cell("StdDev%") == "---" {
		return nil
	}
	if cell("Average") == "FAILED" {
		r.failed = "failed: the test did not run to its end"
	} else {
		var why string
		for _, c := range []struct {
			name, unit string
			into       *perf.Num
		}{{"Min", "ms", &r.min}, {"Average", "ms", &r.mean}, {"StdDev%", "%", &r.spread}} {
			v, ok := luauNumber(cell(c.name), c.unit)
			if !ok {
				why = fmt.Sprintf("%s is %s, not a number in %s", c.name, quote(cell(c.name)), c.unit)
			}
			*c.into = v
		}
		if why != "" {
			l.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: line}, What: "the row of " + quote(r.name) + " is refused",
				Why: why, Do: "The other rows are kept."})
			return nil
		}
	}
	key := [2]string{r.name, r.driver}
	if waiting := l.open[key]; len(waiting) > 0 {
		l.open[key] = waiting[1:]
		if old := &l.results[waiting[0]]; old.failed == "" {
			*old = r
		}
		return nil
	}
	return l.add(r, line)
}

// luauNumber reads a number with its unit; one that is not finite is absent.
func luauNumber(text, unit string) (perf.Num, bool) {
	number, ok := strings.CutSuffix(text, unit)
	if !ok {
		return perf.Num{}, false
	}
	v, ok := googleNumber(strings.TrimSpace(number))
	return perf.Some(v), ok
}

// luauLine reads "SUCCESS: NAME : 15.041ms +/- 0.636% on DRIVER", perhaps with a
// comparison in parentheses behind, and "FAILED:  'NAME' on 'DRIVER'".
func luauLine(line string) (r luauResult, ok bool) {
	if rest, ok := strings.CutPrefix(line, "FAILED:  '"); ok {
		name, driver, ok := strings.Cut(rest, "' on '")
		r.name, r.driver = name, luauDriver(strings.TrimSuffix(driver, "'"))
		r.failed = "failed: the test did not run to its end"
		return r, ok && name != ""
	}
	rest, ok := strings.CutPrefix(line, "SUCCESS: ")
	if !ok {
		return r, false
	}
	left, right, ok := strings.Cut(rest, "ms +/- ")
	colon := strings.LastIndexByte(left, ':')
	percent, driver, ok2 := strings.Cut(right, "% on ")
	if !ok || !ok2 || colon < 0 {
		return r, false
	}
	mean, okMean := googleNumber(strings.TrimSpace(left[colon+1:]))
	spread, okSpread := googleNumber(strings.TrimSpace(percent))
	if i := strings.LastIndex(driver, " ("); i >= 0 && strings.HasSuffix(driver, ")") && strings.Contains(driver[i:], "%") {
		driver = driver[:i]
	}
	r.name, r.driver, r.mean, r.spread = strings.TrimSpace(left[:colon]), driver, perf.Some(mean), perf.Some(spread)
	return r, okMean && okSpread && r.name != ""
}

// luauDriver shortens the path of a VM as the table does: to the name of the
// executable, with its arguments.
func luauDriver(vm string) string {
	path, arguments, _ := strings.Cut(vm, " ")
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	return strings.TrimSpace(path + " " + arguments)
}

// luauCells splits a row of the table.
func luauCells(line string) []string {
	if !strings.Contains(line, "|") {
		return nil
	}
	cells := strings.Split(line, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// luauHead returns the columns of a table if cells are its head.
func luauHead(cells []string) map[string]int {
	if len(cells) < 5 || len(cells) > limits.TableColumns || cells[0] != "Test" {
		return nil
	}
	columns := map[string]int{}
	for i, name := range cells {
		columns[name] = i
	}
	for _, name := range []string{"Min", "Average", "StdDev%", "Driver"} {
		if _, ok := columns[name]; !ok {
			return nil
		}
	}
	return columns
}

// readJSON reads the file of results: a list of tests, each a list of what
// every driver did, as a list of file, path and name of the driver, name of the
// test, times in ms and their number.
func (l *luauReader) readJSON(data []byte) error {
	d := strictjson.NewDecoder(data, strictjson.Options{KeepGoing: true, NaN: true})
	for ok := d.Array(); ok && d.More(); {
		err := records(d, &l.told, func(raw []byte) (string, error) {
			var fields []json.RawMessage
			if err := json.Unmarshal(raw, &fields); err != nil {
				return "", err
			}
			if len(fields) < 5 {
				return "", errors.New("it has " + strconv.Itoa(len(fields)) + " fields, not 6")
			}
			var r luauResult
			var file string
			for i, into := range []any{&file, nil, &r.driver, &r.name, &r.samples} {
				if into == nil {
					continue
				}
				if err := json.Unmarshal(fields[i], into); err != nil {
					return r.name, err
				}
			}
			for _, v := range r.samples {
				if why := badTime(v); why != "" {
					return r.name, errors.New(why)
				}
			}
			if r.name == "" {
				r.name = file
			}
			if len(r.samples) == 0 {
				r.failed = "failed: the test did not run to its end"
			}
			return r.name, l.add(r, 0)
		})
		if err != nil {
			return err
		}
	}
	if err := d.End(); err != nil {
		return err
	}
	return nil
}
