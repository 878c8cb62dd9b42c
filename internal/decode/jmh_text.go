package decode

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// jmhRow is a row of JMH's text table or CSV.
type jmhRow struct {
	name, mode, threads string
	params              []perf.Param
	count               int64
	score, err          perf.Num
	unit                string
}

// benchmark turns a row into a result.
func (r *jmhRow) benchmark() (perf.Benchmark, error) {
	b := perf.Benchmark{Name: r.name, Rows: 1, Status: perf.OK, JobKind: perf.Default, Params: r.params}
	if r.mode != "" {
		b.Identity = append(b.Identity, perf.Param{Name: "mode", Value: r.mode})
		b.Params = append(b.Params, perf.Param{Name: "mode", Value: r.mode})
	}
	if r.threads != "" {
		b.Identity = append(b.Identity, perf.Param{Name: "threads", Value: r.threads})
		if r.threads != "1" {
			b.Params = append(b.Params, perf.Param{Name: "threads", Value: r.threads})
		}
	}
	m, err := jmhUnit(r.unit)
	if err != nil {
		return b, err
	}
	score, ok := r.score.Get()
	switch {
	case !ok:
		return b, errors.New("it has no score")
	case score < 0:
		return b, errors.New("its score is negative")
	}
	rep := perf.Reported{Stat: "mean", Value: score * m.Source.Scale, N: r.count}
	if e, ok := r.err.Get(); ok {
		rep.CI = perf.Interval{Level: 0.999, Lo: perf.Some((score - e) * m.Source.Scale), Hi: perf.Some((score + e) * m.Source.Scale)}
	}
	m.Reported = []perf.Reported{rep}
	b.Metrics = []perf.Metric{m}
	return b, nil
}

// jmhHeader finds the head of a text table in a line: the names of its
// parameters, and whether it counts iterations.
func jmhHeader(line string) (params []string, counts, ok bool) {
	words := strings.Fields(line)
	if len(words) < 4 || words[0] != "Benchmark" || words[len(words)-1] != "Units" {
		return nil, false, false
	}
	at := 1
	for at < len(words) && strings.HasPrefix(words[at], "(") && strings.HasSuffix(words[at], ")") {
		params = append(params, words[at][1:len(words[at])-1])
		at++
	}
	if at >= len(words) || words[at] != "Mode" || !strings.Contains(line, "Score") {
		return nil, false, false
	}
	return params, words[at+1] == "Cnt" || words[at+1] == "Samples", true
}

// decodeJMHText reads the table at the end of JMH's output, wherever in the file
// it begins.
func decodeJMHText(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	var told problems
	var params []string
	counts, inTable, found := false, false, false
	for n, line := range strings.Split(string(in.Data), "\n") {
		line = strings.TrimRight(stripANSI(line), " \r")
		if p, c, ok := jmhHeader(line); ok {
			params, counts, inTable, found = p, c, true, true
			continue
		}
		words := strings.Fields(line)
		if !inTable || len(words) == 0 || strings.Contains(words[0], ":") {
			continue // with a colon it is a percentile or a secondary metric of the benchmark above
		}
		if _, err := jmhUnit(words[len(words)-1]); err != nil {
			inTable = false // other output follows
			continue
		}
		row, err := jmhTextRow(line, params, counts)
		var b perf.Benchmark
		if err == nil {
			b, err = row.benchmark()
		}
		if err != nil {
			told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid", Where: perf.Where{Line: n + 1}, What: "a row is refused",
				Why: err.Error(), Do: "The other results are kept."})
			continue
		}
		if s.Benchmarks = append(s.Benchmarks, b); len(s.Benchmarks) > limits.Benchmarks {
			return nil, told.all(), tooMany(n + 1)
		}
	}
	if !found {
		return nil, told.all(), errors.New("there is no table of JMH in it: a line that begins with Benchmark and ends with Units")
	}
	return []perf.Suite{s}, told.all(), nil
}

