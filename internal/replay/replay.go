// Package replay measures how often verdicts are wrong: it judges real
// histories again, as they were and with changes planted into them, and counts.
// Where the code hardly changed every claim is a false alarm, and of every
// planted change it is known when it should have been found.
package replay

import (
	"math"
	"slices"

	"perfband/internal/history"
	"perfband/internal/perf"
)

// History is the results of one suite, run by run, oldest first.
type History struct {
	Name   string
	Runs   []string // their ids
	runs   [][]history.Result
	stable [][]bool // whether the results are of the class stable, in the same order
	points []int    // results of each series
}

// add appends a result to a run.
func (h *History) add(run int, r history.Result, stable bool) {
	h.runs[run] = append(h.runs[run], r)
	h.stable[run] = append(h.stable[run], stable)
	for r.Series >= len(h.points) {
		h.points = append(h.points, 0)
	}
	h.points[r.Series]++
}

// Rule judges the results of one run after the other. history.Judge is one.
type Rule interface {
	Run(results []history.Result) ([]history.Verdict, []history.Shift)
}

// at is a place in a history: a series in a run.
type at struct{ series, run int }

// judge replays the first runs of a history with changes (ln) planted into it.
func (h *History) judge(rule Rule, runs int, planted map[at]float64) [][]history.Verdict {
	out := make([][]history.Verdict, runs)
	for t, results := range h.runs[:runs] {
		if planted != nil {
			results = slices.Clone(results)
			for i, r := range results {
				results[i].Value += planted[at{r.Series, t}]
			}
		}
		out[t], _ = rule.Run(results)
	}
	return out
}

// Rates are the claims made about a history in which nothing changed.
type Rates struct {
	Results   int // results of the runs that count
	Judged    int // with an interval
	Claimed   int // slower or faster
	Slower    int // suspected slower
	Confirmed int // slower or faster
	ConfSlow  int // confirmed slower
}

// Claims counts what a rule claims about the runs from the given one on. Series
// with fewer than least results do not count.
func (h *History) Claims(rule Rule, from, least int) (r Rates) {
	for t, vs := range h.judge(rule, len(h.runs), nil) {
		if t < from {
			continue
		}
		for i, v := range vs {
			if h.points[h.runs[t][i].Series] < least {
				continue
			}
			r.Results++
			if v.Judged {
				r.Judged++
			}
			slower := v.Outcome == perf.Slower
			if slower || v.Outcome == perf.Faster {
				r.Claimed++
			}
			switch {
			case slower && v.State == perf.Suspected:
				r.Slower++
			case slower && v.State == perf.Confirmed:
				r.ConfSlow++
			}
			if v.State == perf.Confirmed {
				r.Confirmed++
			}
		}
	}
	return r
}

// Add sums the rates of several histories.
func (r Rates) Add(o Rates) Rates {
	return Rates{r.Results + o.Results, r.Judged + o.Judged, r.Claimed + o.Claimed, r.Slower + o.Slower, r.Confirmed + o.Confirmed, r.ConfSlow + o.ConfSlow}
}

// Found says how many planted changes were found.
type Found struct{ Planted, First, Found int }

// Add sums two.
func (f Found) Add(o Found) Found {
	return Found{f.Planted + o.Planted, f.First + o.First, f.Found + o.Found}
}

// Share is the share of planted changes that were found, NaN for none planted.
func (f Found) Share() float64 { return float64(f.Found) / float64(f.Planted) }

// batches is into how many parts the series are divided: changes are planted
// into one part at a time, which leaves the others of a suite as they are.
const batches = 25

// Planted multiplies the cost of each stable, judged result of the runs from
// the given one on in turn, and counts those claimed slower.
func (h *History) Planted(rule func() Rule, factor float64, from int) (f Found) {
	clean := h.judge(rule(), len(h.runs), nil)
	for t := from; t < len(h.runs); t++ {
		for part := range batches {
			vs := h.judge(rule(), t+1, h.plant(part, math.Log(factor), t))
			for i, r := range h.runs[t] {
				if r.Series%batches == part && h.stable[t][i] && clean[t][i].Judged {
					f.Planted++
					if vs[t][i].Outcome == perf.Slower {
						f.Found++
					}
				}
			}
		}
	}
	return f
}

// PlantedTwice multiplies the cost of each series in two runs in a row, where
// both results are stable and judged, and counts those confirmed slower in the
// second.
func (h *History) PlantedTwice(rule func() Rule, factor float64, from int) (f Found) {
	clean := h.judge(rule(), len(h.runs), nil)
	for t := from; t+1 < len(h.runs); t++ {
		before := map[int]bool{}
		for i, r := range h.runs[t] {
			before[r.Series] = h.stable[t][i] && clean[t][i].Judged
		}
		for part := range batches {
			vs := h.judge(rule(), t+2, h.plant(part, math.Log(factor), t, t+1))
			for i, r := range h.runs[t+1] {
				if r.Series%batches == part && before[r.Series] && h.stable[t+1][i] && clean[t+1][i].Judged {
					f.Planted++
					if v := vs[t+1][i]; v.Outcome == perf.Slower && v.State == perf.Confirmed {
						f.Found++
					}
				}
			}
		}
	}
	return f
}

func (h *History) plant(part int, change float64, runs ...int) map[at]float64 {
	out := map[at]float64{}
	for s := part; s < len(h.points); s += batches {
		for _, t := range runs {
			out[at{s, t}] = change
		}
	}
	return out
}

// Steps plants a lasting change at every stride-th place of every series with at
// least least results, after its first skip results, and counts those suspected
// or confirmed slower within the given number of results of the series.
func (h *History) Steps(rule func() Rule, factor float64, within, least, skip, stride int) (f Found) {
	for s, n := range h.points {
		if n < least {
			continue
		}
		places := h.placesOf(s)
		for i := skip; i+within <= len(places); i += stride {
			planted := map[at]float64{}
			for _, p := range places[i:] {
				planted[at{s, p.run}] = math.Log(factor)
			}
			last := places[i+within-1].run
			vs := h.judge(rule(), last+1, planted)
			f.Planted++
			for k, p := range places[i : i+within] {
				if vs[p.run][p.index].Outcome == perf.Slower {
					f.Found++
					if k == 0 {
						f.First++
					}
					break
				}
			}
		}
	}
	return f
}

// place is where a series stands in a run.
type place struct{ run, index int }

func (h *History) placesOf(series int) (out []place) {
	for t, results := range h.runs {
		for i, r := range results {
			if r.Series == series {
				out = append(out, place{t, i})
			}
		}
	}
	return out
}
