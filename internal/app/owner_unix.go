//go:build unix

package app

import (
	"io/fs"
	"syscall"
)

// ownerOf is the user and group a file belongs to.
func ownerOf(info fs.FileInfo) (uid, gid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int(st.Uid), int(st.Gid), true
}
