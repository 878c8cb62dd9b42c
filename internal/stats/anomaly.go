package stats

import (
	"fmt"
	"math"
	"strconv"
)

// The constants of UnlikeOthers. With five others the scaled MAD is rough, so it
// takes a distance that is large on both scales.
const (
	anomalyMinOthers = 5
	anomalyMADs      = 6    // scaled median absolute deviations from the median
	anomalyRelative  = 0.25 // least distance, as part of the median
	anomalyAbsolute  = 1    // least distance: one collection, one percentage point
	madScale         = 1.482602218505602
)

// UnlikeOthers compares a count or a share in percent (garbage collections, CPU
// percent) with the same benchmark's other runs, and says in words that it is
// high or low: ok is true when it lies farther from their median than each of 6
// scaled MADs, 25 % of the median, and 1. Counts must be of equal work, such as
// collections per 1000 operations: runs choose other numbers of operations. It is
// a reason to look, not a verdict.
//
// ok is false, without a reason, for fewer than 5 others or values that are not
// finite.
func UnlikeOthers(value float64, others []float64) (reason string, ok bool) {
	if len(others) < anomalyMinOthers || !allFinite(others) || !allFinite([]float64{value}) {
		return "", false
	}
	middle := median(others)
	away := make([]float64, len(others))
	for i, x := range others {
		away[i] = math.Abs(x - middle)
	}
	bound := max(anomalyMADs*madScale*median(away), anomalyRelative*math.Abs(middle), anomalyAbsolute)
	if !(math.Abs(value-middle) > bound) {
		return "", false
	}
	word := "high"
	if value < middle {
		word = "low"
	}
	return fmt.Sprintf("%s: %s, against a median of %s in %d other runs", word, shortNumber(value), shortNumber(middle), len(others)), true
}

func shortNumber(x float64) string {
	return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
}
