package history

import (
	"math"
	"slices"

	"perfband/internal/perf"
	"perfband/internal/stats"
)

// quantiles remembers t quantiles. Degrees of freedom are rounded down to
// quarters, which widens an interval by less than 1 %.
type quantiles map[[2]float64]float64

func (q quantiles) get(p, df float64) float64 {
	df = max(math.Floor(4*df)/4, 1)
	k := [2]float64{p, df}
	v, ok := q[k]
	if !ok {
		v = stats.StudentTQuantile(p, df)
		q[k] = v
	}
	return v
}

// f is the p-quantile of the F distribution with d1 >= 1 and d2 > 0 degrees of
// freedom, infinite for d1 = 0; d2 is rounded down to quarters.
func (q quantiles) f(p float64, d1 int, d2 float64) float64 {
	if d1 < 1 {
		return math.Inf(1)
	}
	k := [2]float64{-p, float64(d1)*1e6 + max(math.Floor(4*d2)/4, 0.25)}
	v, ok := q[k]
	if !ok {
		v = stats.FQuantile(p, float64(d1), max(math.Floor(4*d2)/4, 0.25))
		q[k] = v
	}
	return v
}

// half is half the width of the candidate's prediction interval, 0 where it is
// compared exactly.
func (j *Judge) half(c *candidate) float64 {
	if c.exact {
		return 0
	}
	return j.quant.get(1-j.alpha(c.Known)/2, c.df) * math.Sqrt(c.predictive())
}

// claim is +1 if the candidate is to be claimed slower, -1 faster, 0 neither.
func (j *Judge) claim(c *candidate) float64 {
	e := c.e - c.shift
	if math.Abs(e) <= j.half(c) || math.Abs(e) < j.margin(c) {
		return 0
	}
	sign := math.Copysign(1, e)
	// The shift may be others' own change: in a small group one benchmark's, in a
	// larger one that of the half that became slower, unless nearly all share it.
	// Then those moved whose measured value did.
	if c.shift != 0 && (c.together <= smallGroup || sign < 0 && !c.common) && sign*(c.Value-c.base.recentRaw()) < j.set.MinMargin {
		return 0
	}
	return sign
}

// settle decides on one candidate and makes it part of the past.
func (j *Judge) settle(c *candidate) Verdict {
	t := &j.tracks[c.Series]
	o := obs{run: j.run, value: c.Value, raw: c.Value, cv: logSpread(c.Spread)}
	if !c.Known || c.told {
		o.value -= c.shift // what is the machine's doing is no spread of the benchmark
	}
	v := Verdict{Outcome: perf.Inconclusive, Baseline: -1, Adjusted: o.value - j.settled[c.machine()], Alpha: j.alpha(c.Known)}
	if t.open != nil && t.open.Ratio > 0 {
		v.Reasons = append(v.Reasons, StillOpen)
	}
	if was, ok := j.returned(t, c); ok {
		j.describe(was, &v)
		j.explain(was, &v)
		v.Reasons = slices.DeleteFunc(v.Reasons, func(r Reason) bool { return r == StillOpen })
		v.State = perf.Recovered
		t.restore(c.Result, o)
		return v
	}
	if !c.judged() {
		v.Reasons = append(v.Reasons, unjudged(t, c))
		t.add(c.Result, o)
		return v
	}
	j.describe(c, &v)
	sign := j.claim(c)
	switch {
	case sign > 0:
		v.Outcome = perf.Slower
	case sign < 0:
		v.Outcome = perf.Faster
	default:
		j.explain(c, &v)
	}
	v.State = j.persist(t, c, o, sign)
	return v
}

// unjudged says why there is no interval.
func unjudged(t *track, c *candidate) Reason {
	for _, b := range t.classes {
		if b.class != c.Class && b.n() > 0 {
			return OtherMachine
		}
	}
	return FewRuns
}

// returned reports that a result is back at the level before an open slowdown:
// inside that level's interval, which must tell the two levels apart, and nearer
// to it than to the slow one. It gives the candidate as seen from that level.
func (j *Judge) returned(t *track, c *candidate) (*candidate, bool) {
	if t.open == nil {
		return nil, false
	}
	was := *c
	was.base = find(t.before, c.Class)
	if !was.judged() {
		return nil, false
	}
	j.compare(&was)
	e := was.e - was.shift
	limit := j.half(&was)
	if was.exact {
		limit = max(limit, exactMargin)
	}
	return &was, limit < t.open.Ratio && math.Abs(e) <= limit && math.Abs(e) < math.Abs(e-t.open.Ratio)
}

// describe fills in the numbers of a candidate with a baseline.
func (j *Judge) describe(c *candidate, v *Verdict) {
	v.Judged = true
	v.Change, v.Half, v.Margin = c.e-c.shift, j.half(c), j.margin(c)
	v.Baseline, v.Runs = c.base.newest(), c.base.n()
	if c.exact {
		v.Alpha, v.P, v.Detectable = 0, math.NaN(), v.Margin
		return
	}
	sd := math.Sqrt(c.predictive())
	v.P = stats.StudentTTwoSided(v.Change/sd, c.df)
	v.Chance = v.Alpha
	if v.Margin > v.Half {
		v.Chance = stats.StudentTTwoSided(v.Margin/sd, c.df)
	}
	v.Detectable = max(v.Half, v.Margin) + j.quant.get(0.8, c.df)*sd
	if math.Abs(c.shift) >= j.set.MinMargin {
		v.Reasons = append(v.Reasons, Shifted)
	}
}

