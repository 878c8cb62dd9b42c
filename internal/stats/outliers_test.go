package stats

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var outlierRules = []OutlierRule{OutliersIQR, OutliersMAD, OutliersZScore, OutliersGrubbs}

func labelledValues(xs []float64, l Labels) (values []float64) {
	for _, i := range l.Indices {
		values = append(values, xs[i])
	}
	slices.Sort(values)
	return values
}

// spiked draws a sample of which some values may be far off.
var spiked = rapid.Custom(func(t *rapid.T) []float64 {
	xs := samples(0, 40).Draw(t, "xs")
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, 39), 0, 5).Draw(t, "spikes") {
		if i < len(xs) {
			xs[i] += float64(1+i) * 1e6
		}
	}
	return xs
})

func TestOutliersProperties(t *testing.T) {
	for _, rule := range outlierRules {
		t.Run(string(rule), func(t *testing.T) {
			fired := 0
			rapid.Check(t, func(t *rapid.T) {
				xs := spiked.Draw(t, "xs")
				kept := slices.Clone(xs)
				l := Outliers(xs, rule)
				if !slices.Equal(xs, kept) {
					t.Fatal("the values were changed")
				}
				if len(l.Indices) > max(0, len(xs)-3) || !slices.IsSorted(l.Indices) || l.Skipped != "" && len(l.Indices) > 0 || l.Rule != rule {
					t.Fatalf("%+v of %d values", l, len(xs))
				}
				if len(l.Indices) > 0 {
					fired++
				}
				if rest := l.Unlabelled(xs); len(rest) != len(xs)-len(l.Indices) {
					t.Fatalf("%d of %d values are left without %d", len(rest), len(xs), len(l.Indices))
				}
				scaled := make([]float64, len(xs))
				for i, x := range xs {
					scaled[i] = -4 * x
				}
				if s := Outliers(scaled, rule); (rule == OutliersIQR || rule == OutliersMAD) && (!slices.Equal(s.Indices, l.Indices) || s.Skipped != l.Skipped) {
					t.Fatalf("scaled and mirrored: %+v, not %+v", s, l)
				}
				for i, x := range xs {
					scaled[i] = 4 * x
				}
				if s := Outliers(scaled, rule); !slices.Equal(s.Indices, l.Indices) || s.Skipped != l.Skipped {
					t.Fatalf("scaled: %+v, not %+v", s, l)
				}
				permuted := rapid.Permutation(xs).Draw(t, "permuted")
				if p := Outliers(permuted, rule); rule != OutliersGrubbs && !slices.Equal(labelledValues(permuted, p), labelledValues(xs, l)) {
					t.Fatalf("another order labels %v, not %v", labelledValues(permuted, p), labelledValues(xs, l))
				}
			})
			if fired == 0 {
				t.Error("the rule never fired")
			}
		})
	}
}

// One value at a time, and yet the order of the values does not matter unless two are
// exactly as extreme.
func TestGrubbsOrder(t *testing.T) {
	xs := []float64{100, 101, 99, 100.5, 99.5, 100.2, 99.8, 1000, 130, 100.1, 85, 100.3}
	want := []float64{85, 130, 1000}
	for shift := range xs {
		rotated := slices.Concat(xs[shift:], xs[:shift])
		if l := Outliers(rotated, OutliersGrubbs); !slices.Equal(labelledValues(rotated, l), want) {
			t.Errorf("rotated by %d: %v", shift, labelledValues(rotated, l))
		}
	}
	// Two values as far from the mean: the first in order is tested first.
	for _, c := range [][]float64{{-50, 0, 0, 0, 0, 0, 50}, {50, 0, 0, 0, 0, 0, -50}} {
		if steps := grubbs(c); steps[0].index != 0 {
			t.Errorf("%v: index %d is tested first", c, steps[0].index)
		}
	}
}

