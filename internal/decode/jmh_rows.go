package decode

import (
	"fmt"
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
	about               string // the score where the table gives its magnitude only
	unit                string
	line                int
}

// jmhRows makes results of rows. Percentiles and secondary metrics are rows of
// their own, named BENCHMARK:LABEL, after that of their benchmark.
type jmhRows struct {
	s    perf.Suite
	told problems
	at   map[string]int // index in s.Benchmarks of the latest row of an identity
}

// add takes the next row.
func (r *jmhRows) add(row *jmhRow) error {
	name, label, part := strings.Cut(row.name, ":")
	id := strings.Join([]string{name, row.mode, row.threads, fmt.Sprint(row.params)}, "\x00")
	if part {
		i, ok := r.at[id]
		if !ok {
			r.told.add(perf.Diagnostic{Severity: perf.Warning, Code: "ignored", Where: perf.Where{Line: row.line},
				What: quote(row.name) + " is not read", Why: "the row of its benchmark does not stand before it"})
			return nil
		}
		row.attach(&r.s.Benchmarks[i], label)
		return nil
	}
	b, why := row.benchmark()
	if why != "" {
		r.refuse(row.name, row.line, why)
		return nil
	}
	if len(r.s.Benchmarks) >= limits.Benchmarks {
		return tooMany(row.line)
	}
	if r.at == nil {
		r.at = map[string]int{}
	}
	r.at[id] = len(r.s.Benchmarks)
	r.s.Benchmarks = append(r.s.Benchmarks, b)
	return nil
}

// refuse says why a row is not kept.
func (r *jmhRows) refuse(name string, line int, why string) {
	r.told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid", Where: perf.Where{Line: line}, What: quote(name) + " is refused",
		Why: why, Do: "The other results are kept."})
}

// jmhResultOf begins a result with its identity.
func jmhResultOf(name, mode, threads string, params []perf.Param) perf.Benchmark {
	b := perf.Benchmark{Name: name, Rows: 1, Status: perf.OK, JobKind: perf.Default}
	b.Params = append(b.Params, params...)
	if mode != "" {
		b.Identity = append(b.Identity, perf.Param{Name: "mode", Value: mode})
		b.Params = append(b.Params, perf.Param{Name: "mode", Value: mode})
	}
	if threads != "" {
		b.Identity = append(b.Identity, perf.Param{Name: "threads", Value: threads})
		if threads != "1" {
			b.Params = append(b.Params, perf.Param{Name: "threads", Value: threads})
		}
	}
	return b
}

// benchmark turns a row into a result. One without a score is a result too.
func (r *jmhRow) benchmark() (b perf.Benchmark, why string) {
	b = jmhResultOf(r.name, r.mode, r.threads, r.params)
	if strings.TrimSpace(r.name) == "" {
		return b, "it has no name"
	}
	m, err := jmhUnit(r.unit, r.mode)
	if err != nil {
		return b, err.Error()
	}
	score, ok := r.score.Get()
	switch {
	case r.about != "":
		b.Status, b.Reason = perf.Skipped, "no-statistics: the table gives its score as about "+r.about+" only; use a smaller unit or JSON"
		return b, ""
	case !ok:
		b.Status, b.Reason = perf.Fail, "no-statistics: its score is no number"
		return b, ""
	case score < 0:
		return b, "its score is negative"
	}
	rep := perf.Reported{Stat: "mean", Value: score * m.Source.Scale, N: r.count}
	if e, ok := r.err.Get(); ok {
		rep.CI = perf.Interval{Level: 0.999, Lo: perf.Some((score - e) * m.Source.Scale), Hi: perf.Some((score + e) * m.Source.Scale)}
	}
	m.Reported = []perf.Reported{rep}
	b.Metrics = []perf.Metric{m}
	return b, ""
}

// attach adds a row to its benchmark: a percentile as a statistic, another as a
// metric. A row without a number says nothing.
func (r *jmhRow) attach(b *perf.Benchmark, label string) {
	score, ok := r.score.Get()
	if !ok || r.about != "" || len(b.Metrics) == 0 {
		return
	}
	label = strings.TrimFunc(label, isJMHDot)
	last := label[strings.LastIndexFunc(label, isJMHDot)+1:]
	if stat, ok := jmhPercentile(last); ok && r.mode == "sample" {
		reported(&b.Metrics[0], stat, perf.Some(score), 0)
		return
	}
	m := jmhSecondary(label, r.unit, r.mode)
	if b.Metric(m.Name) != nil || len(b.Metrics) > limits.MetricsPerBenchmark {
		return
	}
	rep := perf.Reported{Stat: "mean", Value: score * m.Source.Scale, N: r.count}
	if e, ok := r.err.Get(); ok {
		rep.CI = perf.Interval{Level: 0.999, Lo: perf.Some((score - e) * m.Source.Scale), Hi: perf.Some((score + e) * m.Source.Scale)}
	}
	m.Reported = []perf.Reported{rep}
	b.Metrics = append(b.Metrics, m)
}

