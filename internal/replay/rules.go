package replay

import (
	"math"

	"perfband/internal/history"
	"perfband/internal/perf"
	"perfband/internal/stats"
)

// series are the values a simple rule has seen of each series.
type series map[int][]float64

// Previous is the rule "the value is more than a factor above the run before".
func Previous(factor float64) Rule { return &previous{math.Log(factor), series{}} }

type previous struct {
	least float64
	seen  series
}

func (p *previous) Run(results []history.Result) ([]history.Verdict, []history.Shift) {
	return judgeEach(results, p.seen, func(r history.Result, past []float64) bool {
		return len(past) > 0 && r.Value-past[len(past)-1] > p.least
	})
}

// Prediction is the rule "the value is above the one-sided prediction limit of
// the last values on the plain scale", with Student's t: the default of the
// closest peer for 64 values at 0.99.
func Prediction(last int, level float64) Rule { return &prediction{last, level, series{}} }

type prediction struct {
	last  int
	level float64
	seen  series
}

func (p *prediction) Run(results []history.Result) ([]history.Verdict, []history.Shift) {
	return judgeEach(results, p.seen, func(r history.Result, past []float64) bool {
		past = past[max(0, len(past)-p.last):]
		if len(past) < 2 {
			return false
		}
		plain := make([]float64, len(past))
		for i, v := range past {
			plain[i] = math.Exp(v)
		}
		s := stats.Summarize(plain)
		return math.Exp(r.Value) > s.Mean+stats.StudentT(p.level, s.N-1)*s.StdDev
	})
}

// judgeEach applies a rule to each result by itself; two claims in a row count
// as confirmed.
func judgeEach(results []history.Result, seen series, slower func(history.Result, []float64) bool) ([]history.Verdict, []history.Shift) {
	out := make([]history.Verdict, len(results))
	for i, r := range results {
		past := seen[r.Series]
		v := history.Verdict{Outcome: perf.Inconclusive, Judged: len(past) > 0}
		if slower(r, past) {
			v.Outcome, v.State = perf.Slower, perf.Suspected
		}
		seen[r.Series] = append(past, r.Value)
		out[i] = v
	}
	return out, nil
}
