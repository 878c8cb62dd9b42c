package gitdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"perfband/internal/limits"

	"github.com/go-git/go-git/v5/plumbing"
)

// builder turns a change into the objects which the repository lacks. Of the
// base it reads only the folders on the way to the files that are put.
type builder struct {
	ctx     context.Context
	objects objects
	pack    *packWriter
	mended  []string // of each folder with faults what became of them
}

// node is a folder of the change.
type node struct {
	files   map[string]File
	dirs    map[string]*node
	replace bool // nothing of the base remains
}

// build writes the changed objects to the pack and returns the new root tree.
func (b *builder) build(root plumbing.Hash, c Change) (plumbing.Hash, error) {
	top, err := plan(c)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	id, err := b.folder(root, ".", top)
	if err == nil && id.IsZero() {
		return b.pack.object(plumbing.TreeObject, nil)
	}
	return id, err
}

// plan sorts the files of a change into folders.
func plan(c Change) (*node, error) {
	top := &node{}
	if c.Replace != "" {
		if c.Replace != "." {
			if err := checkPath(c.Replace); err != nil {
				return nil, err
			}
		}
		n, err := top.dir(c.Replace)
		if err != nil {
			return nil, err
		}
		n.replace = true
	}
	for _, f := range c.Put {
		if err := checkPath(f.Path); err != nil {
			return nil, err
		}
		dir, name := ".", f.Path
		if i := strings.LastIndexByte(f.Path, '/'); i >= 0 {
			dir, name = f.Path[:i], f.Path[i+1:]
		}
		n, err := top.dir(dir)
		if err != nil {
			return nil, err
		}
		_, isFile := n.files[name]
		_, isDir := n.dirs[name]
		if isFile || isDir {
			return nil, fmt.Errorf("put %q: the path is named twice", f.Path)
		}
		if n.files == nil {
			n.files = map[string]File{}
		}
		n.files[name] = f
	}
	return top, nil
}

// dir finds or makes the folder at a path.
func (n *node) dir(path string) (*node, error) {
	if path == "." {
		return n, nil
	}
	for name := range strings.SplitSeq(path, "/") {
		if _, clash := n.files[name]; clash {
			return nil, fmt.Errorf("put %q: %q is both a file and a folder", path, name)
		}
		sub := n.dirs[name]
		if sub == nil {
			sub = &node{}
			if n.dirs == nil {
				n.dirs = map[string]*node{}
			}
			n.dirs[name] = sub
		}
		n = sub
	}
	return n, nil
}

// checkPath refuses what cannot be checked out safely everywhere.
func checkPath(path string) error {
	if !fs.ValidPath(path) || path == "." {
		return fmt.Errorf("put %q: not a clean relative path", path)
	}
	if len(path) > limits.PathBytes {
		return fmt.Errorf("put %.100q…: the path is longer than %d bytes", path, limits.PathBytes)
	}
	for name := range strings.SplitSeq(path, "/") {
		if why := hostileName(name); why != "" {
			return fmt.Errorf("put %q: %s", path, why)
		}
	}
	return nil
}

// folder writes the tree of the folder at a path, base with the change applied,
// and returns its id. A zero id is an empty folder, of which git keeps none.
func (b *builder) folder(base plumbing.Hash, path string, n *node) (plumbing.Hash, error) {
	old, err := b.base(base, n.replace)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	es, err := b.sound(old, path, n)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	for _, name := range slices.Sorted(maps.Keys(n.files)) {
		id, err := b.file(n.files[name])
		if err != nil {
			return plumbing.ZeroHash, err
		}
		es[name] = entry{name: name, mode: modeFile, id: id}
	}
	for _, name := range slices.Sorted(maps.Keys(n.dirs)) {
		var sub plumbing.Hash
		if e := es[name]; e.isDir() {
			sub = e.id
		}
		id, err := b.folder(sub, join(path, name), n.dirs[name])
		if err != nil {
			return plumbing.ZeroHash, err
		}
		es[name] = entry{name: name, mode: modeDir, id: id}
		if id.IsZero() {
			delete(es, name)
		}
	}
	if len(es) == 0 {
		return plumbing.ZeroHash, nil
	}
	return b.pack.object(plumbing.TreeObject, encodeTree(slices.Collect(maps.Values(es))))
}

