package svg

// advances are the widths of DejaVu Sans' printable ASCII characters from
// space on, in 1/2048 of the font size.
var advances = [...]uint16{
	651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690,
	1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087,
	2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604, 604, 1343, 1141, 1767, 1532, 1612,
	1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799, 690, 799, 1716, 1024,
	1024, 1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569, 1995, 1298, 1253,
	1300, 1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303, 1716,
}

// otherAdvances are those of the characters our own texts use beyond ASCII.
var otherAdvances = map[rune]uint16{
	'µ': 1303, '·': 651, '…': 2048, '\u202f': 409,
}

// wideAdvance stands for every other character: as wide as the signs
// ≥ ≤ ± × ✓ ▲ − are.
const wideAdvance = 1716

// textWidth is the width of s at a font size, in the unit of size.
func textWidth(s string, size float64) float64 {
	total := 0
	for _, r := range s {
		switch {
		case r >= ' ' && int(r-' ') < len(advances):
			total += int(advances[r-' '])
		default:
			if w, ok := otherAdvances[r]; ok {
				total += int(w)
			} else {
				total += wideAdvance
			}
		}
	}
	return float64(total) * size / 2048
}