// jmhTextRow reads a row from its right end, where every word has a meaning.
func jmhTextRow(line string, params []string, counts bool) (r jmhRow, err error) {
	words := strings.Fields(line)
	take := func() string {
		if len(words) == 0 {
			return ""
		}
		w := words[len(words)-1]
		words = words[:len(words)-1]
		return w
	}
	r.unit = take()
	value := take()
	if len(words) > 0 && strings.Contains(words[len(words)-1], "\u00b1") {
		take()
		if r.err, err = jmhNumber(value); err != nil {
			return r, err
		}
		value = take()
	}
	if r.score, err = jmhNumber(value); err != nil {
		return r, err
	}
	if len(words) > 0 && words[len(words)-1] == "\u2248" {
		return r, fmt.Errorf("its score is given as about %s only", quote(value))
	}
	if counts && len(words) > 0 {
		if n, err := strconv.ParseInt(words[len(words)-1], 10, 64); err == nil {
			r.count = n
			take()
		}
	}
	r.mode = take()
	if len(words) != 1+len(params) {
		return r, fmt.Errorf("it has %d words before the mode, not a name and %d parameters", len(words), len(params))
	}
	r.name = words[0]
	for i, p := range params {
		if words[1+i] != "N/A" {
			r.params = append(r.params, perf.Param{Name: p, Value: words[1+i]})
		}
	}
	return r, nil
}

// jmhNumber reads a number of a table; NaN is absent.
func jmhNumber(text string) (perf.Num, error) {
	if strings.EqualFold(text, "nan") || text == "" {
		return perf.Num{}, nil
	}
	if strings.Count(text, ",") == 1 && !strings.Contains(text, ".") {
		text = strings.Replace(text, ",", ".", 1) // of another locale
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return perf.Num{}, fmt.Errorf("%s is not a number", quote(text))
	}
	return perf.Some(v), nil
}

// decodeJMHCSV reads what `-rf csv` writes.
func decodeJMHCSV(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	var told problems
	r := csv.NewReader(bytes.NewReader(in.Data))
	head, err := r.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("read the head of the table: %w", err)
	}
	column := map[string]int{}
	for i, name := range head {
		column[name] = i
	}
	for _, name := range []string{"Benchmark", "Mode", "Score", "Unit"} {
		if _, ok := column[name]; !ok {
			return nil, nil, fmt.Errorf("the table has no column %s", name)
		}
	}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return []perf.Suite{s}, told.all(), nil
		}
		if err != nil {
			return nil, told.all(), fmt.Errorf("read the table: %w", err)
		}
		line, _ := r.FieldPos(0)
		b, err := jmhCSVRow(head, column, row)
		switch {
		case err != nil:
			told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid", Where: perf.Where{Line: line}, What: quote(row[column["Benchmark"]]) + " is refused",
				Why: err.Error(), Do: "The other results are kept."})
		case strings.Contains(b.Name, ":"):
		default:
			s.Benchmarks = append(s.Benchmarks, b)
		}
		if len(s.Benchmarks) > limits.Benchmarks {
			return nil, told.all(), tooMany(line)
		}
	}
}

func jmhCSVRow(head []string, column map[string]int, row []string) (perf.Benchmark, error) {
	get := func(name string) string {
		if i, ok := column[name]; ok {
			return row[i]
		}
		return ""
	}
	r := jmhRow{name: get("Benchmark"), mode: get("Mode"), threads: get("Threads"), unit: get("Unit")}
	for i, name := range head {
		if p, ok := strings.CutPrefix(name, "Param: "); ok && row[i] != "" {
			r.params = append(r.params, perf.Param{Name: p, Value: row[i]})
		}
	}
	r.count, _ = strconv.ParseInt(get("Samples"), 10, 64) // 0: unknown
	var err error
	if r.score, err = jmhNumber(get("Score")); err != nil {
		return perf.Benchmark{}, err
	}
	if r.err, err = jmhNumber(get("Score Error (99.9%)")); err != nil {
		return perf.Benchmark{}, err
	}
	if strings.TrimSpace(r.name) == "" {
		return perf.Benchmark{}, errors.New("it has no name")
	}
	return r.benchmark()
}
