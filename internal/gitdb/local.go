package gitdb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// local is a bare repository on this machine, read and written as files: no
// git program is needed, and none of the repository's hooks run.
type local struct {
	dir     string
	objects []string // folders of objects: the repository's own, then alternates
	cache   *deltaCache

	mu    sync.Mutex
	packs []*pack // the one used last comes first
	names map[string]bool
}

func newLocal(dir string) (*local, error) {
	if err := checkBare(dir); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	l := &local{dir: dir, cache: newDeltaCache(), names: map[string]bool{}}
	if err := l.addObjects(filepath.Join(dir, "objects"), 0); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	if err := l.scan(); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	return l, nil
}

// checkBare refuses folders which are not bare repositories of a kind that
// this package can read.
func checkBare(dir string) error {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) {
			if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
				return fmt.Errorf("a working copy, not a bare repository: give %s", filepath.Join(dir, ".git"))
			}
			return fmt.Errorf("not a bare git repository (no %s): make one with \"git init --bare\"", name)
		} else if err != nil {
			return err
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "config"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	c := config.New()
	if err := config.NewDecoder(bytes.NewReader(text)).Decode(c); err != nil {
		return fmt.Errorf("read its config: %w", err)
	}
	ext := c.Section("extensions")
	if f := ext.Option("objectformat"); f != "" && f != "sha1" {
		return fmt.Errorf("its object format is %q: only sha1 is understood", f)
	}
	if f := ext.Option("refstorage"); f != "" && f != "files" {
		return fmt.Errorf("its ref storage is %q: only files is understood", f)
	}
	return nil
}

// addObjects adds a folder of objects and those it borrows from.
func (l *local) addObjects(dir string, depth int) error {
	const deepest = 5 // as git has it
	if slices.Contains(l.objects, dir) {
		return nil
	}
	l.objects = append(l.objects, dir)
	text, err := os.ReadFile(filepath.Join(dir, "info", "alternates"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if depth == deepest {
		return errors.New("its chain of alternates is too long")
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if !filepath.IsAbs(line) {
			line = filepath.Join(dir, line)
		}
		if err := l.addObjects(filepath.Clean(line), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// scan opens packs which were not there before.
func (l *local) scan() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, dir := range l.objects {
		paths, err := filepath.Glob(filepath.Join(globSafe(dir), "pack", "pack-*.idx"))
		if err != nil {
			return err
		}
		for _, path := range paths {
			if l.names[path] {
				continue
			}
			p, err := openPack(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // another process is repacking
			}
			if err != nil {
				return err
			}
			l.names[path] = true
			l.packs = slices.Insert(slices.Clone(l.packs), 0, p)
		}
	}
	return nil
}

// globSafe escapes what Glob would take for a pattern.
func globSafe(path string) string {
	if filepath.Separator == '\\' {
		return path // Windows has no escape, and forbids * and ?
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func (l *local) list(context.Context, plumbing.Hash) error { return nil }
func (l *local) announce([]plumbing.Hash)                  {}

func (l *local) object(ctx context.Context, id plumbing.Hash, kind plumbing.ObjectType) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	got, data, err := l.find(id)
	if errors.Is(err, fs.ErrNotExist) { // perhaps it was packed, or pushed, since we looked
		if err := l.scan(); err != nil {
			return nil, err
		}
		got, data, err = l.find(id)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the repository does not have it")
	}
	if err == nil {
		err = checkObject(id, kind, got, data)
	}
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return data, nil
}

// checkObject makes sure that an object is what was asked for.
func checkObject(id plumbing.Hash, want, kind plumbing.ObjectType, data []byte) error {
	if kind != want {
		return fmt.Errorf("it is a %s, not a %s", kind, want)
	}
	if int64(len(data)) > maxBytes(kind) {
		return fmt.Errorf("a %s of %d bytes, more than the %d read from a branch", kind, len(data), maxBytes(kind))
	}
	if plumbing.ComputeHash(kind, data) != id {
		return errors.New("its content is damaged: it does not match the id")
	}
	return nil
}

// find reads an object wherever it is: fs.ErrNotExist when it is nowhere. The
// data is the caller's own.
func (l *local) find(id plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	l.mu.Lock()
	packs := l.packs
	l.mu.Unlock()
	for i, p := range packs {
		offset, found, err := p.find(id)
		if err != nil {
			return 0, nil, err
		}
		if !found {
			continue
		}
		if i > 0 {
			l.toFront(p)
		}
		kind, data, err := p.read(offset, l.cache)
		return kind, bytes.Clone(data), err
	}
	for _, dir := range l.objects {
		hex := id.String()
		kind, data, err := readLoose(filepath.Join(dir, hex[:2], hex[2:]))
		if !errors.Is(err, fs.ErrNotExist) {
			return kind, data, err
		}
	}
	return 0, nil, fs.ErrNotExist
}

// toFront makes a pack the first to be searched. The slice is copied: others
// may be walking the old one.
func (l *local) toFront(p *pack) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.packs, p)
	l.packs = slices.Insert(slices.Delete(slices.Clone(l.packs), i, i+1), 0, p)
}

// readLoose reads an object stored in a file of its own: zlib data of "kind
// size", a zero byte and the content.
func readLoose(path string) (plumbing.ObjectType, []byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer file.Close()
	f := inflaters.Get().(*inflater)
	defer inflaters.Put(f)
	f.src.Reset(file)
	r, err := f.reset(f.src)
	if err != nil {
		return 0, nil, err
	}
	b := bufio.NewReaderSize(r, 32)
	head, err := b.ReadString(0)
	if err != nil {
		return 0, nil, noEOF(err)
	}
	name, digits, _ := strings.Cut(strings.TrimSuffix(head, "\x00"), " ")
	kind, err := plumbing.ParseObjectType(name)
	if err != nil {
		return 0, nil, err
	}
	size, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || size < 0 {
		return 0, nil, errors.New("its head is damaged")
	}
	data, err := readSized(b, size)
	return kind, data, err
}
