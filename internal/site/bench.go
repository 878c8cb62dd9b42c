package site

import (
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/text"
)

// benchSlug is the folder of a benchmark's page. Most sites hold benchmarks
// only, so their kind is not spelled out; no key of another kind can give the
// same text, since the number of separators differs.
func benchSlug(k perf.Key) string {
	return text.Slug(strings.TrimPrefix(k.ID(), string(perf.Bench)+"\x00"))
}

// benchBody feeds bench.tmpl.
type benchBody struct {
	Name, Module template.HTML
	Job          template.HTML
	State        template.HTML
	Verdicts     []block
	Steps        template.HTML
	LeftOut      template.HTML
	Notes        []template.HTML
	Level        string
	Statistic    string // what the trend plots
	Trend        *figure
	Strip        *figure
	Table        template.HTML
	Shown        template.HTML
	Others       []*figure // charts of further metrics
	Values       template.HTML
	Facts        []fact
	Image        string // path of the image for READMEs
}

func (s *site) benchPages() error {
	for _, b := range s.benches {
		if err := s.benchPage(b); err != nil {
			return err
		}
	}
	return nil
}

func (s *site) benchPage(b *bench) error {
	const root = "../../"
	now := b.last
	if now.run == nil {
		now = b.latest
	}
	full := b.key.Benchmark()
	body := benchBody{Name: softBreaks(text.Visible(full)), Module: name(b.key.Module),
		Level: levelWords(s.d), State: s.benchState(b, root), Verdicts: s.benchVerdicts(b, root), Notes: s.benchNotes(b, root), Facts: s.benchFacts(now)}
	if b.key.Job != "" {
		body.Job = name(b.key.Job)
	}
	body.Trend = s.trendFigure("trend", b.main, chartWidth, chartHeight)
	if body.Trend != nil {
		body.Statistic = centerName(b.main.Points[len(b.main.Points)-1].Metric)
		body.Table, body.Shown = s.pointTable(b.main, root)
	}
	body.Strip = s.stripFigure("strip", b.main)
	body.Others = s.otherFigures(b)
	body.Values = s.valueTable(now)
	body.Steps = s.stepTable(b, root)
	body.LeftOut = s.leftOutTable(b, root)
	if s.images[b.main] != nil {
		body.Image = root + imagePath(b.main)
	}
	title := text.Cut(text.Visible(full), 80) + " · " + s.title()
	return s.emit("bench", page{Path: "bench/" + b.slug + "/index.html", Title: title, Body: body})
}

// benchState is the line that says where the benchmark stands.
func (s *site) benchState(b *bench, root string) template.HTML {
	if b.last.run == nil {
		r := b.latest.result
		why := statusWords(r)
		if why == "" {
			why = "not in trends"
		}
		return `<strong>` + esc(strings.ToUpper(why[:1])+why[1:]) + "</strong> " + `<span class="muted">in the run of ` + s.runAt(b.latest.run, root) + "; no run of a trend has it.</span>"
	}
	r := b.last.result
	m := r.Headline()
	out := "<strong>" + s.value(m) + "</strong>"
	if m != nil {
		out += ` <span class="muted">` + esc(centerName(m))
		if _, _, _, ok := center(m); ok && m.CI.Level == s.d.Level {
			out += ", " + esc(levelWords(s.d)) + " interval"
		}
		if m.N > 0 {
			out += ", n = " + count(m.N)
		}
		if m.Reported {
			out += ", as the tool reported"
		}
		out += "</span>"
	}
	if r.Stability != "" {
		out += " · " + stability(r)
	}
	if a := r.Metric(perf.AllocBytes); a != nil && a != m {
		out += " · " + s.value(a) + " allocated"
	}
	return out
}

// benchNotes are what a reader must know before believing the state line.
func (s *site) benchNotes(b *bench, root string) []template.HTML {
	var notes []template.HTML
	if why := s.retired[b.key.ID()]; why != "" {
		notes = append(notes, "<strong>Retired</strong>, so it stands in no list: "+sentence(why))
	}
	latest := b.latest
	if b.last.run != nil {
		if b.last.run != latest.run {
			why := statusWords(latest.result)
			if why == "" {
				why = "not in trends"
			}
			notes = append(notes, "In the newest run that has it ("+s.runAt(latest.run, root)+") it is <strong>"+esc(why)+"</strong>; the values here are of the run of "+s.runAt(b.last.run, root)+".")
		} else if newest := s.newest(b.key.Kind, true); newest != b.last.run {
			notes = append(notes, "The newest run ("+s.runAt(newest, root)+") does not have it; the values here are of the run of "+s.runAt(b.last.run, root)+".")
		}
		r := b.last.result
		if r.StabilityReason != "" {
			notes = append(notes, stability(r)+": "+sentence(r.StabilityReason)+".")
		}
		if r.CarriedFrom != "" {
			notes = append(notes, "Carried forward from run "+name(r.CarriedFrom)+": its sources did not change, so it was not measured again.")
		}
		if r.Rows > 1 {
			notes = append(notes, "The samples of "+count(r.Rows)+" repeats are taken together.")
		}
		notes = append(notes, oddities(r)...)
	}
	if latest.result.Status != perf.OK && latest.result.Reason != "" {
		notes = append(notes, "Reason given: "+sentence(latest.result.Reason))
	}
	return notes
}

