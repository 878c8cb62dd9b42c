package stats

import "math"

const (
	// A run of at least driftBlocksFrom values is judged by the medians of
	// driftBlocks blocks: on raw values an autocorrelation of 0.4, ordinary
	// within one process, makes 19 % false alarms of nominal 5 %, on ten block
	// medians about 6 %.
	driftBlocksFrom = 40
	driftBlocks     = 10
	// driftP and driftMin are the least evidence and the least size of a drift:
	// p of Mann-Kendall below, and distance of the quarter ratio from 1 from.
	driftP   = 0.01
	driftMin = 0.05
)

// DriftKind is the shape of a drift: "" where none is declared.
type DriftKind string

// The shapes of a drift.
const (
	DriftGradual DriftKind = "gradual"
	DriftSudden  DriftKind = "sudden"
)

// DriftDirection is where a drift leads: "" where none is declared.
type DriftDirection string

// The directions of a drift.
const (
	DriftIncrease DriftDirection = "increase"
	DriftDecrease DriftDirection = "decrease"
)

// Drift says whether the values of one run moved while it was measured, which
// makes its mean and interval mean little.
type Drift struct {
	Kind      DriftKind      // "" when no drift is declared
	Direction DriftDirection // of Magnitude
	// Magnitude is the median of the last quarter of the values over that of
	// the first, also when no drift is declared.
	Magnitude float64
	P         float64 // two-sided p of Mann-Kendall
}

// FindDrift judges a run of positive values in the order they were measured. A
// drift is declared when p < 0.01 and the quarter ratio is at least 5 % from 1.
// It is gradual when the Theil-Sen line leaves a smaller sum of absolute
// residuals than the best single split with the median on either side, else
// sudden; equal sums are gradual.
//
// ok is false when the run cannot be judged: fewer than four values, one that
// is not finite, or a quarter whose median is not positive.
func FindDrift(xs []float64) (d Drift, ok bool) {
	if len(xs) < kendallMin || !allFinite(xs) {
		return Drift{}, false
	}
	quarter := len(xs) / 4
	first, last := median(xs[:quarter]), median(xs[len(xs)-quarter:])
	if !(first > 0 && last > 0) {
		return Drift{}, false
	}
	x := xs
	if len(xs) >= driftBlocksFrom {
		_, x = blockMedians(xs, driftBlocks)
	}
	d = Drift{Magnitude: last / first, P: mannKendall(x).P()}
	if !(d.P < driftP && math.Abs(d.Magnitude-1) >= driftMin) {
		return d, true
	}
	line, ok := TheilSen(x)
	if !ok {
		return Drift{}, false
	}
	d.Kind, d.Direction = DriftGradual, DriftIncrease
	if stepResiduals(x) < lineResiduals(x, line) {
		d.Kind = DriftSudden
	}
	if d.Magnitude < 1 {
		d.Direction = DriftDecrease
	}
	return d, true
}

func lineResiduals(x []float64, l Line) float64 {
	sum := 0.0
	for i, v := range x {
		sum += math.Abs(v - l.Intercept - l.Slope*float64(i))
	}
	return sum
}

// stepResiduals is the sum of absolute residuals around the medians on the two
// sides of the split with the largest energy statistic.
func stepResiduals(x []float64) float64 {
	var search energySearch
	at := search.best(x, 1).tau
	sum := 0.0
	for _, side := range [][]float64{x[:at], x[at:]} {
		level := median(side)
		for _, v := range side {
			sum += math.Abs(v - level)
		}
	}
	return sum
}
