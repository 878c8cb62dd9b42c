// Package textkit is a toy text library. It exists to be measured: perfband's
// demo shows its benchmarks at twelve versions.
package textkit

import "unicode"

// Words splits s into its words: runs of letters and digits.
func Words(s string) []string {
	var words []string
	start := -1
	for i, r := range s {
		switch inside := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			words = append(words, s[start:i])
			start = -1
		}
	}
	if start >= 0 {
		words = append(words, s[start:])
	}
	return words
}
