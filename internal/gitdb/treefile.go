package gitdb

import (
	"bytes"
	"io"
	"io/fs"
	"sync"
	"time"
)

// info describes an entry. Its Sys is the entry's [ID].
func (t *Tree) info(path string, e entry) fs.FileInfo { return fileInfo{tree: t, path: path, entry: e} }

type fileInfo struct {
	tree  *Tree
	path  string
	entry entry
}

func (i fileInfo) Name() string       { return i.entry.name }
func (i fileInfo) IsDir() bool        { return i.entry.isDir() }
func (i fileInfo) Sys() any           { return i.entry.publicID() }
func (i fileInfo) ModTime() time.Time { return time.Time{} } // git keeps none

func (i fileInfo) Mode() fs.FileMode {
	switch {
	case i.entry.isDir():
		return fs.ModeDir | 0o555
	case i.entry.mode == "100755":
		return 0o555
	}
	return 0o444
}

// Size reads the file, since a tree does not hold sizes; it is -1 when that is
// not possible. Reading the file then tells why.
func (i fileInfo) Size() int64 {
	if i.entry.isDir() {
		return 0
	}
	data, err := i.tree.content(i.path, i.entry)
	if err != nil {
		return -1
	}
	return int64(len(data))
}

// openFile is an open file; its content is read at the first Read.
type openFile struct {
	tree  *Tree
	path  string
	entry entry

	once   sync.Once
	reader *bytes.Reader
	err    error
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.tree.info(f.path, f.entry), nil }
func (f *openFile) Close() error               { return nil }

func (f *openFile) load() error {
	f.once.Do(func() {
		var data []byte
		data, f.err = f.tree.content(f.path, f.entry)
		f.reader = bytes.NewReader(data)
	})
	return f.err
}

func (f *openFile) Read(p []byte) (int, error) {
	if err := f.load(); err != nil {
		return 0, err
	}
	return f.reader.Read(p)
}

func (f *openFile) Seek(offset int64, whence int) (int64, error) {
	if err := f.load(); err != nil {
		return 0, err
	}
	return f.reader.Seek(offset, whence)
}

func (f *openFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.load(); err != nil {
		return 0, err
	}
	return f.reader.ReadAt(p, off)
}

// openDir is an open folder.
type openDir struct {
	tree  *Tree
	path  string
	entry entry
	rest  []fs.DirEntry
	read  bool
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.tree.info(d.path, d.entry), nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.path, Err: errIsDir}
}

func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.read {
		all, err := d.tree.readDir(d.path, d.entry)
		if err != nil {
			return nil, err
		}
		d.rest, d.read = all, true
	}
	if n <= 0 {
		n = len(d.rest)
	} else if len(d.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out, nil
}

var _ interface {
	fs.ReadDirFS
	fs.ReadFileFS
	fs.StatFS
	fs.SubFS
} = (*Tree)(nil)
