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
	case strings.HasPrefix(r.Excluded, "excluded: "):
		return "left out: " + text.Cut(text.Visible(strings.TrimPrefix(r.Excluded, "excluded: ")), limits.SentenceRunes)
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
	case r.Excluded != "":
		return "left out"
	case !r.InTrend:
		return "not in trends"
	}
	return ""
}

// why explains a verdict's reason code to a person.
type why struct {
	code     string
	short    string // beside a verdict in a list
	sentence string // what it means
	help     string // what would help, "" for nothing
}

// whys has every reason code of [perf.Verdict].
var whys = []why{
	{"few-runs", "too few runs", "There are fewer than two earlier runs to compare with.", "The next runs on the default branch."},
	{"other-machine", "other machine", "All earlier runs were measured on other machines, or with another system or toolchain, and such times do not compare.",
		"More runs on this processor model, or a runner of one fixed model."},
	{"noisy", "too noisy", "Earlier runs differ from each other so much that the change is known no better than the interval says: it may be nothing.",
		"Longer iterations, a quieter machine, or a co-run that measures both versions side by side."},
	{"two-clusters", "two clusters", "The earlier runs lie in two groups, as if measured on two machines or of two things.",
		"Look at the samples; name the machine, or split the benchmark."},
	{"platform-shift", "platform shift taken out", "Most benchmarks measured on this machine moved together. The verdict is about what this one did beyond that.",
		"A look at the runner, its image and the toolchain. Whether code they share has a part in it only a co-run tells."},
	{"small", "below the margin", "It differs from the earlier runs, but by less than the margin from which a change is claimed.",
		"A co-run, if changes this small matter."},
	{"constant-rate", "constant rate", "The load generator sent requests at a rate it was told to keep, so the throughput is that rate and says nothing about the system.",
		"Judge the latency, or let the generator send as fast as it can."},
	{"errors", "too many errors", "More than 1 % of the requests failed, and failing fast looks like being fast.",
		"Mend the errors first."},
	{"carried", "carried forward", "It was not measured again because its sources did not change, so there is no new evidence.", ""},
	{"not-judged", "not judged", "This metric describes the measurement and is no aim of its own.", ""},
	{"unknown-direction", "direction unknown", "Nothing says whether more of this is better or worse.",
		"A manifest that says it, or a metric with a unit that tells."},
	{"no-ratio", "no ratio", "The value is 0, missing or negative, so there is no ratio to compare.", "A longer measurement, if it should not be 0."},
	{"open", "slowdown open", "It is compared with the level since the slowdown that is still open, not with the one before.",
		"Undo the slowdown, or accept it in perf-accepted.yml."},
	{"accepted", "accepted", "The change was accepted in perf-accepted.yml; what follows is compared with the new level.", ""},
}

// whyOf explains a code; one that is not known stands for itself.
func whyOf(code string) why {
	for _, w := range whys {
		if w.code == code {
			return w
		}
	}
	code = text.Cut(text.Visible(code), 40)
	return why{code, code, "Reason: " + code + ".", ""}
}

// metricWord is a metric in a list or sentence.
func metricWord(metric string) string {
	if centre, stat := splitMetric(metric); stat != "" {
		return metricWord(centre) + " " + stat
	}
	switch metric {
	case perf.Time:
		return "time"
	case perf.RealTime:
		return "wall-clock time"
	case perf.CPUTime:
		return "CPU time"
	case perf.AllocBytes:
		return "allocated bytes"
	case perf.Allocs:
		return "allocations"
	case perf.Latency, perf.Throughput, perf.ErrorRate, perf.RSS:
		return strings.ToLower(metricTitle(metric))
	}
	return metricTitle(metric)
}

// splitMetric splits the name of a judged percentile: "latency_p95".
func splitMetric(name string) (metric, stat string) {
	for _, stat := range []string{"p95", "p99"} {
		if m, ok := strings.CutSuffix(name, "_"+stat); ok && m == perf.Latency {
			return m, stat
		}
	}
	return name, ""
}

// metricTitle is the heading of a metric.
func metricTitle(metric string) string {
	if centre, stat := splitMetric(metric); stat != "" {
		return metricTitle(centre) + ", " + strings.TrimPrefix(stat, "p") + "th percentile"
	}
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

// benchName writes a result's benchmark as [site.keyName] does.
func (s *site) benchName(r *derive.Result, root string, module bool) template.HTML {
	return s.keyName(r.Key, root, module)
}

// keyName writes a benchmark's name, linked when it has a page, and below it
// its module, if asked, and its job.
func (s *site) keyName(k perf.Key, root string, module bool) template.HTML {
	out := name(k.Benchmark())
	if b := s.byKey[k.ID()]; b != nil {
		out = link(root+"bench/"+b.slug+"/index.html", out)
	}
	var below []template.HTML
	if module {
		below = append(below, name(k.Module))
	}
	if k.Job != "" {
		below = append(below, name(k.Job))
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