// isJMHDot tells the middle dot before the names of profilers' metrics, and
// what consoles without it make of it.
func isJMHDot(r rune) bool { return r == '\u00b7' || r == '?' || r == '\ufffd' || r == '\u00c2' }

// jmhPercentile reads "p0.999" as p99.9; the ends are minimum and maximum.
func jmhPercentile(label string) (stat string, ok bool) {
	digits, ok := strings.CutPrefix(label, "p")
	switch {
	case !ok:
		return "", false
	case digits == "1.00":
		return "max", true
	case digits == "0.00":
		return "min", true
	}
	digits, ok = strings.CutPrefix(digits, "0.")
	if !ok || len(digits) < 2 || !isDigits([]byte(digits)) {
		return "", false
	}
	return jmhStat(digits[:2] + "." + digits[2:])
}

// jmhStat is the statistic behind a percentile in percent, such as "99.90".
func jmhStat(percent string) (stat string, ok bool) {
	v, err := strconv.ParseFloat(percent, 64)
	switch {
	case err != nil || v < 0 || v > 100:
		return "", false
	case v == 0:
		return "min", true
	case v == 50:
		return "median", true
	case v == 100:
		return "max", true
	}
	return "p" + perf.Some(v).String(), true
}

// decodeJMHCSV reads what `-rf csv` and `-rf scsv` write.
func decodeJMHCSV(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	r := jmhRows{s: perf.Suite{Module: in.Module, Kind: in.Kind}}
	t, err := readCSV(in.Data, &r.told, func(_, cells []string) string { return quote(cells[0]) })
	if err != nil {
		return nil, r.told.all(), err
	}
	for _, name := range []string{"Benchmark", "Mode", "Score", "Unit"} {
		if t.column(name) < 0 {
			return nil, nil, fmt.Errorf("the table has no column %s", name)
		}
	}
	for i := range t.rows {
		cells := &t.rows[i]
		if cells.cell(t.column("Benchmark")) == "Benchmark" {
			continue // the head of a file appended to this one
		}
		row, err := jmhCSVRow(&t, cells)
		if err != nil {
			r.refuse(row.name, row.line, err.Error())
			continue
		}
		if err := r.add(&row); err != nil {
			return nil, r.told.all(), err
		}
	}
	return []perf.Suite{r.s}, r.told.all(), nil
}

func jmhCSVRow(t *table, cells *tableRow) (jmhRow, error) {
	get := func(name string) string { return cells.cell(t.column(name)) }
	r := jmhRow{name: get("Benchmark"), mode: get("Mode"), threads: get("Threads"), unit: get("Unit"), line: cells.line}
	for i, name := range t.header {
		if p, ok := strings.CutPrefix(name, "Param: "); ok && cells.cells[i] != "" {
			r.params = append(r.params, perf.Param{Name: p, Value: cells.cells[i]})
		}
	}
	r.count, _ = strconv.ParseInt(get("Samples"), 10, 64) // 0: unknown
	r.count = max(r.count, 0)
	var err error
	if r.score, err = jmhNumber(get("Score")); err == nil {
		r.err, err = jmhNumber(get("Score Error (99.9%)") + get("Score Error (99,9%)")) // one of them, by the locale
	}
	return r, err
}

// jmhNumber reads a number of a table; NaN is absent.
func jmhNumber(text string) (perf.Num, error) {
	if strings.EqualFold(text, "nan") || text == "" {
		return perf.Num{}, nil
	}
	plain := text
	if strings.Count(text, ",") == 1 && !strings.Contains(text, ".") {
		plain = strings.Replace(text, ",", ".", 1) // of another locale
	}
	v, err := strconv.ParseFloat(plain, 64)
	if err != nil || !isGoNumber([]byte(plain)) {
		return perf.Num{}, fmt.Errorf("%s is not a number", quote(text))
	}
	return perf.Some(v), nil
}
