package stats

import (
	"math"
	"slices"
)

// OutlierRule names a rule that labels values far from the others.
type OutlierRule string

// The rules. OutliersIQR suits the one-sided spikes of micro-benchmarks;
// OutliersMAD n < 15; the other two are for those who ask for them: outliers
// stretch the standard deviation they are measured with.
const (
	OutliersIQR    OutlierRule = "iqr" // the default
	OutliersMAD    OutlierRule = "mad"
	OutliersZScore OutlierRule = "zscore"
	OutliersGrubbs OutlierRule = "grubbs"
)

// The constants of the rules.
const (
	outlierFence      = 1.5    // interquartile ranges beyond a quartile: Tukey (1977)
	outlierModifiedZ  = 3.5    // Iglewicz and Hoaglin (1993), "How to detect and handle outliers"
	modifiedZScale    = 0.6745 // so that the modified z of a normal sample is a z
	modifiedZFallback = 1.253314
	outlierZ          = 3
	grubbsAlpha       = 0.05
	outlierKeep       = 3 // values that always stay unlabelled
)

// Labels tells which values a rule found far from the others. They are labels:
// no value is removed, and verdicts use all of them.
type Labels struct {
	Rule    OutlierRule
	Indices []int // into the values, ascending
	// Lower and Upper are the bounds in the unit of the values; what lies strictly
	// outside is labelled. NaN for Grubbs, whose bounds move with every label, and
	// when the rule was skipped.
	Lower, Upper float64
	// Skipped says why the rule could not be applied; "" when it was.
	Skipped string
}

// Outliers labels the values of xs that a rule finds far from the others:
//
//   - IQR: outside Q1 - 1.5 IQR … Q3 + 1.5 IQR, quartiles of type 7.
//   - MAD: |0.6745 (x - median) / MAD| > 3.5; for MAD 0, when more than half of
//     the values are equal, |x - median| > 3.5 x 1.253314 x the mean absolute
//     deviation from the median.
//   - z-score: |x - mean| > 3 standard deviations (n-1), in one pass.
//   - Grubbs: two-sided at alpha 0.05, the most extreme value one at a time, the
//     first in order when two are as extreme, until it is not significant
//     (Grubbs 1969, "Procedures for detecting outlying observations in samples").
//     Two equal outliers can hide each other. Better not below n = 7.
//
// At least 3 values stay unlabelled. A rule is skipped, with the reason, when it
// cannot tell anything: n < 4, all values equal, an IQR of 0 (it would label all
// that differs from the commonest value), a z-score for n <= 10 (it never exceeds
// (n-1)/sqrt(n)), a spread beyond a float's range, values that are not finite.
func Outliers(xs []float64, rule OutlierRule) Labels {
	l := Labels{Rule: rule, Lower: math.NaN(), Upper: math.NaN()}
	if l.Skipped = cannotLabel(xs); l.Skipped != "" {
		return l
	}
	if rule == OutliersGrubbs {
		steps := grubbs(xs)
		if len(steps) == 0 {
			l.Skipped = spreadUnusable
		}
		l.Indices = grubbsLabels(steps, len(xs))
		return l
	}
	lower, upper, skipped := outlierBounds(slices.Sorted(slices.Values(xs)), rule)
	if skipped != "" {
		l.Skipped = skipped
		return l
	}
	l.Lower, l.Upper = lower, upper
	for i, x := range xs {
		if x < lower || x > upper {
			l.Indices = append(l.Indices, i)
		}
	}
	return l
}

// spreadUnusable: the values differ, by too much or too little for a float.
const spreadUnusable = "the spread cannot be computed at this scale"

// outlierBounds are the bounds of a one-pass rule, or why it has none.
func outlierBounds(sorted []float64, rule OutlierRule) (lower, upper float64, skipped string) {
	switch rule {
	case OutliersIQR:
		if lower, upper = iqrFences(sorted); lower == upper {
			return 0, 0, "iqr is zero: half of the values or more are equal"
		}
	case OutliersMAD:
		lower, upper = deviationsOf(sorted).bounds()
	case OutliersZScore:
		if n := float64(len(sorted)); (n-1)/math.Sqrt(n) <= outlierZ {
			return 0, 0, "n <= 10 can never fire: no z-score reaches 3"
		}
		lower, upper = zBounds(sorted)
	default:
		return 0, 0, "there is no rule of this name: use iqr, mad, zscore or grubbs"
	}
	if !(lower < upper) || math.IsInf(upper-lower, 0) {
		return 0, 0, spreadUnusable
	}
	return lower, upper, ""
}

// cannotLabel names what no rule can work with, "" for nothing.
func cannotLabel(xs []float64) string {
	switch {
	case !allFinite(xs):
		return "some values are not finite"
	case len(xs) <= outlierKeep:
		return "n < 4: three values must stay"
	case slices.Min(xs) == slices.Max(xs):
		return "all values are equal"
	}
	return ""
}

// Unlabelled returns the values without a label, in their order, for a summary
// beside that of all values. xs must be the values that were labelled.
func (l Labels) Unlabelled(xs []float64) []float64 {
	rest := make([]float64, 0, len(xs))
	next := 0
	for i, x := range xs {
		if next < len(l.Indices) && l.Indices[next] == i {
			next++
			continue
		}
		rest = append(rest, x)
	}
	return rest
}

func iqrFences(sorted []float64) (lower, upper float64) {
	q1, q3 := Quantile(sorted, 0.25), Quantile(sorted, 0.75)
	return q1 - outlierFence*(q3-q1), q3 + outlierFence*(q3-q1)
}

// deviations are the absolute deviations from the median, in short.
type deviations struct{ median, mad, mean float64 }

func deviationsOf(sorted []float64) deviations {
	d := deviations{median: Quantile(sorted, 0.5)}
	away := make([]float64, len(sorted))
	for i, x := range sorted {
		away[i] = math.Abs(x - d.median)
	}
	slices.Sort(away)
	d.mad, d.mean = Quantile(away, 0.5), mean(away)
	return d
}

// usesMean: more than half of the values are equal, so MAD has no scale to offer.
func (d deviations) usesMean() bool { return d.mad == 0 && d.mean > 0 }

func (d deviations) bounds() (lower, upper float64) {
	half := outlierModifiedZ * d.mad / modifiedZScale
	if d.usesMean() {
		half = outlierModifiedZ * modifiedZFallback * d.mean
	}
	return d.median - half, d.median + half
}

// centred moves values so that their middle is 0: the mean of what is left is
// then exact enough to divide small distances by a small spread.
func centred(sorted []float64) (moved []float64, middle float64) {
	middle = sorted[len(sorted)/2]
	moved = make([]float64, len(sorted))
	for i, x := range sorted {
		moved[i] = x - middle
	}
	return moved, middle
}

func zBounds(sorted []float64) (lower, upper float64) {
	moved, middle := centred(sorted)
	s := Summarize(moved)
	return middle + (s.Mean - outlierZ*s.StdDev), middle + (s.Mean + outlierZ*s.StdDev)
}
