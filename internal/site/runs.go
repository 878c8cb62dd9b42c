package site

import (
	"html/template"
	"slices"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/text"
)

func (s *site) runList() error {
	body := struct {
		Table, Shown template.HTML
	}{}
	if len(s.d.Runs) > 0 {
		body.Table = s.runTable()
	}
	if n := len(s.d.Runs); n > limits.RunListRows {
		body.Shown = "The newest " + count(limits.RunListRows) + " of " + plural(n, "run") + " are listed; the archive holds them all."
	}
	return s.emit("runs", page{Path: "runs/index.html", Title: "Runs · " + s.title(), Here: "runs", Body: body})
}

func (s *site) runTable() template.HTML {
	t := newTable("cards runs", "Archived runs, newest first",
		col{"Run (UTC)", true}, col{"Kind", true}, col{"Commit", true}, col{"Machine", true},
		col{"Results", false}, col{"Failed", false}, col{"Verdicts", true}, col{"Unstable", false}, col{"In trends", true})
	listed := 0
	for _, r := range slices.Backward(s.d.Runs) {
		if listed++; listed > limits.RunListRows {
			break
		}
		state := template.HTML("yes")
		if why := excluded(r); why != "" {
			state = `<span class="muted">` + esc(why) + "</span>"
		}
		run := s.runLink(r, "../")
		if r.DuplicateOf != "" {
			run = stamp(r.Started)
			if o := s.runByID[string(r.Kind)+"/"+r.DuplicateOf]; o != nil && s.hasPage[o] {
				state = `<span class="muted">copy of the run of ` + s.runLink(o, "../") + "</span>"
			}
		}
		failed := count(r.Counts.Failed)
		if r.Counts.Failed > 0 {
			failed = loud(r.Counts.Failed, "")
		}
		t.row(run+`<span class="module">`+s.workflow(r)+"</span>", esc(kindWords(r.Kind))+small(string(r.JobKind)), s.commit(r), mainMachine(r),
			count(r.Counts.Benchmarks), failed, runClaims(r), count(r.Counts.Unstable), state)
	}
	return t.html()
}

// runClaims writes what a run claims for the list of runs. A run out of reach
// is not judged again, and says nothing.
func runClaims(r *derive.Run) template.HTML {
	c := r.Claims
	switch {
	case !r.InTrend || r.DuplicateOf != "" || r.Results == nil:
		return absent
	case c.Judged == 0 && c.Slower+c.Faster == 0:
		return `<span class="muted">none judged</span>`
	}
	out := template.HTML("")
	if c.Slower > 0 {
		out = counted(c.Slower, perf.Slower)
	}
	if c.Slower > 0 && c.Faster > 0 {
		out += "<br>"
	}
	if c.Faster > 0 {
		out += counted(c.Faster, perf.Faster)
	}
	if out == "" {
		return "no claim"
	}
	return out
}

// runBody feeds run.tmpl.
type runBody struct {
	Heading, Lead, Chance    template.HTML
	Shifts                   []template.HTML
	Claims                   template.HTML
	Retired                  problems
	Facts                    []fact
	Failed, Skipped, Missing problems
	Warnings                 []template.HTML
	MoreWarnings             int
	Table                    template.HTML
}

