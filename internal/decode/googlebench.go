package decode

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

var googleBenchmark = Format{
	Name:    "google-benchmark",
	Aliases: []string{"googlebenchmark", "googlecpp"},
	Tool:    "Google Benchmark",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files: "what `--benchmark_format=json`, `csv` or `console` prints or `--benchmark_out` writes, with other output around it and between the results",
		Reads: "real_time and cpu_time of every repetition as samples with their iterations; bytes_per_second as throughput, items_per_second, counters, allocations and memory where they were measured; " +
			"the rows `_mean`, `_median`, `_stddev`, `_min`, `_max` and `_pNN` as statistics of the benchmark they describe; errors and skips; start, version, number of processors",
		Absent: "the processor's name, the compiler; in CSV and on the console the start of each repetition and, for numbers, all but the digits printed",
		Notes: []string{
			"The name is that of the run, with arguments and threads; `name:value` arguments are parameters. The label is not part of the identity.",
			"The direction of counters is unknown, as is their unit; bytes and items per second are better when higher, times and memory when lower.",
			"Rows `_cv` follow from mean and standard deviation and are not kept; those of asymptotic complexity (`_BigO`, `_RMS`) and statistics of other names are told and not kept.",
			"CSV, console and JSON of versions before 1.5 do not say which rows are statistics: they are told by their names, their number of iterations and the rows before them.",
			"On the console `k`, `M`, `G` are powers of 1000, for bytes_per_second of 1024; `Ki`, `Mi`, `Gi` always of 1024.",
			"Of JSON that is cut off or has output of the benchmarks between its records every whole record is read.",
		},
	},
	Sniff: func(_ string, head []byte) Confidence {
		if googleShape(head) != 0 {
			return Certain
		}
		return No
	},
	Decode: decodeGoogle,
}

// The shapes in which Google Benchmark writes results.
const (
	googleJSON = iota + 1
	googleCSV
	googleConsole
)

// googleShape tells the shape of a file from its beginning, 0 for none.
func googleShape(head []byte) int {
	if googleDocument(head) >= 0 {
		has := func(key string) bool { return bytes.Contains(head, []byte(`"`+key+`"`)) }
		if has("benchmarks") && (has("real_time") && has("time_unit") || has("run_type") && has("family_index") || has("library_build_type")) {
			return googleJSON
		}
	}
	for line := range bytes.Lines(head) {
		switch {
		case bytes.HasPrefix(line, []byte(googleCSVHead)):
			return googleCSV
		case bytes.Contains(line, []byte("Iterations")) && isGoogleHead(strings.Fields(stripANSI(string(line)))):
			return googleConsole
		}
	}
	return 0
}

func decodeGoogle(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	g := google{suite: perf.Suite{Module: in.Module, Kind: in.Kind}, at: map[string]int{}, left: map[string]int{}}
	read := g.readConsole
	switch googleShape(in.Data[:min(len(in.Data), headBytes)]) {
	case googleJSON:
		read = g.readJSON
	case googleCSV:
		read = g.readCSV
	case 0:
		if bytes.HasPrefix(bytes.TrimLeft(in.Data, " \t\r\n"), []byte("{")) {
			read = g.readJSON
		}
	}
	if err := read(in.Data); err != nil {
		return nil, g.told.all(), err
	}
	g.flush()
	g.tellLeft()
	return []perf.Suite{g.suite}, g.told.all(), nil
}

// google collects the rows of one file.
type google struct {
	suite   perf.Suite
	at      map[string]int // index of a result by name
	rows    int
	pending []googleRow // may be statistics; see guess
	base    string      // what the statistics just read describe,
	baseOps int64       // and their number of iterations
	left    map[string]int
	told    problems
}

// googleRow is one row as the file has it.
type googleRow struct {
	line       int
	name       string
	run        string // name of the run, "" if the file does not say it
	typed      bool   // the file says whether the row is a statistic
	old        bool   // its iterations may be those of the repetitions
	stat       string // "" for a repetition
	ratio      bool   // the statistic is one without unit
	threads    string
	label      string
	iterations int64
	reps       int64
	scale      float64 // of times, to nanoseconds
	unit       string  // of times
	timed      bool    // there is a time, if only NaN
	values     []googleValue
	status     perf.Status // "" for a measurement
	reason     string
}

// googleValue is a number of a row, in the file's unit.
type googleValue struct {
	name  string
	value float64
}

