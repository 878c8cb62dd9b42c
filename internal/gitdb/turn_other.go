//go:build !unix

package gitdb

import "os"

// Without a lock that dies with its holder no lock can be called abandoned.
const canTakeTurns = false

func takeTurn(string) *os.File { return nil }
