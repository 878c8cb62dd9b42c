// Package history judges the results of a run against earlier runs. It knows
// nothing of files, keys or pages: numbers in, verdicts out.
//
// Machines of one kind differ from run to run far more than the samples within
// a run, so a verdict rests on the spread between runs. There are few of them;
// each benchmark's spread is therefore moderated by what the whole suite shows
// for benchmarks of its kind (see [stats.FitSpreadPrior]). A result is claimed
// slower or faster when it lies outside the prediction interval of the earlier
// results on the same class of machine and the change is at least the margin.
// What most benchmarks measured on one machine do together is the machine's
// doing, a platform shift, and is taken out first. One run makes a claim
// suspected; only its persistence makes it confirmed.
package history

import (
	"math"
	"slices"

	"perfband/internal/perf"
	"perfband/internal/stats"
)

// Settings of a judge. Margins are natural logs of ratios.
type Settings struct {
	Alpha float64 // two-sided error level of a prediction interval, in (0, 0.5)
	// AlphaUnknown is the same where the machine is unknown: the values are then
	// a mixture of machines, whose tails are heavier than Student's.
	AlphaUnknown float64
	Margin       float64 // a change of at least this is always large enough to be claimed
	MinMargin    float64 // a smaller one never is
	// ConfirmAfter is the number of runs in a row with the same claim that
	// confirm it, at least 1.
	ConfirmAfter int
}

// DefaultSettings are the settings whose rates of false claims are measured in
// docs/methodology.md.
func DefaultSettings() Settings {
	return Settings{Alpha: 0.05, AlphaUnknown: 0.01, Margin: math.Log(1.10), MinMargin: math.Log(1.05), ConfirmAfter: 2}
}

const (
	// window is how many earlier results of a class a baseline holds at most.
	window = 20
	// minRuns is how many earlier results of a class an interval needs.
	minRuns = 2
	// marginSpreads is the margin in standard deviations between runs, between
	// MinMargin and Margin: a quiet benchmark's small changes count.
	marginSpreads = 5
	// oddOnes is how many equal results it takes to overlook a different one.
	oddOnes = 4
	// exactMargin is the margin of exact metrics: tools count a few bytes of their
	// own.
	exactMargin = 0.01
	// noisier is the confidence at which a benchmark is noisier than its like.
	noisier = 0.95
	// spreadFloor is the smallest standard deviation between runs believed in.
	spreadFloor = 0.002
	// commonShare of a machine's results must share a shift for it to be beyond
	// doubt the machine's.
	commonShare = 0.75
	// recent is how many newest unadjusted values tell who moved in a small group.
	recent = 5
	// smallGroup is the number of benchmarks up to which the median of the others
	// may be the one that moved.
	smallGroup = 3
	// minShiftOthers is how many other benchmarks must tell of a shift where the
	// machine is known.
	minShiftOthers = 3
	// shiftKnown and shiftUnknown are the standard deviations expected of a
	// machine's speed between runs: of one model, and of unknown ones. The first
	// is that of GitHub's hosted runners of one CPU model, the second the spread
	// over the models they use.
	shiftKnown, shiftUnknown = 0.01, 0.10
	// spreadKnown and spreadUnknown are what is expected of a benchmark as long
	// as a suite is too small to tell; priorDF is the weight of that.
	spreadKnown, spreadUnknown, priorDF = 0.06, 0.10, 4
)

// Result is one benchmark's value in the run to be judged.
type Result struct {
	Series int // index of the benchmark's metric, small and dense
	// Class is the class of machine, small and dense. Results are only compared
	// within one.
	Class int
	// Known says that the class names a machine, not the absence of knowledge.
	Known bool
	// Group joins the results of this run that were measured together on one
	// machine (a module's). -1: none, no shift is taken out.
	Group int
	Value float64 // ln of the cost (time, or 1/throughput); finite
	// Spread is the coefficient of variation within the run, 0 if unknown.
	Spread float64
	// Exact says that the value should not vary by chance. As long as the earlier
	// ones did not, any difference above one in a hundred counts. No shift is
	// taken out.
	Exact bool
}

// Reason says why a verdict is what it is, or what to bear in mind.
type Reason string

