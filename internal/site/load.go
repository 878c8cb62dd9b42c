package site

import (
	"fmt"
	"html/template"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
)

// loadBody feeds load.tmpl.
type loadBody struct {
	Run     template.HTML
	Lead    template.HTML
	Chance  template.HTML
	Shifts  []template.HTML
	Claims  template.HTML
	Retired problems
	Table   template.HTML
	Failed  problems
	Missing problems
	Charts  []scenario
	Undrawn int
}

// scenario is the charts of one scenario.
type scenario struct {
	Name    template.HTML
	Figures []*figure
}

func (s *site) loadPage() error {
	const root = "../"
	b := loadBody{}
	if run := s.loadRun(); run != nil {
		b.Run = s.runAt(run, root) + ", " + s.commit(run)
		b.Lead, b.Chance, b.Shifts = s.tally(run), chance(run), shifts(run, limits.OverviewProblems)
		b.Claims = s.findingTable(run, root, nil)
		b.Retired = s.retiredList(keysOf(run.Results), root, limits.RunProblems)
		b.Failed, _, b.Missing = s.failures(run, root, root+"run/"+runSlug(run)+"/index.html")
		if run.Counts.Benchmarks > 0 {
			b.Table = s.scenarioTable(run, root)
		}
		b.Charts, b.Undrawn = s.scenarioCharts(run, root)
	}
	return s.emit("load", page{Path: "load/index.html", Title: "Load tests · " + s.title(), Here: "load", Body: b})
}

// loadRun is the run the load page speaks of.
func (s *site) loadRun() *derive.Run {
	if r := s.newest(perf.Load, true); r != nil {
		return r
	}
	return s.newest(perf.Load, false)
}

// scenarioTable shows errors first: the latency of requests that failed says
// nothing.
func (s *site) scenarioTable(run *derive.Run, root string) template.HTML {
	t := newTable("cards load", "Scenarios of the newest load test. Where a tool reports no interval, a number is its single value.",
		col{"Scenario", true}, col{"Errors", false}, col{"Throughput", false}, col{"p50", false}, col{"p95", false}, col{"p99", false}, col{"Requests", false}, col{"Verdict", true})
	rows := 0
	for _, r := range s.listed(run.Results) {
		if r.Status != perf.OK || r.Side {
			continue
		}
		if rows++; rows > limits.ResultRows {
			continue
		}
		lat := r.Metric(perf.Latency)
		if lat == nil {
			lat = &derive.Metric{}
		}
		requests := notReported
		if m := r.Metric(perf.Requests); m != nil {
			requests = bare(m.Center(), m.Unit)
		}
		throughput := notReported
		if m := r.Metric(perf.Throughput); m != nil {
			throughput = s.value(m)
		}
		t.row(s.benchName(r, root, true), errorRate(r), throughput,
			single(lat.Median, lat.Unit), single(lat.P95, lat.Unit), single(lat.P99, lat.Unit), requests, resultVerdict(r))
	}
	t.more(rows - limits.ResultRows)
	return t.html()
}

// notReported stands for a number the tool did not give; it is never 0.
const notReported template.HTML = `<span class="muted">not reported</span>`

// errorRate writes failed / all requests, loudly unless it is 0.
func errorRate(r *derive.Result) template.HTML {
	m := r.Metric(perf.ErrorRate)
	if m == nil {
		return notReported
	}
	v, ok := m.Center().Get()
	switch {
	case !ok:
		return notReported
	case v > 0:
		return `<strong class="bad">✗ ` + percent(m.Center()) + "</strong>"
	}
	return percent(m.Center())
}

func (s *site) scenarioCharts(run *derive.Run, root string) (out []scenario, undrawn int) {
	for _, r := range s.listed(run.Results) {
		sc := scenario{Name: s.benchName(r, root, false)}
		for _, metric := range []string{perf.Throughput, perf.Latency} {
			sr := seriesOf(s.series[r.Key.ID()], &derive.Metric{Name: metric})
			if f := s.trendFigure(fmt.Sprintf("s%d-%s", len(out), metric), sr, smallWidth, smallHeight); f != nil {
				sc.Figures = append(sc.Figures, f)
			}
		}
		switch {
		case len(sc.Figures) == 0:
		case len(out) == limits.LoadCharts:
			undrawn++
		default:
			out = append(out, sc)
		}
	}
	return out, undrawn
}
