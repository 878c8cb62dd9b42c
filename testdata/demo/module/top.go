package textkit

import (
	"sort"
	"strings"
)

// Count says how often a word occurs.
type Count struct {
	Word string
	N    int
}

// Top returns the n most frequent words of s, ignoring case; equally frequent
// words are in alphabetical order.
func Top(s string, n int) []Count {
	seen := map[string]int{}
	for _, word := range Words(s) {
		seen[strings.ToLower(word)]++
	}
	var counts []Count
	for word, n := range seen {
		counts = append(counts, Count{word, n})
	}
	sort.Slice(counts, func(i, j int) bool {
		if counts[i].N != counts[j].N {
			return counts[i].N > counts[j].N
		}
		return counts[i].Word < counts[j].Word
	})
	return counts[:min(n, len(counts))]
}
