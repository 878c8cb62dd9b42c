package gitdb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"perfband/internal/limits"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

func (l *local) head(_ context.Context, ref plumbing.ReferenceName) (plumbing.Hash, error) {
	// git packs a ref by writing packed-refs first and then removing the ref's own
	// file: whoever looks between the two must look again.
	for range 2 {
		h, found, err := l.looseRef(ref)
		if found || err != nil {
			return h, err
		}
		if h, found, err = l.packedRef(ref); found || err != nil {
			return h, err
		}
	}
	return plumbing.ZeroHash, nil
}

func (l *local) refPath(ref plumbing.ReferenceName) string {
	return filepath.Join(l.dir, filepath.FromSlash(ref.String()))
}

func (l *local) looseRef(ref plumbing.ReferenceName) (h plumbing.Hash, found bool, err error) {
	path := l.refPath(ref)
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || (err == nil && info.IsDir()) {
		return h, false, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	hex := strings.TrimSpace(string(text))
	if !plumbing.IsHash(hex) {
		return h, false, fmt.Errorf("%s holds %.60q, not a commit id", path, hex)
	}
	return plumbing.NewHash(hex), true, nil
}

func (l *local) packedRef(ref plumbing.ReferenceName) (h plumbing.Hash, found bool, err error) {
	f, err := os.Open(filepath.Join(l.dir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	defer f.Close()
	sc := bufio.NewScanner(io.LimitReader(f, limits.RefBytes))
	for sc.Scan() {
		hex, name, _ := bytes.Cut(sc.Bytes(), []byte(" "))
		if string(name) == ref.String() && plumbing.IsHash(string(hex)) {
			return plumbing.NewHash(string(hex)), true, nil
		}
	}
	return h, false, sc.Err()
}

// push writes the pack and moves the ref under git's own lock file, so that it
// gets along with git programs working on the same repository. The pack comes
// first: a lock held for a moment is seldom left behind by a process that dies.
func (l *local) push(ctx context.Context, ref plumbing.ReferenceName, from, to plumbing.Hash, p *packWriter) (err error) {
	if tip, err := l.head(ctx, ref); err != nil {
		return err
	} else if tip != from {
		return ErrMoved
	}
	if err := l.store(p); err != nil {
		return fmt.Errorf("write pack to %s: %w", l.dir, err)
	}
	p.kept = true
	path := l.refPath(ref)
	unlock, err := l.lock(ctx, path)
	if err != nil {
		return err
	}
	defer unlock()
	tip, err := l.head(ctx, ref)
	if err != nil {
		return err
	}
	if tip != from {
		return ErrMoved
	}
	next, err := l.temporary("perfband-ref-", to.String()+"\n")
	if err != nil {
		return err
	}
	defer os.Remove(next) // in vain once it is the ref
	// git leaves empty folders behind where branches with slashes were deleted.
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		os.Remove(path)
	}
	return os.Rename(next, path)
}

// temporary makes a file in the repository, outside of what git looks at.
func (l *local) temporary(prefix, text string) (name string, err error) {
	f, err := os.CreateTemp(l.dir, prefix)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// lock makes path.lock, git's own lock of a ref, waiting for another process to
// remove its own. Our writers take the repository's turn first, which the system
// takes back from a process that dies. The lock holds our mark from its first
// moment to its last, so one that is there during our turn was left behind and
// is removed.
func (l *local) lock(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	mark, err := l.temporary("perfband-lock-", lockMark)
	if err != nil {
		return nil, err
	}
	defer os.Remove(mark)
	var turn *os.File
	giveBack := func() {
		if turn != nil {
			turn.Close()
		}
	}
	defer func() {
		if err != nil {
			giveBack()
		}
	}()
	const every = 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += every {
		if turn == nil {
			turn = takeTurn(filepath.Join(l.dir, turnFile))
		}
		if turn != nil && marked(path+".lock") {
			os.Remove(path + ".lock")
		}
		if turn != nil || !canTakeTurns {
			err := os.Link(mark, path+".lock")
			if err == nil {
				return func() { os.Remove(path + ".lock"); giveBack() }, nil
			}
			if !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
		}
		if waited >= limits.LockTime {
			return nil, fmt.Errorf("%s.lock exists: another process is writing this branch; if none is, delete the file", path)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(every):
		}
	}
}

const (
	turnFile = "perfband.turn" // in the repository; locked, never written
	lockMark = "perfband\n"    // what a lock of ours holds
)

// marked reports whether a lock is one of ours.
func marked(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && string(text) == lockMark
}

// store copies the pack and its index into the repository. The index comes
// last: a pack without one is not seen by anybody.
func (l *local) store(p *packWriter) error {
	dir := filepath.Join(l.dir, "objects", "pack")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	base := filepath.Join(dir, "pack-"+p.sum.String())
	copyPack := func(w io.Writer) error {
		_, err := io.Copy(w, p.reader())
		return err
	}
	if err := place(base+".pack", copyPack); err != nil {
		return err
	}
	if err := place(base+".idx", p.writeIndex); err != nil {
		return err
	}
	return l.scan()
}

// place writes a read-only file which appears whole or not at all. A file which
// is there already stays: its name tells its content.
func place(path string, write func(io.Writer) error) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), "tmp_perfband_")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // in vain once it is renamed
	err = errors.Join(write(f), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Chmod(f.Name(), 0o444); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// writeIndex writes the pack's index.
func (p *packWriter) writeIndex(w io.Writer) error {
	var x idxfile.Writer
	if err := x.OnHeader(uint32(len(p.entries))); err != nil {
		return err
	}
	for _, e := range p.entries {
		x.Add(e.id, uint64(e.offset), e.crc)
	}
	if err := x.OnFooter(p.sum); err != nil {
		return err
	}
	index, err := x.Index()
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	if _, err := idxfile.NewEncoder(b).Encode(index); err != nil {
		return err
	}
	return b.Flush()
}
