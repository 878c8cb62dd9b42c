package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
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
// other results (a second call in one run) diverts this one to a folder of its
// own, named after its content. Nothing on the branch is ever replaced, and a
// branch that holds something else than an archive is refused.
// when is the commit's time.
func Append(ctx context.Context, b gitdb.Branch, meta perf.Metadata, staged *Staged, when time.Time, opt gitdb.UpdateOptions) (Appended, error) {
	out := Appended{}
	for _, f := range staged.Files {
		out.Bytes += f.Bytes
	}
	var err error
	if out.Meta, out.Path, err = Final(meta); err != nil {
		return out, err
	}
	rev, err := gitdb.Update(ctx, b, opt, func(ctx context.Context, rev gitdb.Rev, tree *gitdb.Tree) (gitdb.Change, error) {
		m, p, err := Final(meta)
		if err != nil {
			return gitdb.Change{}, err
		}
		out.Path, out.Meta, out.Existed, out.Diverted = p, m, false, false
		if err := ours(tree); err != nil {
			return gitdb.Change{}, err
		}
		there, err := stored(tree, p)
		if err != nil {
			return gitdb.Change{}, err
		}
		if there != nil && !same(there, &m) {
			m.Run.SecondCall = contentOfInfos(m.Files)[:8]
			if m, p, err = Final(m); err != nil {
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

// Final sets an entry's id and digest and returns its folder.
func Final(m perf.Metadata) (perf.Metadata, string, error) {
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

// same compares what was measured and by which call, not when it was published.
func same(a, b *perf.Metadata) bool {
	return a.Run.RunID == b.Run.RunID && a.Run.Attempt == b.Run.Attempt && a.Run.Shard == b.Run.Shard && len(a.Files) > 0 &&
		slices.EqualFunc(a.Files, b.Files, func(x, y perf.FileInfo) bool { return x.Path == y.Path && x.SHA256 == y.SHA256 })
}

// ours refuses a branch that is in use for something else: adding results to a
// branch of sources is hard to undo. A branch with no more than a README is
// one that waits for its first run.
func ours(tree *gitdb.Tree) error {
	top, err := tree.ReadDir(".")
	if err != nil {
		return err
	}
	var foreign string
	for _, e := range top {
		if _, ok := perf.KindOfFolder(e.Name()); ok && e.IsDir() {
			dates, err := tree.ReadDir(e.Name())
			if err != nil {
				return err
			}
			if slices.ContainsFunc(dates, func(d fs.DirEntry) bool { return d.IsDir() && dateFolder.MatchString(d.Name()) }) {
				return nil
			}
			foreign = e.Name()
		} else if !plainFile.MatchString(e.Name()) {
			foreign = e.Name()
		}
	}
	if foreign == "" {
		return nil
	}
	return &perf.Diagnostic{Severity: perf.Error, Code: "foreign-branch", Where: perf.Where{File: foreign},
		What: "the branch holds something else than an archive", Do: "Name a branch of its own with raw-branch; it is created if it does not exist."}
}

var plainFile = regexp.MustCompile(`(?i)^(readme|license|\.git(attributes|ignore)|\.nojekyll)(\..*)?$`)

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