// The reasons, in the words of the exported table.
const (
	FewRuns      Reason = "few-runs"       // fewer than two earlier results at all
	OtherMachine Reason = "other-machine"  // earlier results are of other machines
	Noisy        Reason = "noisy"          // the interval is wider than the margin
	TwoClusters  Reason = "two-clusters"   // earlier results lie in two clusters
	Shifted      Reason = "platform-shift" // judged relative to what the others on the machine did
	Small        Reason = "small"          // outside the interval, but less than the margin
	StillOpen    Reason = "open"           // an earlier slowdown, of which this level is a part, is still open
)

// Verdict is the judgement of one result. Numbers are natural logs; they are
// set only if Judged.
type Verdict struct {
	Judged  bool // an interval could be computed
	Outcome perf.Outcome
	State   perf.State
	Change  float64 // against the baseline, shift taken out; above 0 is worse
	Half    float64 // half width of the prediction interval of level 1-Alpha
	Alpha   float64
	Margin  float64
	P       float64 // two-sided, of a change this large by chance; NaN for exact metrics
	// Chance is the probability of a claim about unchanged code.
	Chance float64
	// Detectable is the change that would be claimed in four of five runs.
	Detectable float64
	Baseline   int     // newest run of the baseline, -1: none
	Runs       int     // earlier results in the baseline
	Adjusted   float64 // the value with the shift taken out
	Reasons    []Reason
}

// Shift is what most results measured on one machine did together.
type Shift struct {
	Group, Class int
	Change       float64 // ln
	Half         float64 // half width of its 95 % interval
	Results      int
	common       bool // nearly all of them share it
}

// Change is a confirmed change of one series that is still open.
type Change struct {
	Since     int     // run of the first claim
	Confirmed int     // run that confirmed it
	Before    int     // last run before it, -1: unknown
	Ratio     float64 // ln, above 0 is worse
	Half      float64 // half width of its interval
}

// Judge judges runs one after the other, oldest first. The zero value is not
// ready; use New.
type Judge struct {
	set    Settings
	tracks []track
	run    int
	// lasting and settled are the platform shifts of known machines: those under
	// way, and the sum of those that were taken for the machine's new speed.
	lasting map[machineID]*lasting
	settled map[machineID]float64
	prior   [2]stats.SpreadPrior // of unknown and known machines
	spread  [2][]stats.SpreadObs // what they were learnt from; kept for its room
	quant   quantiles
}

// New returns a judge without a past.
func New(set Settings) *Judge {
	return &Judge{set: set, run: -1, quant: quantiles{}, lasting: map[machineID]*lasting{}, settled: map[machineID]float64{}}
}

// track is the past of one series.
type track struct {
	classes []*baseline
	suspect *suspicion
	open    *Change
	before  []*baseline // baselines as they were before the open change
}

// suspicion is a claim that is not confirmed yet, with the results that make
// it; they belong to no baseline meanwhile.
type suspicion struct {
	sign    float64
	since   int
	before  int
	results []claimed
}

type claimed struct {
	class int
	group int
	obs   obs
	e     float64 // change against the baseline
	v     float64 // variance of that change
	base  float64 // the part of v that results of one class share: the baseline's
	exact bool
}

// Open returns a series' open change, nil if there is none.
func (j *Judge) Open(series int) *Change {
	if series >= len(j.tracks) {
		return nil
	}
	return j.tracks[series].open
}

// Suspicion is the sign of a claim about a series that is not confirmed yet:
// +1 slower, -1 faster, 0 none.
func (j *Judge) Suspicion(series int) float64 {
	if series >= len(j.tracks) || j.tracks[series].suspect == nil {
		return 0
	}
	return j.tracks[series].suspect.sign
}

// SuspectedSince returns the runs around a series' suspicion: the last before it
// (-1: unknown), the first and the newest that showed it, and the ln of its
// newest ratio. Only where Suspicion is not 0.
func (j *Judge) SuspectedSince(series int) (before, first, newest int, ratio float64) {
	s := j.tracks[series].suspect
	last := s.results[len(s.results)-1]
	return s.before, s.since, last.obs.run, last.e
}

// Accept makes a series' present level its baseline: an open change is closed,
// a suspicion is taken as it is, and without either the newest run begins a new
// baseline.
func (j *Judge) Accept(series int) {
	if series >= len(j.tracks) {
		return
	}
	t := &j.tracks[series]
	since := j.run
	var claims []claimed
	if t.suspect != nil {
		since, claims = t.suspect.since, t.suspect.results
	}
	if t.open != nil {
		since = t.open.Since
	}
	t.open, t.before, t.suspect = nil, nil, nil
	for _, b := range t.classes {
		b.since(since)
	}
	for _, r := range claims {
		t.baseline(r.class).add(r.obs)
	}
}

