package history

import (
	"math"
	"slices"
)

// obs is one result in a baseline.
type obs struct {
	run   int
	value float64 // ln cost, a shift between unknown machines taken out
	raw   float64 // ln cost as measured
	cv    float64 // ln of the spread within the run, NaN if unknown
}

// baseline is the newest results of one series on one class of machine since
// its last change, with what is computed from them.
type baseline struct {
	class int
	known bool
	exact bool
	group int
	odd   int // results of an exact metric that differed and were left out
	// Spread of the results before the last change, which is the benchmark's own
	// as much as that of those since: squares and degrees of freedom.
	spareSquares float64
	spareDF      int
	obs          []obs // by run, at most window
	mean         float64
	squares      float64 // sum of squared deviations
	cv           float64 // median of obs.cv, NaN if unknown
}

func (b *baseline) n() int { return len(b.obs) }

func (b *baseline) newest() int { return b.obs[len(b.obs)-1].run }

// clone is a copy that later results do not change.
func (b *baseline) clone() *baseline {
	c := *b
	c.obs = slices.Clone(b.obs)
	return &c
}

// add makes results part of the baseline.
func (b *baseline) add(os ...obs) {
	b.obs = append(b.obs, os...)
	slices.SortStableFunc(b.obs, func(x, y obs) int { return x.run - y.run })
	if n := len(b.obs); n > window {
		b.obs = slices.Delete(b.obs, 0, n-window)
	}
	b.compute()
}

// constant reports that all results are equal, rounding apart.
func (b *baseline) constant() bool { return b.squares < 1e-18 }

// since drops results of runs before run. What they tell of the spread stays.
func (b *baseline) since(run int) {
	at := 0
	for at < len(b.obs) && b.obs[at].run < run {
		at++
	}
	if at > 1 {
		dropped := make([]float64, at)
		for i, o := range b.obs[:at] {
			dropped[i] = o.value
		}
		b.spareSquares, b.spareDF = b.spareSquares+squares(dropped), b.spareDF+at-1
		if most := window - 1; b.spareDF > most {
			b.spareSquares, b.spareDF = b.spareSquares*float64(most)/float64(b.spareDF), most
		}
	}
	b.obs, b.odd = slices.Delete(b.obs, 0, at), 0
	b.compute()
}

// move sets all results to another speed of the machine.
func (b *baseline) move(change float64) {
	for i := range b.obs {
		b.obs[i].value += change
	}
	b.compute()
}

func (b *baseline) compute() {
	if b.n() == 0 {
		return
	}
	var sum float64 // of differences: equal values have exactly that mean and squares 0
	var cvs [window]float64
	k := 0
	for _, o := range b.obs {
		sum += o.value - b.obs[0].value
		if !math.IsNaN(o.cv) {
			cvs[k] = o.cv
			k++
		}
	}
	b.mean, b.squares, b.cv = b.obs[0].value+sum/float64(len(b.obs)), 0, math.NaN()
	for _, o := range b.obs {
		b.squares += (o.value - b.mean) * (o.value - b.mean)
	}
	if k > 0 {
		slices.Sort(cvs[:k])
		b.cv = cvs[k/2]
	}
}

// Where the covariates of the spread are 0: a coefficient of variation within
// the run of about 2 %, a time of about 8 microseconds.
const centreLogCV, centreLogTime = -4, 9

// covariates of the spread between runs: the spread within a run, of the
// baseline or if larger of the result itself, and the time scale.
func (b *baseline) covariates(value, spread float64) [2]float64 {
	x := b.cv
	if cv := logSpread(spread); math.IsNaN(x) || cv > x {
		x = cv
	}
	if math.IsNaN(x) {
		x = centreLogCV
	}
	return [2]float64{x - centreLogCV, value - centreLogTime}
}

// logSpread is the ln of a coefficient of variation between 0.03 % and 100 %,
// NaN if it is unknown.
func logSpread(cv float64) float64 {
	if !(cv > 0) {
		return math.NaN()
	}
	return min(max(math.Log(cv), -8), 0)
}

// recentRaw is the median of the newest values as measured.
func (b *baseline) recentRaw() float64 {
	var last [recent]float64
	k := 0
	for _, o := range b.obs[max(0, len(b.obs)-recent):] {
		last[k] = o.raw
		k++
	}
	return median(last[:k])
}

// median of xs, which it sorts. At least one value.
func median(xs []float64) float64 {
	slices.Sort(xs)
	n := len(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

// Clusters: each of the two must hold a share of the results, and the gap
// between them must be wide against the spread within them.
const (
	clusterMin   = 3
	clusterShare = 0.2
	clusterGap   = 4 // pooled standard deviations, and at least MinMargin
)

// clusters reports that the results lie in two clusters, as those of two
// machines do.
func (b *baseline) clusters(least float64) bool {
	n := len(b.obs)
	if n < 2*clusterMin {
		return false
	}
	var buf [window]float64
	xs := buf[:n]
	for i, o := range b.obs {
		xs[i] = o.value
	}
	slices.Sort(xs)
	from := max(clusterMin, int(math.Ceil(clusterShare*float64(n))))
	at, gap := 0, 0.0
	for i := from; i <= n-from; i++ {
		if g := xs[i] - xs[i-1]; g > gap {
			at, gap = i, g
		}
	}
	if gap < least {
		return false
	}
	within := squares(xs[:at]) + squares(xs[at:])
	return gap > clusterGap*math.Sqrt(within/float64(n-2))
}

func squares(xs []float64) (s float64) {
	var sum float64
	for _, x := range xs {
		sum += x
	}
	m := sum / float64(len(xs))
	for _, x := range xs {
		s += (x - m) * (x - m)
	}
	return s
}

// find returns the baseline of a class that holds a result, nil if none does.
func find(bs []*baseline, class int) *baseline {
	for _, b := range bs {
		if b.class == class && b.n() > 0 {
			return b
		}
	}
	return nil
}

// baseline returns a class's baseline, empty or not. It must exist.
func (t *track) baseline(class int) *baseline {
	return t.classes[slices.IndexFunc(t.classes, func(b *baseline) bool { return b.class == class })]
}

// add makes a result part of its class's baseline.
func (t *track) add(r Result, o obs) {
	if !slices.ContainsFunc(t.classes, func(b *baseline) bool { return b.class == r.Class }) {
		t.classes = append(t.classes, &baseline{class: r.Class, known: r.Known, exact: r.Exact, group: r.Group})
	}
	t.baseline(r.Class).add(o)
}