// sound is the entries of a folder of the base by name, as they are carried on.
// What git's own check of a push refuses is not, and what is out of order comes
// into order; both are noted. A view does not show what is out of order, so
// that whoever made the change cannot have known of it: it is not overwritten.
func (b *builder) sound(old []entry, path string, n *node) (map[string]entry, error) {
	es := make(map[string]entry, len(old))
	var dropped, moved []string
	for i, why := range faults(old) {
		e := old[i]
		switch why {
		case "":
			es[e.name] = e
		case unordered:
			if _, isFile := n.files[e.name]; isFile || n.dirs[e.name] != nil {
				return nil, fmt.Errorf("put %.200q: the branch has %s there, whose content is not known", join(path, e.name), why)
			}
			es[e.name] = e
			moved = append(moved, fmt.Sprintf("%.200q", e.name))
		default:
			dropped = append(dropped, fmt.Sprintf("%.200q (%s)", e.name, why))
		}
	}
	if len(dropped) > 0 {
		b.mended = append(b.mended, fmt.Sprintf("folder %.200q had entries that git refuses, which are dropped: %s", path, few(dropped)))
	}
	if len(moved) > 0 {
		b.mended = append(b.mended, fmt.Sprintf("folder %.200q had entries out of git's order, which are put in order: %s", path, few(moved)))
	}
	return es, nil
}

// few lists some texts, and how many more there are.
func few(texts []string) string {
	if more := len(texts) - limits.AnnotationsPerKind; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:limits.AnnotationsPerKind], ", "), more)
	}
	return strings.Join(texts, ", ")
}

// base is what remains of a folder of the base. Of a folder to be replaced
// nothing does, but its content is noted, so that what comes back unchanged is
// not sent again.
func (b *builder) base(tree plumbing.Hash, replace bool) ([]entry, error) {
	if tree.IsZero() {
		return nil, nil
	}
	if replace {
		if err := b.objects.list(b.ctx, tree); err != nil {
			return nil, err
		}
		return nil, b.skipAll(tree)
	}
	b.pack.skip(tree)
	return readTree(b.ctx, b.objects, tree)
}

// skipAll notes everything below a tree as known to the repository.
func (b *builder) skipAll(tree plumbing.Hash) error {
	es, err := readTree(b.ctx, b.objects, tree)
	if err != nil {
		return err
	}
	b.pack.skip(tree)
	for _, e := range es {
		switch {
		case e.isFile():
			b.pack.skip(e.id)
		case e.isDir():
			if err := b.skipAll(e.id); err != nil {
				return err
			}
		}
	}
	return nil
}

// file writes one file and returns its id.
func (b *builder) file(f File) (id plumbing.Hash, err error) {
	if f.Size > limits.FileBytes {
		return id, fmt.Errorf("put %q: %d bytes, more than the %d that a file on a branch may have", f.Path, f.Size, limits.FileBytes)
	}
	if err := b.ctx.Err(); err != nil {
		return id, err
	}
	r, err := f.Open()
	if err != nil {
		return id, fmt.Errorf("put %q: %w", f.Path, err)
	}
	id, err = b.pack.blob(r, f.Size)
	if err := errors.Join(err, r.Close()); err != nil {
		return id, fmt.Errorf("put %q: %w", f.Path, err)
	}
	return id, nil
}

// readTree reads and parses one tree object.
func readTree(ctx context.Context, o objects, id plumbing.Hash) ([]entry, error) {
	data, err := o.object(ctx, id, plumbing.TreeObject)
	if err != nil {
		return nil, err
	}
	return parseTree(data)
}
