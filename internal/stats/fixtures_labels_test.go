package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestFixturesLabels(t *testing.T) {
	t.Run("median_ci", testMedianCIFixture)
	t.Run("outliers", testOutliersFixture)
	t.Run("cpu_percent", testCPUFixture)
	t.Run("warmup", testWarmupFixture)
}

// wantBound is a number, or an infinity written as a list of one word.
type wantBound float64

func (b *wantBound) UnmarshalJSON(data []byte) error {
	var words []string
	if json.Unmarshal(data, &words) != nil {
		return json.Unmarshal(data, (*float64)(b))
	}
	for word, v := range map[string]float64{"-Inf": math.Inf(-1), "+Inf": math.Inf(1)} {
		if slices.Equal(words, []string{word}) {
			*b = wantBound(v)
			return nil
		}
	}
	return fmt.Errorf("%s is no bound", data)
}

type wantOrders struct {
	LoOrder  int `json:"lo_order"`
	HiOrder  int `json:"hi_order"`
	Lo, Hi   *wantBound
	Achieved *float64
}

func testMedianCIFixture(t *testing.T) {
	f := fixtures(t, "median_ci.json")
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			in := decodeStrict[struct{ X, Confidence json.RawMessage }](t, c.Input)
			x, level := decode[[]float64](t, in.X), decode[float64](t, in.Confidence)
			want := decodeStrict[struct {
				Median    *float64
				Symmetric *wantOrders `json:"symmetric_exact"`
				Benchstat *wantOrders `json:"benchstat_n_le_30"`
			}](t, c.Expected)
			f.same(t, "median", Summarize(x).Median, want.Median)
			compareOrders(t, f, "symmetric", MedianCI(x, level), want.Symmetric)
			compareOrders(t, f, "benchstat", BenchstatMedianCI(x, level), want.Benchstat)
		})
	}
}

func compareOrders(t *testing.T, f fixture, what string, got OrderInterval, want *wantOrders) {
	t.Helper()
	if want == nil {
		f.same(t, what+" lo", got.Lo, nil)
		f.same(t, what+" hi", got.Hi, nil)
		f.same(t, what+" achieved", got.Achieved, nil)
		return
	}
	if got.LoOrder != want.LoOrder || got.HiOrder != want.HiOrder {
		t.Errorf("%s orders %d and %d, want %d and %d", what, got.LoOrder, got.HiOrder, want.LoOrder, want.HiOrder)
	}
	// Bounds are values of the sample or infinite: equal, not near.
	if want.Lo == nil || want.Hi == nil || got.Lo != float64(*want.Lo) || got.Hi != float64(*want.Hi) {
		t.Errorf("%s from %v to %v, want %v to %v", what, got.Lo, got.Hi, want.Lo, want.Hi)
	}
	f.same(t, what+" achieved", got.Achieved, want.Achieved)
}

type wantOutliers struct {
	IQR struct {
		Lower   *float64 `json:"lower_fence"`
		Upper   *float64 `json:"upper_fence"`
		Removed []int    `json:"removed_indices"`
	}
	MAD struct {
		Median    *float64
		MAD       *float64 `json:"mad_raw"`
		Fallback  bool     `json:"fallback_mean_ad"`
		Threshold float64
		Removed   []int `json:"removed_indices"`
	}
	ZScore struct {
		Threshold float64
		MaxAbsZ   *float64 `json:"max_abs_z"`
		Removed   []int    `json:"removed_indices"`
	}
	Grubbs struct {
		Alpha   float64
		Removed []int `json:"removed_indices"`
		Steps   []struct {
			N        int
			G        *float64
			Critical *float64 `json:"g_critical"`
			Index    int
			Removed  bool
		}
	}
}

// The fixture knows no guards: it is compared with the rules beneath Outliers,
// and with Outliers where no guard stands in the way.
func testOutliersFixture(t *testing.T) {
	f := fixtures(t, "outliers.json")
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			x := decodeStrict[struct{ X []float64 }](t, c.Input).X
			want := decodeStrict[wantOutliers](t, c.Expected)
			sorted := slices.Sorted(slices.Values(x))

			lower, upper := iqrFences(sorted)
			f.same(t, "iqr lower fence", lower, want.IQR.Lower)
			f.same(t, "iqr upper fence", upper, want.IQR.Upper)
			compareLabels(t, x, OutliersIQR, beyond(x, lower, upper), want.IQR.Removed)

			d := deviationsOf(sorted)
			f.same(t, "median", d.median, want.MAD.Median)
			f.same(t, "mad", d.mad, want.MAD.MAD)
			if d.usesMean() != want.MAD.Fallback {
				t.Errorf("mad falls back on the mean deviation: %v", d.usesMean())
			}
			lower, upper = d.bounds()
			compareLabels(t, x, OutliersMAD, beyond(x, lower, upper), want.MAD.Removed)

			order := make([]int, len(x))
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(a, b int) int { return int(math.Copysign(1, x[a]-x[b])) })
			_, farthest := mostExtreme(x, order)
			f.same(t, "max |z|", farthest, want.ZScore.MaxAbsZ)
			lower, upper = zBounds(sorted)
			compareLabels(t, x, OutliersZScore, beyond(x, lower, upper), want.ZScore.Removed)

			if outlierModifiedZ != want.MAD.Threshold || outlierZ != want.ZScore.Threshold || grubbsAlpha != want.Grubbs.Alpha {
				t.Errorf("other thresholds are expected: %v, %v, %v", want.MAD.Threshold, want.ZScore.Threshold, want.Grubbs.Alpha)
			}
			compareGrubbs(t, f, x, want)
		})
	}
}

