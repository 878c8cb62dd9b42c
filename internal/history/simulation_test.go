package history

import (
	"math"
	"math/rand/v2"
	"testing"

	"perfband/internal/perf"
)

// simulation is a suite of independent benchmarks of different noise, on one
// machine that does nothing to them.
type simulation struct {
	j   *Judge
	rng *rand.Rand
	sd  []float64
}

func simulate(seed uint64, n int, sd, spread float64, set Settings) *simulation {
	s := &simulation{New(set), rand.New(rand.NewPCG(seed, 42)), make([]float64, n)}
	for i := range s.sd {
		s.sd[i] = sd * math.Exp(spread*s.rng.NormFloat64())
	}
	return s
}

func (s *simulation) run(add func(series int) float64) []Verdict {
	rs := make([]Result, len(s.sd))
	for i, sd := range s.sd {
		rs[i] = Result{Series: i, Class: 1, Known: true, Group: i / 25, Value: 5 + float64(i%60)/8 + sd*s.rng.NormFloat64()}
		if add != nil {
			rs[i].Value += add(i)
		}
	}
	vs, _ := s.j.Run(rs)
	return vs
}

// count judges runs and counts results, claims and confirmed claims, and what
// the verdicts themselves say chance would claim.
func (s *simulation) count(runs int) (judged, claimed, confirmed int, chance float64) {
	for range runs {
		for _, v := range s.run(nil) {
			if v.Judged {
				judged++
			}
			if v.Outcome == perf.Slower || v.Outcome == perf.Faster {
				claimed++
			}
			if v.State == perf.Confirmed {
				confirmed++
			}
			chance += v.Chance
		}
	}
	return judged, claimed, confirmed, chance
}

// Of unchanged code as many results are claimed as alpha says where noise hides
// the margin, fewer where it does not, and hardly any twice in a row. The
// verdicts say themselves how many.
func TestUnchangedCode(t *testing.T) {
	for _, tc := range []struct {
		name       string
		sd, spread float64
		alpha      float64
		lo, hi     float64 // share claimed
		confirmed  float64 // at most
	}{
		{"noisy", 0.06, 0.3, 0.05, 0.040, 0.060, 0.008},
		{"noisy, strict", 0.06, 0.3, 0.01, 0.006, 0.014, 0.001},
		{"mixed", 0.02, 0.7, 0.05, 0.005, 0.040, 0.004},
		{"quiet", 0.005, 0.3, 0.05, 0, 0.0005, 0},
	} {
		set := DefaultSettings()
		set.Alpha = tc.alpha
		judged, claimed, confirmed, chance := simulate(1, 300, tc.sd, tc.spread, set).count(60)
		share, twice := float64(claimed)/float64(judged), float64(confirmed)/float64(judged)
		t.Logf("%s: of %d judged %.2f %% claimed, %.3f %% confirmed, %.2f %% by chance", tc.name, judged, 100*share, 100*twice, 100*chance/float64(judged))
		if judged != 300*58 || share < tc.lo || share > tc.hi || twice > tc.confirmed {
			t.Errorf("%s: of %d judged %.2f %% claimed, %.3f %% confirmed", tc.name, judged, 100*share, 100*twice)
		}
		if d := math.Abs(float64(claimed) - chance); d > 0.2*chance+10 {
			t.Errorf("%s: %d claimed, %.1f foretold", tc.name, claimed, chance)
		}
	}
}

// Changes are found: most of 20 % at once and confirmed by the next run, those
// of the detectable size in four of five cases.
func TestPower(t *testing.T) {
	const n = 400
	step := map[bool]float64{true: math.Log(1.2), false: -math.Log(1.2)}
	s := simulate(2, n, 0.02, 0.4, DefaultSettings())
	for range 8 {
		s.run(nil)
	}
	plant := func(i int) float64 {
		if i%5 > 0 {
			return 0
		}
		return step[i%10 == 0]
	}
	found, confirmed := 0, 0
	for i, v := range s.run(plant) {
		if plant(i) != 0 && v.State == perf.Suspected && (v.Outcome == perf.Slower) == (plant(i) > 0) {
			found++
		}
	}
	for i, v := range s.run(plant) {
		if plant(i) != 0 && v.State == perf.Confirmed && (v.Outcome == perf.Slower) == (plant(i) > 0) {
			confirmed++
		}
	}
	t.Logf("of 80 changes of 20 %%: %d found, %d confirmed", found, confirmed)
	if found < 76 || confirmed < 74 {
		t.Errorf("of 80 changes of 20 %%: %d found, %d confirmed", found, confirmed)
	}
	var cases, claimed float64
	for seed := range uint64(20) {
		s := simulate(100+seed, n, 0.03, 0.3, DefaultSettings())
		var detectable []float64
		for range 10 {
			detectable = nil
			for _, v := range s.run(nil) {
				detectable = append(detectable, v.Detectable)
			}
		}
		for i, v := range s.run(func(i int) float64 {
			if i%20 == 0 {
				return detectable[i]
			}
			return 0
		}) {
			if i%20 == 0 {
				cases++
				if v.Outcome == perf.Slower {
					claimed++
				}
			}
		}
	}
	t.Logf("of %v detectable changes %v claimed", cases, claimed)
	if share := claimed / cases; share < 0.74 || share > 0.86 {
		t.Errorf("%.1f %% of the detectable changes claimed, want 80", 100*share)
	}
}

// The interval of a confirmed change holds the true one as often as it says,
// whatever the length of the past.
func TestIntervalOfAChange(t *testing.T) {
	for _, before := range []int{3, 6, 20} {
		for _, after := range []int{1, 2, 4} {
			var cases, held float64
			for seed := range uint64(12) {
				s := simulate(1000+seed, 300, 0.03, 0.3, settings(after))
				for range before {
					s.run(nil)
				}
				step := func(i int) float64 {
					if i%10 == 0 {
						return 0.5 // large enough to be found whatever the noise
					}
					return 0
				}
				for range after {
					s.run(step)
				}
				for i := 0; i < 300; i += 10 {
					if ch := s.j.Open(i); ch != nil && ch.Since == before {
						cases++
						if math.Abs(ch.Ratio-0.5) <= ch.Half {
							held++
						}
					}
				}
			}
			t.Logf("%d before, %d after: %v of %v", before, after, held, cases)
			if share := held / cases; cases < 300 || share < 0.92 || share > 0.98 {
				t.Errorf("%d before, %d after: %.1f %% of %v intervals hold the change, want 95", before, after, 100*share, cases)
			}
		}
	}
}
