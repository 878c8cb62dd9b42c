package decode

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// csv reads the table of `--csv`, one repetition a row.
func (r *renaissanceReader) csv(data []byte) error {
	t, err := readCSV(data, &r.told, func(_, cells []string) string { return quote(cells[0]) })
	if err != nil {
		return err
	}
	name, started := t.column("benchmark"), t.column("vm_start_unix_ms")
	vms, iterations := map[string]string{}, map[string]int{}
	for n := range t.rows {
		row := &t.rows[n]
		bench := row.cell(name)
		if bench == "benchmark" {
			continue // the head of a file appended to this one
		}
		i, err := r.benchmark(bench, "")
		if err != nil {
			return err
		}
		if vm := row.cell(started); r.block[bench] == 0 || vms[bench] != vm {
			r.block[bench]++
			vms[bench], iterations[bench] = vm, 0
		}
		iterations[bench]++
		for c, column := range t.header {
			if _, ok := renaissanceMetric(column); c == name || !ok || row.cell(c) == "NA" {
				continue
			}
			d := strictjson.NewDecoder([]byte(row.cell(c)), strictjson.Options{})
			v, why := readJSONNumber(d)
			if d.End() != nil && why == "" {
				why = "is not a number"
			}
			if why != "" {
				r.told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid", Where: perf.Where{Line: row.line},
					What: "a value of " + quote(bench) + " is refused", Why: column + " " + why, Do: "The other repetitions are kept."})
				continue
			}
			r.add(i, column, v.Or(0), r.block[bench], iterations[bench])
		}
	}
	for i := range r.s.Benchmarks {
		if b := &r.s.Benchmarks[i]; b.Metric(perf.Time) == nil {
			b.Status, b.Metrics, b.Reason = perf.Fail, nil, "no-result: the file has no duration for it"
		}
	}
	return nil
}

// renaissanceMark begins the lines that the harness prints.
const renaissanceMark = "====== "

// renaissanceEvent is what one printed line tells.
type renaissanceEvent struct {
	name, config string
	iteration    int
	verb         string // started, completed or failed
	detail       string // what stands in parentheses after the verb
}

// renaissanceLine reads "====== NAME (GROUP) [CONFIG], iteration N VERB (DETAIL)
// ======" wherever it begins in a line; older versions have no configuration.
func renaissanceLine(line []byte) (e renaissanceEvent, ok bool) {
	_, rest, ok := strings.Cut(stripANSI(string(line)), renaissanceMark)
	who, what, ok2 := strings.Cut(rest, ", iteration ")
	name, group, ok3 := strings.Cut(who, " (")
	if !ok || !ok2 || !ok3 || strings.TrimSpace(name) == "" {
		return e, false
	}
	e.name = name
	if _, config, ok := strings.Cut(group, ") ["); ok {
		e.config = strings.TrimSuffix(config, "]")
	} else if !strings.HasSuffix(group, ")") {
		return e, false
	}
	number, what, _ := strings.Cut(what, " ")
	what, _, closed := strings.Cut(what, " ======")
	e.verb, e.detail, _ = strings.Cut(what, " (")
	e.detail = strings.TrimSuffix(e.detail, ")")
	n, err := strconv.ParseUint(number, 10, 31)
	e.iteration = int(n)
	switch e.verb {
	case "started", "completed", "failed":
		return e, err == nil && closed
	}
	return e, false
}

// text reads the lines that the harness prints.
func (r *renaissanceReader) text(data []byte) error {
	open := map[int]renaissanceEvent{} // started and not ended yet, by result
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if !bytes.Contains(line, []byte(renaissanceMark)) || len(line) > limits.LineBytes {
			continue
		}
		e, ok := renaissanceLine(line)
		if !ok {
			continue
		}
		i, err := r.benchmark(e.name, e.config)
		if err != nil {
			return err
		}
		key := e.name + "\x00" + e.config
		b := &r.s.Benchmarks[i]
		switch e.verb {
		case "started":
			if e.iteration == 0 || r.block[key] == 0 {
				r.block[key]++
			}
			open[i] = e
			continue
		case "failed":
			b.Status, b.Reason = perf.Fail, fmt.Sprintf("failed: iteration %d: %s", e.iteration, e.detail)
		case "completed":
			ms, unit := splitUnit(e.detail)
			v, ok := parseLocal(strings.Replace(ms, ",", ".", 1), '.', 1e6)
			if !ok || unit != "ms" {
				r.told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid", Where: perf.Where{Line: number},
					What: "a value of " + quote(e.name) + " is refused", Why: quote(e.detail) + " is not a time in ms", Do: "The other repetitions are kept."})
				break
			}
			r.add(i, "duration_ns", v, max(r.block[key], 1), e.iteration+1)
		}
		delete(open, i)
	}
	r.settleText(open)
	return nil
}

// settleText tells what did not end and drops the numbers of what failed.
func (r *renaissanceReader) settleText(open map[int]renaissanceEvent) {
	for i := range r.s.Benchmarks {
		b := &r.s.Benchmarks[i]
		for k := range b.Metrics { // only the time is printed, in ms
			b.Metrics[k].Source = perf.Source{Unit: "ms", Scale: 1e6}
		}
		e, unfinished := open[i]
		switch {
		case b.Status == perf.Fail:
			b.Metrics = nil
		case len(b.Metrics) == 0:
			b.Status, b.Reason = perf.Fail, "no-result: it started, but no iteration completed"
		case unfinished:
			r.told.add(perf.Diagnostic{Severity: perf.Warning, Code: "unfinished",
				What: fmt.Sprintf("%s: iteration %d started, but did not complete; those before it are kept", quote(b.Name), e.iteration)})
		}
	}
}