func beyond(x []float64, lower, upper float64) (indices []int) {
	for i, v := range x {
		if v < lower || v > upper {
			indices = append(indices, i)
		}
	}
	return indices
}

func compareLabels(t *testing.T, x []float64, rule OutlierRule, unguarded, want []int) {
	t.Helper()
	if !slices.Equal(unguarded, want) {
		t.Errorf("%s labels %v, want %v", rule, unguarded, want)
	}
	guarded := Outliers(x, rule)
	if guarded.Skipped != "" && len(guarded.Indices) > 0 {
		t.Errorf("%s was skipped (%s) and labels %v", rule, guarded.Skipped, guarded.Indices)
	}
	if guarded.Skipped == "" && !slices.Equal(guarded.Indices, want) {
		t.Errorf("guarded %s labels %v, want %v", rule, guarded.Indices, want)
	}
}

func compareGrubbs(t *testing.T, f fixture, x []float64, want wantOutliers) {
	t.Helper()
	steps := grubbs(x)
	if len(steps) != len(want.Grubbs.Steps) {
		t.Fatalf("%d steps, want %d", len(steps), len(want.Grubbs.Steps))
	}
	var removed []int
	for i, w := range want.Grubbs.Steps {
		s := steps[i]
		if s.n != w.N || s.index != w.Index || s.significant != w.Removed {
			t.Errorf("step %d: %+v, want n %d, index %d, removed %v", i, s, w.N, w.Index, w.Removed)
		}
		f.same(t, "g", s.g, w.G)
		f.same(t, "critical g", s.critical, w.Critical)
		if s.significant {
			removed = append(removed, s.index)
		}
	}
	slices.Sort(removed)
	compareLabels(t, x, OutliersGrubbs, removed, want.Grubbs.Removed)
}

func testCPUFixture(t *testing.T) {
	f := fixtures(t, "cpu_percent.json")
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			in := decodeStrict[struct {
				User   float64 `json:"user_ms"`
				System float64 `json:"sys_ms"`
				Wall   float64 `json:"wall_ms"`
				Cores  float64
			}](t, c.Input)
			want := decodeStrict[struct {
				Unclamped *float64
				Percent   *float64 `json:"cpu_percent"`
			}](t, c.Expected)
			f.same(t, "percent", CPUPercentOfMachine(in.User, in.System, in.Wall, in.Cores), want.Percent)
			if in.Cores > 0 { // cores used are known without the number of cores
				f.same(t, "unclamped", 100*CPUCoresUsed(in.User, in.System, in.Wall)/in.Cores, want.Unclamped)
			} else if want.Unclamped != nil {
				t.Errorf("unclamped is %v for %v cores", *want.Unclamped, in.Cores)
			}
		})
	}
}

func testWarmupFixture(t *testing.T) {
	f := fixtures(t, "warmup.json")
	f.Tolerance.Rel = warmupTolerance(t)
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			in := decodeStrict[struct {
				Durations []time.Duration `json:"durations_ns"`
				Config    struct {
					Min         int     `json:"min_iterations"`
					Every       int     `json:"check_every"`
					Window      int     `json:"window"`
					Consecutive int     `json:"consecutive"`
					TargetCV    float64 `json:"target_cv"`
					Max         int     `json:"max_iterations"`
					MaxSeconds  float64 `json:"max_seconds"`
				}
			}](t, c.Input)
			if got := [4]int{WarmupMinIterations, WarmupCheckEvery, WarmupWindow, WarmupPassesNeeded}; got != [4]int{in.Config.Min, in.Config.Every, in.Config.Window, in.Config.Consecutive} {
				t.Fatalf("the constants are %v, those of the case %+v", got, in.Config)
			}
			want := decodeStrict[struct {
				Iterations int
				Reason     WarmupState
				Stable     bool
				LastCV     *float64 `json:"last_cv"`
				Passes     int      `json:"checks_passed"`
			}](t, c.Expected)
			w := NewWarmup(WarmupPlan{TargetCV: in.Config.TargetCV, MaxIterations: in.Config.Max, MaxTime: time.Duration(in.Config.MaxSeconds * 1e9)})
			for _, d := range in.Durations { // those after the end must not count
				w.Add(d)
			}
			got := w.Result()
			if got.Iterations != want.Iterations || got.State != want.Reason || (got.State == WarmupStable) != want.Stable || got.Passes != want.Passes {
				t.Errorf("%+v, want %+v", got, want)
			}
			f.same(t, "last CV", got.LastCV, want.LastCV)
		})
	}
}

// warmupTolerance reads the one bound that only this file has.
func warmupTolerance(t *testing.T) float64 {
	t.Helper()
	dir := os.Getenv("PERFBAND_STATS")
	if dir == "" {
		dir = "../../../shared/fixtures/stats"
	}
	data, err := os.ReadFile(filepath.Join(dir, "warmup.json"))
	if err != nil {
		t.Fatal(err)
	}
	return decode[struct {
		Tolerance struct {
			LastCV float64 `json:"last_cv_rel"`
		}
	}](t, data).Tolerance.LastCV
}
