package stats

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"testing"
)

// fields are the values computed for one case, by the names of the fixture:
// float64, []float64, []bool, bool or string.
type fields map[string]any

// all compares every expected field; one that got does not know is an error.
func (f fixture) all(t *testing.T, expected json.RawMessage, got fields) {
	t.Helper()
	want := decode[map[string]json.RawMessage](t, expected)
	if len(want) == 0 {
		t.Fatal("nothing is expected")
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch g := got[name].(type) {
		case float64:
			f.same(t, name, g, decode[*float64](t, want[name]))
		case []float64:
			w := decode[[]*float64](t, want[name])
			if w == nil { // all of it is undefined
				w = make([]*float64, len(g))
			}
			if len(w) != len(g) {
				t.Errorf("%s has %d values, want %d", name, len(g), len(w))
				continue
			}
			for i := range w {
				f.same(t, name, g[i], w[i])
			}
		case []bool:
			if w := decode[[]bool](t, want[name]); !slices.Equal(g, w) {
				t.Errorf("%s = %v, want %v", name, g, w)
			}
		case bool, string:
			if w := decode[any](t, want[name]); g != w {
				t.Errorf("%s = %v, want %v", name, g, w)
			}
		default:
			t.Errorf("expected field %s has no value here", name)
		}
	}
}

func pair(lo, hi float64) []float64 { return []float64{lo, hi} }

func TestFixturesTests(t *testing.T) {
	for name, compute := range map[string]func(*testing.T, json.RawMessage, json.RawMessage) fields{
		"mann_kendall":     kendallFields,
		"mann_whitney":     mannWhitneyFields,
		"multiplicity":     multiplicityFields,
		"welch_tost":       welchFields,
		"regression_rules": ruleFields,
	} {
		t.Run(name, func(t *testing.T) {
			f := fixtures(t, name+".json")
			for _, c := range f.Cases {
				t.Run(c.Name, func(t *testing.T) {
					f.all(t, c.Expected, compute(t, c.Input, c.Expected))
				})
			}
		})
	}
}

func kendallFields(t *testing.T, input, _ json.RawMessage) fields {
	x := decodeStrict[struct{ X []float64 }](t, input).X
	trend, ok1 := MannKendall(x)
	line, ok2 := TheilSen(x)
	if !ok1 || !ok2 {
		t.Fatal("refused")
	}
	return fields{"n": float64(trend.N), "s": float64(trend.S), "var_s": trend.VarS, "z": trend.Z(), "p_two_sided": trend.PNormal(),
		"tau_b": trend.TauB, "exact_p_no_ties": trend.PExact(),
		"sen_slope": line.Slope, "sen_intercept": line.Intercept, "sen_ci95": pair(line.Lo, line.Hi)}
}

func mannWhitneyFields(t *testing.T, input, expected json.RawMessage) fields {
	in := decodeStrict[struct{ X, Y []float64 }](t, input)
	r, ok1 := MannWhitneyU(in.X, in.Y)
	shift, ok2 := HodgesLehmann(in.X, in.Y, 0.95)
	if !ok1 || !ok2 {
		t.Fatal("refused")
	}
	got := fields{"n1": float64(r.N1), "n2": float64(r.N2), "u1": r.U1, "u2": r.U2, "has_ties": r.Ties,
		"p_exact_two_sided": r.P, "p_exact_less": r.PLess, "p_exact_greater": r.PGreater,
		"z_continuity": r.Z, "p_normal_two_sided": r.PNormal, "cliffs_delta": r.CliffsDelta,
		"hodges_lehmann_y_minus_x": shift.Estimate, "hodges_lehmann_ci95": pair(shift.Lo, shift.Hi)}
	if !r.Exact {
		if r.P != r.PNormal {
			t.Errorf("p = %v is neither exact nor the normal %v", r.P, r.PNormal)
		}
		got["p_exact_two_sided"], got["p_exact_less"], got["p_exact_greater"] = math.NaN(), math.NaN(), math.NaN()
		return got
	}
	// The program that made the file enumerated up to three million assignments
	// and had only the two-sided p of untied samples for more.
	if assignments := math.Exp(logChoose(r.N1+r.N2, r.N1)); assignments > 3e6 {
		want := decode[map[string]any](t, expected)
		for _, name := range []string{"p_exact_less", "p_exact_greater"} {
			if want[name] == nil {
				got[name] = math.NaN()
			}
		}
		if want["p_exact_two_sided"] == nil && (r.Ties || max(r.N1, r.N2) >= 50) {
			got["p_exact_two_sided"] = math.NaN()
		}
	}
	return got
}

