package history

import (
	"math"
	"slices"
)

// machineID names a machine within one judge: the results of one module on one
// class of machine.
type machineID struct{ group, class int }

func (r Result) machine() machineID { return machineID{r.Group, r.Class} }

// machine is the judged results of one run that share a machine.
type machine struct {
	machineID
	cs []*candidate
}

// group joins candidates that share a machine, in order of their first series.
func group(cs []*candidate) []*machine {
	index := map[machineID]*machine{}
	var out []*machine
	for _, c := range cs {
		if !c.judged() || c.Group < 0 || c.Exact {
			continue
		}
		k := c.machine()
		if index[k] == nil {
			index[k] = &machine{machineID: k}
			out = append(out, index[k])
		}
		index[k].cs = append(index[k].cs, c)
	}
	return out
}

// shift finds what the results of each machine do together and sets it for
// every candidate. Results that moved by themselves are found in a first pass
// and do not count in the second. It returns the shifts worth telling.
func (j *Judge) shift(machines []*machine) []Shift {
	var out []Shift
	for _, m := range machines {
		for _, c := range m.cs {
			c.together = len(m.cs)
		}
		moved := j.deviants(m)
		if len(moved) > 0 && 2*len(moved) <= len(m.cs) {
			for _, c := range moved {
				c.leave = true
			}
		}
		j.setShifts(m)
		if s, ok := m.told(j.set.MinMargin); ok {
			out = append(out, s)
		}
	}
	return out
}

// deviants are the candidates that would be claimed after a first pass.
func (j *Judge) deviants(m *machine) (moved []*candidate) {
	j.setShifts(m)
	for _, c := range m.cs {
		if j.claim(c) != 0 {
			moved = append(moved, c)
		}
	}
	return moved
}

// setShifts estimates for each candidate the machine's shift from the others:
// the median of their changes, shrunk by how well that many noisy results can
// tell against how much machines differ.
func (j *Judge) setShifts(m *machine) {
	es := make([]float64, 0, len(m.cs))
	var noise float64
	for _, c := range m.cs {
		if j.counts(c) {
			es = append(es, c.e)
			noise += c.predictive()
		}
	}
	slices.Sort(es)
	for _, c := range m.cs {
		n, v, middle := len(es), noise, 0.0
		if j.counts(c) {
			n--
			v -= c.predictive()
		}
		if n == 0 || c.Known && n < minShiftOthers {
			c.shift = 0
			continue
		}
		if n == len(es) {
			middle = (es[(n-1)/2] + es[n/2]) / 2
		} else {
			middle = medianWithout(es, c.e)
		}
		c.shift = shrink(middle, medianVariance(max(v, 0), n), c.Known)
	}
	share := 0
	for _, c := range m.cs {
		if math.Abs(c.e-c.shift) <= max(j.half(c), j.set.MinMargin) {
			share++
		}
	}
	for _, c := range m.cs {
		c.common = float64(share) >= commonShare*float64(len(m.cs))
	}
}

// counts reports that a candidate tells of its machine: not if it moved itself.
func (j *Judge) counts(c *candidate) bool { return !c.leave && j.tracks[c.Series].suspect == nil }

// medianVariance is the variance of the median of n results with variances
// that sum to v: pi/2 times that of the mean, or the mean's own for up to two.
func medianVariance(v float64, n int) float64 {
	f := math.Pi / 2
	if n <= 2 {
		f = 1
	}
	return f * v / float64(n) / float64(n)
}

// shrink is the empirical Bayes estimate of a shift seen as middle with
// variance se2: the seen one counts for more the more it exceeds its error.
func shrink(middle, se2 float64, known bool) float64 {
	sd := shiftUnknown
	if known {
		sd = shiftKnown
	}
	tau2 := max(sd*sd, middle*middle-se2)
	return middle * tau2 / (tau2 + se2)
}

// medianWithout is the median of sorted without one element equal to x. sorted
// has at least two.
func medianWithout(sorted []float64, x float64) float64 {
	at, _ := slices.BinarySearch(sorted, x)
	get := func(i int) float64 {
		if i >= at {
			i++
		}
		return sorted[i]
	}
	n := len(sorted) - 1
	return (get((n-1)/2) + get(n/2)) / 2
}

// A shift is told if at least tellResults results share it and it is larger
// than the smallest margin and than its own interval.
const tellResults = 5

func (m *machine) told(least float64) (Shift, bool) {
	if len(m.cs) < tellResults {
		return Shift{}, false
	}
	es := make([]float64, len(m.cs))
	var v float64
	for i, c := range m.cs {
		es[i] = c.e
		v += c.predictive()
	}
	s := Shift{Group: m.group, Class: m.class, Results: len(m.cs), Change: median(es), common: m.cs[0].common}
	s.Half = 1.96 * math.Sqrt(medianVariance(v, len(m.cs)))
	return s, math.Abs(s.Change) > max(least, s.Half)
}

// tell lets every result of a machine whose shift is told know of it, so that
// the past keeps the machine's old speed. One that has no baseline yet is taken
// to share it. A shift that only most results share may be their own doing: it
// is told, and the past is what was measured.
func tell(cs []*candidate, shifts []Shift) {
	for _, s := range shifts {
		for _, c := range cs {
			if s.common && c.machine() == (machineID{s.Group, s.Class}) && c.Known && !c.Exact {
				c.told = true
				if !c.judged() {
					c.shift = s.Change
				}
			}
		}
	}
}

// lasting is a shift of a known machine in the same direction for some runs.
type lasting struct {
	runs int
	sum  float64
}

// last takes a shift that has lasted for the machine's new speed: the past is
// moved to it. A shift that ends before leaves no trace.
func (j *Judge) last(machines []*machine, shifts []Shift) {
	told := map[machineID]float64{}
	for _, s := range shifts {
		if s.common {
			told[machineID{s.Group, s.Class}] = s.Change
		}
	}
	for _, m := range machines {
		change, now := told[m.machineID]
		l := j.lasting[m.machineID]
		switch {
		case !now && len(m.cs) < tellResults || !m.cs[0].Known:
			continue // too few to tell, or no machine to speak of
		case !now:
			delete(j.lasting, m.machineID)
			continue
		case l == nil || l.sum*change < 0:
			l = &lasting{}
			j.lasting[m.machineID] = l
		}
		l.runs++
		l.sum += change
		if l.runs >= recent {
			j.move(m.machineID, l.sum/float64(l.runs))
			delete(j.lasting, m.machineID)
		}
	}
}

// move sets the past of a machine to another speed.
func (j *Judge) move(id machineID, change float64) {
	j.settled[id] += change
	for i := range j.tracks {
		t := &j.tracks[i]
		for _, bs := range [][]*baseline{t.classes, t.before} {
			for _, b := range bs {
				if b.group == id.group && b.class == id.class && !b.exact {
					b.move(change)
				}
			}
		}
		if t.suspect != nil {
			for k := range t.suspect.results {
				if r := &t.suspect.results[k]; r.group == id.group && r.class == id.class && !r.exact {
					r.obs.value += change
				}
			}
		}
	}
}