// add takes a row. The error says that there are too many.
func (g *google) add(r *googleRow) error {
	if g.rows++; g.rows > limits.Benchmarks {
		return tooMany(r.line)
	}
	switch {
	case strings.TrimSpace(r.name) == "":
		g.told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid", Where: perf.Where{Line: r.line}, What: "a row without a name is refused", Do: "The other results are kept."})
	case r.status != "":
		g.flush()
		g.fail(r)
	case isComplexity(r.stat):
		g.left["BigO or RMS"]++
	case !r.timed && len(r.values) == 0:
		r.status, r.reason = perf.Fail, "no-measurement: the row has no real_time"
		g.fail(r)
	case r.typed:
		g.put(r)
	default:
		g.guess(r)
	}
	return nil
}

func isComplexity(stat string) bool { return stat == "BigO" || stat == "RMS" }

// fail adds a result without numbers.
func (g *google) fail(r *googleRow) {
	b := r.benchmark(r.name)
	b.Status, b.Reason, b.Rows = r.status, r.reason, 1
	g.suite.Benchmarks = append(g.suite.Benchmarks, b)
}

// guess finds out whether a row of a file that does not say so is a statistic.
// Those of a benchmark follow its repetitions; where these were not asked for,
// mean, median and so on follow each other.
func (g *google) guess(r *googleRow) {
	i := strings.LastIndexByte(r.name, '_')
	if i <= 0 || !isGoogleStat(r.name[i+1:]) {
		g.flush()
		g.base = ""
		g.put(r)
		return
	}
	base, stat := r.name[:i], r.name[i+1:]
	if len(g.pending) > 0 {
		first := &g.pending[0]
		if strings.HasPrefix(first.name, base+"_") && isGoogleStat(first.name[i+1:]) && first.iterations == r.iterations {
			for k := range g.pending {
				p := &g.pending[k]
				p.stat, p.run = p.name[i+1:], base
				g.put(p)
			}
			g.pending, g.base, g.baseOps = nil, base, r.iterations
		}
	}
	switch {
	case base == g.base && r.iterations == g.baseOps || g.describes(base, r.iterations):
		r.stat, r.run = stat, base
		g.base, g.baseOps = base, r.iterations
		g.put(r)
	default:
		g.flush()
		g.base = ""
		g.pending = append(g.pending, *r)
	}
}

// describes reports that a row with so many iterations can be a statistic of
// the result named base. Before version 1.5 statistics had the iterations of the
// repetitions, since then the number of these.
func (g *google) describes(base string, iterations int64) bool {
	i, ok := g.at[base]
	if !ok {
		return false
	}
	b := &g.suite.Benchmarks[i]
	if int64(b.Rows) == iterations {
		return true
	}
	return b.Rows > 1 && len(b.Metrics) > 0 && len(b.Metrics[0].Samples) > 0 && b.Metrics[0].Samples[0].Ops == iterations
}

// flush takes rows for what they seem: results of their own.
func (g *google) flush() {
	for i := range g.pending {
		g.put(&g.pending[i])
	}
	g.pending = nil
}

// put adds the row's numbers to the result they belong to.
func (g *google) put(r *googleRow) {
	name := r.name
	if r.stat != "" {
		if !isGoogleStat(r.stat) || r.ratio && r.stat != "cv" {
			g.left[r.stat]++
			return
		}
		if r.run != "" {
			name = r.run
		} else {
			name = strings.TrimSuffix(r.name, "_"+r.stat)
		}
	}
	i, ok := g.at[name]
	if r.stat == "cv" {
		if ok {
			addStat(&g.suite.Benchmarks[i], r.stat)
		}
		return
	}
	if !ok {
		i = len(g.suite.Benchmarks)
		g.at[name] = i
		g.suite.Benchmarks = append(g.suite.Benchmarks, r.benchmark(name))
	}
	b := &g.suite.Benchmarks[i]
	if r.stat == "" {
		b.Rows++
	} else {
		addStat(b, r.stat)
	}
	for _, v := range r.values {
		m, scale := r.metric(b, v.name)
		value := v.value * scale
		if r.stat == "" {
			m.Samples = append(m.Samples, perf.Sample{Value: value, Ops: max(r.iterations, 0), Block: int32(b.Rows), Iter: 1})
			continue
		}
		n := r.reps
		if b.Rows > 0 {
			n = int64(b.Rows)
		} else if n == 0 && !r.old {
			n = max(r.iterations, 0)
		}
		if _, twice := m.Find(r.stat); !twice {
			m.Reported = append(m.Reported, perf.Reported{Stat: r.stat, Value: value, N: n})
		}
	}
}

