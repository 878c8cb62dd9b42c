package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"perfband/internal/gitdb"
	"perfband/internal/perf"
)

// Appended says what became of an entry.
type Appended struct {
	Path     string        // folder on the raw branch
	Meta     perf.Metadata // as written: id, shard and digest are final
	Commit   gitdb.Rev     // tip that holds the entry
	Existed  bool          // the same results were archived before
	Diverted bool          // other results of this run were there, so the shard was extended
	Bytes    int64         // raw bytes of the entry's files
}

// Append adds one entry in one commit. An entry whose folder already holds the
// same results is left alone, so a step can be re-run safely; a folder with
// other results (a second call in one run) diverts this one to the shard
// "{shard}x{8 hex of the digest}". Nothing on the branch is ever replaced.
// when is the commit's time.
func Append(ctx context.Context, b gitdb.Branch, meta perf.Metadata, staged *Staged, when time.Time, opt gitdb.UpdateOptions) (Appended, error) {
	out := Appended{}
	for _, f := range staged.Files {
		out.Bytes += f.Bytes
	}
	var err error
	if out.Meta, out.Path, err = finish(meta); err != nil {
		return out, err
	}
	rev, err := gitdb.Update(ctx, b, opt, func(ctx context.Context, rev gitdb.Rev, tree *gitdb.Tree) (gitdb.Change, error) {
		m, p, err := finish(meta)
		if err != nil {
			return gitdb.Change{}, err
		}
		out.Path, out.Meta, out.Existed, out.Diverted = p, m, false, false
		there, err := stored(tree, p)
		if err != nil {
			return gitdb.Change{}, err
		}
		if there != nil && !sameFiles(there.Files, m.Files) {
			m.Run.Shard += "x" + m.Digest[:8]
			if m, p, err = finish(m); err != nil {
				return gitdb.Change{}, err
			}
			out.Path, out.Meta, out.Diverted = p, m, true
			if there, err = stored(tree, p); err != nil {
				return gitdb.Change{}, err
			}
		}
		if there != nil {
			out.Existed, out.Meta = true, *there
			return gitdb.Change{}, gitdb.ErrNothing
		}
		return change(m, p, staged, when)
	})
	if err != nil {
		return out, fmt.Errorf("archive run %s: %w", meta.Run.RunID, err)
	}
	out.Commit = rev
	return out, nil
}

// finish sets id and digest and returns the folder.
func finish(m perf.Metadata) (perf.Metadata, string, error) {
	m.Run.ID = RunID(m.Run)
	p, err := Path(m.Run)
	if err != nil {
		return m, "", err
	}
	m.Digest, err = Digest(m)
	return m, p, err
}

// stored reads the metadata of the entry at p; nil when there is none.
func stored(tree *gitdb.Tree, p string) (*perf.Metadata, error) {
	b, err := tree.ReadFile(path.Join(p, metadataName))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := tree.Stat(p); err == nil {
			return &perf.Metadata{}, nil // something foreign is in the way
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var m perf.Metadata
	if json.Unmarshal(b, &m) != nil {
		return &perf.Metadata{}, nil
	}
	return &m, nil
}

// sameFiles compares what was measured, not when it was published.
func sameFiles(a, b []perf.FileInfo) bool {
	if len(a) == 0 {
		return false
	}
	return slices.EqualFunc(a, b, func(x, y perf.FileInfo) bool { return x.Path == y.Path && x.SHA256 == y.SHA256 })
}

func change(m perf.Metadata, p string, staged *Staged, when time.Time) (gitdb.Change, error) {
	doc, err := perf.CanonicalJSON(m)
	if err != nil {
		return gitdb.Change{}, err
	}
	put := []gitdb.File{gitdb.Bytes(path.Join(p, metadataName), doc)}
	for _, f := range staged.Files {
		put = append(put, gitdb.File{Path: path.Join(p, f.Path), Size: f.Bytes, Open: f.Open})
	}
	return gitdb.Change{
		Message: fmt.Sprintf("Archive %s run %s\n\nperfband %s", m.Run.Kind, m.Run.ID, m.Tool.Version),
		When:    when,
		Put:     put,
	}, nil
}
