package textkit

import (
	"strings"
	"unicode"
)

// Wrap breaks s into lines of at most width columns, between words. A word
// wider than that has a line to itself.
func Wrap(s string, width int) string {
	var out strings.Builder
	out.Grow(len(s))
	used := 0
	for word := range strings.FieldsSeq(s) {
		n := columns(word)
		switch {
		case used == 0:
		case used+1+n > width:
			out.WriteByte('\n')
			used = 0
		default:
			out.WriteByte(' ')
			used++
		}
		out.WriteString(word)
		used += n
	}
	return out.String()
}

// columns returns the width of word in a terminal: combining marks take no
// column, East Asian characters two.
func columns(word string) int {
	n := 0
	for _, r := range word {
		switch {
		case r >= 0x0300 && r <= 0x036F:
		case r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			n += 2
		default:
			n++
		}
	}
	return n
}
