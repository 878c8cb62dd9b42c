//go:build !unix

package gitdb

// alive cannot be told here, so every process counts as alive.
func alive(int) bool { return true }
