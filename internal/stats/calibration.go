package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// calibrationLevel is the confidence of the interval of a rate of alarms.
const calibrationLevel = 0.95

// Calibration reports how often a rule raised an alarm where nothing had changed.
type Calibration struct {
	N      int     // comparisons of a version with itself
	Alarms int     // of those, called a change
	Alpha  float64 // the rate the rule promises
	Rate   float64 // Alarms / N
	Lo, Hi float64 // 95 % interval of the true rate
	// PExceeds is the one-sided exact p of the hypothesis that the true rate is
	// at most Alpha: small when the rule raises more alarms than it promises.
	PExceeds float64
}

// Calibrate judges the number of alarms among n comparisons without a change,
// for a rule that promises the rate alpha in (0, 1). ok is false for n < 1, a
// number of alarms outside 0..n, or another alpha. No alarm among 59 is needed
// to claim a rate below 5 % with 95 % confidence.
func Calibrate(alarms, n int, alpha float64) (c Calibration, ok bool) {
	if n < 1 || alarms < 0 || alarms > n || !(alpha > 0 && alpha < 1) {
		return Calibration{}, false
	}
	c = Calibration{N: n, Alarms: alarms, Alpha: alpha, Rate: float64(alarms) / float64(n), PExceeds: 1}
	c.Lo, c.Hi = ClopperPearson(alarms, n, calibrationLevel)
	if alarms > 0 { // P(X >= k) of the binomial distribution is I_alpha(k, n-k+1)
		c.PExceeds = mathext.RegIncBeta(float64(alarms), float64(n-alarms+1), alpha)
	}
	return c, true
}

// ClopperPearson is the exact confidence interval of a probability after k
// successes in n >= 1 trials: Clopper and Pearson (1934), "The use of confidence
// or fiducial limits illustrated in the case of the binomial". level in (0, 1).
// NaN bounds for anything else.
func ClopperPearson(k, n int, level float64) (lo, hi float64) {
	if n < 1 || k < 0 || k > n || !(level > 0 && level < 1) {
		return math.NaN(), math.NaN()
	}
	tail := (1 - level) / 2
	lo, hi = 0, 1
	if k > 0 {
		lo = mathext.InvRegIncBeta(float64(k), float64(n-k+1), tail)
	}
	if k < n {
		hi = mathext.InvRegIncBeta(float64(k+1), float64(n-k), 1-tail)
	}
	return lo, hi
}
