package stats

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestUnlikeOthers(t *testing.T) {
	quiet := []float64{12, 12, 12, 13, 12, 12, 11}
	for _, c := range []struct {
		name   string
		value  float64
		others []float64
		says   string // "" for alike
	}{
		{"high", 40, quiet, "high: 40, against a median of 12 in 7 other runs"},
		{"low", 3, quiet, "low: 3, against a median of 12 in 7 other runs"},
		{"a quarter off is within the floor", 15, quiet, ""},
		{"more than a quarter", 15.5, quiet, "high: 15.5, against a median of 12 in 7 other runs"},
		{"one collection is not many", 1, []float64{0, 0, 0, 0, 0}, ""},
		{"two are", 2, []float64{0, 0, 0, 0, 0}, "high: 2, against a median of 0 in 5 other runs"},
		{"four others", 40, quiet[:4], ""},
		{"no others", 40, nil, ""},
		{"wide spread", 40, []float64{4, 30, 12, 20, 8, 16}, ""},
		{"one odd run among the others", 40, []float64{12, 12, 40, 13, 11, 12}, "high: 40, against a median of 12 in 6 other runs"},
		{"a waiting process", 25.004, []float64{99, 98.5, 99.2, 97, 99.1}, "low: 25, against a median of 99 in 5 other runs"},
		{"constants", 7, []float64{7, 7, 7, 7, 7}, ""},
	} {
		if reason, ok := UnlikeOthers(c.value, c.others); reason != c.says || ok != (c.says != "") {
			t.Errorf("%s: %q, %v, want %q", c.name, reason, ok, c.says)
		}
	}
	// Six scaled MADs of 50, beyond the floor of a quarter.
	spread := []float64{400, 450, 500, 550, 600}
	if _, ok := UnlikeOthers(500+5.9*50*madScale, spread); ok {
		t.Error("5.9 scaled MADs are unlike")
	}
	if _, ok := UnlikeOthers(500+6.1*50*madScale, spread); !ok {
		t.Error("6.1 scaled MADs are alike")
	}
}

func TestUnlikeOthersProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		others := samples(0, 20).Draw(t, "others")
		value := float64(rapid.IntRange(-2000, 4000).Draw(t, "value"))
		reason, ok := UnlikeOthers(value, others)
		if other, _ := UnlikeOthers(value, rapid.Permutation(others).Draw(t, "permuted")); other != reason {
			t.Fatalf("another order says %q, not %q", other, reason)
		}
		if len(others) < 5 && ok || ok != (reason != "") {
			t.Fatalf("%v, %q for %d others", ok, reason, len(others))
		}
		if ok && strings.HasPrefix(reason, "high") != (value > median(others)) {
			t.Fatalf("%v is called %q", value, reason)
		}
	})
}

func TestUnlikeOthersRefused(t *testing.T) {
	five := []float64{1, 2, 3, 4, 5}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if reason, ok := UnlikeOthers(bad, five); ok || reason != "" {
			t.Errorf("%v: %q", bad, reason)
		}
		if reason, ok := UnlikeOthers(1000, append([]float64{bad}, five...)); ok || reason != "" {
			t.Errorf("%v among the others: %q", bad, reason)
		}
	}
}
