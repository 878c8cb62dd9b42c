package derive

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"perfband/internal/config"
	"perfband/internal/history"
	"perfband/internal/perf"
	"perfband/internal/stats"
)

// question is what one judge decides on: a statistic of one metric of one kind
// of run. What spread to expect and what machines do is learnt within it.
type question struct {
	kind   perf.Kind
	metric string
	stat   string // "" for the metric's centre, else "p95", "p99"
}

// name is the metric's name in lists and exports.
func (q question) name() string {
	if q.stat == "" {
		return q.metric
	}
	return q.metric + "_" + q.stat
}

// court is a judge with the names of its numbers.
type court struct {
	judge   *history.Judge
	runs    []*Run         // by the judge's number
	index   map[string]int // judge's number of a series, by key
	keys    []perf.Key     // the reverse
	classes map[string]int
	groups  map[string]int
	// accepted is what waits for an acceptance, by its id.
	accepted map[string]*waiting
	// Of the run at hand.
	results  []history.Result
	subjects []subject
}

// subject is what a verdict is about and where it goes.
type subject struct {
	result  *Result
	metric  *Metric
	verdict *perf.Verdict
	value   float64
}

// judging judges all runs in trends, oldest first.
type judging struct {
	opt    Options
	courts map[question]*court
	order  []question
	rates  rates
	at     place
}

// place is the machine a result was measured on, as classes. Most results of a
// run share one, and naming it is a good part of the work.
type place struct {
	env    perf.Env
	class  string // for times
	exact  string // for what does not vary by chance
	known  bool
	stated bool // env is one, not the zero value
}

// of returns the place of a result with an environment.
func (p *place) of(e perf.Env) place {
	same := p.stated && e.CPUModel == p.env.CPUModel && e.CPUCount == p.env.CPUCount && e.OS == p.env.OS && e.OSVersion == p.env.OSVersion && e.Arch == p.env.Arch &&
		maps.Equal(e.Toolchain, p.env.Toolchain)
	if !same {
		*p = place{env: e, exact: exactClass(e), stated: true}
		p.class, p.known = envClass(e)
	}
	return *p
}

func settings(v config.Verdict) history.Settings {
	s := history.DefaultSettings()
	s.Alpha, s.AlphaUnknown = v.Alpha, v.Alpha*s.AlphaUnknown/s.Alpha
	s.Margin, s.MinMargin = math.Log1p(v.Margin), math.Log1p(v.MinMargin)
	s.ConfirmAfter = v.ConfirmAfter
	return s
}

// judgeRuns fills in the verdicts of all runs in trends.
func judgeRuns(runs []*Run, opt Options) *judging {
	j := &judging{opt: opt, courts: map[question]*court{}}
	for _, run := range runs {
		run.Claims, run.Shifts = Claims{}, nil
		if run.InTrend && run.Results != nil {
			j.run(run)
		}
	}
	return j
}

// run judges one run.
func (j *judging) run(run *Run) {
	now := j.effective(run)
	j.rates.see(run)
	for _, r := range run.Results {
		r.Retired = retired(r.Key, j.opt.Config.Excluded)
		if r.InTrend && !r.Side {
			j.call(run, r)
		}
	}
	for _, q := range j.order {
		c := j.courts[q]
		settled := c.accept(now, q)
		if len(c.results) == 0 {
			continue
		}
		c.decide(run)
		c.acceptClaims(now, q, settled)
		c.results, c.subjects = c.results[:0], c.subjects[:0]
	}
	adjust(run)
	run.tallyClaims()
}

// court returns the court of a question.
func (j *judging) court(q question) *court {
	c := j.courts[q]
	if c == nil {
		c = &court{judge: history.New(settings(j.opt.Config.Verdict)), index: map[string]int{}, classes: map[string]int{},
			groups: map[string]int{}, accepted: map[string]*waiting{}}
		j.courts[q] = c
		j.order = append(j.order, q)
		slices.SortFunc(j.order, func(a, b question) int {
			return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.metric, b.metric), cmp.Compare(a.stat, b.stat))
		})
	}
	return c
}

// call puts every metric of a result before its court, or says why not.
func (j *judging) call(run *Run, r *Result) {
	at, key := j.at.of(r.Env), r.Key.ID()
	for i := range r.Metrics {
		m := &r.Metrics[i]
		m.Verdict.Basis, m.class = perf.BasisHistory, -1
		if why := j.refused(r, m); why != "" {
			m.Verdict.Outcome, m.Verdict.Reasons = perf.None, []string{why}
			continue
		}
		j.courtOf(run, m, "").call(r, key, at, m, &m.Verdict, centre(m))
		if m.Tails = nil; run.Kind == perf.Load && m.Name == perf.Latency {
			m.Tails = tails(m)
		}
		for k := range m.Tails {
			t := &m.Tails[k]
			t.Verdict.Basis = perf.BasisHistory
			j.courtOf(run, m, t.Stat).call(r, key, at, m, &t.Verdict, t.Value)
		}
	}
}

func (j *judging) courtOf(run *Run, m *Metric, stat string) *court {
	return j.court(question{run.Kind, m.Name, stat})
}

// centre is the statistic that is judged: the median, which one slow sample
// does not move, or what else the tool gave.
func centre(m *Metric) perf.Num {
	if _, ok := m.Median.Get(); ok {
		return m.Median
	}
	return m.Center()
}

