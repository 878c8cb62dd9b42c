package decode

import (
	"bytes"
	"fmt"
	"html"
	"path"
	"slices"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// dotnetJobColumns are the characteristics that the table exports have as
// columns; any other column before the results is a parameter.
var dotnetJobColumns = strings.Fields(`Job AnalyzeLaunchVariance EvaluateOverhead MaxAbsoluteError MaxRelativeError MinInvokeCount
	MinIterationTime OutlierMode Affinity EnvironmentVariables Jit LargeAddressAware Platform PowerPlanMode Runtime
	AllowVeryLargeObjects Concurrent CpuGroups Force HeapAffinitizeMask HeapCount NoAffinitize RetainVm Server Arguments
	BuildConfiguration Clock EngineFactory NuGetReferences Toolchain IsMutator IsBaseline InvocationCount IterationCount
	IterationTime LaunchCount MaxIterationCount MaxWarmupIterationCount MemoryRandomization MinIterationCount
	MinWarmupIterationCount RunStrategy UnrollFactor WarmupCount`)

// dotnetOtherColumns come before the results too but are neither.
var dotnetOtherColumns = []string{"Namespace", "Type", "Method", "Categories", "LogicalGroup", "Baseline"}

// isDotNetHeader recognises the header of the CSV export.
func isDotNetHeader(line string) bool {
	comma := string(separatorOf([]byte(line)))
	cells := strings.Split(line, comma)
	method, mean := false, false
	for _, c := range cells {
		c = strings.Trim(c, `" `)
		method = method || c == "Method"
		mean = mean || c == "Mean" || strings.HasPrefix(c, "Mean [")
	}
	return method && mean
}

func decodeDotNetCSV(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	var told problems
	t, err := readCSV(in.Data, &told, func(_, cells []string) string { return quote(cells[0]) })
	if err != nil {
		return nil, told.all(), err
	}
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	dotnetTable(&s, t, strings.TrimSuffix(path.Base(in.Name), "-report.csv"))
	return []perf.Suite{s}, told.all(), nil
}

// decodeDotNetMarkdown reads the table of the GitHub export; the fenced block
// above it describes the machine.
func decodeDotNetMarkdown(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	var t table
	var told problems
	if err := checkLines(in.Data); err != nil {
		return nil, nil, err
	}
	number := 0
	for raw := range bytes.Lines(in.Data) {
		number++
		line := strings.TrimSpace(string(raw))
		if v, ok := strings.CutPrefix(line, "BenchmarkDotNet "); ok && s.ToolVersion == "" {
			version, system, _ := strings.Cut(strings.TrimPrefix(v, "v"), ", ")
			s.ToolVersion, s.Env.OSVersion, s.Env.OS = version, system, operatingSystem(system)
		}
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.SplitN(strings.Trim(line, "|"), "|", limits.TableColumns)
		for i, c := range cells {
			cells[i] = html.UnescapeString(strings.TrimSpace(strings.ReplaceAll(c, "**", "")))
		}
		joined := strings.Join(cells, "")
		switch {
		case strings.Trim(joined, "-: ") == "": // ruler, or the blank row between groups
		case t.header == nil:
			t.header = cells
		case len(cells) != len(t.header):
			told.add(raggedRow(quote(cells[0]), number, len(cells), len(t.header)))
		case len(t.rows) >= limits.Benchmarks:
			return nil, told.all(), tooMany(number)
		default:
			t.rows = append(t.rows, tableRow{line: number, cells: cells})
		}
	}
	stem := path.Base(in.Name)
	for _, ending := range []string{"-report-github.md", "-report-default.md", ".md"} {
		stem = strings.TrimSuffix(stem, ending)
	}
	dotnetTable(&s, t, stem)
	return []perf.Suite{s}, told.all(), nil
}

// dotnetTable makes results of the rows. typ is the class by the file's name;
// columns Namespace and Type count more.
func dotnetTable(s *perf.Suite, t table, typ string) {
	units := make([]string, len(t.header)) // of columns with the unit in the header
	for i, h := range t.header {
		if name, unit, ok := strings.Cut(h, " ["); ok {
			t.header[i], units[i] = name, strings.TrimSuffix(unit, "]")
		}
	}
	method, mean := t.column("Method"), t.column("Mean")
	if method < 0 || mean < 0 {
		return // no table of results
	}
	c := dotnetColumns{table: &t, units: units, method: method, mean: mean, typ: typ}
	c.classify()
	for i := range t.rows {
		s.Benchmarks = append(s.Benchmarks, c.benchmark(&t.rows[i]))
	}
}

// dotnetColumns knows what the columns of one table are for.
type dotnetColumns struct {
	table        *table
	units        []string
	method, mean int
	typ          string
	params       []int
	jobs         []int // characteristics, without Job itself
	varying      []int // those of jobs that differ between rows
	mark         byte
}

func (c *dotnetColumns) classify() {
	var numbers []string
	for i, h := range c.table.header {
		switch {
		case i >= c.mean:
			for _, r := range c.table.rows {
				// Of other columns (ratios, ranks, counts) the rule is not known.
				n, unit := splitUnit(r.cells[i])
				if timeUnits[unit] > 0 || timeUnits[c.units[i]] > 0 {
					numbers = append(numbers, n)
				}
			}
		case h == "Job" || slices.Contains(dotnetOtherColumns, h):
		case slices.Contains(dotnetJobColumns, h):
			c.jobs = append(c.jobs, i)
			for _, r := range c.table.rows {
				if r.cells[i] != c.table.rows[0].cells[i] {
					c.varying = append(c.varying, i)
					break
				}
			}
		default:
			c.params = append(c.params, i)
		}
	}
	c.mark = decimalMark(numbers)
}

func (c *dotnetColumns) benchmark(r *tableRow) perf.Benchmark {
	method := r.cell(c.method)
	b := perf.Benchmark{Label: method, Rows: 1, Status: perf.OK, Identity: []perf.Param{{Name: "Method", Value: method}}}
	for _, i := range c.params {
		b.Params = append(b.Params, perf.Param{Name: c.table.header[i], Value: r.cell(i)})
	}
	typ := c.typ
	if t := r.cell(c.table.column("Type")); t != "" {
		typ = t
		if ns := r.cell(c.table.column("Namespace")); ns != "" {
			typ = ns + "." + t
		}
	}
	b.Name = dotnetFullName(typ+"."+method, b.Params)
	j := c.job(r)
	b.Job, b.JobKind, b.Dims = j.text, j.kind, j.dims("")
	if runtime := r.cell(c.table.column("Runtime")); runtime != "" {
		b.Identity = append(b.Identity, perf.Param{Name: "Runtime", Value: runtime})
	}
	b.Metrics = c.metrics(r)
	if len(b.Metrics) == 0 {
		b.Status, b.Reason = perf.Fail, fmt.Sprintf("no-statistics: the Mean cell is %q, so the benchmark produced no result", r.cell(c.mean))
	}
	return b
}

// job builds the job from the Job column. Generated ids tell nothing, so there
// the characteristics that differ between rows must.
func (c *dotnetColumns) job(r *tableRow) dotnetJob {
	id := r.cell(c.table.column("Job"))
	j := dotnetJob{raw: id, text: id, id: id}
	for _, i := range c.jobs {
		j.chars = append(j.chars, perf.Param{Name: c.table.header[i], Value: r.cell(i)})
	}
	if id == "" || generatedJob.MatchString(id) {
		var differ []string
		for _, i := range c.varying {
			differ = append(differ, c.table.header[i]+"="+r.cell(i))
		}
		j.id, j.text = "", ""
		if id != "" {
			j.id, j.text = "Job", "Job"
		}
		if len(differ) > 0 {
			j.text = "Job(" + strings.Join(differ, ", ") + ")"
		}
	}
	j.kind = dotnetJobKind(j.id, j.chars)
	// Every row shows these; only a setting that differs from the tool's default
	// says something.
	j.chars = slices.DeleteFunc(j.chars, func(p perf.Param) bool {
		return slices.Contains([]string{"Server=False", "Concurrent=True", "Force=True", "RetainVm=False", "CpuGroups=False",
			"AllowVeryLargeObjects=False"}, p.Name+"="+p.Value)
	})
	return j
}

// dotnetStatColumns maps columns to statistics of the time.
var dotnetStatColumns = map[string]string{"Mean": "mean", "Median": "median", "StdDev": "stddev", "StdErr": "stderr",
	"Min": "min", "Max": "max", "Q1": "p25", "Q3": "p75", "P25": "p25", "P50": "p50", "P67": "p67", "P75": "p75", "P80": "p80",
	"P85": "p85", "P90": "p90", "P95": "p95", "P99": "p99"}

// metrics reads time and allocation; nil when there is no mean.
func (c *dotnetColumns) metrics(r *tableRow) []perf.Metric {
	timing := perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower}
	mean, unit, ok := c.quantity(r, c.mean, timeUnits)
	if !ok {
		return nil
	}
	timing.Source = perf.Source{Unit: unit, Scale: timeUnits[unit]}
	for i, h := range c.table.header {
		if stat, known := dotnetStatColumns[h]; known && i >= c.mean {
			if v, _, ok := c.quantity(r, i, timeUnits); ok {
				timing.Reported = append(timing.Reported, perf.Reported{Stat: stat, Value: v})
			}
		}
	}
	// Error is half of the 99.9 % confidence interval.
	if half, _, ok := c.quantity(r, c.table.column("Error"), timeUnits); ok {
		timing.Reported[0].CI = perf.Interval{Level: 0.999, Lo: perf.Some(mean - half), Hi: perf.Some(mean + half)}
	}
	metrics := []perf.Metric{timing}
	if i := c.table.column("Allocated"); i >= 0 {
		v, unit, ok := c.quantity(r, i, dotnetSizes)
		if r.cell(i) == "-" { // the tool's way to write none
			v, unit, ok = 0, "B", true
		}
		if ok {
			metrics = append(metrics, perf.Metric{Name: perf.AllocBytes, Unit: perf.Bytes, Better: perf.Lower,
				Reported: []perf.Reported{{Stat: "value", Value: v}}, Source: perf.Source{Unit: unit, Scale: dotnetSizes[unit]}})
		}
	}
	return metrics
}

// dotnetSizes are the tool's size units, powers of 1024.
var dotnetSizes = map[string]float64{"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}

// quantity reads a cell with a unit, in base units. NA, ? and - are absent.
func (c *dotnetColumns) quantity(r *tableRow, column int, units map[string]float64) (v float64, unit string, ok bool) {
	number, unit := splitUnit(r.cell(column))
	if unit == "" && column >= 0 {
		unit = c.units[column]
	}
	scale, known := units[unit]
	if !known || number == "" {
		return 0, unit, false
	}
	v, ok = parseLocal(number, c.mark, scale)
	return v, unit, ok
}
