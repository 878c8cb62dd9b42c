package site

import (
	"os"
	"path/filepath"
	"testing"

	"perfband/internal/derive"
	"perfband/internal/perf"
)

func TestZZLook(t *testing.T) {
	dir := os.Getenv("LOOK")
	if dir == "" {
		t.Skip()
	}
	s := newSynthetic()
	const runs, benches = 22, 64
	for i := range runs {
		r := s.run(perf.Bench, i)
		if i == runs-1 {
			r.Meta.Commit.Untrusted = true
		}
		for b := range benches {
			machine := (i*7/3 + b/40) % 3
			base := []float64{4.3, 118, 4310, 33750, 512e3, 8.1e6}[b%6] * (1 + 0.04*float64(machine)) * (1 + 0.01*s.rng.NormFloat64())
			if b%9 == 2 && i > runs/2 {
				base *= 1.12
			}
			cv := 0.012
			if b%23 == 5 {
				cv = 0.2
			}
			name := []string{"ShardRoutingBenchmarks.HashRoutingConsecutive(ShardCount: 50)", "MemoryCacheBenchmarks.SetWithSlidingExpirationAsync", "Send_Command", "ConcurrentShardReplicaSelectionBenchmarks.Concurrent_RoundRobin(ThreadCount: 4)", "Decode/small", "TypeResolver<T>.Resolve"}[b%6] + string(rune('a'+b/6))
			xs := s.samples(base, cv, 15)
			if b%23 == 5 {
				for k := range xs {
					if k%2 == 0 {
						xs[k] *= 1.4
					}
				}
			}
			if i == 7 && b%5 == 1 {
				xs = xs[:1]
			}
			res := s.add(r, []string{"Widgets.Sharding", "Widgets.Caching.Memory", "Widgets.Mediator"}[b/24], name, machine,
				measured(perf.Time, perf.Nanoseconds, xs),
				exact(perf.AllocBytes, perf.Bytes, float64(96+b%5*1000+i/12*8)), exact(perf.GC0, perf.Count, 0))
			if b == 3 && i == runs-2 {
				res.CarriedFrom = s.d.Runs[i-1].ID
			}
			if b == 51 {
				res.Stability, res.StabilityReason = derive.ExpectedUnstable, "talks to the network"
			}
			if b%16 == 3 {
				res.DocRef = "bench:sharding/x"
			}
		}
		if i == runs-1 {
			for _, n := range []string{"RateLimit_Refill", "Serialize(Format: <Json>)"} {
				f := s.add(r, "Widgets.Polly", n, 0)
				f.Status, f.Reason, f.Stability, f.InTrend = perf.Fail, "System.InvalidOperationException: the container did not start within 30 s", "", false
			}
			r.Meta.Missing = []perf.Expected{{Module: "Widgets.Polly", Benchmark: "Acquire_Slow"}}
			r.Diagnostics = []perf.Diagnostic{{Severity: perf.Warning, What: "statistics of 3 benchmarks are empty", Where: perf.Where{File: "benchmarks/2026-04-19/x/result.json"}, Why: "N = 1, dry job", Do: "Nothing to do: they are stored raw."}}
		}
		if i%3 == 0 {
			l := s.run(perf.Load, i)
			for k, n := range []string{"Checkout (100 users)", "Search", "Login with MFA"} {
				th := reported(perf.Throughput, perf.PerSecond, perf.Some(1450+float64(k*400)+40*s.rng.NormFloat64()), perf.Num{}, perf.Num{}, perf.Num{})
				th.Better = perf.Higher
				p99 := perf.Some(95e6 + 3e6*s.rng.NormFloat64())
				if k == 1 {
					p99 = perf.Num{}
				}
				lat := reported(perf.Latency, perf.Nanoseconds, perf.Some(21e6+1e6*s.rng.NormFloat64()), perf.Some(18e6), perf.Some(61e6), p99)
				ms := []derive.Metric{lat, th, reported(perf.Requests, perf.Count, perf.Some(43500), perf.Num{}, perf.Num{}, perf.Num{})}
				if k != 2 {
					ms = append(ms, reported(perf.ErrorRate, perf.Ratio, perf.Some(0.0042*float64(k)), perf.Num{}, perf.Num{}, perf.Num{}))
				}
				s.add(l, "shop", n, 0, ms...)
			}
		}
	}
	c := *s.d.Runs[4]
	c.DuplicateOf, c.InTrend, c.Excluded = c.ID, false, "copy"
	s.d.Runs = append(s.d.Runs[:6], append([]*derive.Run{&c}, s.d.Runs[6:]...)...)
	dry := s.run(perf.Bench, runs)
	dry.JobKind, dry.InTrend, dry.Excluded = perf.Dry, false, "dry"
	for _, n := range []string{"Send_Commandx", "OnlyDry"} {
		s.add(dry, "Widgets.Mediator", n, 0, measured(perf.Time, perf.Nanoseconds, []float64{5e6})).InTrend = false
	}
	d := s.finish()
	files, err := Render(d)
	if err != nil {
		t.Fatal(err)
	}
	empty, err := Render(&derive.Derived{Level: 0.99, Badge: derive.Badge{State: "grey"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		write(t, filepath.Join(dir, "site", f.Path), f.Data)
	}
	for _, f := range empty {
		write(t, filepath.Join(dir, "empty", f.Path), f.Data)
	}
}

func write(t *testing.T, p string, data []byte) {
	os.MkdirAll(filepath.Dir(p), 0o755)
	if err := os.WriteFile(p, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
