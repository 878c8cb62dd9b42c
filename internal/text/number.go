package text

import (
	"math"
	"strconv"
	"strings"
)

// Numbers writes numbers for one sink. Output never depends on a locale: the
// decimal separator is ".", a minus is U+2212, and Space stands between digit
// groups and before units.
type Numbers struct {
	Space string
}

// The two sinks. A narrow no-break space keeps a number and its unit on one
// line of a page; Markdown and CSV have a plain one, which survives copying.
var (
	HTMLNumbers  = Numbers{Space: "\u202f"}
	PlainNumbers = Numbers{Space: " "}
)

// Scale is a display unit: the number shown is value / Factor, then Suffix.
type Scale struct {
	Factor float64
	Suffix string // "" for plain counts
}

// step of a unit's ladder: from At on (in the base unit), the scale is used.
type step struct {
	at float64
	Scale
}

// ladders hold the display units of each base unit. Bytes stay exact below
// 10,000, since 9,216 B says more than 9 KiB; ratios are shown in percent.
var ladders = map[string][]step{
	"ns": {{0, Scale{1, "ns"}}, {1e3, Scale{1e3, "µs"}}, {1e6, Scale{1e6, "ms"}}, {1e9, Scale{1e9, "s"}}},
	"B": {{0, Scale{1, "B"}}, {1e4, Scale{1 << 10, "KiB"}}, {1 << 20, Scale{1 << 20, "MiB"}},
		{1 << 30, Scale{1 << 30, "GiB"}}, {1 << 40, Scale{1 << 40, "TiB"}}},
	"B/s": {{0, Scale{1, "B/s"}}, {1e4, Scale{1 << 10, "KiB/s"}}, {1 << 20, Scale{1 << 20, "MiB/s"}},
		{1 << 30, Scale{1 << 30, "GiB/s"}}, {1 << 40, Scale{1 << 40, "TiB/s"}}},
	"1/s":   {{0, Scale{1, "/s"}}, {1e4, Scale{1e3, "k/s"}}, {1e6, Scale{1e6, "M/s"}}, {1e9, Scale{1e9, "G/s"}}},
	"count": {{0, Scale{1, ""}}},
	"ratio": {{0, Scale{0.01, "%"}}},
}

// ScaleOf is the display unit for a value of about v in the base unit. A unit
// it does not know is shown as it is.
func ScaleOf(v float64, unit string) Scale {
	steps, ok := ladders[unit]
	if !ok {
		return Scale{1, unit}
	}
	s := steps[0].Scale
	for _, next := range steps[1:] {
		if math.Abs(v) >= next.at {
			s = next.Scale
		}
	}
	return s
}

// Value writes v to four significant digits, whole numbers in full. It says
// nothing about uncertainty: the caller marks it "single value" or "exact".
func (n Numbers) Value(v float64, unit string) string {
	s := ScaleOf(v, unit)
	x := v / s.Factor
	if a := math.Abs(x); a != 0 && (a >= 1e12 || a < 1e-6) {
		return n.unit(minus(strconv.FormatFloat(x, 'e', 3, 64)), s.Suffix)
	}
	decimals := 0
	if x != math.Trunc(x) {
		decimals = 3 - exponent(x)
	}
	return n.unit(n.fixed(x, min(max(decimals, 0), 9)), s.Suffix)
}

// Interval writes v with the bounds of its interval: "4.31 µs ± 0.06" or, when
// the two sides differ by over a quarter, "4.31 µs [4.22, 4.58]". The half
// width has one digit, two if it starts with 1 or 2, and v the same place.
func (n Numbers) Interval(v, lo, hi float64, unit string) string {
	s := ScaleOf(v, unit)
	v, lo, hi = v/s.Factor, lo/s.Factor, hi/s.Factor
	half := (hi - lo) / 2
	if !(half > 0) || half >= 1e12 || math.Abs(v) >= 1e12 {
		return n.Value(v*s.Factor, unit) + n.around("±", n.general(half))
	}
	d := places(half)
	up, down := hi-v, v-lo
	if math.Abs(up-down) > 0.25*math.Max(math.Abs(up), math.Abs(down)) {
		return n.unit(n.fixed(v, d), s.Suffix) + " [" + n.fixed(lo, d) + ", " + n.fixed(hi, d) + "]"
	}
	return n.unit(n.fixed(v, d), s.Suffix) + n.around("±", n.fixed(half, d))
}

