package decode

import (
	"fmt"
	"slices"

	"perfband/internal/perf"
)

// nbomberLatency are the latency columns, which newer versions prefix with
// "ok_".
var nbomberLatency = []struct{ column, stat string }{
	{"mean", "mean"}, {"min", "min"}, {"max", "max"}, {"std_dev", "stddev"},
	{"50_percent", "p50"}, {"75_percent", "p75"}, {"95_percent", "p95"}, {"99_percent", "p99"},
}

func decodeNBomberCSV(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	var told problems
	t, err := readCSV(in.Data, &told, nbomberRowName)
	if err != nil {
		return nil, told.all(), err
	}
	suite := nbomberSuite(in)
	mark := decimalMark(t.numbers("rps", "ok_rps", "mean", "ok_mean", "max", "ok_max", "std_dev", "ok_std_dev"))
	for i := range t.rows {
		row := &t.rows[i]
		num := func(scale float64, names ...string) perf.Num {
			if v, ok := parseLocal(row.cell(t.column(names...)), mark, scale); ok {
				return perf.Some(v)
			}
			return perf.Num{}
		}
		cell := func(name string) string { return row.cell(t.column(name)) }
		r := nbomberRow{
			suite: cell("test_suite"), test: cell("test_name"), scenario: cell("scenario"), step: cell("step_name"), line: row.line, rateUnit: "1/s",
			requests: num(1, "request_count"), ok: num(1, "ok"), failed: num(1, "failed"), rps: num(1, "ok_rps", "rps"),
			transferred: num(1, "data_transfer_all_mb"),
		}
		for _, l := range nbomberLatency {
			r.latency = append(r.latency, nbomberStat{l.stat, num(1e6, "ok_"+l.column, l.column)})
		}
		for _, stat := range []string{"min", "mean", "max"} {
			r.transfer = append(r.transfer, nbomberStat{stat, num(1, "data_transfer_"+stat+"_kb")})
		}
		suite.Benchmarks = append(suite.Benchmarks, r.benchmark(&told))
	}
	return []perf.Suite{suite}, told.all(), nil
}

// nbomberRowName names a refused row by its first cells, which stand before any
// number.
func nbomberRowName(header, cells []string) string {
	var r nbomberRow
	for i, h := range header[:min(len(header), len(cells))] {
		switch h {
		case "scenario":
			r.scenario = cells[i]
		case "step_name":
			r.step = cells[i]
		}
	}
	return r.label()
}

// numbers collects the cells of some columns.
func (t *table) numbers(columns ...string) []string {
	var out []string
	for i, h := range t.header {
		if slices.Contains(columns, h) {
			for r := range t.rows {
				if c := t.rows[r].cell(i); c != "" {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// decodeNBomberMetrics reads the CPU and memory of the measuring process, one
// sample a row. Empty cells are samples that could not be taken.
func decodeNBomberMetrics(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	var told problems
	t, err := readCSV(in.Data, &told, func(_, cells []string) string { return quote(cells[0]) })
	if err != nil {
		return nil, told.all(), err
	}
	metrics := []perf.Metric{
		{Name: perf.CPU, Unit: perf.Ratio, Better: perf.Lower, Source: perf.Source{Unit: "process_cpu_percent", Scale: 0.01}},
		{Name: customPrefix + "system_cpu", Unit: perf.Ratio, Better: perf.UnknownBetter, Source: perf.Source{Unit: "system_cpu_percent", Scale: 0.01}},
		{Name: perf.RSS, Unit: perf.Bytes, Better: perf.Lower, Source: perf.Source{Unit: "process_working_set_bytes", Scale: 1}},
	}
	b := perf.Benchmark{Name: "measuring process", Rows: 1, Status: perf.OK, JobKind: perf.Default, Side: true}
	for _, m := range metrics {
		column := t.column(m.Source.Unit)
		for i := range t.rows {
			if v, ok := parseLocal(t.rows[i].cell(column), '.', m.Source.Scale); ok {
				m.Samples = append(m.Samples, perf.Sample{Value: v, Iter: int32(i + 1)})
			}
		}
		if len(m.Samples) > 0 {
			m.Samples = slices.Clip(m.Samples)
			b.Metrics = append(b.Metrics, m)
		}
	}
	if len(b.Metrics) == 0 {
		told.add(perf.Diagnostic{
			Severity: perf.Notice, Code: "no-samples",
			What: fmt.Sprintf("none of the %d rows has a value for CPU or memory", len(t.rows)),
		})
		return nil, told.all(), nil
	}
	suite := nbomberSuite(in)
	suite.Benchmarks = []perf.Benchmark{b}
	return []perf.Suite{suite}, told.all(), nil
}