// addStat notes which rows of the file described the result.
func addStat(b *perf.Benchmark, stat string) {
	for i := range b.Identity {
		if p := &b.Identity[i]; p.Name == "statistics" {
			p.Value += " " + stat
			return
		}
	}
	b.Identity = append(b.Identity, perf.Param{Name: "statistics", Value: stat})
}

// tellLeft says what was read and not kept, and gives results that have
// statistics alone their one row.
func (g *google) tellLeft() {
	for i := range g.suite.Benchmarks {
		g.suite.Benchmarks[i].Rows = max(g.suite.Benchmarks[i].Rows, 1)
	}
	for _, stat := range slices.Sorted(maps.Keys(g.left)) {
		g.told.add(perf.Diagnostic{Severity: perf.Notice, Code: "not-kept", What: fmt.Sprintf("%d rows %s are not kept", g.left[stat], quote(stat)),
			Why: "they describe other rows, by a statistic perfband has no place for"})
	}
}

// tellOther says how many lines were no results.
func (g *google) tellOther(lines int, where string) {
	what := fmt.Sprintf("%d lines %s were ignored", lines, where)
	switch lines {
	case 0:
		return
	case 1:
		what = fmt.Sprintf("1 line %s was ignored", where)
	}
	g.told.add(perf.Diagnostic{Severity: perf.Notice, Code: "other-output", What: what})
}

// tellDebug passes on the tool's own warning about its results.
func (g *google) tellDebug() {
	g.told.add(perf.Diagnostic{Severity: perf.Notice, Code: "debug-build", What: "the benchmark library was built as debug; timings may be affected",
		Do: "Build it with -DCMAKE_BUILD_TYPE=Release."})
}

// isGoogleStat tells the statistics that are kept; cv among them, as it is known.
func isGoogleStat(s string) bool {
	switch s {
	case "mean", "median", "stddev", "cv", "min", "max":
		return true
	}
	return len(s) > 1 && len(s) <= 3 && s[0] == 'p' && isDigits([]byte(s[1:]))
}

// benchmark makes a result without numbers.
func (r *googleRow) benchmark(name string) perf.Benchmark {
	b := perf.Benchmark{Name: name, Status: perf.OK, JobKind: perf.Default, Params: googleParams(name)}
	for _, p := range []perf.Param{{Name: "run_name", Value: r.run}, {Name: "threads", Value: r.threads}, {Name: "label", Value: r.label}} {
		if p.Value != "" {
			b.Identity = append(b.Identity, p)
		}
	}
	return b
}

// googleParams reads the named arguments in a name such as "BM/size:8/threads:2";
// what the tool itself puts there is none.
func googleParams(name string) []perf.Param {
	var out []perf.Param
	for i, part := range strings.Split(name, "/") {
		key, value, ok := strings.Cut(part, ":")
		if i == 0 || !ok || key == "" || value == "" || value[0] == ':' || strings.ContainsAny(key, " <>,(") {
			continue
		}
		switch key {
		case "iterations", "repeats", "min_time", "min_warmup_time", "threads":
			continue
		}
		if !slices.ContainsFunc(out, func(p perf.Param) bool { return p.Name == key }) {
			out = append(out, perf.Param{Name: key, Value: value})
		}
	}
	return out
}

// metric returns the result's metric for a column of the row, added when it is
// new, and the factor to its unit.
func (r *googleRow) metric(b *perf.Benchmark, column string) (*perf.Metric, float64) {
	m := perf.Metric{Name: customPrefix + column, Better: perf.UnknownBetter, Source: perf.Source{Scale: 1}}
	switch column {
	case perf.RealTime, perf.CPUTime:
		m.Name, m.Unit, m.Better, m.Source = column, perf.Nanoseconds, perf.Lower, perf.Source{Unit: r.unit, Scale: r.scale}
	case "bytes_per_second":
		m.Name, m.Unit, m.Better = perf.Throughput, perf.BytesPerSecond, perf.Higher
	case "items_per_second":
		m.Unit, m.Better = perf.PerSecond, perf.Higher
	case "allocs_per_iter":
		m.Name, m.Unit, m.Better = perf.Allocs, perf.Count, perf.Lower
	case "max_bytes_used", "total_allocated_bytes", "net_heap_growth":
		m.Unit, m.Better = perf.Bytes, perf.Lower
	}
	if old := b.Metric(m.Name); old != nil {
		return old, m.Source.Scale
	}
	b.Metrics = append(b.Metrics, m)
	return &b.Metrics[len(b.Metrics)-1], m.Source.Scale
}
