package gitdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"perfband/internal/limits"

	"github.com/go-git/go-git/v5/plumbing"
)

// Tree is a read-only view of a folder of a branch at one revision: an [fs.FS]
// of ordinary files and folders. Whatever else a tree may hold (links,
// submodules, names which are not safe) is not seen; Skipped tells of it.
//
// It reads lazily: a folder or file is fetched when it is asked for, under the
// context that the view was made with. Prefetch makes many reads cost few
// requests. Methods are safe for concurrent use.
type Tree struct {
	shared *treeShared
	root   plumbing.Hash // zero is an empty folder
	dir    string        // where in the branch the view begins; "." is its top
}

// treeShared is what all views of one revision have in common.
type treeShared struct {
	ctx     context.Context
	objects objects

	mu      sync.Mutex
	folders map[plumbing.Hash][]entry // visible entries by name: a bounded cache
	held    int                       // entries in folders
	skipped map[Skipped]bool
}

// Skipped is an entry of a tree which is not shown.
type Skipped struct {
	Path string // in the branch; untrusted text
	Why  string
}

func newTree(ctx context.Context, o objects, root plumbing.Hash) *Tree {
	return &Tree{dir: ".", root: root, shared: &treeShared{
		ctx: ctx, objects: o,
		folders: map[plumbing.Hash][]entry{}, skipped: map[Skipped]bool{},
	}}
}

// Skipped lists what was not shown so far, each once, sorted by path.
func (t *Tree) Skipped() []Skipped {
	t.shared.mu.Lock()
	defer t.shared.mu.Unlock()
	var out []Skipped
	for s := range t.shared.skipped {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Skipped) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Why, b.Why))
	})
	return out
}

// Prefetch prepares for reading many paths with few requests. A folder's whole
// listing is brought now, at any depth but without contents. Files are noted,
// and are brought in batches once the first of a batch is read: name them in
// the order in which they will be read. A missing path is an error.
func (t *Tree) Prefetch(ctx context.Context, paths []string) error {
	var files []plumbing.Hash
	for _, path := range paths {
		e, err := t.lookup(path)
		if err != nil {
			return &fs.PathError{Op: "prefetch", Path: path, Err: err}
		}
		switch {
		case e.isFile():
			files = append(files, e.id)
		case !e.id.IsZero():
			if err := t.shared.objects.list(ctx, e.id); err != nil {
				return &fs.PathError{Op: "prefetch", Path: path, Err: err}
			}
		}
	}
	t.shared.objects.announce(files)
	return nil
}

// ID is the object id of a file or folder: "" for the root of an empty tree.
func (t *Tree) ID(path string) (ID, error) {
	e, err := t.lookup(path)
	if err != nil {
		return "", &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return e.publicID(), nil
}

func (e entry) publicID() ID {
	if e.id.IsZero() {
		return ""
	}
	return ID(e.id.String())
}

// Sub is the view of a folder: a *Tree. It implements [fs.SubFS].
func (t *Tree) Sub(dir string) (fs.FS, error) {
	e, err := t.lookup(dir)
	if err == nil && !e.isDir() {
		err = errNotDir
	}
	if err != nil {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: err}
	}
	return &Tree{shared: t.shared, root: e.id, dir: join(t.dir, dir)}, nil
}

