package textkit

// Distance returns the number of bytes to insert, delete or replace to turn a
// into b.
func Distance(a, b string) int {
	var short [64]int // no allocation for words and short lines
	row := short[:0]
	for j := range len(b) {
		row = append(row, j+1)
	}
	for i := range len(a) {
		diagonal, left, c := i, i+1, a[i]
		for j, above := range row {
			cost := diagonal
			if c != b[j] {
				cost = 1 + min(diagonal, left, above)
			}
			diagonal, left, row[j] = above, cost, cost
		}
	}
	if len(row) == 0 {
		return len(a)
	}
	return row[len(row)-1]
}
