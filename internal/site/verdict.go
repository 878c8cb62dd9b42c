package site

import (
	"html/template"
	"math"
	"strconv"
	"strings"

	"perfband/internal/derive"
	"perfband/internal/perf"
	"perfband/internal/text"
)

// measure is what a verdict is about: a metric of a result, or a percentile
// of one.
type measure struct {
	name    string // of the metric, "latency_p95" for a percentile
	better  perf.Better
	verdict *perf.Verdict
	metric  *derive.Metric
	tail    *derive.Tail // nil for the metric's centre
}

// measures are all measures of a result.
func measures(r *derive.Result) []measure {
	var out []measure
	for i := range r.Metrics {
		m := &r.Metrics[i]
		out = append(out, measure{m.Name, m.Better, &m.Verdict, m, nil})
		for k := range m.Tails {
			t := &m.Tails[k]
			out = append(out, measure{m.Name + "_" + t.Stat, m.Better, &t.Verdict, m, t})
		}
	}
	return out
}

// measureOf finds a measure by name; its verdict is nil if there is none.
func measureOf(r *derive.Result, name string) measure {
	for _, m := range measures(r) {
		if m.name == name {
			return m
		}
	}
	return measure{name: name}
}

// shown is the measure whose verdict a list shows for a result.
func shown(r *derive.Result) measure {
	v, name := r.Verdict()
	if v == nil {
		return measure{}
	}
	return measureOf(r, name)
}

// now writes the value of a measure.
func (s *site) now(m measure) template.HTML {
	if m.tail != nil {
		return single(m.tail.Value, m.metric.Unit)
	}
	return s.value(m.metric)
}

// exactly reports that a verdict compares exact counts, which have no interval.
func exactly(v *perf.Verdict) bool { return v.Level.Or(0) == 1 }

// judged reports that a verdict rests on an interval or on exact counts.
func judged(v *perf.Verdict) bool {
	_, lo := v.Lo.Get()
	_, hi := v.Hi.Get()
	return lo && hi || exactly(v)
}

// outcome is the outcome as pages tell it. What looks like good news must rest
// on evidence.
func outcome(v *perf.Verdict) perf.Outcome {
	if v.Outcome == perf.Unchanged && !judged(v) {
		return perf.Inconclusive
	}
	return v.Outcome
}

// claimed reports that a verdict says that something changed.
func claimed(v *perf.Verdict) bool { return v.Outcome == perf.Slower || v.Outcome == perf.Faster }

// outcomeWord writes an outcome with a sign that needs no colour.
func outcomeWord(o perf.Outcome) template.HTML {
	switch o {
	case perf.Slower:
		return `<span class="slower">▲ slower</span>`
	case perf.Faster:
		return `<span class="faster">▼ faster</span>`
	case perf.Unchanged:
		return "= unchanged"
	case perf.Inconclusive:
		return `<span class="muted">? inconclusive</span>`
	}
	return `<span class="muted">? not judged</span>`
}

// verdictCell writes a verdict for a list: the outcome, then how far a claim has
// come or why there is none.
func verdictCell(v *perf.Verdict) template.HTML {
	if v == nil || v.Outcome == "" {
		return absent
	}
	var beside []string
	if v.State != perf.NoState {
		beside = append(beside, string(v.State))
	}
	for _, code := range v.Reasons {
		if w := whyOf(code); w.short != "not judged" {
			beside = append(beside, w.short)
		}
	}
	return outcomeWord(outcome(v)) + small(strings.Join(beside, ", "))
}

// resultVerdict is [verdictCell] of the verdict a list shows for a result, with
// the metric's name if it is not the one whose value the list shows.
func resultVerdict(r *derive.Result) template.HTML {
	m := shown(r)
	out := verdictCell(m.verdict)
	if h := r.Headline(); m.verdict != nil && h != nil && h.Name != m.name {
		out += small(metricWord(m.name))
	}
	return out
}

// change writes how much a value changed, with its interval. Numbers are those
// of the value, whichever direction is good: time +18 %, throughput 8 % lower.
// A ratio of costs is above 1 for worse, so it is turned round where higher is
// better. Without interval the ratio is one of exact counts, or says so. Error
// rates are compared after adding a little, since most are 0.
func change(metric string, better perf.Better, ratio, lo, hi perf.Num) string {
	r, ok := ratio.Get()
	l, okLo := lo.Get()
	h, okHi := hi.Get()
	if !ok || better == perf.Higher && (r <= 0 || okLo && l <= 0 || okHi && h <= 0) {
		return "from or to 0"
	}
	if better == perf.Higher {
		r, l, h = 1/r, 1/h, 1/l
	}
	head, bounds := signed(r), ""
	switch {
	case !okLo || !okHi:
		bounds = " (interval open)"
	case l != h:
		var rest string
		head, rest, _ = strings.Cut(text.HTMLNumbers.Change(r, l, h), " [")
		bounds = " [" + rest
	}
	if !isTime(metric) {
		head = strings.NewReplacer("slower", "higher", "faster", "lower").Replace(head)
	}
	if size, ok := strings.CutPrefix(head, minus); ok && better == perf.Higher {
		head = size + " lower"
	} else if size, ok := strings.CutPrefix(head, "+"); ok && better == perf.Higher {
		head = size + " higher"
	}
	if metric == perf.ErrorRate {
		bounds += ", 1 % added to both"
	}
	return head + bounds
}

