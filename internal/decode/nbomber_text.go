package decode

import (
	"bytes"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// decodeNBomberText reads the boxed text report and the Markdown report, which
// have the same words.
func decodeNBomberText(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	if err := checkLines(in.Data); err != nil {
		return nil, nil, err
	}
	p := nbomberText{at: map[string]int{}}
	line := 0
	for raw := range bytes.Lines(in.Data) {
		line++
		if len(p.rows) > limits.Benchmarks {
			return nil, nil, tooMany(line)
		}
		p.read(strings.TrimSpace(strings.ReplaceAll(string(raw), "`", "")), line)
	}
	suite := nbomberSuite(in)
	var told problems
	for i := range p.rows {
		r := &p.rows[i]
		all, known := r.requests.Get()
		if ok, has := r.ok.Get(); has && known {
			r.failed = perf.Some(all - ok)
		} else if failed, has := r.failed.Get(); has && known {
			// Only the table of failures names this step.
			r.ok = perf.Some(all - failed)
		}
		suite.Benchmarks = append(suite.Benchmarks, r.benchmark(&told))
	}
	return []perf.Suite{suite}, told.all(), nil
}

// nbomberText collects rows while reading line by line.
type nbomberText struct {
	suite, test, scenario string
	failures              bool // inside a table of failed requests
	row                   *nbomberRow
	rows                  []nbomberRow
	at                    map[string]int // index in rows by scenario and step
}

func (p *nbomberText) read(line string, number int) {
	if !strings.HasPrefix(line, "|") {
		for _, f := range []struct {
			word string
			into *string
		}{{"test suite:", &p.suite}, {"test name:", &p.test}, {"scenario:", &p.scenario}} {
			if v, ok := strings.CutPrefix(line, f.word); ok {
				*f.into = strings.TrimSpace(v)
				p.row = nil
			}
		}
		return
	}
	name, value, _ := strings.Cut(strings.Trim(line, "| "), "|")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch name {
	case "step":
		p.failures = strings.Contains(value, "fail")
		p.row = nil
	case "name":
		p.row = p.rowOf(value, number)
	case "request count":
		p.counts(nbomberPairs(value))
	case "latency (ms)":
		p.latency(nbomberPairs(value), "mean", "min", "max", "StdDev")
	case "latency percentile (ms)":
		p.latency(nbomberPairs(value), "p50", "p75", "p95", "p99")
	case "data transfer (KB)":
		p.transfer(nbomberPairs(value))
	}
}

func (p *nbomberText) rowOf(step string, line int) *nbomberRow {
	key := p.scenario + "\x00" + step
	i, ok := p.at[key]
	if !ok {
		i = len(p.rows)
		p.at[key] = i
		p.rows = append(p.rows, nbomberRow{suite: p.suite, test: p.test, scenario: p.scenario, step: step, line: line, rateUnit: "RPS"})
	}
	return &p.rows[i]
}

func (p *nbomberText) counts(pairs map[string]string) {
	if p.row == nil {
		return
	}
	p.row.requests = nbomberNum(pairs["all"], 1)
	if p.failures {
		p.row.failed = nbomberNum(pairs["fail"], 1)
		return
	}
	p.row.ok = nbomberNum(pairs["ok"], 1)
	p.row.rps = nbomberNum(pairs["RPS"], 1)
}

func (p *nbomberText) latency(pairs map[string]string, names ...string) {
	if p.row == nil || p.failures {
		return
	}
	for _, name := range names {
		p.row.latency = append(p.row.latency, nbomberStat{strings.ToLower(name), nbomberNum(pairs[name], 1e6)})
	}
}

func (p *nbomberText) transfer(pairs map[string]string) {
	if p.row == nil || p.failures {
		return
	}
	for _, name := range []string{"min", "mean", "max"} {
		p.row.transfer = append(p.row.transfer, nbomberStat{name, nbomberNum(pairs[name], 1)})
	}
	p.row.transferred = nbomberNum(strings.TrimSuffix(pairs["all"], " MB"), 1)
}

// nbomberPairs splits "all = 12, ok = 10, RPS = 0.3".
func nbomberPairs(s string) map[string]string {
	pairs := map[string]string{}
	for _, part := range strings.Split(s, ", ") {
		if name, value, ok := strings.Cut(part, "="); ok {
			pairs[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return pairs
}

// nbomberNum reads a number without thousands separators, in any culture.
func nbomberNum(s string, scale float64) perf.Num {
	if v, ok := parseLocal(strings.Replace(s, ",", ".", 1), '.', scale); ok {
		return perf.Some(v)
	}
	return perf.Num{}
}
