package config

import (
	"strings"
	"unicode/utf8"

	"perfband/internal/perf"
)

// matchKey compares a pattern with the names people see of a benchmark.
func matchKey(pattern string, key perf.Key) bool {
	for _, name := range []string{key.Module + "/" + key.Name, key.Module + "/" + key.Benchmark()} {
		if match(pattern, name) || key.Job != "" && match(pattern, name+" ["+key.Job+"]") {
			return true
		}
	}
	return false
}

// match takes time in proportion to the product of the lengths at worst: only
// the last * is ever tried again.
func match(pattern, s string) bool {
	star, from := -1, 0 // the last * seen, and where in s its run ends
	p, i := 0, 0
	for i < len(s) {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, i
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			i += size
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			_, size := utf8.DecodeRuneInString(s[from:])
			from += size
			p, i = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