// pointTable lists the points of a series, newest first.
func (s *site) pointTable(sr *derive.Series, root string) (body, shown template.HTML) {
	t := newTable("data", "The same values, newest run first",
		col{"Run (UTC)", true}, col{"Commit", true}, col{"Value", false}, col{"Verdict", true}, col{"Machine", true}, col{"n", false}, col{"CV", false}, col{"Remark", true})
	listed := 0
	for _, p := range slices.Backward(sr.Points) {
		if listed++; listed > limits.PointRows {
			shown = "The newest " + count(limits.PointRows) + " of " + plural(len(sr.Points), "point") + " are listed."
			break
		}
		line := s.machines[p.Result.Env.CPUModel]
		mark := template.HTML("")
		switch {
		case p.Result.CarriedFrom != "":
			mark = "carried forward"
		case p.Result.Stability != derive.Stable && p.Result.Stability != "":
			mark = stability(p.Result)
		}
		l := s.legend(line)
		commit := absent
		if c := p.Run.Meta.Commit; c.SHA != "" {
			commit = commitText(c) + doubt(c)
		}
		t.row(s.runLink(p.Run, root), commit, s.value(p.Metric), pointVerdict(sr, p),
			`<span class="`+template.HTML(l.Class)+`">`+esc(l.Symbol)+"</span> "+esc(machineName(p.Result.Env.CPUModel)),
			samples(p.Metric), percent(p.Metric.CV), mark)
	}
	return t.html(), shown
}

// otherFigures are charts of the metrics that moved; the others are in the
// table of values.
func (s *site) otherFigures(b *bench) []*figure {
	var out []*figure
	for _, sr := range b.series {
		if sr == b.main || len(out) == limits.SmallCharts || flat(sr) {
			continue
		}
		if f := s.trendFigure("m"+strconv.Itoa(len(out)), sr, smallWidth, smallHeight); f != nil {
			out = append(out, f)
		}
	}
	return out
}

// flat reports that a series has one value or always the same.
func flat(sr *derive.Series) bool {
	first, _ := sr.Points[0].Metric.Center().Get()
	for _, p := range sr.Points {
		if v, ok := p.Metric.Center().Get(); ok && v != first {
			return false
		}
	}
	return true
}

// valueTable lists every metric of a result.
func (s *site) valueTable(now at) template.HTML {
	if len(now.result.Metrics) == 0 {
		return ""
	}
	t := newTable("data", "All metrics of this run",
		col{"Metric", true}, col{"Mean", false}, col{"Verdict", true}, col{"Median", false}, col{"Min to max", false}, col{"p95", false}, col{"p99", false}, col{"n", false}, col{"CV", false})
	for i := range now.result.Metrics {
		m := &now.result.Metrics[i]
		mean := s.value(m)
		if _, ok := m.Mean.Get(); !ok {
			mean = absent
		}
		t.row(esc(metricTitle(m.Name)), mean, metricVerdict(m), bare(m.Median, m.Unit), spread(m),
			tail(m.P95, m, m.P95Undersampled), tail(m.P99, m, m.P99Undersampled), samples(m), percent(m.CV))
	}
	return t.html()
}

// bare writes a number of a table whose caption says that only the mean has
// an interval.
func bare(n perf.Num, u perf.Unit) template.HTML {
	v, ok := n.Get()
	if !ok {
		return absent
	}
	return esc(text.HTMLNumbers.Value(v, unit(u)))
}

func spread(m *derive.Metric) template.HTML {
	lo, hi := bare(m.Min, m.Unit), bare(m.Max, m.Unit)
	if lo == absent && hi == absent {
		return absent
	}
	return lo + " to " + hi
}

// tail writes a percentile, and says when too few samples lie beyond it.
func tail(n perf.Num, m *derive.Metric, under bool) template.HTML {
	out := bare(n, m.Unit)
	if under && out != absent {
		out += small("few samples")
	}
	return out
}

// benchFacts describe how and on what a result was measured.
func (s *site) benchFacts(now at) []fact {
	r, e := now.result, now.result.Env
	var facts []fact
	add := func(key string, v template.HTML) {
		if v != "" {
			facts = append(facts, fact{key, v})
		}
	}
	cpu := esc(machineName(e.CPUModel))
	if e.CPUCount > 0 {
		cpu += ", " + plural(e.CPUCount, "logical processor")
	}
	if e.MemoryBytes > 0 {
		cpu += ", " + esc(text.HTMLNumbers.Value(float64(e.MemoryBytes), "B")) + " memory"
	}
	add("Machine", cpu)
	add("System", joined(e.OS, e.OSVersion, e.Kernel, e.Arch))
	var chain []string
	for _, n := range slices.Sorted(maps.Keys(e.Toolchain)) {
		chain = append(chain, n+" "+e.Toolchain[n])
	}
	add("Toolchain", joined(chain...))
	add("Tool", name(r.Tool))
	add("Runner", joined(now.run.Meta.Runner.Label, now.run.Meta.Runner.Image, now.run.Meta.Runner.ImageVersion))
	var dims []string
	for _, p := range r.Dims {
		dims = append(dims, p.Name+" = "+p.Value)
	}
	add("Job", joined(append([]string{string(r.JobKind)}, dims...)...))
	add("Cited as", name(r.DocRef))
	add("Report", name(r.File))
	add("Raw data", s.raw(now.run))
	return facts
}