func logChoose(n, k int) float64 {
	sum := 0.0
	for i := 1; i <= k; i++ {
		sum += math.Log(float64(n-k+i)) - math.Log(float64(i))
	}
	return sum
}

func multiplicityFields(t *testing.T, input, _ json.RawMessage) fields {
	var ps []float64
	for _, p := range decodeStrict[struct{ P []*float64 }](t, input).P {
		if p == nil {
			ps = append(ps, math.NaN())
		} else {
			ps = append(ps, *p)
		}
	}
	rejected := func(adjusted []float64) []bool {
		out := make([]bool, len(adjusted))
		for i, p := range adjusted {
			out[i] = p <= 0.05
		}
		return out
	}
	return fields{"holm": Holm(ps), "bh": BenjaminiHochberg(ps), "by": BenjaminiYekutieli(ps), "bonferroni": Bonferroni(ps),
		"reject_holm_05": rejected(Holm(ps)), "reject_bh_05": rejected(BenjaminiHochberg(ps))}
}

func welchFields(t *testing.T, input, _ json.RawMessage) fields {
	in := decodeStrict[struct {
		X, Y  []float64
		Delta float64
	}](t, input)
	e, ok := WelchT(in.X, in.Y)
	if !ok {
		t.Fatal("refused")
	}
	lo90, hi90 := e.CI(0.90)
	lo95, hi95 := e.CI(0.95)
	tost := e.TOST(in.Delta)
	if within := -in.Delta < lo90 && hi90 < in.Delta; within != (tost.P < 0.05) {
		t.Errorf("p %v and the 90 %% interval [%v, %v] disagree", tost.P, lo90, hi90)
	}
	return fields{"mean_diff": e.Value, "t": e.T(), "df": e.DF, "p": e.P(), "ci90": pair(lo90, hi90), "ci95": pair(lo95, hi95),
		"p_lower": tost.PLower, "p_upper": tost.PUpper, "p_tost": tost.P, "equivalent_05": tost.P < 0.05}
}

func ruleFields(t *testing.T, input, _ json.RawMessage) fields {
	switch kind := decode[struct{ Kind string }](t, input).Kind; kind {
	case "legacy_ci99":
		return legacyFields(t, input)
	case "paired_rounds":
		return roundsFields(t, input)
	case "stability":
		in := decodeStrict[struct {
			Kind string
			N    int
			CV   *float64
			MinN int     `json:"min_n"`
			LowN int     `json:"low_n"`
			Low  float64 `json:"cv_low"`
			High float64 `json:"cv_high"`
		}](t, input)
		cv := math.NaN()
		if in.CV != nil {
			cv = *in.CV
		}
		return fields{"stable": StabilityRule{MinN: in.MinN, LowN: in.LowN, LowNCV: in.Low, StableCV: in.High}.Stable(in.N, cv)}
	default:
		t.Fatalf("unknown kind of rule %q", kind)
		return nil
	}
}

func legacyFields(t *testing.T, input json.RawMessage) fields {
	in := decodeStrict[struct {
		Kind                 string
		LowerIsBetter        bool `json:"lower_is_better"`
		Baseline, Run1, Run2 []float64
	}](t, input)
	base := Summarize(in.Baseline)
	lo, hi := base.MeanCI(0.99)
	m1, m2 := Summarize(in.Run1).Median, Summarize(in.Run2).Median
	side1, ok1 := LegacyCI99(base, m1, in.LowerIsBetter)
	side2, ok2 := LegacyCI99(base, m2, in.LowerIsBetter)
	regressed, ok := LegacyPersistent(base, m1, m2, in.LowerIsBetter)
	if !ok1 || !ok2 || !ok {
		t.Fatal("refused")
	}
	return fields{"ci99_lower": lo, "ci99_upper": hi, "median1": m1, "median2": m2,
		"run1": string(side1), "run2": string(side2), "persistent_regression": regressed}
}

func roundsFields(t *testing.T, input json.RawMessage) fields {
	in := decodeStrict[struct {
		Kind string
		D    []float64
		Tau2 float64
		MAA  int `json:"m_aa"`
	}](t, input)
	r, ok := PairedRounds(in.D, in.Tau2, in.MAA)
	if !ok {
		t.Fatal("refused")
	}
	lo, hi := r.CI(0.95)
	ratio, ratioLo, ratioHi := r.Ratio(0.95)
	return fields{"mean": r.Value, "var_within": r.VarWithin, "df": r.DF, "t": r.T(), "p": r.P(), "ci95": pair(lo, hi),
		"ratio": ratio, "ratio_ci95": pair(ratioLo, ratioHi)}
}
