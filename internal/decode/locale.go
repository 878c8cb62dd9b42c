package decode

import (
	"strconv"
	"strings"
)

// decimalMark finds out which of ',' and '.' is the decimal mark of measured
// values. Without evidence a lone mark is taken for it: the tools print values
// of four digits and more with decimals, if they group digits at all.
func decimalMark(numbers []string) byte {
	mark := byte('.')
	for _, n := range numbers {
		n = ungroup(n)
		comma, dot := strings.LastIndexByte(n, ','), strings.LastIndexByte(n, '.')
		switch {
		case comma >= 0 && dot >= 0:
			return n[max(comma, dot)]
		case strings.Count(n, ",") > 1:
			return '.'
		case strings.Count(n, ".") > 1:
			return ','
		case comma >= 0 && isFraction(n, comma):
			return ','
		case dot >= 0 && isFraction(n, dot):
			return '.'
		case comma >= 0:
			mark = ','
		}
	}
	return mark
}

// isFraction reports that the mark at i cannot be a thousands separator: those
// stand after one to three digits, the first not zero, and before three.
func isFraction(n string, i int) bool {
	whole := strings.TrimLeft(n[:i], "+-")
	return len(n)-i-1 != 3 || len(whole) > 3 || strings.HasPrefix(whole, "0") || whole == ""
}

// ungroup drops the separators of thousands that are never decimal marks.
func ungroup(n string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\u00a0', '\u202f', '\u2009', '\'', '’':
			return -1
		}
		return r
	}, n)
}

// parseLocal reads a number with the given decimal mark and scales it.
func parseLocal(n string, mark byte, scale float64) (float64, bool) {
	n = ungroup(n)
	if mark == ',' {
		n = strings.ReplaceAll(n, ".", "")
		n = strings.Replace(n, ",", ".", 1)
	} else {
		n = strings.ReplaceAll(n, ",", "")
	}
	for _, c := range n {
		// No hexadecimal, no "inf".
		if (c < '0' || c > '9') && !strings.ContainsRune("+-.eE", c) {
			return 0, false
		}
	}
	// Shifting the decimal point in the text keeps 0.29 ms from becoming
	// 289999.99999999994 ns.
	if exp, ok := exponents[scale]; ok && !strings.ContainsAny(n, "eE") {
		n, scale = n+exp, 1
	}
	v, err := strconv.ParseFloat(n, 64)
	return v * scale, err == nil
}

var exponents = map[float64]string{1e3: "e3", 1e6: "e6", 1e9: "e9"}

// splitUnit splits "20,763.489 μs" into number and unit.
func splitUnit(cell string) (number, unit string) {
	i := strings.LastIndexAny(cell, "0123456789")
	return strings.TrimSpace(cell[:i+1]), strings.TrimSpace(cell[i+1:])
}