// Change writes the cost ratio r = new/old with its interval in words that
// cannot be read backwards: "+4.9 % [+3.1, +6.8]" is slower, and from ×1.5 or
// ×0.67 on "1.55× slower [1.48, 1.63]" or "1.60× faster [1.52, 1.69]".
func (n Numbers) Change(r, lo, hi float64) string {
	word := ""
	switch {
	case r >= 1.5:
		word = "slower"
	case r > 0 && r <= 0.67 && lo > 0:
		word = "faster"
		r, lo, hi = 1/r, 1/hi, 1/lo
	}
	if word != "" {
		d := max(places((hi-lo)/2), 1)
		return n.fixed(r, d) + "×" + n.Space + word + " [" + n.fixed(lo, d) + ", " + n.fixed(hi, d) + "]"
	}
	pc := func(x float64) float64 { return (x - 1) * 100 }
	d := max(places(pc(hi)-pc((hi+lo)/2)), 0)
	return n.signed(pc(r), d) + n.Space + "% [" + n.signed(pc(lo), d) + ", " + n.signed(pc(hi), d) + "]"
}

// Percent writes a ratio as a percentage with two significant digits, at most
// two decimals; what would round to nothing is "<0.01 %", not 0.
func (n Numbers) Percent(ratio float64) string {
	x := ratio * 100
	if x > 0 && x < 0.005 {
		return "<0.01" + n.Space + "%"
	}
	decimals := 0
	if x != 0 {
		decimals = min(max(1-exponent(x), 0), 2)
	}
	return n.fixed(x, decimals) + n.Space + "%"
}

// Level writes a confidence level: "99 %", "99.9 %".
func (n Numbers) Level(level float64) string {
	s := strconv.FormatFloat(level*100, 'g', 10, 64)
	return s + n.Space + "%"
}

// Count writes a whole number in groups of three digits.
func (n Numbers) Count(i int) string { return n.fixed(float64(i), 0) }

func (n Numbers) unit(number, suffix string) string {
	if suffix == "" {
		return number
	}
	return number + n.Space + suffix
}

// around sets a sign off from what stands before and after it.
func (n Numbers) around(sign, after string) string { return " " + sign + n.Space + after }

// general writes any number shortly, for the corner where no place can be
// derived from a half width.
func (n Numbers) general(v float64) string {
	return minus(strconv.FormatFloat(v, 'g', 3, 64))
}

func (n Numbers) signed(v float64, decimals int) string {
	s := n.fixed(v, decimals)
	if v > 0 && strings.Trim(s, "0.") != "" {
		return "+" + s
	}
	return s
}

// fixed writes v with that many decimals, or, when decimals is negative,
// rounded to tens, hundreds and so on.
func (n Numbers) fixed(v float64, decimals int) string {
	zeros := ""
	if decimals < 0 {
		zeros = strings.Repeat("0", -decimals)
		v /= math.Pow10(-decimals)
	}
	s := strconv.FormatFloat(math.Abs(v), 'f', max(decimals, 0), 64)
	zero := strings.Trim(s, "0.") == ""
	if !zero {
		s += zeros
	}
	whole, frac, _ := strings.Cut(s, ".")
	var b strings.Builder
	if v < 0 && !zero {
		b.WriteString("\u2212")
	}
	for i, d := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(n.Space)
		}
		b.WriteRune(d)
	}
	if frac != "" {
		b.WriteString("." + frac)
	}
	return b.String()
}

// exponent is the decimal exponent of v's first digit.
func exponent(v float64) int {
	s := strconv.FormatFloat(v, 'e', 3, 64)
	e, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	return e
}

// places is the number of decimals that leaves half one significant digit, two
// if it starts with 1 or 2; negative for tens and above, at most 9.
func places(half float64) int {
	if !(half > 0) || math.IsInf(half, 0) {
		return 0
	}
	s := strconv.FormatFloat(half, 'e', 1, 64)
	e, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	if s[0] == '1' || s[0] == '2' {
		e--
	}
	return min(-e, 9)
}

func minus(s string) string { return strings.ReplaceAll(s, "-", "\u2212") }
