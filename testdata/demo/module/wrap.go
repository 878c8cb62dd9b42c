package textkit

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks s into lines of at most width characters, between words. A word
// longer than that has a line to itself.
func Wrap(s string, width int) string {
	var out strings.Builder
	out.Grow(len(s))
	used := 0
	for word := range strings.FieldsSeq(s) {
		n := utf8.RuneCountInString(word)
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
