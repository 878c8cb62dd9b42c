package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// SpreadObs is what one benchmark's history tells about spread between runs.
type SpreadObs struct {
	Var float64    // sample variance of ln(value) between runs, > 0
	DF  int        // its degrees of freedom, at least 1
	X   [2]float64 // covariates, centred near 0; 0 where unknown
}

// SpreadPrior is the distribution of a suite's between-run variances: ln of a
// variance has the mean Beta[0] + Beta[1] X[0] + Beta[2] X[1], and one that is
// known from it alone weighs as much as DF degrees of freedom of data.
type SpreadPrior struct {
	Beta [3]float64
	DF   float64
}

// Variance is the variance expected at covariates x.
func (p SpreadPrior) Variance(x [2]float64) float64 {
	return math.Exp(p.Beta[0] + p.Beta[1]*x[0] + p.Beta[2]*x[1])
}

// Moderate combines the prior at x with a benchmark's own sum of squares over
// df degrees of freedom (0 and 0: nothing known): the moderated variance and
// its degrees of freedom.
func (p SpreadPrior) Moderate(squares float64, df int, x [2]float64) (variance, totalDF float64) {
	totalDF = p.DF + float64(df)
	return (p.DF*p.Variance(x) + squares) / totalDF, totalDF
}

// Least numbers of histories from which a prior is learnt, and from which it
// may depend on covariates.
const (
	spreadMinObs       = 8
	spreadMinTrendObs  = 30
	spreadRounds       = 5    // of reweighting; later ones change the third digit
	spreadMinTau       = 0.02 // keeps a suite of equal benchmarks from trusting its prior without limit
	spreadFirstTau     = 0.5
	spreadSlopePenalty = 1 // a slope is 0 with standard deviation 1 before the data speak
)

// FitSpreadPrior learns the prior from a suite's histories, or returns fallback
// when there are fewer than 8. With fewer than 30 the covariates are not used.
//
// The model is that of Smyth (2004), "Linear models and empirical Bayes methods
// for assessing differential expression", with the mean trend of limma: a sample
// variance is scaled F around its prior, so ln(variance) - digamma(df/2) +
// ln(df/2) has mean ln(prior) and variance trigamma(df/2) + trigamma(DF/2). The
// trend is a weighted least-squares line with a penalty on its slopes, without
// which a suite of benchmarks that hardly differ would give slopes of hundreds;
// DF comes from the excess of its residuals' squares, reweighted a fixed number
// of times.
//
// One thing is not Smyth's: Beta is the mean of ln(variance) itself. His scale
// is smaller by the factor exp(digamma(DF/2) - ln(DF/2)), 0.76 at 4 degrees of
// freedom. Machines have heavier tails than the normal distribution; with his
// scale unchanged code on real runners is claimed twice as often.
func FitSpreadPrior(obs []SpreadObs, fallback SpreadPrior) SpreadPrior {
	if len(obs) < spreadMinObs {
		return fallback
	}
	k := 1
	if len(obs) >= spreadMinTrendObs {
		k = 3
	}
	z := make([]float64, len(obs))
	for i, o := range obs {
		c := logChi(o.DF)
		z[i] = math.Log(o.Var) - c.mean
	}
	p := SpreadPrior{}
	tau := spreadFirstTau
	for range spreadRounds {
		p.Beta = weightedTrend(obs, z, k, tau)
		var excess, weight float64
		inflate := float64(len(obs)) / float64(len(obs)-k)
		for i, o := range obs {
			r := z[i] - (p.Beta[0] + p.Beta[1]*o.X[0] + p.Beta[2]*o.X[1])
			t := logChi(o.DF).variance
			w := 1 / ((t + tau) * (t + tau))
			excess += w * (r*r*inflate - t)
			weight += w
		}
		tau = max(excess/weight, spreadMinTau)
	}
	p.DF = 2 * trigammaInverse(tau)
	return p
}

// weightedTrend solves the weighted normal equations of k = 1 or 3 terms.
func weightedTrend(obs []SpreadObs, z []float64, k int, tau float64) (beta [3]float64) {
	var a [3][3]float64
	var b [3]float64
	for i, o := range obs {
		w := 1 / (logChi(o.DF).variance + tau)
		row := [3]float64{1, o.X[0], o.X[1]}
		for r := range k {
			for c := range k {
				a[r][c] += w * row[r] * row[c]
			}
			b[r] += w * row[r] * z[i]
		}
	}
	for r := 1; r < k; r++ {
		a[r][r] += spreadSlopePenalty
	}
	for r := range k { // positive definite: no pivoting needed
		for below := r + 1; below < k; below++ {
			f := a[below][r] / a[r][r]
			for c := r; c < k; c++ {
				a[below][c] -= f * a[r][c]
			}
			b[below] -= f * b[r]
		}
	}
	for r := k - 1; r >= 0; r-- {
		beta[r] = b[r]
		for c := r + 1; c < k; c++ {
			beta[r] -= a[r][c] * beta[c]
		}
		beta[r] /= a[r][r]
	}
	return beta
}

// logChiMoments are mean and variance of ln(chi-squared(df)/df).
type logChiMoments struct{ mean, variance float64 }

// logChiTable holds the moments for the degrees of freedom that occur: a
// history window is short and a fit asks for them a million times.
var logChiTable = func() (t [64]logChiMoments) {
	for df := 1; df < len(t); df++ {
		t[df] = logChiOf(df)
	}
	return t
}()

func logChi(df int) logChiMoments {
	if df < len(logChiTable) {
		return logChiTable[df]
	}
	return logChiOf(df)
}

func logChiOf(df int) logChiMoments {
	h := float64(df) / 2
	return logChiMoments{mathext.Digamma(h) - math.Log(h), trigamma(h)}
}

// trigamma is the derivative of digamma, the Hurwitz zeta function at 2
// (Abramowitz and Stegun 6.4.10). x > 0.
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// trigammaInverse solves trigamma(x) = y for y > 0 by Newton's method on
// 1/trigamma, which is convex and nearly linear.
func trigammaInverse(y float64) float64 {
	x := 0.5 + 1/y
	for range 50 {
		t := trigamma(x)
		slope := -2 * mathext.Zeta(3, x) // tetragamma
		step := t * (1 - t/y) / slope
		x += step
		if math.Abs(step) < 1e-10*x {
			break
		}
	}
	return x
}
