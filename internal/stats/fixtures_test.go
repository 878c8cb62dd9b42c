package stats

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixture is one file of published values, computed with another program.
type fixture struct {
	Tolerance struct{ Rel, Abs float64 }
	Cases     []struct {
		Name     string
		Input    json.RawMessage
		Expected json.RawMessage
	}
}

// fixtures reads one file of the shared statistics fixtures.
func fixtures(t *testing.T, name string) fixture {
	t.Helper()
	dir := os.Getenv("PERFBAND_STATS")
	if dir == "" {
		dir = "../../../shared/fixtures/stats"
	}
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		if req := os.Getenv("PERFBAND_REQUIRE"); req == "all" || slices.Contains(strings.Split(req, ","), "corpus") {
			t.Fatal(err)
		}
		t.Skipf("statistics fixtures are missing: %v", err)
	}
	var f fixture
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Cases) == 0 {
		t.Fatalf("%s holds no case", name)
	}
	return f
}

func decode[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// same compares with the fixture's tolerance; nil stands for undefined.
func (f fixture) same(t *testing.T, what string, got float64, want *float64) {
	t.Helper()
	if want == nil {
		if !math.IsNaN(got) {
			t.Errorf("%s = %v, want undefined", what, got)
		}
		return
	}
	if diff := math.Abs(got - *want); !(diff <= f.Tolerance.Abs || diff <= f.Tolerance.Rel*math.Abs(*want)) {
		t.Errorf("%s = %v, want %v", what, got, *want)
	}
}

type vector struct {
	X []float64 `json:"x"`
	P []float64 `json:"p"`
}

func TestFixtures(t *testing.T) {
	t.Run("summaries", func(t *testing.T) {
		f := fixtures(t, "summaries.json")
		for _, c := range f.Cases {
			t.Run(c.Name, func(t *testing.T) {
				s := Summarize(decode[vector](t, c.Input).X)
				want := decode[map[string]*float64](t, c.Expected)
				lo95, hi95 := s.MeanCI(0.95)
				lo99, hi99 := s.MeanCI(0.99)
				got := map[string]float64{"n": float64(s.N), "mean": s.Mean, "median": s.Median, "stddev": s.StdDev, "cv": s.CV, "min": s.Min, "max": s.Max,
					"q1": s.Q1, "q3": s.Q3, "p50": s.Median, "p95": s.P95, "p99": s.P99,
					"ci95_lower": lo95, "ci95_upper": hi95, "ci99_lower": lo99, "ci99_upper": hi99, "variance": s.StdDev * s.StdDev}
				compared := 0
				for name, w := range want {
					if g, ok := got[name]; ok {
						f.same(t, name, g, w)
						compared++
					}
				}
				if compared < 15 {
					t.Errorf("only %d of %d expected values have a name known here", compared, len(want))
				}
			})
		}
	})
	t.Run("percentiles", func(t *testing.T) {
		f := fixtures(t, "percentiles.json")
		for _, c := range f.Cases {
			t.Run(c.Name, func(t *testing.T) {
				in := decode[vector](t, c.Input)
				want := decode[map[string][]*float64](t, c.Expected)["type7"]
				if len(want) == 0 || len(want) != len(in.P) {
					t.Fatalf("%d expected quantiles for %d probabilities", len(want), len(in.P))
				}
				sorted := slices.Sorted(slices.Values(in.X))
				for i, p := range in.P {
					f.same(t, c.Name, Quantile(sorted, p), want[i])
				}
			})
		}
	})
	t.Run("student_t", func(t *testing.T) {
		f := fixtures(t, "student_t.json")
		for _, c := range f.Cases {
			t.Run(c.Name, func(t *testing.T) {
				df := decode[struct{ DF float64 }](t, c.Input).DF
				if df != math.Trunc(df) || df > math.MaxInt32 {
					t.Fatalf("df %v is not a whole number", df)
				}
				want := decode[struct{ T90, T95, T99, T999 *float64 }](t, c.Expected)
				for level, w := range map[float64]*float64{0.90: want.T90, 0.95: want.T95, 0.99: want.T99, 0.999: want.T999} {
					f.same(t, "t", StudentT(1-(1-level)/2, int(df)), w)
				}
			})
		}
	})
}
