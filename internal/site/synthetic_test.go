package site

import (
	"fmt"
	"math/rand/v2"
	"time"

	"perfband/internal/derive"
	"perfband/internal/perf"
	"perfband/internal/stats"
)

// synthetic is a made-up history of one repository: several machines, an
// unstable and a failing benchmark, load tests, a copy and a dry run.
type synthetic struct {
	rng    *rand.Rand
	d      *derive.Derived
	series map[string]*derive.Series
	order  []string
}

func newSynthetic() *synthetic {
	return &synthetic{rng: rand.New(rand.NewPCG(1, 2)), series: map[string]*derive.Series{},
		d: &derive.Derived{Level: 0.99, Repository: "example/widgets", ServerURL: "https://github.com",
			Badge: derive.Badge{State: "grey", Symbol: "?", Message: "no data"}}}
}

var synthMachines = []string{"AMD EPYC 7763 64-Core Processor", "Intel Xeon Platinum 8370C", "AMD EPYC 9V74 80-Core Processor"}

// run appends a run; its results are added by the other methods, then done.
func (s *synthetic) run(kind perf.Kind, i int) *derive.Run {
	started := time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC).Add(time.Duration(i) * 26 * time.Hour)
	id := fmt.Sprint(24600000000 + i*1013)
	r := &derive.Run{ID: id + ".1", Kind: kind, Started: started, JobKind: perf.Default, InTrend: true,
		OriginPath: kind.Folder() + "/" + started.Format("2006-01-02") + "/" + id + ".1"}
	r.Meta.Run = perf.Run{ID: r.ID, RunID: id, Kind: kind, Ref: "refs/heads/main"}
	r.Meta.Commit = perf.Commit{SHA: fmt.Sprintf("%08x%032x", uint32(0x9f2c1ab+i*2654435761), i), Subject: "Make routing cheaper"}
	r.Meta.Runner = perf.Runner{Label: "ubuntu-24.04", Image: "ubuntu24", ImageVersion: "20260413.86.1"}
	s.d.Runs = append(s.d.Runs, r)
	return r
}

// samples makes n values around mean with the given spread.
func (s *synthetic) samples(mean, cv float64, n int) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = perf.Round12(mean * (1 + cv*s.rng.NormFloat64()))
	}
	return xs
}

// measured summarises samples as derive does.
func measured(name string, u perf.Unit, xs []float64) derive.Metric {
	sum := stats.Summarize(xs)
	m := derive.Metric{Name: name, Unit: u, Better: perf.Lower, N: sum.N, Samples: xs,
		Mean: perf.Some(sum.Mean), Median: perf.Some(sum.Median), StdDev: perf.Some(sum.StdDev), CV: perf.Some(sum.CV),
		Min: perf.Some(sum.Min), Max: perf.Some(sum.Max), P95: perf.Some(sum.P95), P99: perf.Some(sum.P99),
		P95Undersampled: sum.P95Undersampled, P99Undersampled: sum.P99Undersampled}
	if lo, hi := sum.MeanCI(0.99); sum.N > 1 {
		m.CI = perf.Interval{Level: 0.99, Lo: perf.Some(lo), Hi: perf.Some(hi)}
	}
	return m
}

func exact(name string, u perf.Unit, v float64) derive.Metric {
	return derive.Metric{Name: name, Unit: u, Better: perf.Lower, Exact: true, N: 1, Mean: perf.Some(v), Median: perf.Some(v), Min: perf.Some(v), Max: perf.Some(v)}
}

func reported(name string, u perf.Unit, mean, median, p95, p99 perf.Num) derive.Metric {
	return derive.Metric{Name: name, Unit: u, Reported: true, Mean: mean, Median: median, P95: p95, P99: p99}
}

// add puts a result into a run.
func (s *synthetic) add(r *derive.Run, module, name string, machine int, metrics ...derive.Metric) *derive.Result {
	res := &derive.Result{Key: perf.Key{Kind: r.Kind, Module: module, Name: name}, Label: name, JobKind: r.JobKind, Rows: 1, Status: perf.OK,
		File: module + "/results.json", Tool: "BenchmarkDotNet 0.15.8", Metrics: metrics, InTrend: r.InTrend,
		Env: perf.Env{OS: "linux", OSVersion: "Ubuntu 24.04.2 LTS", Arch: "x64", CPUModel: synthMachines[machine], CPUCount: 4,
			MemoryBytes: 16 << 30, Toolchain: map[string]string{"dotnet": "10.0.1", "go": "1.26.0"}}}
	if r.Kind == perf.Load {
		res.Tool = "k6 1.3.0"
	} else if h := res.Headline(); h != nil && !h.Reported {
		res.Stability = derive.Stable
		if cv := h.CV.Or(1); cv > 0.1 {
			res.Stability, res.StabilityReason = derive.Unstable, fmt.Sprintf("CV %.1f %% > 10.0 %% (n = %d)", cv*100, h.N)
		}
	}
	r.Results = append(r.Results, res)
	return res
}

