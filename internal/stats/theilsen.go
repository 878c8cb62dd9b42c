package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// senLevel is the confidence of the interval of the slope.
const senLevel = 0.95

// Line is a robust straight line through a series: value = Intercept + Slope x
// index, the first index being 0.
type Line struct {
	Slope     float64 // change per index step, in the unit of the values
	Intercept float64
	Lo, Hi    float64 // 95 % interval of the slope
}

// TheilSen fits the median of the slopes of all pairs, with the median of
// x_i - Slope x i as intercept: Theil (1950), "A rank-invariant method of linear
// and polynomial regression analysis"; Sen (1968), "Estimates of the regression
// coefficient based on Kendall's tau". The interval is Sen's by ranks: of N
// sorted slopes those at (N-C)/2 and (N+C)/2 + 1, rounded half to even and kept
// within 1..N, with C = z(.975) sqrt(VarS) of MannKendall. For a few values
// these are the extreme slopes and hold less than 95 %.
//
// ok is false for fewer than two values, one that is not finite, or values so
// far apart that their differences overflow. More than 2,000 values are cut to
// medians of equal blocks.
func TheilSen(xs []float64) (l Line, ok bool) {
	if len(xs) < 2 || !allFinite(xs) {
		return Line{}, false
	}
	at, x := thinned(xs)
	slopes := make([]float64, 0, len(x)*(len(x)-1)/2)
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			slopes = append(slopes, (x[j]-x[i])/(at[j]-at[i]))
		}
	}
	slices.Sort(slopes)
	n := float64(len(slopes))
	c := mathext.NormalQuantile(1-(1-senLevel)/2) * math.Sqrt(mannKendall(x).VarS)
	l.Lo = slopes[int(max(1, math.RoundToEven((n-c)/2)))-1]
	l.Hi = slopes[int(min(n, math.RoundToEven((n+c)/2+1)))-1]
	l.Slope = Quantile(slopes, 0.5)
	rest := make([]float64, len(x))
	for i := range x {
		rest[i] = x[i] - l.Slope*at[i]
	}
	l.Intercept = median(rest)
	if !allFinite([]float64{l.Slope, l.Intercept, l.Lo, l.Hi}) {
		return Line{}, false
	}
	return l, true
}
