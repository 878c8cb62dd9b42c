package stats

import "math"

// TEstimate is an estimate whose error, divided by SE, follows Student's t with
// DF degrees of freedom (which need not be whole). SE is 0 for samples without
// spread: the interval then has no width, and any distance is significant.
type TEstimate struct {
	Value float64
	SE    float64 // standard error, >= 0, in the unit of Value
	DF    float64 // > 0
}

// OneSampleT estimates the mean of xs. For paired samples xs are their
// differences. ok is false for fewer than two values, one that is not finite,
// or an overflow.
func OneSampleT(xs []float64) (e TEstimate, ok bool) {
	s := Summarize(xs)
	if s.N < 2 || !allFinite([]float64{s.Mean, s.StdDev}) {
		return TEstimate{}, false
	}
	n := float64(s.N)
	return TEstimate{Value: s.Mean, SE: s.StdDev / math.Sqrt(n), DF: n - 1}, true
}

// WelchT estimates the difference of the means of two independent samples, y
// minus x, with variances that may differ: Welch (1947), "The generalization of
// Student's problem when several different population variances are involved",
// degrees of freedom by Satterthwaite (1946). ok is false if either sample is
// unfit for OneSampleT.
func WelchT(x, y []float64) (e TEstimate, ok bool) {
	a, okA := OneSampleT(x)
	b, okB := OneSampleT(y)
	if !okA || !okB {
		return TEstimate{}, false
	}
	e.Value = b.Value - a.Value
	e.SE, e.DF = satterthwaite(a.SE*a.SE, a.DF, b.SE*b.SE, b.DF)
	return e, allFinite([]float64{e.Value, e.SE, e.DF})
}

// satterthwaite adds two independent estimates of variance: the root of the sum
// and the degrees of freedom (u+v)^2 / (u^2/dfU + v^2/dfV). Two zeros have the
// degrees of both together.
func satterthwaite(u, dfU, v, dfV float64) (se, df float64) {
	sum := u + v
	if sum == 0 {
		return 0, dfU + dfV
	}
	// Shares of the sum: squares of small variances would underflow.
	u, v = u/sum, v/sum
	return math.Sqrt(sum), 1 / (u*u/dfU + v*v/dfV)
}

// T is the statistic of the hypothesis that the true value is 0.
func (e TEstimate) T() float64 { return e.tAt(0) }

// tAt is the distance from a hypothesis in standard errors; without spread it
// is infinite or 0.
func (e TEstimate) tAt(hypothesis float64) float64 {
	d := e.Value - hypothesis
	if d == 0 {
		return 0
	}
	return d / e.SE
}

// P is the two-sided p of the hypothesis that the true value is 0.
func (e TEstimate) P() float64 { return StudentTTwoSided(e.T(), e.DF) }

// CI is the two-sided confidence interval at the given level in (0, 1).
func (e TEstimate) CI(level float64) (lo, hi float64) {
	half := StudentTQuantile(1-(1-level)/2, e.DF) * e.SE
	return e.Value - half, e.Value + half
}

// TOST holds the p values of two one-sided tests of equivalence: Schuirmann
// (1987), "A comparison of the two one-sided tests procedure and the power
// approach for assessing the equivalence of average bioavailability".
type TOST struct {
	PLower float64 // of the hypothesis that the value is at most -margin
	PUpper float64 // of the hypothesis that the value is at least +margin
	P      float64 // the larger of the two
}

// TOST tests whether the true value lies within -margin and +margin, margin > 0
// in the unit of Value; all NaN for another margin. Equivalence at level alpha
// is claimed for P < alpha, which is so exactly when the 1-2 alpha interval lies
// within the margins. A large P is no claim of a difference.
func (e TEstimate) TOST(margin float64) TOST {
	if !(margin > 0) {
		return TOST{math.NaN(), math.NaN(), math.NaN()}
	}
	t := TOST{PLower: StudentTCDF(-e.tAt(-margin), e.DF), PUpper: StudentTCDF(e.tAt(margin), e.DF)}
	t.P = max(t.PLower, t.PUpper)
	return t
}