// finish counts and collects series, as derive does.
func (s *synthetic) finish() *derive.Derived {
	for _, r := range s.d.Runs {
		modules, cpu := map[string]bool{}, map[string]int{}
		for _, res := range r.Results {
			if r.DuplicateOf != "" {
				break
			}
			modules[res.Key.Module] = true
			cpu[res.Env.CPUModel]++
			switch {
			case res.Status == perf.Fail:
				r.Counts.Failed++
			case res.Stability == derive.Stable:
				r.Counts.Stable++
			case res.Stability == derive.Unstable:
				r.Counts.Unstable++
			case res.Stability == derive.ExpectedUnstable:
				r.Counts.ExpectedUnstable++
			}
			if res.Status == perf.OK {
				r.Counts.Benchmarks++
			}
			if res.InTrend {
				s.collect(r, res)
			}
		}
		r.Counts.Modules, r.Counts.ModulesWithNumbers = len(modules), len(modules)
		r.Counts.Missing = len(r.Meta.Missing)
		for _, m := range synthMachines {
			if cpu[m] > 0 {
				r.CPUs = append(r.CPUs, derive.CPUCount{Model: m, Results: cpu[m]})
			}
		}
		if r.InTrend && r.Kind == perf.Bench {
			s.d.Badge.Message, s.d.Badge.Count = fmt.Sprintf("%d measured, not judged", r.Counts.Benchmarks), r.Counts.Benchmarks
		}
	}
	for _, id := range s.order {
		s.d.Series = append(s.d.Series, s.series[id])
	}
	return s.d
}

func (s *synthetic) collect(r *derive.Run, res *derive.Result) {
	for i := range res.Metrics {
		m := &res.Metrics[i]
		id := res.Key.ID() + "\x02" + m.Name
		sr := s.series[id]
		if sr == nil {
			sr = &derive.Series{Key: res.Key, Label: res.Label, Metric: m.Name, Unit: m.Unit, Better: m.Better}
			s.series[id] = sr
			s.order = append(s.order, id)
		}
		if n := len(sr.Points); n > 0 {
			prev := sr.Points[n-1].Metric
			v, _ := m.Median.Get()
			m.Verdict = perf.Verdict{Outcome: perf.None, Basis: perf.BasisHistory, Baseline: sr.Points[n-1].Run.ID,
				LegacyCI99: v < prev.CI.Lo.Or(v) || v > prev.CI.Hi.Or(v)}
		}
		sr.Points = append(sr.Points, derive.Point{Run: r, Result: res, Metric: m})
	}
}

// history is a realistic site: runs of benches benchmarks each, with n samples.
func history(runs, benches, n int) *derive.Derived {
	s := newSynthetic()
	for i := range runs {
		r := s.run(perf.Bench, i)
		for b := range benches {
			machine := (i*7/3 + b/40) % 3
			base := []float64{4.3, 118, 4310, 33750, 512e3, 8.1e6}[b%6] * (1 + 0.04*float64(machine)) * (1 + 0.01*s.rng.NormFloat64())
			if b%9 == 2 && i > 12 {
				base *= 1.12
			}
			cv := 0.012
			if b%23 == 5 {
				cv = 0.2
			}
			name := fmt.Sprintf("ShardRoutingBenchmarks.Case%02d_HashRoutingConsecutive(ShardCount: %d)", b, 1+b%50)
			res := s.add(r, fmt.Sprintf("Widgets.Module%02d", b/30), name, machine,
				measured(perf.Time, perf.Nanoseconds, s.samples(base, cv, n)),
				exact(perf.AllocBytes, perf.Bytes, float64(96+b%5*1000+i/12*8)), exact(perf.GC0, perf.Count, 0))
			if b == 3 && i == 20 {
				res.CarriedFrom = s.d.Runs[i-1].ID
			}
		}
	}
	return s.finish()
}
