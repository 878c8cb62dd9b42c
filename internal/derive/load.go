package derive

import (
	"math"

	"perfband/internal/perf"
)

// notJudged are metrics that describe a measurement and are no aim of their
// own.
var notJudged = map[string]bool{perf.GC0: true, perf.GC1: true, perf.GC2: true, perf.Requests: true, perf.Failed: true, perf.CPU: true}

// refused says why a metric is not judged, "" if it is.
func (j *judging) refused(r *Result, m *Metric) string {
	switch {
	case r.CarriedFrom != "":
		return "carried" // no new evidence
	case notJudged[m.Name]:
		return "not-judged"
	case m.Better == perf.UnknownBetter || m.Better == "":
		return "unknown-direction"
	case r.Key.Kind != perf.Load:
		return ""
	case m.Name == perf.Throughput && j.rates.constant(r, m):
		return "constant-rate"
	case m.Name == perf.Latency && manyErrors(r):
		return "errors"
	}
	return ""
}

// errorLimit is the error rate above which latencies say nothing: failing fast
// looks like being fast.
const errorLimit = 0.01

func manyErrors(r *Result) bool {
	m := r.Metric(perf.ErrorRate)
	if m == nil {
		return false
	}
	rate, ok := m.Center().Get()
	return ok && rate > errorLimit
}

// tails are the percentiles of a load test's latency that are judged.
func tails(m *Metric) []Tail {
	var out []Tail
	for _, t := range []Tail{{Stat: "p95", Value: m.P95}, {Stat: "p99", Value: m.P99}} {
		if _, ok := t.Value.Get(); ok {
			out = append(out, t)
		}
	}
	return out
}

// rates tells a constant injection rate from a measured throughput. A load
// generator that injects at a constant rate reports that rate, whatever the
// system under test does.
type rates struct {
	last map[string]float64 // throughput of a series' last run, by key
	seen map[float64]int    // scenarios of the run at hand, by throughput to 4 digits
}

// sameRate is the relative difference up to which two throughputs are one rate;
// measured ones differ by more.
const sameRate = 1e-4

// see counts the throughputs of a run's scenarios.
func (t *rates) see(run *Run) {
	if run.Kind != perf.Load {
		return
	}
	if t.last == nil {
		t.last = map[string]float64{}
	}
	t.seen = map[float64]int{}
	for _, r := range run.Results {
		if m := r.Metric(perf.Throughput); m != nil && r.InTrend && !r.Side {
			if v, ok := m.Center().Get(); ok {
				t.seen[significant(v, 4)]++
			}
		}
	}
}

// constant reports that a throughput is the rate at which requests were
// injected: the same as in the run before or as another scenario's, or as round
// as only people's numbers are.
func (t *rates) constant(r *Result, m *Metric) bool {
	v, ok := m.Center().Get()
	if !ok || v <= 0 {
		return false
	}
	key := r.Key.ID()
	last, before := t.last[key]
	t.last[key] = v
	return before && math.Abs(v-last) <= sameRate*v || t.seen[significant(v, 4)] > 1 ||
		v >= 100 && math.Abs(v-significant(v, 2)) <= sameRate*v
}

// significant rounds a positive number to n significant digits.
func significant(v float64, n int) float64 {
	if v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-float64(n-1))
	return math.Round(v/unit) * unit
}
