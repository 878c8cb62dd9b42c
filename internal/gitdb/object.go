package gitdb

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// The modes that this package reads or writes; others are kept as they are.
const (
	modeDir  = "40000"
	modeFile = "100644"
)

// entry is one line of a tree object. The mode is kept as text so that a tree
// written again differs only where it was changed.
type entry struct {
	name string
	mode string
	id   plumbing.Hash
}

func (e entry) isDir() bool { return e.mode == modeDir || e.mode == "040000" }

// isFile is true of ordinary files, executable or not.
func (e entry) isFile() bool {
	return e.mode == modeFile || e.mode == "100755" || e.mode == "100664"
}

// sortKey is git's order: a folder sorts as if its name ended in a slash.
func (e entry) sortKey() string {
	if e.isDir() {
		return e.name + "/"
	}
	return e.name
}

// parseTree reads a tree object, in its own order.
func parseTree(data []byte) ([]entry, error) {
	text := string(data) // one copy; names and modes are slices of it
	var es []entry
	for len(text) > 0 {
		mode, rest, ok := strings.Cut(text, " ")
		if !ok {
			return nil, errors.New("read tree: an entry without a mode")
		}
		name, rest, ok := strings.Cut(rest, "\x00")
		if !ok || len(rest) < len(plumbing.ZeroHash) {
			return nil, errors.New("read tree: an entry is cut off")
		}
		e := entry{name: name, mode: mode}
		copy(e.id[:], rest)
		es = append(es, e)
		text = rest[len(e.id):]
	}
	return es, nil
}

// encodeTree writes entries as a tree object, in git's order.
func encodeTree(es []entry) []byte {
	slices.SortFunc(es, func(a, b entry) int { return cmp.Compare(a.sortKey(), b.sortKey()) })
	var b bytes.Buffer
	for _, e := range es {
		b.WriteString(e.mode)
		b.WriteByte(' ')
		b.WriteString(e.name)
		b.WriteByte(0)
		b.Write(e.id[:])
	}
	return b.Bytes()
}

// commitTree is the root tree named by a commit object.
func commitTree(data []byte) (plumbing.Hash, error) {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	hex, ok := strings.CutPrefix(string(line), "tree ")
	if !ok || !plumbing.IsHash(hex) {
		return plumbing.ZeroHash, errors.New("read commit: it names no tree")
	}
	return plumbing.NewHash(hex), nil
}

// encodeCommit writes a commit object.
func encodeCommit(c Change, tree, parent plumbing.Hash) []byte {
	who := signature(c.Author, c.Email, c.When)
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	if !parent.IsZero() {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n", who, who)
	message := strings.ReplaceAll(strings.TrimRight(c.Message, "\n"), "\x00", "")
	b.WriteString(message + "\n")
	return b.Bytes()
}

// signature is "Name <email> seconds +0000"; what would break the line is left out.
func signature(name, email string, when time.Time) string {
	clean := func(s string) string {
		s = strings.Map(func(r rune) rune {
			if r < ' ' || r == '<' || r == '>' || r == 0x7f {
				return -1
			}
			return r
		}, s)
		return strings.Trim(s, " .,:;\"'\\")
	}
	seconds := max(when.Unix(), 0) // git has no time before 1970
	name, email = cmp.Or(clean(name), "perfband"), cmp.Or(clean(email), "perfband@localhost")
	return name + " <" + email + "> " + strconv.FormatInt(seconds, 10) + " +0000"
}

// parseRev is the id of a revision, zero for "".
func parseRev(r Rev) (plumbing.Hash, error) {
	if r == "" {
		return plumbing.ZeroHash, nil
	}
	if !plumbing.IsHash(string(r)) {
		return plumbing.ZeroHash, fmt.Errorf("%q is not a commit id of 40 hex digits", r)
	}
	return plumbing.NewHash(string(r)), nil
}

// revOf is the inverse of parseRev.
func revOf(h plumbing.Hash) Rev {
	if h.IsZero() {
		return ""
	}
	return Rev(h.String())
}
