package text

import (
	"math"
	"testing"
)

func TestValue(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{4310, "ns", "4.310 µs"},
		{0, "ns", "0 ns"},
		{0.3127, "ns", "0.3127 ns"},
		{999.4, "ns", "999.4 ns"},
		{1e3, "ns", "1 µs"},
		{1.5e9, "ns", "1.500 s"},
		{9216, "B", "9 216 B"},
		{96.5, "B", "96.50 B"},
		{10240, "B", "10 KiB"},
		{3 << 20, "B", "3 MiB"},
		{123456, "1/s", "123.5 k/s"},
		{9876.54, "1/s", "9 877 /s"},
		{5e9, "B/s", "4.657 GiB/s"},
		{1234567, "count", "1 234 567"},
		{0.0123, "ratio", "1.230 %"},
		{42, "widgets", "42 widgets"},
		{-3.5, "count", "−3.500"},
		{1e300, "ns", "1.000e+291 s"},
		{1e-9, "ns", "1.000e−09 ns"},
	} {
		if got := PlainNumbers.Value(c.v, c.unit); got != c.want {
			t.Errorf("Value(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestInterval(t *testing.T) {
	for _, c := range []struct {
		v, lo, hi float64
		unit      string
		want      string
	}{
		{4310, 4250, 4370, "ns", "4.31 µs ± 0.06"},
		{33754, 33484, 34024, "ns", "33.75 µs ± 0.27"},
		{512e3, 501e3, 523e3, "ns", "512 µs ± 11"},
		{4310, 4220, 4580, "ns", "4.31 µs [4.22, 4.58]"},
		{100, 100, 100, "ns", "100 ns ± 0"},
		{10, 0.04, 19.96, "ns", "10 ns ± 10"},
		{300e3, -1200e3, 1800e3, "ns", "300 µs ± 1 500"},
		{5, 5.5, 6.5, "ns", "5.0 ns [5.5, 6.5]"},
		{1, 0.9904, 1.0096, "ns", "1.000 ns ± 0.010"},
		{15.596, 15.584, 15.608, "ns", "15.596 ns ± 0.012"},
		{0.5, 0.48, 0.52, "ratio", "50.0 % ± 2.0"},
		{500, 100, 900, "widgets", "500 widgets ± 400"},
		{0, 0, 0, "ratio", "0 % ± 0"},
	} {
		if got := PlainNumbers.Interval(c.v, c.lo, c.hi, c.unit); got != c.want {
			t.Errorf("Interval(%v, %v, %v, %q) = %q, want %q", c.v, c.lo, c.hi, c.unit, got, c.want)
		}
	}
	if got, want := HTMLNumbers.Interval(4310, 4250, 4370, "ns"), "4.31\u202fµs ±\u202f0.06"; got != want {
		t.Errorf("HTML: %q, want %q", got, want)
	}
}

func TestChange(t *testing.T) {
	for _, c := range []struct {
		r, lo, hi float64
		want      string
	}{
		{1.049, 1.031, 1.068, "+4.9 % [+3.1, +6.8]"},
		{0.772, 0.751, 0.793, "−22.8 % [−24.9, −20.7]"},
		{1, 0.96, 1.04, "0 % [−4, +4]"},
		{1.55, 1.48, 1.63, "1.55× slower [1.48, 1.63]"},
		{0.5, 0.48, 0.52, "2.00× faster [1.92, 2.08]"},
	} {
		if got := PlainNumbers.Change(c.r, c.lo, c.hi); got != c.want {
			t.Errorf("Change(%v, %v, %v) = %q, want %q", c.r, c.lo, c.hi, got, c.want)
		}
	}
}

func TestPercentAndCount(t *testing.T) {
	for ratio, want := range map[float64]string{0.0213: "2.1 %", 0.123: "12 %", 0: "0 %", 0.00004: "<0.01 %", 1.5: "150 %"} {
		if got := PlainNumbers.Percent(ratio); got != want {
			t.Errorf("Percent(%v) = %q, want %q", ratio, got, want)
		}
	}
	for level, want := range map[float64]string{0.99: "99 %", 0.999: "99.9 %", 0.95: "95 %"} {
		if got := PlainNumbers.Level(level); got != want {
			t.Errorf("Level(%v) = %q, want %q", level, got, want)
		}
	}
	for i, want := range map[int]string{0: "0", 999: "999", 1712: "1 712", 1000000: "1 000 000"} {
		if got := PlainNumbers.Count(i); got != want {
			t.Errorf("Count(%d) = %q, want %q", i, got, want)
		}
	}
}

// The place rule must hold for any width, and nothing may panic on extremes.
func TestIntervalExtremes(t *testing.T) {
	for _, v := range []float64{0, 1e-300, 1e300, math.MaxFloat64, -1, 5e-324} {
		for _, h := range []float64{0, 1e-300, 1, 1e300, math.Inf(1), math.NaN()} {
			got := PlainNumbers.Interval(v, v-h, v+h, "ns")
			if got == "" || len(got) > 60 {
				t.Errorf("Interval(%v ± %v) has %d bytes", v, h, len(got))
			}
		}
	}
}
