package site

import (
	"html/template"
	"strconv"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
)

// benchVerdicts are the verdicts of a benchmark's newest run in a trend: that
// of the list first, then those of the headline and of every other claim.
func (s *site) benchVerdicts(b *bench, root string) []block {
	if b.last.run == nil {
		return nil
	}
	r := b.last.result
	first := shown(r)
	if first.verdict == nil {
		return nil
	}
	told := []measure{first}
	headline := r.Headline()
	for _, m := range measures(r) {
		if m.name != first.name && m.verdict.Outcome != "" && (claimed(m.verdict) || headline != nil && m.name == headline.Name) {
			told = append(told, m)
		}
	}
	var open, out []block
	for i := range s.d.Open {
		if o := &s.d.Open[i]; o.Key.ID() == b.key.ID() {
			open = append(open, block{Lead: s.openLead(o, root)})
		}
	}
	for _, m := range told {
		out = append(out, s.verdictBlock(m, b.key.Kind, root))
	}
	return append(open, out...)
}

// openLead says which slowdown of a benchmark is open, and since when.
func (s *site) openLead(o *derive.Open, root string) template.HTML {
	word := "suspected"
	if o.Confirmed != nil {
		word = "confirmed"
	}
	return `<strong class="slower">▲ open slowdown</strong>, ` + esc(word) + ": " + esc(metricWord(o.Metric)) + " " + s.openChange(o, s.openVerdict(o)) +
		" since the run of " + s.runAt(o.Since, root) + ", " + s.commitRange(o.Before, o.Since)
}

// oddities are the labels of a result's samples and what else is unlike its
// other runs.
func oddities(r *derive.Result) []template.HTML {
	var labels, anomalies template.HTML
	for i := range r.Metrics {
		m := &r.Metrics[i]
		for _, w := range m.Labels.Words(m.N) {
			labels += esc(metricTitle(m.Name)+": "+w) + ". "
		}
	}
	for _, a := range r.Anomalies {
		anomalies += esc(metricTitle(a.Metric)) + " " + sentence(a.Reason) + ". "
	}
	var out []template.HTML
	if labels != "" {
		out = append(out, labels+"These are labels only: statistics and verdicts use all samples.")
	}
	if anomalies != "" {
		out = append(out, "<strong>Unlike its other runs</strong>: "+anomalies+"A time measured meanwhile may not be the code’s doing.")
	}
	return out
}

// pointVerdict writes the verdict of a point in a table of its series.
func pointVerdict(sr *derive.Series, p derive.Point) template.HTML {
	v := &p.Metric.Verdict
	out := verdictCell(v)
	if judged(v) && v.Outcome != "" {
		out += small(change(sr.Metric, sr.Better, v.Ratio, v.Lo, v.Hi))
	}
	return out
}

// metricVerdict writes the verdicts of a metric and its percentiles.
func metricVerdict(m *derive.Metric) template.HTML {
	one := func(name string, v *perf.Verdict) template.HTML {
		out := verdictCell(v)
		if judged(v) && v.Outcome != "" {
			out += small(change(name, m.Better, v.Ratio, v.Lo, v.Hi))
		}
		return out
	}
	out := one(m.Name, &m.Verdict)
	for i := range m.Tails {
		t := &m.Tails[i]
		out += "<br>" + esc(t.Stat) + ": " + one(m.Name+"_"+t.Stat, &t.Verdict)
	}
	return out
}

// stepTable lists the changes of level of a benchmark's metrics, "" without any.
func (s *site) stepTable(b *bench, root string) template.HTML {
	t := newTable("data", "Changes of level",
		col{"Metric", true}, col{"Step", false}, col{"About", false}, col{"Commits", true}, col{"First run after it (UTC)", true}, col{"p", false})
	rows := 0
	for _, sr := range b.series {
		for i, st := range sr.Steps {
			if rows++; rows > limits.PointRows {
				continue
			}
			t.row(esc(metricTitle(sr.Metric)), esc(strconv.Itoa(i+1)), esc(stepChange(sr, st)), s.commitRange(st.Before, st.After), s.runLink(st.After, root), esc(pWords(st.PValue)))
		}
	}
	if rows == 0 {
		return ""
	}
	return t.html()
}

// leftOutTable lists the results of a benchmark that the configuration leaves
// out, newest first, "" without any.
func (s *site) leftOutTable(b *bench, root string) template.HTML {
	list := s.leftOut[b.key.ID()]
	if len(list) == 0 {
		return ""
	}
	t := newTable("data", "Results left out, newest run first",
		col{"Run (UTC)", true}, col{"Commit", true}, col{"Machine", true}, col{"Reason", true})
	for _, a := range list[:min(len(list), limits.PointRows)] {
		t.row(s.runLink(a.run, root), s.commit(a.run), esc(machineName(a.result.Env.CPUModel)), sentence(a.result.Excluded))
	}
	t.more(len(list) - limits.PointRows)
	return t.html()
}
