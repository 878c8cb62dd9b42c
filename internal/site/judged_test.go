package site

import (
	"perfband/internal/derive"
	"perfband/internal/perf"
)

// numbers is a verdict of history with an interval.
func numbers(o perf.Outcome, st perf.State, ratio, lo, hi float64, reasons ...string) perf.Verdict {
	return perf.Verdict{Outcome: o, State: st, Basis: perf.BasisHistory, Baseline: "24600000000.1", Ratio: perf.Some(ratio), Lo: perf.Some(lo), Hi: perf.Some(hi),
		Level: perf.Some(0.95), Margin: perf.Some(0.05), PValue: perf.Some(0.004), PAdjusted: perf.Some(0.02), Detectable: perf.Some(0.098), Reasons: reasons}
}

// without is a verdict of history without an interval.
func without(o perf.Outcome, reasons ...string) perf.Verdict {
	return perf.Verdict{Outcome: o, Basis: perf.BasisHistory, Reasons: reasons}
}

// judge gives the example verdicts as derive would.
func judge(d *derive.Derived) *derive.Derived {
	var trend []*derive.Run
	for _, r := range d.Runs {
		if r.InTrend && r.Kind == perf.Bench {
			trend = append(trend, r)
		}
	}
	first, middle, last := trend[0], trend[1], trend[2]
	for _, r := range d.Runs {
		if r.DuplicateOf != "" {
			continue // it has the results of its original
		}
		for _, res := range r.Results {
			for i := range res.Metrics {
				res.Metrics[i].Verdict = perf.Verdict{}
				if res.InTrend {
					res.Metrics[i].Verdict = without(perf.Inconclusive, "few-runs")
				}
			}
		}
	}
	set := func(r *derive.Run, name string, v perf.Verdict) *derive.Result {
		for _, res := range r.Results {
			if res.Key.Name == name {
				res.Metrics[0].Verdict = v
				return res
			}
		}
		panic(name)
	}
	set(middle, "Router.Route(hops: 3)", numbers(perf.Unchanged, "", 1.01, 0.98, 1.04))
	route := set(last, "Router.Route(hops: 3)", without(perf.None, "carried"))
	route.Metrics[1].Verdict = without(perf.None, "carried")
	set(middle, "Wrap(width: 40)", numbers(perf.Slower, perf.Suspected, 1.36, 1.28, 1.44))
	wrap := set(last, "Wrap(width: 40)", numbers(perf.Slower, perf.Confirmed, 1.35, 1.28, 1.42))
	wrap.Metrics[0].Labels = derive.Labels{Outliers: 2, OutlierRule: "iqr"}
	wrap.Anomalies = []derive.Anomaly{{Metric: perf.GC0, Reason: "high: 41, against a median of 12 in 8 other runs"}}
	set(last, "Wrap(width: 80)", numbers(perf.Slower, perf.Suspected, 1.18, 1.09, 1.28, "platform-shift"))
	set(last, "Once", numbers(perf.Inconclusive, perf.Recovered, 1.03, 0.9, 1.2, "noisy"))
	set(last, "Old", numbers(perf.Unchanged, "", 1, 0.98, 1.02))
	set(last, "Retry", without(perf.Inconclusive, "other-machine"))
	last.Shifts = []derive.Shift{{Module: "Widgets.Core", Metric: perf.Time, CPU: synthMachines[0], Ratio: perf.Some(1.06), Lo: perf.Some(1.04), Hi: perf.Some(1.08), Results: 4}}
	for _, sr := range d.Series {
		switch sr.Key.Name {
		case "Old":
			sr.Retired = "replaced by Route"
		case "Wrap(width: 40)":
			sr.Steps = []derive.Step{{Before: first, After: middle, Ratio: perf.Some(1.36), PValue: perf.Some(1e-5)}}
			d.Open = append(d.Open, derive.Open{Key: sr.Key, Label: sr.Label, Metric: sr.Metric, Since: middle, Before: first, Confirmed: last, Ratio: perf.Some(1.36), Lo: perf.Some(1.3), Hi: perf.Some(1.42)})
		case "Wrap(width: 80)":
			d.Open = append(d.Open, derive.Open{Key: sr.Key, Label: sr.Label, Metric: sr.Metric, Since: last, Before: middle, Ratio: perf.Some(1.18)})
		}
	}
	judgeLoad(d, set)
	for _, r := range d.Runs {
		if r.InTrend {
			tally(r)
		}
	}
	last.Claims.Chance = 0.3
	d.Badge = derive.Badge{State: "red", Symbol: "▲▲", Message: "2 slower by ≥ 30 %", Count: 6}
	return d
}

func judgeLoad(d *derive.Derived, set func(*derive.Run, string, perf.Verdict) *derive.Result) {
	var last *derive.Run
	for _, r := range d.Runs {
		if r.Kind == perf.Load {
			last = r
		}
	}
	for _, sr := range d.Series {
		if sr.Metric == perf.Throughput {
			sr.Better = perf.Higher
			for _, p := range sr.Points {
				p.Metric.Better = perf.Higher
			}
		}
	}
	set(last, "Search", numbers(perf.Faster, perf.Confirmed, 1/1.08, 1/1.13, 1/1.03))
	checkout := set(last, "Checkout", numbers(perf.Inconclusive, "", 1.02, 0.9, 1.15, "two-clusters"))
	checkout.Metrics[0].Tails = []derive.Tail{{Stat: "p95", Value: perf.Some(61e6), Verdict: numbers(perf.Slower, perf.Suspected, 1.4, 1.2, 1.6)}}
	checkout.Metrics[1].Verdict = without(perf.None, "constant-rate")
	d.Open = append(d.Open, derive.Open{Key: checkout.Key, Label: checkout.Label, Metric: "latency_p95", Since: last, Ratio: perf.Some(1.4)})
}

// tally counts a run's verdicts as derive does.
func tally(r *derive.Run) {
	for _, res := range r.Results {
		v, _ := res.Verdict()
		if v == nil {
			continue
		}
		switch v.Outcome {
		case perf.Slower:
			r.Claims.Slower++
			r.Claims.Suspected += rank(v.State == perf.Suspected)
			r.Claims.Confirmed += rank(v.State == perf.Confirmed)
		case perf.Faster:
			r.Claims.Faster++
		case perf.Unchanged:
			r.Claims.Unchanged++
		case perf.Inconclusive:
			r.Claims.Inconclusive++
		}
		_, ok := v.Lo.Get()
		r.Claims.Judged += rank(ok)
		r.Claims.Recovered += rank(v.State == perf.Recovered)
	}
}