// Run judges the results of the next run, at most one of each series, and
// makes them part of the past. Verdicts stand in the order of the results. The
// order of the results has no influence.
func (j *Judge) Run(results []Result) ([]Verdict, []Shift) {
	j.run++
	for _, r := range results {
		for r.Series >= len(j.tracks) {
			j.tracks = append(j.tracks, track{})
		}
	}
	cs := j.candidates(results)
	groups := group(cs)
	shifts := j.shift(groups)
	tell(cs, shifts)
	out := make([]Verdict, len(results))
	for _, c := range cs {
		out[c.index] = j.settle(c)
	}
	j.last(groups, shifts)
	return out, shifts
}

// candidate is a result beside its baseline.
type candidate struct {
	Result
	index    int
	base     *baseline // nil: none of this class
	variance float64   // moderated, between runs
	df       float64
	e        float64 // Value against the baseline's mean
	shift    float64
	exact    bool // compared exactly: the baseline did not vary either
	together int  // results on its machine
	common   bool // nearly all results of its machine share the shift
	told     bool // its machine's shift is told
	leave    bool // not to be counted in a shift: it moved itself
}

// judged reports that an interval can be computed.
func (c *candidate) judged() bool { return c.base != nil && c.base.n() >= minRuns }

// predictive is the variance of the next result about the baseline's mean.
func (c *candidate) predictive() float64 { return c.variance * (1 + 1/float64(c.base.n())) }

// candidates pairs the results with their baselines, in order of series.
func (j *Judge) candidates(results []Result) []*candidate {
	j.learn()
	cs := make([]*candidate, len(results))
	for i, r := range results {
		c := &candidate{Result: r, index: i, base: find(j.tracks[r.Series].classes, r.Class), together: 1}
		if c.judged() {
			j.compare(c)
		}
		cs[i] = c
	}
	slices.SortFunc(cs, func(a, b *candidate) int { return a.Series - b.Series })
	return cs
}

// compare sets a candidate beside its baseline, which is not nil.
func (j *Judge) compare(c *candidate) {
	b := c.base
	c.e = c.Value - b.mean
	if c.exact = c.Exact && b.constant(); c.exact {
		return
	}
	x := b.covariates(b.mean, c.Spread)
	p := j.prior[known(c.Known)]
	c.variance, c.df = p.Moderate(b.squares, b.n()-1, x)
	// A benchmark that is surely noisier than its like speaks for itself.
	own, df := b.squares+b.spareSquares, b.n()-1+b.spareDF
	if v := own / float64(max(df, 1)); v > p.Variance(x)*j.quant.f(noisier, df, p.DF) {
		c.variance, c.df = v, float64(df)
	}
	c.variance = max(c.variance, spreadFloor*spreadFloor)
}

func known(b bool) int {
	if b {
		return 1
	}
	return 0
}

// learn finds from all baselines what spread to expect, of unknown and of known
// machines.
func (j *Judge) learn() {
	obs := &j.spread
	obs[0], obs[1] = obs[0][:0], obs[1][:0]
	for i := range j.tracks {
		for _, b := range j.tracks[i].classes {
			if b.n() >= 2 && !(b.exact && b.constant()) {
				v := max(b.squares/float64(b.n()-1), spreadFloor*spreadFloor)
				k := known(b.known)
				obs[k] = append(obs[k], stats.SpreadObs{Var: v, DF: b.n() - 1, X: b.covariates(b.mean, 0)})
			}
		}
	}
	for k, sd := range [2]float64{spreadUnknown, spreadKnown} {
		fallback := stats.SpreadPrior{Beta: [3]float64{2 * math.Log(sd)}, DF: priorDF}
		j.prior[k] = stats.FitSpreadPrior(obs[k], fallback)
	}
}

// margin is the smallest change that may be claimed of a benchmark.
func (j *Judge) margin(c *candidate) float64 {
	if c.exact {
		return exactMargin
	}
	return min(max(marginSpreads*math.Sqrt(c.variance), j.set.MinMargin), j.set.Margin)
}

func (j *Judge) alpha(known bool) float64 {
	if known {
		return j.set.Alpha
	}
	return j.set.AlphaUnknown
}
