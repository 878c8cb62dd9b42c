package textkit

import (
	"strings"
	"unicode"
)

// Slug makes a name for a file or address out of s: lower case, one dash
// between words.
func Slug(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	dash := false
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			dash = out.Len() > 0
			continue
		}
		if dash {
			out.WriteByte('-')
			dash = false
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
