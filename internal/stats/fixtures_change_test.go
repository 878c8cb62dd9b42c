package stats

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

type changeTolerance struct {
	Indices    string
	QRel       float64 `json:"q_rel"`
	PRel       float64 `json:"p_rel"`
	PAbs       float64 `json:"p_abs"`
	RelToWidth float64 `json:"rel_to_width"`
}

// toleranceOf reads the bounds that only these files have.
func toleranceOf(t *testing.T, name string) changeTolerance {
	t.Helper()
	dir := os.Getenv("PERFBAND_STATS")
	if dir == "" {
		dir = "../../../shared/fixtures/stats"
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return decode[struct{ Tolerance changeTolerance }](t, data).Tolerance
}

// decodeStrict fails on a field that the test does not know.
func decodeStrict[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func within(t *testing.T, what string, got, want, bound float64) {
	t.Helper()
	if !(math.Abs(got-want) <= bound) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, bound)
	}
}

type wantStep struct {
	Index      *int
	P          *float64
	MeanBefore *float64 `json:"mean_before"`
	MeanAfter  *float64 `json:"mean_after"`
}

type wantSteps struct {
	WindowLen    int        `json:"window_len"`
	MaxPvalue    float64    `json:"max_pvalue"`
	MinMagnitude *float64   `json:"min_magnitude"`
	ChangePoints []wantStep `json:"change_points"`
}

type wantSplit struct {
	Index *int
	Kappa *int
	Q     *float64
}

type wantChanges struct {
	Fixed *struct {
		K          int
		MinSize    int `json:"min_size"`
		Alpha      int
		OrderFound []int `json:"order_found"`
	} `json:"ecp_fixed_k"`
	Permutation *wantPermutation `json:"ecp_permutation"`
	Best5       *wantSplit       `json:"best_split_min5"`
	Best1       *wantSplit       `json:"best_split_min1"`
	Otava       *wantSteps
	Unbiased    *wantSteps `json:"otava_ddof1"`
	Magnitude   *wantSteps `json:"otava_ddof1_mag2pct"`
}

type wantPermutation struct {
	Level        float64 `json:"sig_lvl"`
	Permutations int
	MinSize      int       `json:"min_size"`
	Indices      []int     `json:"change_indices"`
	PValues      []float64 `json:"p_values_in_test_order"`
	Note         string
}

func TestFixturesChange(t *testing.T) {
	t.Run("change_points", func(t *testing.T) {
		f := fixtures(t, "change_points.json")
		tolerance := toleranceOf(t, "change_points.json")
		if tolerance.QRel == 0 || tolerance.PRel == 0 || tolerance.Indices != "exact for ecp_fixed_k and otava*; +/-2 for ecp_permutation" {
			t.Fatalf("tolerance is %+v", tolerance)
		}
		for _, c := range f.Cases {
			t.Run(c.Name, func(t *testing.T) {
				x := decodeStrict[struct{ X []float64 }](t, c.Input).X
				want := decodeStrict[wantChanges](t, c.Expected)
				if named := decode[map[string]json.RawMessage](t, c.Expected); len(named) != 7 {
					t.Fatalf("%d of 7 expected values", len(named)) // a null is present
				}
				if Summarize(x).StdDev == 0 && (EDivisiveFixed(x, 1, 1) != nil || EDivisive(x, EDivisiveOptions{}) != nil) {
					t.Error("a constant series has a change point")
				}
				compareEnergy(t, tolerance, x, want)
				compareSteps(t, tolerance, "otava", x, want.Otava, true)
				compareSteps(t, tolerance, "otava_ddof1", x, want.Unbiased, false)
				compareSteps(t, tolerance, "otava_ddof1_mag2pct", x, want.Magnitude, false)
			})
		}
	})
	t.Run("bootstrap", testBootstrapFixture)
}

// A null is a value that was not computed.
func compareEnergy(t *testing.T, tolerance changeTolerance, x []float64, want wantChanges) {
	for minSegment, w := range map[int]*wantSplit{1: want.Best1, 5: want.Best5} {
		if w == nil {
			continue
		}
		var search energySearch
		got := search.best(x, minSegment)
		if got.tau != *w.Index {
			t.Errorf("min segment %d: best split at %d, want %d", minSegment, got.tau, *w.Index)
		}
		if minSegment == 5 && got.kappa != *w.Kappa {
			t.Errorf("min segment %d: kappa %d, want %d", minSegment, got.kappa, *w.Kappa)
		}
		within(t, "q", got.q, *w.Q, tolerance.QRel**w.Q)
	}
	if w := want.Fixed; w != nil {
		if w.Alpha != 1 {
			t.Fatalf("exponent %d is not known", w.Alpha)
		}
		got := EDivisiveFixed(x, w.K, w.MinSize)
		if len(got) != len(w.OrderFound) {
			t.Fatalf("fixed k: %v, want %v", got, w.OrderFound)
		}
		for i, p := range got {
			if p.Index != w.OrderFound[i] {
				t.Errorf("fixed k: %v, want %v", got, w.OrderFound)
			}
		}
	}
	if w := want.Permutation; w != nil {
		comparePermutation(t, x, w)
	}
}

