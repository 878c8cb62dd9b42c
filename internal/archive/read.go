package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/gitdb"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var dateFolder = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// Entries yields every entry of the tree, by kind, date and name. A folder
// that is not an entry yields a *perf.Diagnostic and the walk goes on, as does a
// file in an entry's folder that its metadata does not list; any other error
// ends it. Raw files are read only when asked for.
//
// known is what the caller remembers, by date folder: of a date or an entry
// whose folder is unchanged the remembered stub is yielded and nothing is read.
func Entries(ctx context.Context, branch string, tree *gitdb.Tree, known map[string]perf.KnownDate) iter.Seq2[perf.Entry, error] {
	return func(yield func(perf.Entry, error) bool) {
		r := reader{ctx: ctx, branch: branch, tree: tree, known: known}
		if err := r.beside(); err != nil && !yield(perf.Entry{}, err) {
			return
		}
		for _, kind := range perf.Kinds {
			dates, err := r.list(kind.Folder())
			if err != nil {
				yield(perf.Entry{}, err)
				return
			}
			for _, date := range dates {
				p := path.Join(kind.Folder(), date.Name())
				if !date.IsDir() || !dateFolder.MatchString(date.Name()) {
					if !yield(perf.Entry{}, r.foreign(p, "not a folder named by a date")) {
						return
					}
					continue
				}
				if !r.date(kind, p, idOf(date), yield) {
					return
				}
			}
		}
	}
}

// beside tells of what stands on the branch beside the archive, once.
func (r *reader) beside() error {
	top, err := r.list(".")
	if err != nil {
		return err
	}
	var names []string
	for _, e := range top {
		if _, ok := perf.KindOfFolder(e.Name()); (!ok || !e.IsDir()) && !plainFile.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &perf.Diagnostic{Severity: perf.Notice, Code: "beside-archive", Where: perf.Where{Ref: r.branch},
		What: "skipped what is no part of the archive", Why: strings.Join(names, ", ")}
}

type reader struct {
	ctx    context.Context
	branch string
	tree   *gitdb.Tree
	known  map[string]perf.KnownDate
	notes  []error // of the date's entries that are read, what else their folders hold
}

// idOf names the content of a folder, "" if the tree does not tell.
func idOf(d fs.DirEntry) string {
	info, err := d.Info()
	if err != nil || info.Sys() == nil {
		return ""
	}
	return fmt.Sprint(info.Sys())
}

func (r *reader) date(kind perf.Kind, dir, id string, yield func(perf.Entry, error) bool) bool {
	before := r.known[dir]
	if id != "" && id == before.ID {
		for _, e := range before.Entries {
			if !yield(e, nil) {
				return false
			}
		}
		return true
	}
	stubs := map[string]perf.Entry{}
	for _, e := range before.Entries {
		stubs[e.Path] = e
	}
	runs, err := r.list(dir)
	if err != nil {
		yield(perf.Entry{}, err)
		return false
	}
	entries := make([]perf.Entry, len(runs))
	errs := make([]error, len(runs))
	for i, run := range runs {
		p := path.Join(dir, run.Name())
		entry := idOf(run)
		if err := r.ctx.Err(); err != nil {
			yield(perf.Entry{}, err)
			return false
		}
		if !run.IsDir() {
			errs[i] = r.foreign(p, "not a folder")
		} else if e, ok := stubs[p]; ok && entry != "" && e.ID == entry {
			entries[i] = e
		} else {
			entries[i], errs[i] = r.entry(kind, p)
			entries[i].ID = entry
		}
		if errs[i] != nil {
			id = "" // what was refused may be read by a later version, so look again
		}
	}
	for i := range entries {
		entries[i].DateID = id
		if !yield(entries[i], errs[i]) {
			return false
		}
	}
	for _, note := range r.notes {
		if !yield(perf.Entry{}, note) {
			return false
		}
	}
	r.notes = nil
	return true
}

// Entry reads the entry in one folder of the tree.
func Entry(ctx context.Context, branch string, tree *gitdb.Tree, folder string) (perf.Entry, error) {
	top, _, _ := strings.Cut(folder, "/")
	kind, ok := perf.KindOfFolder(top)
	if !ok {
		return perf.Entry{}, fmt.Errorf("read %s:%s: not a folder of the archive", branch, folder)
	}
	if err := tree.Prefetch(ctx, []string{folder}); err != nil {
		return perf.Entry{}, fmt.Errorf("list %s:%s: %w", branch, folder, err)
	}
	r := reader{ctx: ctx, branch: branch, tree: tree}
	e, err := r.entry(kind, folder)
	if id, idErr := tree.ID(folder); idErr == nil {
		e.ID = string(id)
	}
	return e, err
}

func (r *reader) list(dir string) ([]fs.DirEntry, error) {
	info, err := fs.Stat(r.tree, dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil // a file of that name is told of as standing beside the archive
	}
	es, err := r.tree.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s:%s: %w", r.branch, dir, err)
	}
	return es, nil
}

func (r *reader) foreign(p, why string) error {
	return &perf.Diagnostic{Severity: perf.Warning, Code: "not-an-entry", Where: perf.Where{Ref: r.branch, File: p},
		What: "skipped", Why: why}
}

