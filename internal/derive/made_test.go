package derive

import (
	"fmt"
	"strings"

	"perfband/internal/config"
	"perfband/internal/perf"
)

// made is a metric of one value.
func made(name string, better perf.Better, value float64) Metric {
	return Metric{Name: name, Better: better, N: 1, Mean: perf.Some(value), Median: perf.Some(value)}
}

func timed(ns float64) Metric { return made(perf.Time, perf.Lower, ns) }

// of is a benchmark's result on one kind of machine.
func of(name string, metrics ...Metric) *Result {
	return &Result{Key: perf.Key{Kind: perf.Bench, Module: "m", Name: name}, Label: name, Status: perf.OK, InTrend: true,
		Env: perf.Env{CPUModel: "CPU 1"}, Metrics: metrics}
}

// scenario is a load test's result.
func scenario(name string, metrics ...Metric) *Result {
	r := of(name, metrics...)
	r.Key.Kind = perf.Load
	return r
}

// runWith is the i-th day's run.
func runWith(i int, results ...*Result) *Run {
	run := &Run{ID: fmt.Sprintf("%d.1", i), Kind: perf.Bench, Started: day.AddDate(0, 0, i), InTrend: true, Results: results}
	run.Meta.Commit.SHA = sha(i)
	if len(results) > 0 {
		run.Kind = results[0].Key.Kind
	}
	tally(run)
	return run
}

func sha(i int) string { return fmt.Sprintf("%07d%033d", i+1000000, i) }

// days are runs of one benchmark and one value each, from day from on.
func days(from int, values ...float64) (out []*Run) {
	for i, v := range values {
		out = append(out, runWith(from+i, of("A", timed(v))))
	}
	return out
}

// steady is a quiet past of six days.
var steady = []float64{100, 101, 99.5, 100.5, 100, 99}

// judgedRuns derives what rests on runs; change may set what differs from the
// default configuration.
func judgedRuns(runs []*Run, change func(*config.Config)) *Derived {
	opt := Options{Config: config.Default()}
	if change != nil {
		change(&opt.Config)
	}
	d := &Derived{Runs: runs}
	d.judge(opt)
	return d
}

// said is the verdict on a metric in short.
func said(v perf.Verdict) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s", v.Outcome, v.State, strings.Join(v.Reasons, ";"))), " ")
}

// saidOf lists the verdicts on a benchmark's metric over all runs that have it.
func saidOf(d *Derived, name, metric string) (out []string) {
	for _, run := range d.Runs {
		for _, r := range run.Results {
			for v, m := range r.verdicts() {
				if r.Key.Name == name && m == metric {
					out = append(out, said(*v))
				}
			}
		}
	}
	return out
}

// newestOf is the last of saidOf.
func newestOf(d *Derived, name, metric string) string {
	all := saidOf(d, name, metric)
	return all[len(all)-1]
}

// openOf names what is open: benchmark, metric, + if confirmed.
func openOf(d *Derived) string {
	var out []string
	for _, o := range d.Open {
		s := o.Key.Name + " " + o.Metric
		if o.Confirmed != nil {
			s += "+"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}