// Open implements [fs.FS].
func (t *Tree) Open(name string) (fs.File, error) {
	e, err := t.lookup(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	if e.isDir() {
		return &openDir{tree: t, path: name, entry: e}, nil
	}
	return &openFile{tree: t, path: name, entry: e}, nil
}

// ReadFile implements [fs.ReadFileFS].
func (t *Tree) ReadFile(name string) ([]byte, error) {
	e, err := t.lookup(name)
	if err == nil && e.isDir() {
		err = errIsDir
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return t.content(name, e)
}

// Stat implements [fs.StatFS]. It does not read a file's content.
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	e, err := t.lookup(name)
	if err != nil {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return t.info(name, e), nil
}

// ReadDir implements [fs.ReadDirFS].
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := t.lookup(name)
	if err == nil && !e.isDir() {
		err = errNotDir
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	return t.readDir(name, e)
}

func (t *Tree) readDir(name string, e entry) ([]fs.DirEntry, error) {
	es, err := t.shared.folder(e.id, join(t.dir, name))
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	out := make([]fs.DirEntry, len(es))
	for i, e := range es {
		out[i] = fs.FileInfoToDirEntry(t.info(join(name, e.name), e))
	}
	return out, nil
}

func (t *Tree) content(name string, e entry) ([]byte, error) {
	data, err := t.shared.objects.object(t.shared.ctx, e.id, plumbing.BlobObject)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

var (
	errIsDir  = errors.New("is a folder")
	errNotDir = errors.New("is not a folder")
)

// lookup finds an entry; the root is a folder without a name.
func (t *Tree) lookup(name string) (entry, error) {
	if !fs.ValidPath(name) {
		return entry{}, fs.ErrInvalid
	}
	at := entry{name: ".", mode: modeDir, id: t.root}
	if name == "." {
		return at, nil
	}
	path := t.dir
	for part := range strings.SplitSeq(name, "/") {
		if !at.isDir() {
			return entry{}, fs.ErrNotExist
		}
		es, err := t.shared.folder(at.id, path)
		if err != nil {
			return entry{}, err
		}
		i, ok := slices.BinarySearchFunc(es, part, func(e entry, s string) int { return strings.Compare(e.name, s) })
		if !ok {
			return entry{}, fs.ErrNotExist
		}
		at = es[i]
		path = join(path, part)
	}
	return at, nil
}

// folder is the visible entries of a tree, sorted by name.
func (s *treeShared) folder(id plumbing.Hash, path string) ([]entry, error) {
	if id.IsZero() {
		return nil, nil
	}
	s.mu.Lock()
	es, ok := s.folders[id]
	s.mu.Unlock()
	if ok {
		return es, nil
	}
	all, err := readTree(s.ctx, s.objects, id)
	if err != nil {
		return nil, err
	}
	es, skipped := visible(all, path)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range skipped {
		s.skipped[k] = true
	}
	if s.held+len(es) > limits.CachedEntries {
		s.held = 0
		clear(s.folders)
	}
	s.folders[id] = es
	s.held += len(es)
	return es, nil
}

// visible sorts entries by name and parts off what a view does not show.
func visible(all []entry, path string) (es []entry, skipped []Skipped) {
	bad := faults(all)
	for i, e := range all {
		why := bad[i]
		switch {
		case why != "":
		case hostileName(e.name) != "":
			why = hostileName(e.name)
		case e.mode == "120000":
			why = "a symbolic link"
		case e.mode == "160000":
			why = "a submodule"
		case len(path)+1+len(e.name) > limits.PathBytes:
			why = fmt.Sprintf("a path longer than %d bytes", limits.PathBytes)
		}
		if why != "" {
			skipped = append(skipped, Skipped{Path: join(path, e.name), Why: why})
			continue
		}
		es = append(es, e)
	}
	slices.SortFunc(es, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return es, skipped
}

// unordered is the fault of an entry that is sound but in the wrong place.
const unordered = "an entry out of git's order"

// faults says for each entry of a tree, in the tree's own order, what is wrong
// with it: git would not have written it there. "" is a sound entry. Of several
// entries with one name the last is the sound one: the folder, if there is one.
func faults(all []entry) []string {
	why, last := make([]string, len(all)), make(map[string]int, len(all))
	for i, e := range all {
		why[i] = reservedName(e.name)
		switch {
		case why[i] != "":
		case e.id.IsZero():
			why[i] = "an entry without an object"
		case !e.isDir() && !e.isFile() && e.mode != "120000" && e.mode != "160000":
			why[i] = fmt.Sprintf("an entry of unknown mode %.20q", e.mode)
		default:
			if before, twice := last[e.name]; twice {
				why[before] = "a name used twice in one folder"
			}
			last[e.name] = i
		}
	}
	highest := ""
	for i, e := range all {
		if why[i] != "" {
			continue
		}
		if key := e.sortKey(); key < highest {
			why[i] = unordered
		} else {
			highest = key
		}
	}
	return why
}

// hostileName says what is wrong with a file name, "" if nothing is. Such names
// could make a program which writes them to disk write somewhere else, or fail.
func hostileName(name string) string {
	switch why := reservedName(name); {
	case why != "":
		return why
	case len(name) > limits.NamePartBytes:
		return fmt.Sprintf("a name longer than %d bytes", limits.NamePartBytes)
	case !utf8.ValidString(name):
		return "a name which is not UTF-8"
	}
	return ""
}

// reservedName is [hostileName] of the names that git itself refuses.
func reservedName(name string) string {
	// Windows drops trailing dots and spaces and knows .git as git~1; macOS
	// ignores some invisible letters.
	bare := strings.ToLower(strings.TrimRight(name, ". "))
	bare = strings.Map(func(r rune) rune {
		if (r >= 0x200c && r <= 0x200f) || (r >= 0x202a && r <= 0x202e) || (r >= 0x206a && r <= 0x206f) || r == 0xfeff {
			return -1
		}
		return r
	}, bare)
	switch {
	case name == "" || name == "." || name == "..":
		return "a name which is no name"
	case bare == ".git" || bare == "git~1":
		return "a name that git keeps for itself"
	case strings.ContainsAny(name, "/\x00"):
		return "a name with a slash or a zero byte"
	}
	return ""
}

// join adds a relative path to a folder, either of which may be ".".
func join(dir, name string) string {
	switch {
	case dir == ".":
		return name
	case name == ".":
		return dir
	}
	return dir + "/" + name
}
