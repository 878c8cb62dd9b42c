package decode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// jmhLog follows what JMH prints while it runs, before the table: each
// benchmark with its iterations and failures.
type jmhLog struct {
	mode, threads string
	runs          []jmhRun
}

// jmhRun is one benchmark with one set of parameters.
type jmhRun struct {
	name, mode, threads string
	params              []perf.Param
	fork, iter          int
	samples             []perf.Sample // in unit
	unit                string
	rounded             bool // an iteration was printed as about a magnitude only
	failed, done        bool
}

// jmhModeTexts are the modes as the log writes them.
var jmhModeTexts = map[string]string{
	"Throughput": "thrpt", "Average time": "avgt", "Sampling time": "sample", "Single shot invocation time": "ss",
}

// line takes one line of the log, after whatever a build tool prints before it.
func (l *jmhLog) line(line string) {
	if _, rest, ok := strings.Cut(line, "# "); ok {
		l.head(rest)
		return
	}
	if len(l.runs) == 0 {
		return
	}
	run := &l.runs[len(l.runs)-1]
	switch {
	case strings.Contains(line, "<failure>"):
		run.failed = true
	case strings.Contains(line, "Result"):
		_, rest, _ := strings.Cut(line, "Result")
		run.done = run.done || strings.HasPrefix(rest, ": ") || strings.HasPrefix(rest, ` "`)
	case strings.Contains(line, "Iteration "):
		_, rest, _ := strings.Cut(line, "Iteration ")
		if number, value, ok := strings.Cut(rest, ": "); ok && isDigits([]byte(strings.TrimSpace(number))) {
			run.iteration(strings.Fields(value))
		}
	}
}

// head takes a line that begins with "# ".
func (l *jmhLog) head(text string) {
	what, value, ok := strings.Cut(text, ": ")
	value = strings.TrimSpace(value)
	switch {
	case !ok:
		return
	case what == "Benchmark mode":
		word, _, _ := strings.Cut(value, ",")
		l.mode = jmhModeTexts[word]
		return
	case what == "Threads":
		l.threads, _, _ = strings.Cut(value, " ")
		return
	case what == "Benchmark":
		if len(l.runs) <= limits.Benchmarks {
			l.runs = append(l.runs, jmhRun{name: value, mode: l.mode, threads: l.threads})
		}
		return
	}
	if len(l.runs) == 0 {
		return
	}
	run := &l.runs[len(l.runs)-1]
	switch {
	case what == "Fork":
		run.fork++
		run.iter = 0
	case strings.HasPrefix(what, "Warmup Iteration") && strings.Contains(value, "<failure>"):
		run.failed = true
	case what == "Parameters":
		for _, p := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(value, "("), ")"), ", ") {
			if name, v, ok := strings.Cut(p, " = "); ok {
				run.params = append(run.params, perf.Param{Name: name, Value: v})
			}
		}
	}
}

// iteration takes "61.138 ops/s" or, of several threads, "61.138 ±(99.9%) 0.2
// ops/s".
func (run *jmhRun) iteration(words []string) {
	if len(words) != 2 && len(words) != 4 {
		run.rounded = true
		return
	}
	v, err := jmhNumber(words[0])
	x, ok := v.Get()
	unit := words[len(words)-1]
	if err != nil || !ok || x < 0 || run.unit != "" && unit != run.unit {
		run.rounded = true
		return
	}
	run.iter++
	run.unit = unit
	run.samples = append(run.samples, perf.Sample{Value: x, Block: int32(max(run.fork, 1)), Iter: int32(run.iter)})
}

// id is what the run and its row in the table have in common: the table
// shortens the package.
func jmhRowID(name, mode string, params []perf.Param) string {
	at := strings.LastIndexByte(name, '.')
	at = strings.LastIndexByte(name[:max(at, 0)], '.')
	sorted := slices.Clone(params)
	slices.SortFunc(sorted, func(a, b perf.Param) int { return strings.Compare(a.Name, b.Name) })
	return fmt.Sprint(name[at+1:], "\x00", mode, "\x00", sorted)
}

// settle gives the rows of the table the iterations of the log, and adds what
// has no row.
func (l *jmhLog) settle(r *jmhRows, table bool) error {
	rows := map[string][]int{}
	for i := range r.s.Benchmarks {
		b := &r.s.Benchmarks[i]
		mode, _ := paramValue(b.Identity, "mode")
		params := slices.DeleteFunc(slices.Clone(b.Params), func(p perf.Param) bool { return p.Name == "mode" || p.Name == "threads" })
		id := jmhRowID(b.Name, mode, params)
		rows[id] = append(rows[id], i)
	}
	for i := range l.runs {
		run := &l.runs[i]
		at := rows[jmhRowID(run.name, run.mode, run.params)]
		switch {
		case len(at) == 0:
			if err := l.alone(r, run, table); err != nil {
				return err
			}
		case len(at) == 1:
			b := &r.s.Benchmarks[at[0]]
			run.give(b)
			if run.failed {
				r.told.add(perf.Diagnostic{Severity: perf.Warning, Code: "failed", What: quote(b.Name) + ": some of it failed; what was measured is kept"})
			}
		}
	}
	return nil
}

// alone makes a result of a run without a row: one that failed, or any where
// the output ends before the table.
func (l *jmhLog) alone(r *jmhRows, run *jmhRun, table bool) error {
	if table && !run.failed || strings.TrimSpace(run.name) == "" {
		return nil
	}
	if len(r.s.Benchmarks) >= limits.Benchmarks {
		return tooMany(0)
	}
	b := jmhResultOf(run.name, run.mode, run.threads, run.params)
	m, err := jmhUnit(run.unit, run.mode)
	switch {
	case run.failed:
		b.Status, b.Reason = perf.Fail, "failed: the log says <failure>"
	case !run.done || err != nil || run.rounded || len(run.samples) == 0:
		b.Status, b.Reason = perf.Fail, "no-result: the output ends before its result"
		if run.done {
			b.Reason = "no-statistics: the output ends before the table with its score"
		}
	default:
		for _, s := range run.samples {
			s.Value *= m.Source.Scale
			m.Samples = append(m.Samples, s)
		}
		b.Metrics = []perf.Metric{m}
	}
	r.s.Benchmarks = append(r.s.Benchmarks, b)
	return nil
}

// give adds the iterations to a row, if they are all that its score was made of.
func (run *jmhRun) give(b *perf.Benchmark) {
	if b.Status != perf.OK || run.rounded || len(run.samples) == 0 {
		return
	}
	m := &b.Metrics[0]
	if m.Source.Unit != run.unit || len(m.Samples) > 0 || m.Reported[0].N != int64(len(run.samples)) && m.Reported[0].N != 0 {
		return
	}
	for _, s := range run.samples {
		s.Value *= m.Source.Scale
		m.Samples = append(m.Samples, s)
	}
}

// paramValue returns the value of a parameter.
func paramValue(params []perf.Param, name string) (string, bool) {
	i := slices.IndexFunc(params, func(p perf.Param) bool { return p.Name == name })
	if i < 0 {
		return "", false
	}
	return params[i].Value, true
}

// jmhThreads is the number of threads as the identity has it, "" if unknown.
func jmhThreads(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
