//go:build unix

package gitdb

import (
	"os"
	"syscall"
)

const canTakeTurns = true

// takeTurn locks a file that is made if need be; nil when another holds it.
// Closing the file, or dying, gives the turn back.
func takeTurn(path string) *os.File {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return nil
	}
	return f
}