// call puts a value before the court. One that has no logarithm cannot be
// compared as a ratio.
func (c *court) call(r *Result, key string, at place, m *Metric, to *perf.Verdict, value perf.Num) {
	v, ok := value.Get()
	exact := exactly(m)
	if !ok || v < 0 || v == 0 && !exact && m.Name != perf.ErrorRate {
		to.Outcome, to.Reasons = perf.None, []string{"no-ratio"}
		return
	}
	class, known, group := at.class, at.known, number(c.groups, r.Key.Module)
	if r.Env.CPUCount == 0 {
		class += procs(r.Dims)
	}
	if exact {
		class, known = at.exact, true
	}
	if m.Name == perf.ErrorRate {
		group = -1 // machines fail no requests
	}
	if _, ok := c.index[key]; !ok {
		c.index[key] = len(c.index)
		c.keys = append(c.keys, r.Key)
	}
	spread, _ := m.CV.Get()
	c.subjects = append(c.subjects, subject{r, m, to, v})
	c.results = append(c.results, history.Result{Series: c.index[key], Class: number(c.classes, class), Known: known,
		Group: group, Value: cost(m, v), Spread: spread, Exact: exact})
}

// exactly reports that a metric is judged exactly: it does not vary by chance.
func exactly(m *Metric) bool {
	return m.Exact || m.Name == perf.AllocBytes || m.Name == perf.Allocs
}

// cost is the logarithm judges compare, larger is worse. Exact metrics may be
// 0; one is added, which matters only to counts that are small.
func cost(m *Metric, v float64) float64 {
	switch {
	case exactly(m) && m.Better == perf.Higher:
		return -math.Log1p(v)
	case exactly(m):
		return math.Log1p(v)
	case m.Name == perf.ErrorRate:
		return math.Log(v + errorFloor)
	case m.Better == perf.Higher:
		return -math.Log(v)
	}
	return math.Log(v)
}

// errorFloor is the error rate added before two are compared, so that what
// counts is percentage points as long as there are few errors: between one in a
// thousand and none there is no change worth telling.
const errorFloor = 0.01

// procs is what a result says of the number of processors it used, where its
// machine's is not known.
func procs(dims []perf.Param) string {
	for _, d := range dims {
		if d.Name == "procs" {
			return "\x00" + d.Value
		}
	}
	return ""
}

// number gives each text a small number.
func number(m map[string]int, text string) int {
	n, ok := m[text]
	if !ok {
		n = len(m)
		m[text] = n
	}
	return n
}

// decide lets the judge judge the run and fills in the verdicts.
func (c *court) decide(run *Run) {
	c.runs = append(c.runs, run)
	verdicts, shifts := c.judge.Run(c.results)
	for i, v := range verdicts {
		s := c.subjects[i]
		c.fill(s, v)
		s.metric.class = c.results[i].Class
		run.Claims.Chance += v.Chance
	}
	for _, s := range shifts {
		var first subject
		for i, r := range c.results {
			if r.Group == s.Group && r.Class == s.Class {
				first = c.subjects[i]
				break
			}
		}
		run.Shifts = append(run.Shifts, Shift{Module: first.result.Key.Module, Metric: first.metric.Name, CPU: first.result.Env.CPUModel,
			Ratio: ratio(s.Change), Lo: ratio(s.Change - s.Half), Hi: ratio(s.Change + s.Half), Results: s.Results})
	}
}

// fill turns the judge's verdict into the one that is shown.
func (c *court) fill(s subject, v history.Verdict) {
	to := s.verdict
	to.Outcome, to.State = v.Outcome, v.State
	for _, r := range v.Reasons {
		to.Reasons = append(to.Reasons, string(r))
	}
	if s.verdict == &s.metric.Verdict {
		s.metric.level = v.Adjusted
	}
	if !v.Judged {
		return
	}
	to.Baseline = c.runs[v.Baseline].ID
	to.Margin = perf.Some(math.Expm1(v.Margin)).Round12()
	to.Detectable = perf.Some(math.Expm1(v.Detectable)).Round12()
	to.Ratio, to.Lo, to.Hi = ratio(v.Change), ratio(v.Change-v.Half), ratio(v.Change+v.Half)
	if exactly(s.metric) {
		to.Ratio, to.Lo, to.Hi = exactRatio(s.metric, s.value, v.Change, v.Half)
	}
	to.Level = perf.Some(1 - v.Alpha).Round12()
	to.PValue = perf.Some(v.P).Round12()
}

func ratio(ln float64) perf.Num { return perf.Some(math.Exp(ln)).Round12() }

// exactRatio is the ratio to the baseline and to the ends of its range, absent
// where the baseline is 0.
func exactRatio(m *Metric, value, change, half float64) (mid, lo, hi perf.Num) {
	to := func(change float64) perf.Num {
		base := cost(m, value) - change
		if m.Better == perf.Higher {
			base = -base
		}
		old := math.Expm1(base)
		if old < 1e-6 || value == 0 && m.Better == perf.Higher {
			return perf.Num{}
		}
		if m.Better == perf.Higher {
			return perf.Some(old / value).Round12()
		}
		return perf.Some(value / old).Round12()
	}
	return to(change), to(change - half), to(change + half)
}

// adjust sets the Benjamini-Hochberg adjusted p of all claims a run could
// make, per metric.
func adjust(run *Run) {
	byMetric := map[string][]*perf.Verdict{}
	for _, r := range run.Results {
		for v, m := range r.verdicts() {
			if _, ok := v.PValue.Get(); ok {
				byMetric[m] = append(byMetric[m], v)
			}
		}
	}
	for _, vs := range byMetric {
		ps := make([]float64, len(vs))
		for i, v := range vs {
			ps[i], _ = v.PValue.Get()
		}
		for i, p := range stats.BenjaminiHochberg(ps) {
			vs[i].PAdjusted = perf.Some(p).Round12()
		}
	}
}