func TestOutliersSkipped(t *testing.T) {
	ten := []float64{1, 1.1, 0.9, 1, 1.05, 0.95, 1, 1.02, 0.98, 50}
	mostly := []float64{10, 10, 10, 10, 10, 10, 10, 10, 10, 12, 30, 9}
	for _, c := range []struct {
		name string
		xs   []float64
		rule OutlierRule
		says string // "" when the rule applies
	}{
		{"none", nil, OutliersIQR, "n < 4"},
		{"one", []float64{1}, OutliersMAD, "n < 4"},
		{"three", []float64{1, 1.001, 90}, OutliersMAD, "n < 4"},
		{"three", []float64{1, 1.001, 90}, OutliersGrubbs, "n < 4"},
		{"four", []float64{1, 1.01, 0.99, 90}, OutliersGrubbs, ""},
		{"constant", slices.Repeat([]float64{0.1}, 12), OutliersGrubbs, "all values are equal"},
		{"constant", slices.Repeat([]float64{0.1}, 12), OutliersZScore, "all values are equal"},
		{"constant", slices.Repeat([]float64{0.1}, 12), OutliersMAD, "all values are equal"},
		{"iqr", mostly, OutliersIQR, "iqr is zero"},
		{"mad", mostly, OutliersMAD, ""},
		{"ten", ten, OutliersZScore, "n <= 10 can never fire"},
		{"eleven", append(slices.Clone(ten), 1), OutliersZScore, ""},
		{"rule", ten, "median", "no rule of this name"},
		{"no rule", ten, "", "no rule of this name"},
		{"overflow", []float64{-1.7e308, -1.6e308, 0, 1, 2, 3, 4, 5, 6, 1.6e308, 1.7e308}, OutliersZScore, "cannot be computed"},
		{"overflow", []float64{-1.7e308, -1.6e308, 0, 1, 2, 3, 4, 5, 6, 1.6e308, 1.7e308}, OutliersGrubbs, "cannot be computed"},
		{"overflow", []float64{-1.7e308, 1.7e308, -1.7e308, 1.7e308}, OutliersIQR, "cannot be computed"},
		{"overflow", []float64{-1.7e308, 1.7e308, -1.7e308, 1.7e308}, OutliersMAD, "cannot be computed"},
		{"underflow", []float64{0, 1e-200, 2e-200, 3e-200, 4e-200, 5e-200, 6e-200, 7e-200, 8e-200, 9e-200, 1e-199}, OutliersZScore, "cannot be computed"},
		{"underflow", []float64{0, 1e-200, 2e-200, 3e-200, 4e-200, 5e-200, 6e-200, 7e-200, 8e-200, 9e-200, 1e-199}, OutliersGrubbs, "cannot be computed"},
	} {
		l := Outliers(c.xs, c.rule)
		if (l.Skipped == "") != (c.says == "") || !strings.Contains(l.Skipped, c.says) {
			t.Errorf("%s with %s: skipped %q, want %q", c.name, c.rule, l.Skipped, c.says)
		}
		if l.Skipped != "" && (len(l.Indices) > 0 || !math.IsNaN(l.Lower) || !math.IsNaN(l.Upper)) {
			t.Errorf("%s with %s: skipped, and yet %+v", c.name, c.rule, l)
		}
	}
	for _, rule := range outlierRules {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			if l := Outliers(append(slices.Clone(ten), bad), rule); !strings.Contains(l.Skipped, "not finite") || len(l.Indices) > 0 {
				t.Errorf("%s with %v: %+v", rule, bad, l)
			}
		}
	}
}

// Grubbs goes on to the last three values, which stay whatever the test says.
func TestGrubbsKeepsThree(t *testing.T) {
	xs := []float64{0, 1e-9, 1, 1e9, 1e18}
	significant := 0
	for _, s := range grubbs(xs) {
		if s.significant {
			significant++
		}
	}
	l := Outliers(xs, OutliersGrubbs)
	if significant != 3 || !slices.Equal(l.Indices, []int{3, 4}) {
		t.Errorf("%d significant, labels %v", significant, l.Indices)
	}
}

func TestOutlierBounds(t *testing.T) {
	xs := []float64{9, 10, 11, 12, 13, 40, -20}
	l := Outliers(xs, OutliersIQR)
	if l.Lower != 5 || l.Upper != 17 || !slices.Equal(l.Indices, []int{5, 6}) {
		t.Errorf("%+v", l)
	}
	if s := Summarize(l.Unlabelled(xs)); s.N != 5 || s.Mean != 11 || s.Max != 13 {
		t.Errorf("without the labelled: %+v", s)
	}
	// A value on a fence is inside.
	if l := Outliers([]float64{9, 10, 11, 12, 17}, OutliersIQR); l.Upper != 15 || len(l.Indices) != 1 {
		t.Errorf("%+v", l)
	}
	if l := Outliers([]float64{9, 10, 11, 12, 15}, OutliersIQR); l.Upper != 15 || len(l.Indices) != 0 {
		t.Errorf("%+v", l)
	}
}
