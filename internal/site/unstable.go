package site

import (
	"html/template"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
)

// unstableBody feeds unstable.tmpl.
type unstableBody struct {
	Run      template.HTML
	Stable   template.HTML // count of results that can be compared
	Count    template.HTML
	Table    template.HTML
	Expected template.HTML
	Unclear  template.HTML // count of results without samples
	Retired  problems
}

func (s *site) unstablePage() error {
	const root = "../"
	b := unstableBody{}
	if run := s.newest(perf.Bench, true); run != nil {
		c := run.Counts
		b.Run = s.runAt(run, root) + ", " + s.commit(run)
		kept := 0
		for _, r := range s.listed(run.Results) {
			kept += rank(r.Stability == derive.Unstable && r.Headline() != nil)
		}
		b.Stable, b.Count = plural(c.Stable, "result"), plural(kept, "result")
		b.Retired = s.retiredList(keysOf(run.Results), root, limits.RunProblems)
		b.Table = s.unstableTable(run, derive.Unstable, root)
		b.Expected = s.unstableTable(run, derive.ExpectedUnstable, root)
		if n := c.Benchmarks - c.Stable - c.Unstable - c.ExpectedUnstable; n > 0 {
			b.Unclear = plural(n, "result")
		}
	}
	return s.emit("unstable", page{Path: "unstable/index.html", Title: "Unstable · " + s.title(), Here: "unstable", Body: b})
}

func (s *site) unstableTable(run *derive.Run, class derive.Stability, root string) template.HTML {
	caption, last := "Unstable results of the newest run", col{"What helps", true}
	if class == derive.ExpectedUnstable {
		caption, last = "Results whose manifest says that they are unstable", col{"Course", true}
	}
	t := newTable("cards unstable", caption, col{"Name", true}, col{"Value", false}, col{"CV", false}, col{"Reason", true}, last)
	rows := 0
	for _, r := range s.listed(run.Results) {
		m := r.Headline()
		if r.Stability != class || m == nil {
			continue
		}
		if rows++; rows > limits.ResultRows {
			continue
		}
		end := action(m)
		if class == derive.ExpectedUnstable {
			end = s.spark(r, m)
		}
		t.row(s.benchName(r, root, true), s.value(m), percent(m.CV), sentence(r.StabilityReason), end)
	}
	if rows == 0 {
		return ""
	}
	t.more(rows - limits.ResultRows)
	return t.html()
}

// action suggests what would make a result comparable.
func action(m *derive.Metric) template.HTML {
	cv, ok := m.CV.Get()
	switch {
	case m.N < 10:
		return "more iterations: " + count(m.N) + " are few"
	case ok && cv > 0.3:
		return "look at its samples: two clusters mean two things are measured"
	}
	return "longer iterations, or a quieter machine"
}
