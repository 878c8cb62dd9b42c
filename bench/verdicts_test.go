//go:build unix

package bench

import (
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"perfband/internal/history"
	"perfband/internal/stats"
)

// cpuTime is what this process has used so far, garbage collection included.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// syntheticRuns is a history of benchmarks in modules of 50, each module on one
// of three machines in turn, with one planted slowdown in every tenth benchmark.
func syntheticRuns(benchmarks, runs int) [][]history.Result {
	rng := rand.New(rand.NewPCG(4, 2000))
	level, sd := make([]float64, benchmarks), make([]float64, benchmarks)
	for s := range benchmarks {
		level[s], sd[s] = 3+12*rng.Float64(), math.Exp(-4+0.7*rng.NormFloat64())
	}
	out := make([][]history.Result, runs)
	for r := range runs {
		out[r] = make([]history.Result, 0, benchmarks)
		var class int
		var machine float64
		for s := range benchmarks {
			if s%50 == 0 {
				class, machine = rng.IntN(3), 0.01*rng.NormFloat64()
			}
			v := level[s] + 0.2*float64(class) + machine + sd[s]*rng.NormFloat64()
			if s%10 == 0 && r > runs/2+s%100 {
				v += 0.3
			}
			out[r] = append(out[r], history.Result{Series: s, Class: class, Known: true, Group: s / 50, Value: v, Spread: sd[s] / 2})
		}
	}
	return out
}

// BenchmarkVerdicts judges 2,000 benchmarks over 500 runs on three kinds of
// machine and looks for the change points of each.
func BenchmarkVerdicts(b *testing.B) {
	const benchmarks = 2000
	runs := syntheticRuns(benchmarks, 500)
	var claims, points int
	start := cpuTime(b)
	for b.Loop() {
		j := history.New(history.DefaultSettings())
		levels := make([][]float64, benchmarks)
		claims, points = 0, 0
		for _, run := range runs {
			verdicts, _ := j.Run(run)
			for i, v := range verdicts {
				s := run[i].Series
				levels[s] = append(levels[s], v.Adjusted-0.2*float64(run[i].Class))
				if v.State != "" {
					claims++
				}
			}
		}
		for _, xs := range levels {
			points += len(stats.ChangePoints(xs, stats.DefaultChangePointOptions(true)))
		}
	}
	b.ReportMetric((cpuTime(b)-start).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(claims), "claims")
	b.ReportMetric(float64(points), "steps")
}
