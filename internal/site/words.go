package site

import (
	"html/template"
	"strings"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/text"
)

// plural writes a count with its noun.
func plural(n int, noun string) template.HTML {
	if n != 1 {
		noun += "s"
	}
	return count(n) + " " + esc(noun)
}

// kindNoun is what a kind's results are called.
func kindNoun(k perf.Kind) string {
	if k == perf.Load {
		return "scenario"
	}
	return "benchmark"
}

// kindWords is the kind of a run.
func kindWords(k perf.Kind) string {
	switch k {
	case perf.Bench:
		return "benchmarks"
	case perf.Load:
		return "load test"
	case perf.Corun:
		return "co-run"
	}
	return text.Visible(string(k))
}

// excluded says why a run's results are in no trend, "" if they are.
func excluded(r *derive.Run) string {
	switch {
	case r.DuplicateOf != "":
		return "copy of another run"
	case r.InTrend:
		return ""
	case r.Excluded == string(perf.Dry), r.Excluded == string(perf.Short):
		return "not a measurement: " + r.Excluded + " job"
	case r.Excluded != "":
		return "not in trends: " + text.Visible(r.Excluded)
	}
	return "not in trends"
}

// statusWords says why a result has no place in a trend, "" if it has.
func statusWords(r *derive.Result) string {
	switch {
	case r.Status == perf.Fail:
		return "failed"
	case r.Status == perf.Skipped:
		return "skipped"
	case r.JobKind == perf.Dry, r.JobKind == perf.Short:
		return "not a measurement: " + string(r.JobKind) + " job"
	case !r.InTrend:
		return "not in trends"
	}
	return ""
}

// metricTitle is the heading of a metric.
func metricTitle(metric string) string {
	switch metric {
	case perf.Time:
		return "Time per operation"
	case perf.RealTime:
		return "Wall-clock time per operation"
	case perf.CPUTime:
		return "CPU time per operation"
	case perf.Latency:
		return "Latency"
	case perf.Throughput:
		return "Throughput"
	case perf.AllocBytes:
		return "Allocated per operation"
	case perf.Allocs:
		return "Allocations per operation"
	case perf.GC0, perf.GC1, perf.GC2:
		return "Garbage collections, generation " + metric[2:]
	case perf.ErrorRate:
		return "Error rate"
	case perf.Requests:
		return "Requests"
	case perf.Failed:
		return "Failed requests"
	case perf.CPU:
		return "CPU use"
	case perf.RSS:
		return "Resident memory"
	}
	return text.Cut(text.Visible(strings.TrimPrefix(metric, "custom:")), 60)
}

// machineName is a CPU model as shown.
func machineName(model string) string {
	if model == "" {
		return "unknown machine"
	}
	return text.Cut(text.Visible(model), 60)
}

// machines writes a run's CPU models with the results of each.
func machines(r *derive.Run) template.HTML {
	if len(r.CPUs) == 0 {
		return absent
	}
	var parts []string
	for i, c := range r.CPUs {
		if i == limits.MachineRows {
			parts = append(parts, string(plural(len(r.CPUs)-i, "other")))
			break
		}
		s := string(esc(machineName(c.Model)))
		if len(r.CPUs) > 1 {
			s += " <small>" + string(plural(c.Results, "result")) + "</small>"
		}
		parts = append(parts, s)
	}
	return template.HTML(strings.Join(parts, "<br>"))
}

// mainMachine writes a run's most used CPU model, and how many others it had.
func mainMachine(r *derive.Run) template.HTML {
	if len(r.CPUs) == 0 {
		return absent
	}
	out := esc(machineName(r.CPUs[0].Model))
	if n := len(r.CPUs) - 1; n > 0 {
		out += " <small>and " + plural(n, "other") + "</small>"
	}
	return out
}

// sentence writes foreign text that may be longer than a name.
func sentence(s string) template.HTML {
	return softBreaks(text.Cut(text.Visible(s), limits.SentenceRunes))
}

// problem is one row of a list of problems.
type problem struct{ What, Why template.HTML }

// problems is a list of at most limit problems that says what it leaves out.
type problems struct {
	List   []problem
	More   int
	MoreAt string // page that has them, "" if this is it
	limit  int
}

func (p *problems) add(what, why template.HTML) {
	if len(p.List) == p.limit {
		p.More++
		return
	}
	p.List = append(p.List, problem{what, why})
}

// Count is the number of all of them.
func (p problems) Count() template.HTML { return count(len(p.List) + p.More) }

// failures lists what a run should have measured and did not. On a page other
// than the run's own, moreAt is that page and the lists are shorter.
func (s *site) failures(r *derive.Run, root, moreAt string) (failed, skipped, missing problems) {
	limit := limits.RunProblems
	if moreAt != "" {
		limit = limits.OverviewProblems
	}
	for _, p := range []*problems{&failed, &skipped, &missing} {
		p.limit, p.MoreAt = limit, moreAt
	}
	for _, res := range r.Results {
		why := sentence(res.Reason)
		if res.Reason == "" {
			why = "the report gives no reason"
		}
		switch res.Status {
		case perf.Fail:
			failed.add(s.benchName(res, root, true), why)
		case perf.Skipped:
			skipped.add(s.benchName(res, root, true), why)
		}
	}
	for _, m := range r.Meta.Missing {
		k := perf.Key{Kind: r.Kind, Module: m.Module, Name: m.Benchmark, Params: m.Params, Job: m.Job}
		why := template.HTML("expected, but in no report")
		if m.Reason != "" {
			why = sentence(m.Reason)
		}
		missing.add(name(k.String()), why)
	}
	// The run may be of several entries, of which one is at hand.
	missing.More += max(r.Counts.Missing-len(r.Meta.Missing), 0)
	return failed, skipped, missing
}

// benchName writes a benchmark's name, linked when it has a page, and below it
// its module, if asked, and its job.
func (s *site) benchName(r *derive.Result, root string, module bool) template.HTML {
	out := name(r.Key.Benchmark())
	if b := s.byKey[r.Key.ID()]; b != nil {
		out = link(root+"bench/"+b.slug+"/index.html", out)
	}
	var below []template.HTML
	if module {
		below = append(below, name(r.Key.Module))
	}
	if r.Key.Job != "" {
		below = append(below, name(r.Key.Job))
	}
	switch len(below) {
	case 1:
		out += `<span class="module">` + below[0] + "</span>"
	case 2:
		out += `<span class="module">` + below[0] + " · " + below[1] + "</span>"
	}
	return out
}

// runLink writes a run by its time, linked when it has a page.
func (s *site) runLink(r *derive.Run, root string) template.HTML {
	if s.hasPage[r] {
		return link(root+"run/"+runSlug(r)+"/index.html", stamp(r.Started))
	}
	return stamp(r.Started)
}

// runAt is [site.runLink] within a sentence.
func (s *site) runAt(r *derive.Run, root string) template.HTML {
	if r.Started.IsZero() {
		return s.runLink(r, root)
	}
	return s.runLink(r, root) + " UTC"
}
