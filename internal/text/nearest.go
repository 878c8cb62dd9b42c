package text

import "strings"

// nearestBytes is the longest word worth a guess.
const nearestBytes = 64

// Nearest returns the entry of valid that word was probably meant to be, for
// "did you mean": the one with the fewest edits (insert, delete, replace, swap
// neighbours), case aside; the earlier of equals. It is "" when more than a
// third of the word would have to change.
func Nearest(word string, valid []string) string {
	if word == "" || len(word) > nearestBytes {
		return ""
	}
	a := []rune(strings.ToLower(word))
	best, least := "", max(1, len(a)/3)+1
	for _, v := range valid {
		if len(v) > 2*nearestBytes {
			continue
		}
		if d := edits(a, []rune(strings.ToLower(v))); d < least {
			best, least = v, d
		}
	}
	return best
}

// edits is the distance of optimal string alignment between a and b.
func edits(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			d := min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
