package decode

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"time"

	"perfband/internal/perf"
)

var nbomber = Format{
	Name:    "nbomber",
	Tool:    "NBomber",
	Version: 1,
	Kind:    perf.Load,
	Doc: Doc{
		Files:  "`nbomber-report.csv`, `.txt`, `.md` (any name of the same shape); beside them `metrics-*.csv` with CPU and memory; `nbomber-summary.json` as some harnesses write it (`MeanOpsPerSecond`, `MeanLatencyMs`, `P50LatencyMs`, `P95LatencyMs`)",
		Reads:  "per scenario and step: throughput, latency (mean, min, max, stddev, p50, p75, p95, p99 of the successful requests), requests, failed, error_rate, data transfer as custom metrics",
		Absent: "single requests, so statistics are the tool's own; latencies of failed requests are not read; in CSV the machine",
		Notes: []string{
			"`test_name` becomes the parameter `feature`.",
			"`request_count` includes failed requests.",
			"Latencies are rounded to 0.01 ms by the tool: a p50 of 0 is a small value, not a missing one.",
			"A row without any successful request is a failed result.",
			"A row with more cells than the header was written with decimal commas and is refused.",
			"`metrics-*.csv` without values gives no result and a notice.",
		},
	},
	Sniff:  sniffNBomber,
	Decode: decodeNBomber,
}

func sniffNBomber(name string, head []byte) Confidence {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	has := func(in []byte, words ...string) bool {
		for _, w := range words {
			if !bytes.Contains(in, []byte(w)) {
				return false
			}
		}
		return true
	}
	switch {
	case has(line, "scenario", "step_name", "request_count"), has(line, "timestamp", "cpu_percent", "working_set"):
		return Certain
	case has(head, "scenario:", "request count", "latency (ms)"):
		return Certain
	case bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) && has(head, `"MeanOpsPerSecond"`):
		return Certain
	}
	return No
}

func decodeNBomber(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	line, _, _ := bytes.Cut(in.Data, []byte("\n"))
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(in.Data), []byte("{")):
		return decodeNBomberSummary(in)
	case bytes.Contains(line, []byte("working_set")):
		return decodeNBomberMetrics(in)
	case bytes.Contains(line, []byte("request_count")):
		return decodeNBomberCSV(in)
	}
	return decodeNBomberText(in)
}

// nbomberStamp is the folder a session writes to.
var nbomberStamp = regexp.MustCompile(`nbomber-(\d{4}-\d{2}-\d{2}\.\d{6})`)

// nbomberStarted reads the start, in UTC, from the path of a report.
func nbomberStarted(name string) time.Time {
	m := nbomberStamp.FindAllStringSubmatch(path.Dir(name), -1)
	if m == nil {
		return time.Time{}
	}
	t, err := time.Parse("2006-01-02.150405", m[len(m)-1][1])
	if err != nil {
		return time.Time{}
	}
	return t
}

func nbomberSuite(in Input) perf.Suite {
	return perf.Suite{Module: in.Module, Kind: in.Kind, Started: nbomberStarted(in.Name)}
}

// nbomberStat is one statistic of the latency or the data transfer.
type nbomberStat struct {
	stat  string
	value perf.Num // in nanoseconds, kilobytes or megabytes
}

// nbomberRow is what one scenario and step reports.
type nbomberRow struct {
	suite, test, scenario, step string
	requests, ok, failed, rps   perf.Num
	rateUnit                    string // how the file writes the unit of rps
	latency, transfer           []nbomberStat
	transferred                 perf.Num // MB in all
	line                        int
}

// label is the scenario with its step.
func (r *nbomberRow) label() string {
	if r.step == "" {
		return r.scenario
	}
	return r.scenario + "/" + r.step
}

// benchmark makes the result of a row and tells about failed requests.
func (r *nbomberRow) benchmark(told *problems) perf.Benchmark {
	b := perf.Benchmark{Name: r.label(), Rows: 1, Status: perf.OK, JobKind: perf.Default}
	if r.test != "" {
		b.Params = []perf.Param{{Name: "feature", Value: r.test}}
	}
	for _, p := range []perf.Param{{Name: "test_suite", Value: r.suite}, {Name: "test_name", Value: r.test},
		{Name: "scenario", Value: r.scenario}, {Name: "step", Value: r.step}} {
		if p.Value != "" {
			b.Identity = append(b.Identity, p)
		}
	}
	ok, hasOK := r.ok.Get()
	failed := r.failed.Or(0)
	requests := r.requests.Or(ok + failed)
	n := int64(ok)
	if ok > 0 || !hasOK {
		b.Metrics = append(b.Metrics, r.measured(n)...)
	}
	count := func(name string, better perf.Better, v perf.Num) {
		if v, present := v.Get(); present {
			b.Metrics = append(b.Metrics, perf.Metric{Name: name, Unit: perf.Count, Better: better,
				Reported: []perf.Reported{{Stat: "value", Value: v}}, Source: perf.Source{Unit: "count", Scale: 1}})
		}
	}
	count(perf.Requests, perf.UnknownBetter, r.requests)
	count(perf.Failed, perf.Lower, r.failed)
	if _, known := r.failed.Get(); known && requests > 0 {
		b.Metrics = append(b.Metrics, perf.Metric{Name: perf.ErrorRate, Unit: perf.Ratio, Better: perf.Lower,
			Reported: []perf.Reported{{Stat: "value", Value: failed / requests, N: int64(requests)}}, Source: perf.Source{Unit: "ratio", Scale: 1}})
	}
	switch {
	case hasOK && requests == 0:
		b.Status, b.Reason = perf.Fail, "no-samples: no request was made"
	case hasOK && ok == 0:
		b.Status, b.Reason = perf.Fail, fmt.Sprintf("all-failed: %.0f of %.0f requests failed", failed, requests)
	case failed > 0:
		told.add(perf.Diagnostic{
			Severity: perf.Warning, Code: "request-errors", Where: perf.Where{Line: r.line},
			What: fmt.Sprintf("%s: %.0f of %.0f requests failed", r.label(), failed, requests),
			Why:  "the latency is that of the successful requests",
		})
	}
	return b
}

// measured lists throughput, latency and data transfer of n successful requests.
func (r *nbomberRow) measured(n int64) []perf.Metric {
	var metrics []perf.Metric
	if v, ok := r.rps.Get(); ok {
		metrics = append(metrics, perf.Metric{Name: perf.Throughput, Unit: perf.PerSecond, Better: perf.Higher,
			Reported: []perf.Reported{{Stat: "mean", Value: v, N: n}}, Source: perf.Source{Unit: r.rateUnit, Scale: 1}})
	}
	add := func(m perf.Metric, stats []nbomberStat) {
		for _, s := range stats {
			if v, ok := s.value.Get(); ok {
				m.Reported = append(m.Reported, perf.Reported{Stat: s.stat, Value: v, N: n})
			}
		}
		if len(m.Reported) > 0 {
			metrics = append(metrics, m)
		}
	}
	add(perf.Metric{Name: perf.Latency, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: "ms", Scale: 1e6}}, r.latency)
	add(perf.Metric{Name: customPrefix + "data_transfer", Unit: "KB", Better: perf.UnknownBetter, Source: perf.Source{Unit: "KB", Scale: 1}}, r.transfer)
	add(perf.Metric{Name: customPrefix + "data_transfer_all", Unit: "MB", Better: perf.UnknownBetter, Source: perf.Source{Unit: "MB", Scale: 1}},
		[]nbomberStat{{"value", r.transferred}})
	return metrics
}