func (s *site) runPages() error {
	for _, r := range s.runs {
		if !s.hasPage[r] {
			continue
		}
		if err := s.runPage(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) runPage(r *derive.Run) error {
	const root = "../../"
	b := runBody{Heading: heading(r), Facts: s.runFacts(r), Lead: s.tally(r), Chance: chance(r), Shifts: shifts(r, limits.RunProblems),
		Claims: s.findingTable(r, root, nil), Retired: s.retiredList(keysOf(r.Results), root, limits.RunProblems)}
	b.Failed, b.Skipped, b.Missing = s.failures(r, root, "")
	for i := range r.Diagnostics {
		if i == limits.RunProblems {
			b.MoreWarnings = len(r.Diagnostics) - i
			break
		}
		b.Warnings = append(b.Warnings, sentence(r.Diagnostics[i].Error()))
	}
	if r.Counts.Benchmarks > 0 {
		b.Table = s.runResults(r, root)
	}
	path := "run/" + runSlug(r) + "/index.html"
	title := "Run " + text.Cut(text.Visible(r.ID), 60) + " · " + s.title()
	return s.emit("run", page{Path: path, Title: title, Here: "runs", Body: b})
}

// heading names a run by its time, or by its id when that is unknown.
func heading(r *derive.Run) template.HTML {
	if r.Started.IsZero() {
		return "Run " + name(r.ID)
	}
	return "Run of " + stamp(r.Started) + " UTC"
}

func (s *site) runFacts(r *derive.Run) []fact {
	subject := template.HTML("")
	if r.Meta.Commit.Subject != "" {
		subject = `<br><span class="muted">` + name(r.Meta.Commit.Subject) + "</span>"
	}
	commit := s.commit(r)
	if r.Meta.Commit.Untrusted {
		commit += `<br><span class="muted">recorded when the run was archived; it may not be what was measured</span>`
	}
	facts := []fact{
		{"Commit", commit + subject},
		{"Run", s.workflow(r) + `<br><span class="muted">` + esc(kindWords(r.Kind)) + ", " + esc(string(r.JobKind)) + " job</span>"},
		{"Machines", machines(r)},
		{"Raw data", s.raw(r)},
	}
	if r.Legacy {
		facts[3].Value += `<br><span class="muted">older layout, read as it is</span>`
	}
	if ref := r.Meta.Run.Ref; ref != "" {
		facts[0].Value += `<br><span class="muted">on ` + name(ref) + "</span>"
	}
	return facts
}

// runResults is the table of everything a run measured, by module.
func (s *site) runResults(run *derive.Run, root string) template.HTML {
	t := newTable("cards results", "All results of this run, by module. Intervals are at "+levelWords(s.d)+" unless marked.",
		col{"Name", true}, col{"Value", false}, col{"n", false}, col{"Repeatability", true}, col{"Verdict", true},
		col{"Allocated", false}, col{"Previous run", false})
	var last *derive.Result
	results := slices.DeleteFunc(slices.Clone(s.listed(run.Results)), func(r *derive.Result) bool { return r.Status != perf.OK })
	for _, r := range results[:min(len(results), limits.ResultRows)] {
		if last == nil || r.Key.Module != last.Key.Module {
			t.group(name(r.Key.Module))
		}
		last = r
		m := r.Headline()
		repeats := stability(r)
		if m != nil {
			if cv, ok := m.CV.Get(); ok {
				repeats += small("CV " + text.HTMLNumbers.Percent(cv))
			}
		}
		label := s.benchName(r, root, false)
		if why := statusWords(r); why != "" && run.InTrend {
			label += small(why)
		}
		if r.CarriedFrom != "" {
			label += small("carried forward")
		}
		t.row(label, s.value(m), samples(m), repeats, resultVerdict(r), s.value(r.Metric(perf.AllocBytes)), s.previous(run, r, m))
	}
	t.more(len(results) - limits.ResultRows)
	return t.html()
}

// previous writes the value of the run before, and whether the one-condition
// signal fires on it. Neither is a judgement: see the method page.
func (s *site) previous(run *derive.Run, r *derive.Result, m *derive.Metric) template.HTML {
	sr := seriesOf(s.series[r.Key.ID()], m)
	if sr == nil || !r.InTrend {
		return absent
	}
	at := slices.IndexFunc(sr.Points, func(p derive.Point) bool { return p.Run == run })
	if at < 0 {
		return absent
	}
	if at == 0 {
		return `<span class="muted">first</span>`
	}
	before := sr.Points[at-1]
	out := s.value(before.Metric)
	if before.Result.Env.CPUModel != r.Env.CPUModel {
		out += small("other machine")
	}
	if m.Verdict.LegacyCI99 {
		out += small("raw signal: outside")
	}
	return out
}

// levelWords is the level of the intervals.
func levelWords(d *derive.Derived) string { return text.HTMLNumbers.Level(d.Level) }
