package site

import (
	"html/template"
	"slices"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
)

// overviewBody feeds overview.tmpl.
type overviewBody struct {
	Empty    bool // no run at all
	Heading  string
	Lead     template.HTML
	Chance   template.HTML // what chance alone would claim
	Newer    template.HTML // a newer run that is not a measurement
	Shifts   []template.HTML
	Open     template.HTML // open slowdowns
	OpenWord template.HTML // their count
	Claims   template.HTML // of the newest run, without those that are open
	Retired  problems
	Facts    []fact
	Failed   problems
	Missing  problems
	Table    template.HTML
	Shown    template.HTML // what the table leaves out
	Load     template.HTML
	RunPage  string
	Badge    string // accessible text of the badge
	LoadRuns bool
}

// fact is one field of a page's head.
type fact struct {
	Name  string
	Value template.HTML
}

func (s *site) overview() error {
	b := overviewBody{Heading: s.title(), Badge: badgeText(s.d.Badge)}
	run := s.headRun()
	if run == nil {
		b.Empty = true
		return s.emit("overview", page{Path: "index.html", Title: s.title(), Here: "overview", Body: b})
	}
	b.RunPage = "run/" + runSlug(run) + "/index.html"
	b.Lead, b.Chance, b.Shifts = s.tally(run), chance(run), shifts(run, limits.OverviewProblems)
	var listed map[string]bool
	b.Open, listed = s.openTable("")
	b.OpenWord = s.openWords()
	b.Claims = s.findingTable(run, "", listed)
	b.Retired = s.retiredList(s.allKeys(), "", limits.OverviewProblems)
	if newest := s.newest(run.Kind, false); newest != run {
		b.Newer = "A newer run (" + s.runAt(newest, "") + ") is left out here: " + esc(excluded(newest)) + "."
	}
	b.Facts = s.overviewFacts(run)
	b.Failed, _, b.Missing = s.failures(run, "", b.RunPage)
	results := headlineFirst(s.listed(run.Results))
	if len(results) > 0 {
		b.Table = s.resultTable(run, results[:min(len(results), limits.OverviewRows)])
	}
	if n := len(results); n > limits.OverviewRows {
		b.Shown = "The first " + count(limits.OverviewRows) + " of " + plural(n, "result") + " are shown, those cited by documents first."
	}
	if load := s.loadRun(); load != nil && load != run {
		b.Load = s.scenarioTable(load, "")
		b.LoadRuns = true
	}
	return s.emit("overview", page{Path: "index.html", Title: s.title(), Here: "overview", Body: b})
}

// headRun is the run the overview speaks of: the newest in the trend, of
// benchmarks if there are any, else the newest at all.
func (s *site) headRun() *derive.Run {
	for _, trend := range []bool{true, false} {
		for _, k := range []perf.Kind{perf.Bench, perf.Load, perf.Corun} {
			if r := s.newest(k, trend); r != nil {
				return r
			}
		}
	}
	return nil
}

// openWords counts the open slowdowns.
func (s *site) openWords() template.HTML {
	confirmed := 0
	for _, o := range s.d.Open {
		confirmed += rank(o.Confirmed != nil)
	}
	return count(confirmed) + " confirmed, " + count(len(s.d.Open)-confirmed) + " suspected"
}

// allKeys are the keys of all series.
func (s *site) allKeys() []perf.Key {
	out := make([]perf.Key, len(s.d.Series))
	for i, sr := range s.d.Series {
		out[i] = sr.Key
	}
	return out
}

func (s *site) overviewFacts(r *derive.Run) []fact {
	c := r.Counts
	facts := []fact{
		{"Newest run", s.runAt(r, "") + "<br>" + s.commit(r) + ` <span class="muted">` + esc(string(r.JobKind)) + " job</span>"},
		{"Machines", machines(r)},
		{"Repeatability", repeatability(c)},
		{"Coverage", plural(c.Benchmarks, "result") + " from " + plural(c.ModulesWithNumbers, "module")},
	}
	facts[3].Value += "<br>" + loud(c.Failed, "failed") + ", " + loud(c.Missing, "missing")
	if n := s.pageless(r); n > 0 {
		facts[3].Value += "<br>" + count(n) + " without a page of their own"
	}
	if c.Skipped > 0 {
		facts[3].Value += ", " + count(c.Skipped) + " skipped"
	}
	if c.Carried > 0 {
		facts[3].Value += "<br>" + count(c.Carried) + " carried forward, sources unchanged"
	}
	return facts
}

// pageless counts the results of a run whose benchmarks have no page because
// others fill the site.
func (s *site) pageless(r *derive.Run) int {
	n := 0
	for _, res := range r.Results {
		if s.byKey[res.Key.ID()] == nil {
			n++
		}
	}
	return n
}

// repeatability counts the results by their stability.
func repeatability(c derive.Counts) template.HTML {
	classed := c.Stable + c.Unstable + c.ExpectedUnstable
	if classed == 0 {
		return "no samples to judge it by"
	}
	out := plural(c.Stable, "stable result") + "<br>" + link("unstable/index.html", count(c.Unstable)+" unstable")
	if c.ExpectedUnstable > 0 {
		out += ", " + count(c.ExpectedUnstable) + " expected to be"
	}
	if n := c.Benchmarks - classed; n > 0 {
		out += "<br>" + count(n) + " without samples"
	}
	return out
}

// loud writes a count of bad things so that it is seen unless it is 0.
func loud(n int, word string) template.HTML {
	if n == 0 {
		return "none " + esc(word)
	}
	return `<strong class="bad">✗ ` + count(n) + " " + esc(word) + "</strong>"
}

// headlineFirst are the results with numbers, cited by documents first.
func headlineFirst(results []*derive.Result) []*derive.Result {
	return slices.DeleteFunc(citedFirst(results), func(r *derive.Result) bool { return r.Status != perf.OK })
}

// resultTable is the overview's list of results.
func (s *site) resultTable(run *derive.Run, results []*derive.Result) template.HTML {
	t := newTable("cards overview", "Values of the newest run with their "+levelWords(s.d)+" intervals, and their course on the machine they were measured on",
		col{"Name", true}, col{"Now", false}, col{"n", false}, col{"Repeatability", true}, col{"Verdict", true}, col{"Course", true})
	open := map[string]template.HTML{}
	for _, o := range s.d.Open {
		open[o.Key.ID()] = ` <small class="slower">▲ open slowdown</small>`
	}
	for _, r := range results {
		m := r.Headline()
		t.row(s.benchName(r, "", true), s.value(m), samples(m), stability(r), resultVerdict(r)+open[r.Key.ID()], s.spark(r, m))
	}
	return t.html()
}