// entry reads one folder's metadata, in whatever layout.
func (r *reader) entry(kind perf.Kind, p string) (perf.Entry, error) {
	name := path.Join(p, metadataName)
	data, err := r.tree.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return perf.Entry{}, r.foreign(p, "no "+metadataName)
	}
	if err != nil {
		return perf.Entry{}, fmt.Errorf("read %s:%s: %w", r.branch, name, err)
	}
	if err := strictjson.Validate(data); err != nil {
		return perf.Entry{}, r.foreign(name, "not valid JSON: "+err.Error())
	}
	var head struct {
		Schema int    `json:"schema"`
		Kind   string `json:"kind"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return perf.Entry{}, r.foreign(name, "not a run's metadata: "+err.Error())
	}
	if head.Schema == 0 {
		return r.legacy(kind, p, data)
	}
	if head.Schema > perf.MetadataSchema {
		return perf.Entry{}, r.foreign(name, fmt.Sprintf("schema %d was written by a newer perfband; update the action", head.Schema))
	}
	if head.Kind != "run" {
		return perf.Entry{}, r.foreign(name, fmt.Sprintf("kind %q is not a run", head.Kind))
	}
	var m perf.Metadata
	if err := json.Unmarshal(data, &m); err != nil {
		return perf.Entry{}, r.foreign(name, "not a run's metadata: "+err.Error())
	}
	if m.Run.RunID == "" {
		m.Run.RunID, m.Run.Attempt = splitID(m.Run.ID)
	}
	m.Run.Kind = cmp.Or(m.Run.Kind, kind)
	if m.Run.Kind != kind || m.Run.RunID == "" || m.Run.Started.IsZero() {
		return perf.Entry{}, r.foreign(name, "run id, start or kind is missing or does not fit the folder")
	}
	if entryName(m.Run) != path.Base(p) {
		return perf.Entry{}, r.foreign(name, fmt.Sprintf("it is the metadata of run %q", m.Run.ID))
	}
	unlisted, err := r.unlisted(p, m)
	if err != nil {
		return perf.Entry{}, err
	}
	e := perf.Entry{Path: p, Meta: m, Modules: m.Modules}
	e.Raw = &rawFS{r: r, dir: path.Join(p, rawFolder), hidden: unlisted}
	e.Content = contentOfInfos(m.Files)
	return e, nil
}

// splitID parts an id "{run id}.{attempt}" of metadata that has no parts.
func splitID(id string) (runID string, attempt int) {
	head, tail, _ := strings.Cut(id, ".")
	if n, err := strconv.Atoi(tail); err == nil && n > 0 {
		return head, n
	}
	return id, 0
}

// unlisted finds and notes the files in an entry's folder that its metadata does
// not list: somebody put them there later. An entry that holds links or the like
// is refused: no perfband wrote it.
func (r *reader) unlisted(p string, m perf.Metadata) (map[string]bool, error) {
	listed := map[string]bool{path.Join(p, metadataName): true, path.Join(p, m.Session): true}
	for _, f := range m.Files {
		listed[path.Join(p, f.Path)] = true
	}
	unlisted := map[string]bool{}
	if err := fs.WalkDir(r.tree, p, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !listed[name] {
			unlisted[name] = true
		}
		return err
	}); err != nil {
		return nil, fmt.Errorf("list %s:%s: %w", r.branch, p, err)
	}
	for _, s := range r.tree.Skipped() {
		if strings.HasPrefix(s.Path, p+"/") {
			return nil, r.foreign(p, "it holds "+s.Why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unlisted)) {
		r.notes = append(r.notes, &perf.Diagnostic{Severity: perf.Notice, Code: "beside-entry", Where: perf.Where{Ref: r.branch, File: name},
			What: "skipped a file that is no part of the run", Why: "the run's " + metadataName + " does not list it"})
	}
	return unlisted, nil
}

// contentOfInfos identifies the recorded files.
func contentOfInfos(files []perf.FileInfo) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s\x00%s\x00", f.Path, f.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// rawFS is an entry's raw folder as an fs.FS.
type rawFS struct {
	r      *reader
	dir    string
	drop   string          // folder hidden from the reader: a byte-for-byte copy of another
	hidden map[string]bool // files that are no part of the entry, by their paths on the branch
}

func (f *rawFS) path(op, name string) (string, error) {
	if !fs.ValidPath(name) || name == metadataName || f.drop != "" && (name == f.drop || strings.HasPrefix(name, f.drop+"/")) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	p := path.Join(f.dir, name)
	if f.hidden[p] {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return p, nil
}

func (f *rawFS) Open(name string) (fs.File, error) {
	p, err := f.path("open", name)
	if err != nil {
		return nil, err
	}
	return f.r.tree.Open(p)
}

func (f *rawFS) ReadFile(name string) ([]byte, error) {
	p, err := f.path("open", name)
	if err != nil {
		return nil, err
	}
	return f.r.tree.ReadFile(p)
}

func (f *rawFS) ReadDir(name string) ([]fs.DirEntry, error) {
	p, err := f.path("readdir", name)
	if err != nil {
		return nil, err
	}
	es, err := f.r.tree.ReadDir(p)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(es, func(e fs.DirEntry) bool {
		return f.hidden[path.Join(p, e.Name())] || name == "." && (e.Name() == metadataName || e.Name() == f.drop)
	}), nil
}

// Prefetch fetches the named files in few requests.
func (f *rawFS) Prefetch(names []string) error {
	paths := make([]string, 0, len(names))
	for _, n := range names {
		if p, err := f.path("open", n); err == nil {
			paths = append(paths, p)
		}
	}
	return f.r.tree.Prefetch(f.r.ctx, paths)
}