func comparePermutation(t *testing.T, x []float64, w *wantPermutation) {
	o := EDivisiveOptions{MinSegment: w.MinSize, Permutations: w.Permutations, Level: w.Level, Seed: 1}.withDefaults()
	got := EDivisive(x, o)
	if len(got) != len(w.Indices) {
		t.Fatalf("permutation test: %v, want %v", got, w.Indices)
	}
	for i, p := range got {
		within(t, "permutation index", float64(p.Index), float64(w.Indices[i]), 2)
	}
	tested := eDivisiveTested(x, o)
	if len(tested) != len(w.PValues) {
		t.Fatalf("%d candidates tested, want %d", len(tested), len(w.PValues))
	}
	for i, p := range tested {
		// Both p are shares of 500: five standard errors of their difference,
		// and two steps of 1/500 for the smallest.
		share := (p.P + w.PValues[i]) / 2
		within(t, "permutation p", p.P, w.PValues[i], 5*math.Sqrt(2*share*(1-share)/500)+0.004)
		if (p.P <= w.Level) != (w.PValues[i] <= w.Level) {
			t.Errorf("candidate at %d: p %v and %v decide differently", p.Index, p.P, w.PValues[i])
		}
	}
}

func compareSteps(t *testing.T, tolerance changeTolerance, what string, x []float64, w *wantSteps, population bool) {
	if w == nil || w.ChangePoints == nil || w.WindowLen != changeWindow || w.MinMagnitude == nil {
		t.Fatalf("%s: no comparable expectation: %+v", what, w)
	}
	got := ChangePoints(x, ChangePointOptions{P: w.MaxPvalue, MinMagnitude: *w.MinMagnitude, populationSpread: population, staleLeft: true})
	if len(got) != len(w.ChangePoints) {
		t.Fatalf("%s: %+v, want %d points", what, got, len(w.ChangePoints))
	}
	for i, p := range got {
		want := w.ChangePoints[i]
		if p.Index != *want.Index {
			t.Errorf("%s: point %d at %d, want %d", what, i, p.Index, *want.Index)
		}
		// Relative alone: the file's absolute bound would let any tiny p pass.
		within(t, what+" p", p.P, *want.P, tolerance.PRel**want.P)
		within(t, what+" mean before", p.Before, *want.MeanBefore, tolerance.QRel*math.Abs(*want.MeanBefore))
		within(t, what+" mean after", p.After, *want.MeanAfter, tolerance.QRel*math.Abs(*want.MeanAfter))
	}
}

func testBootstrapFixture(t *testing.T) {
	type wantIntervals struct {
		Estimate  *float64
		Perc, BCa []float64
	}
	f := fixtures(t, "bootstrap.json")
	relative := toleranceOf(t, "bootstrap.json").RelToWidth
	if relative == 0 {
		t.Fatal("no tolerance")
	}
	compare := func(t *testing.T, what string, got BootstrapInterval, estimate *float64, want []float64) {
		bound := relative * (want[1] - want[0])
		within(t, what+" estimate", got.Estimate, *estimate, 1e-12)
		within(t, what+" lower", got.Lo, want[0], bound)
		within(t, what+" upper", got.Hi, want[1], bound)
	}
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			in := decodeStrict[struct{ D, X, Y []float64 }](t, c.Input)
			want := decodeStrict[wantIntervals](t, c.Expected)
			if in.D != nil {
				percentile, bca, ok := BootstrapMean(in.D, BootstrapOptions{Seed: 1})
				if !ok {
					t.Fatal("no interval")
				}
				compare(t, "percentile", percentile, want.Estimate, want.Perc)
				compare(t, "bca", bca, want.Estimate, want.BCa)
				return
			}
			interval, ok := BootstrapMedianRatio(in.X, in.Y, BootstrapOptions{Seed: 1})
			if !ok || want.BCa != nil {
				t.Fatalf("ok %v, BCa expected %v", ok, want.BCa)
			}
			compare(t, "percentile", interval, want.Estimate, want.Perc)
		})
	}
}