const minus = "\u2212"

// signed writes a ratio as a signed percentage.
func signed(r float64) string {
	s := text.HTMLNumbers.Percent(math.Abs(r - 1))
	switch {
	case r > 1:
		return "+" + s
	case r < 1:
		return minus + s
	}
	return s
}

// isTime reports that more of a metric is slower.
func isTime(metric string) bool {
	metric, _ = splitMetric(metric)
	switch metric {
	case perf.Time, perf.RealTime, perf.CPUTime, perf.Latency:
		return true
	}
	return false
}

// changeOf is [change] of a measure's verdict.
func changeOf(m measure) template.HTML {
	out := esc(change(m.name, m.better, m.verdict.Ratio, m.verdict.Lo, m.verdict.Hi))
	if exactly(m.verdict) {
		out += small("exact")
	}
	return out
}

// pWords writes a p value shortly.
func pWords(n perf.Num) string {
	p, ok := n.Get()
	switch {
	case !ok:
		return ""
	case p < 0.001:
		return "<" + text.HTMLNumbers.Space + "0.001"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// equals puts the sign before a p value that has none.
func equals(p string) string {
	if strings.HasPrefix(p, "<") {
		return p
	}
	return "= " + p
}

// pCell writes the adjusted p value of a verdict for a list.
func pCell(v *perf.Verdict) template.HTML {
	if v == nil {
		return absent
	}
	if p := pWords(v.PAdjusted); p != "" {
		return esc(p)
	}
	if exactly(v) {
		return "exact"
	}
	return absent
}

// basisWords says what a verdict compares with.
func basisWords(b perf.Basis) string {
	if b == perf.BasisCorun {
		return "side by side"
	}
	return "against earlier runs"
}

// block is a verdict in full, for the page of its benchmark.
type block struct {
	Lead    template.HTML
	Details []template.HTML
}

// verdictBlock explains a verdict.
func (s *site) verdictBlock(m measure, kind perf.Kind, root string) block {
	v := m.verdict
	o := outcome(v)
	b := block{Lead: "In its newest run <strong>" + outcomeWord(o) + "</strong>"}
	if v.State != perf.NoState {
		b.Lead += ", " + esc(string(v.State))
	}
	b.Lead += ": " + esc(metricWord(m.name))
	if judged(v) {
		b.Lead += " " + changeOf(m) + " " + esc(basisWords(v.Basis))
		b.Details = append(b.Details, s.evidence(v, kind, root))
	}
	switch {
	case claimed(v) && v.State == perf.Suspected:
		b.Details = append(b.Details, "<strong>Suspected</strong>: one run says so. It is not yet a claim to act on; the next run confirms it or lets it go.")
	case claimed(v) && v.State == perf.Confirmed:
		b.Details = append(b.Details, "<strong>Confirmed</strong>: the runs after the first one say the same.")
	case v.State == perf.Recovered:
		b.Details = append(b.Details, "<strong>Recovered</strong>: it is back at the level before the slowdown.")
	}
	if claimed(v) && v.Basis != perf.BasisCorun {
		b.Details = append(b.Details, "Earlier runs were measured at other times, perhaps on other machines of the same model. Only a co-run, which measures both versions side by side, is sure.")
	}
	for _, code := range v.Reasons {
		w := whyOf(code)
		out := esc(w.sentence)
		if w.help != "" {
			out += ` <span class="muted">What would help: ` + esc(strings.ToLower(w.help[:1])+w.help[1:]) + "</span>"
		}
		b.Details = append(b.Details, out)
	}
	return b
}

// evidence says what a judged verdict rests on.
func (s *site) evidence(v *perf.Verdict, kind perf.Kind, root string) template.HTML {
	baseline := name(v.Baseline)
	if run := s.runByID[string(kind)+"/"+v.Baseline]; run != nil {
		baseline = "that of " + s.runAt(run, root)
	}
	margin, detectable := text.HTMLNumbers.Percent(v.Margin.Or(0)), text.HTMLNumbers.Percent(v.Detectable.Or(0))
	if exactly(v) {
		return "An exact count, compared with earlier runs, the newest of them " + baseline + ": any change above " + esc(margin) + " is claimed."
	}
	out := "The " + esc(text.HTMLNumbers.Level(v.Level.Or(0))) + " interval comes from how much earlier runs differ from each other, the newest of them " + baseline + ". A change is claimed from " +
		esc(margin) + " on; one of " + esc(detectable) + " would be seen by one run in four of five cases (the smallest detectable change)."
	if p := pWords(v.PValue); p != "" {
		out += " p " + esc(equals(p))
		if adjusted := pWords(v.PAdjusted); adjusted != "" {
			out += ", adjusted for all results of the run " + esc(equals(adjusted))
		}
		out += "."
	}
	return out
}
