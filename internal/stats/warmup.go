package stats

import (
	"math"
	"time"
)

// The constants of the stability check. Fifty iterations are about what a tiered
// compiler needs before its optimised code runs.
const (
	WarmupMinIterations = 50 // no check before
	WarmupCheckEvery    = 5  // iterations between checks
	WarmupWindow        = 10 // latest iterations whose CV is checked
	WarmupPassesNeeded  = 3  // passed checks in a row that make it stable
)

// WarmupPlan says when a warm-up ends.
type WarmupPlan struct {
	// TargetCV is what the CV of the latest iterations must stay below, 0.05 for
	// 5 %. 0 is fixed mode: stability is not looked for.
	TargetCV float64
	// MaxIterations ends the warm-up in any case; fixed mode runs exactly so many
	// unless MaxTime is reached before.
	MaxIterations int
	// MaxTime ends it when the iterations have taken as long; 0 is no limit.
	MaxTime time.Duration
}

// The presets.
var (
	WarmupDefault       = WarmupPlan{TargetCV: 0.05, MaxIterations: 100, MaxTime: 3 * time.Second}
	WarmupFast          = WarmupPlan{MaxIterations: 10, MaxTime: time.Second}
	WarmupHighPrecision = WarmupPlan{TargetCV: 0.02, MaxIterations: 200, MaxTime: 10 * time.Second}
)

// WarmupState says whether a warm-up goes on, and why it ended.
type WarmupState string

// Only WarmupStable claims anything about the times; the other two are caps. When
// several apply at once the first in this order is told.
const (
	WarmupRunning       WarmupState = "running"
	WarmupStable        WarmupState = "stable"
	WarmupMaxIterations WarmupState = "max_iterations"
	WarmupMaxTime       WarmupState = "max_time"
)

// Warmup decides after each iteration whether a benchmark has warmed up. Checks
// run at iterations 50, 55, 60, …: one passes when the CV (n-1) of the last 10
// durations is strictly below the target, and three in a row make it stable. A
// check that fails, or whose CV is undefined (mean 0), starts the count again.
//
// The rule sees noise, not stationarity: a plateau before a late drop looks
// stable, a noisy steady state does not. The measured series needs a check for
// drift of its own (FindDrift).
type Warmup struct {
	plan       WarmupPlan
	state      WarmupState
	latest     [WarmupWindow]float64 // ring, nanoseconds
	iterations int
	elapsed    time.Duration
	passes     int
	lastCV     float64
}

// NewWarmup starts a warm-up.
func NewWarmup(plan WarmupPlan) *Warmup {
	return &Warmup{plan: plan, state: WarmupRunning, lastCV: math.NaN()}
}

// Add takes the duration of one more iteration and says whether to go on. A
// negative duration, from a clock set back, counts as 0. Once the warm-up has
// ended nothing changes any more.
func (w *Warmup) Add(d time.Duration) WarmupState {
	if w.state != WarmupRunning {
		return w.state
	}
	d = max(d, 0)
	w.latest[w.iterations%WarmupWindow] = float64(d)
	w.iterations++
	w.elapsed += min(d, math.MaxInt64-w.elapsed)
	if w.iterations >= WarmupMinIterations && (w.iterations-WarmupMinIterations)%WarmupCheckEvery == 0 {
		w.check()
	}
	switch {
	case w.passes == WarmupPassesNeeded:
		w.state = WarmupStable
	case w.iterations >= w.plan.MaxIterations:
		w.state = WarmupMaxIterations
	case w.plan.MaxTime > 0 && w.elapsed >= w.plan.MaxTime:
		w.state = WarmupMaxTime
	}
	return w.state
}

func (w *Warmup) check() {
	var a Accumulator
	for _, d := range w.latest {
		a.Add(d)
	}
	w.lastCV = a.CV()
	if w.lastCV < w.plan.TargetCV {
		w.passes++
	} else {
		w.passes = 0
	}
}

// WarmupResult is what became of a warm-up.
type WarmupResult struct {
	State      WarmupState
	Iterations int
	Elapsed    time.Duration
	LastCV     float64 // of the last check; NaN before the first and for mean 0
	Passes     int     // checks passed in a row up to the last one
}

// Result tells how far the warm-up is or how it ended.
func (w *Warmup) Result() WarmupResult {
	return WarmupResult{State: w.state, Iterations: w.iterations, Elapsed: w.elapsed, LastCV: w.lastCV, Passes: w.passes}
}