// explain gives the outcome of a candidate about which nothing is claimed.
func (j *Judge) explain(c *candidate, v *Verdict) {
	switch size := math.Abs(v.Change); {
	case size+v.Half <= v.Margin:
		v.Outcome = perf.Unchanged
	case size > v.Half && size < v.Margin:
		v.Reasons = append(v.Reasons, Small)
	case c.base.clusters(j.set.MinMargin):
		v.Reasons = append(v.Reasons, TwoClusters)
	default:
		v.Reasons = append(v.Reasons, Noisy)
	}
}

// leastVariance stands for none where results are weighted by their variances.
const leastVariance = 1e-12

// persist moves a track's suspicion on by one judged result and returns the
// state of its claim.
func (j *Judge) persist(t *track, c *candidate, o obs, sign float64) perf.State {
	s := t.suspect
	if sign == 0 && s != nil && c.base.obs[0].run >= s.since {
		// This class of machine has seen nothing else, so it refutes nothing.
		t.add(c.Result, o)
		return perf.NoState
	}
	if sign == 0 || s == nil || s.sign != sign {
		t.dismiss()
	}
	if sign == 0 {
		t.add(c.Result, o)
		return perf.NoState
	}
	if t.suspect == nil {
		t.suspect = &suspicion{sign: sign, since: j.run, before: c.base.newest()}
	}
	s = t.suspect
	s.results = append(s.results, claimed{c.Class, c.Group, o, c.e - c.shift, max(c.predictive(), leastVariance), c.variance / float64(c.base.n()), c.exact})
	if len(s.results) < j.set.ConfirmAfter {
		return perf.Suspected
	}
	return t.confirm(j.run, j.quant.get(1-j.alpha(c.Known)/2, max(c.df, 1)))
}

// dismiss ends a suspicion: its results are part of the past like any other.
func (t *track) dismiss() {
	s := t.suspect
	if s == nil {
		return
	}
	t.suspect = nil
	for _, r := range s.results {
		b := t.baseline(r.class)
		if r.exact && oddOnes*(b.odd+1) <= b.n()+b.odd {
			b.odd++ // one value among many equal ones does not make them noisy
			continue
		}
		b.add(r.obs)
	}
}

// estimate is the mean change that the results show, weighted by how well each
// tells it, and its variance. Results of one class are compared with one
// baseline, whose error no number of them makes smaller.
func (s *suspicion) estimate() (mean, variance float64) {
	var weight float64
	for _, r := range s.results {
		mean += r.e / r.v
		weight += 1 / r.v
	}
	for _, r := range s.results {
		w := 1 / r.v / weight
		variance += w * w * (r.v - r.base)
		for _, other := range s.results {
			if other.class == r.class {
				variance += w / other.v / weight * math.Sqrt(r.base*other.base)
			}
		}
	}
	return mean / weight, variance
}

// confirm turns the suspicion into an open change and begins new baselines
// with the results since its first claim. A change that undoes the open one
// closes it.
func (t *track) confirm(run int, quantile float64) perf.State {
	s := t.suspect
	t.suspect = nil
	ch := &Change{Since: s.since, Confirmed: run, Before: s.before}
	mean, variance := s.estimate()
	ch.Ratio, ch.Half = mean, quantile*math.Sqrt(variance)
	state := perf.Confirmed
	if t.open != nil {
		ch.Ratio += t.open.Ratio // both since the level that was left first
		ch.Half = math.Hypot(ch.Half, t.open.Half)
		ch.Since, ch.Before = t.open.Since, t.open.Before
		if math.Abs(ch.Ratio) <= ch.Half {
			state = perf.Recovered
		}
	} else {
		t.before = nil
		for _, b := range t.classes {
			if b.n() > 0 && b.obs[0].run < s.since {
				t.before = append(t.before, b.clone())
			}
		}
	}
	t.open = ch
	if ch.Ratio <= 0 || state == perf.Recovered {
		t.open, t.before = nil, nil // nothing is slower than it was
	}
	for _, b := range t.classes {
		b.since(s.since)
	}
	for _, r := range s.results {
		t.baseline(r.class).add(r.obs)
	}
	return state
}

// restore closes the open change and returns to the past before it. A few slow
// results that came and went may do so again: they become part of that past. A
// longer slow time had a cause of its own and is left out.
func (t *track) restore(r Result, o obs) {
	slow := t.classes
	t.classes, t.before, t.open, t.suspect = t.before, nil, nil, nil
	for _, b := range slow {
		if b.n() <= recent && !b.exact && find(t.classes, b.class) != nil {
			t.baseline(b.class).add(b.obs...)
		}
	}
	t.add(r, o)
}
