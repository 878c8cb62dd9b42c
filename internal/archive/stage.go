package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/secret"
	"perfband/internal/text"
)

// Source is where files of one module come from.
type Source struct {
	Module  string
	Format  string // decoder name or auto
	Params  []perf.Param
	FS      fs.FS    // root the patterns are relative to
	Prefix  string   // what stands before the patterns in messages
	Results []string // files, folders or globs, slash separated
}

// Staged is an entry's files before they are archived.
type Staged struct {
	Modules  []perf.EntryModule
	Files    []StagedFile // by path
	Excluded []perf.FileInfo
}

// StagedFile is one file to archive.
type StagedFile struct {
	Path     string // in the entry: "raw/{module}/…"
	Folder   string // module folder
	Origin   string // where it was found, for messages
	Explicit bool   // named by the user, not found in a folder or by a glob
	Bytes    int64
	SHA256   string
	Redacted int // secrets replaced in it
	ModTime  time.Time
	Open     func() (io.ReadCloser, error)
}

// StageOptions say what of the files is archived.
type StageOptions struct {
	Exclude []string        // globs of files to leave out, below the named folders
	Secrets *secret.Scanner // what must not be archived; nil: keys of known formats
	// Redact archives files with secrets without these; otherwise such files
	// are left out.
	Redact bool
	// Context ends the staging, with its error. Nil never does.
	Context context.Context
}

// Stage collects every regular file the sources name. Links and other odd
// files are skipped with a notice, never followed. A pattern that matches
// nothing is an error diagnostic, and so is a file left out for a secret; other
// patterns and files still count.
func Stage(sources []Source, opt StageOptions) (*Staged, []perf.Diagnostic, error) {
	if opt.Secrets == nil {
		opt.Secrets = secret.New()
	}
	if opt.Context == nil {
		opt.Context = context.Background()
	}
	s := &stager{Staged: &Staged{}, opt: opt, taken: map[string]bool{}, folders: map[string]bool{}, origins: map[string]int{}, names: map[string]int{}}
	for _, src := range sources {
		folder := s.folder(src)
		s.prefix = src.Prefix
		for _, pattern := range src.Results {
			if err := s.pattern(src.FS, folder, pattern); err != nil {
				return nil, s.diags, err
			}
		}
	}
	if err := opt.Context.Err(); err != nil {
		return nil, s.diags, fmt.Errorf("stage results: %w", err)
	}
	s.tellNames()
	slices.SortFunc(s.Files, func(a, b StagedFile) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(s.Excluded, func(a, b perf.FileInfo) int { return strings.Compare(a.Path, b.Path) })
	if len(s.Files) > limits.Files {
		return nil, s.diags, fmt.Errorf("stage results: %d files; at most %d belong in one entry. Narrow the results or set archive.exclude", len(s.Files), limits.Files)
	}
	return s.Staged, s.diags, nil
}

type stager struct {
	*Staged
	opt     StageOptions
	prefix  string
	taken   map[string]bool // paths in the entry
	folders map[string]bool // folders above them
	origins map[string]int  // index into Files by folder and origin, -1 if left out for a secret
	names   map[string]int  // names of people and machines in Files, by kind
	named   perf.Where      // the first of these
	diags   []perf.Diagnostic
}

// folder is the source's folder below raw: one for each combination of module,
// format and parameters.
func (s *stager) folder(src Source) string {
	m := perf.EntryModule{Folder: text.Slug(src.Module), Module: src.Module, Format: src.Format, Params: src.Params}
	if m.Format == "auto" {
		m.Format = ""
	}
	for _, o := range s.Modules {
		if o.Module == m.Module && o.Format == m.Format && slices.Equal(o.Params, m.Params) {
			return o.Folder
		}
	}
	if slices.ContainsFunc(s.Modules, func(o perf.EntryModule) bool { return o.Folder == m.Folder }) {
		m.Folder = text.Slug(fmt.Sprintf("%s %s %v", m.Module, m.Format, m.Params))
	}
	s.Modules = append(s.Modules, m)
	return m.Folder
}

// unreadable tells of a file that cannot be archived; the others are.
func (s *stager) unreadable(name string, err error) {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	do := "The other files are archived all the same."
	if !utf8.ValidString(name) {
		do = "Its name is not UTF-8: rename it. " + do
	}
	s.diags = append(s.diags, perf.Diagnostic{Severity: perf.Error, Code: "unreadable", Where: perf.Where{File: s.clean(s.prefix + name)},
		What: "the file cannot be read", Why: err.Error(), Err: err, Do: do})
}

// pattern adds what one file name, folder or glob stands for.
func (s *stager) pattern(fsys fs.FS, folder, pattern string) error {
	pattern = path.Clean(pattern)
	if info, err := fs.Lstat(fsys, pattern); err == nil {
		switch {
		case info.IsDir():
			s.walk(fsys, folder, pattern, pattern)
		default:
			s.add(fsys, folder, pattern, path.Dir(pattern), true)
		}
		return nil
	}
	base, _ := doublestar.SplitPattern(pattern)
	matches, err := doublestar.Glob(fsys, pattern, doublestar.WithNoFollow())
	if err != nil {
		return fmt.Errorf("results %s: %w", pattern, err)
	}
	if len(matches) == 0 {
		s.diags = append(s.diags, perf.Diagnostic{Severity: perf.Error, Code: "no-results", Where: perf.Where{File: s.clean(s.prefix + pattern)},
			What: "no such file, folder or match", Do: "Check the path and that the measuring step wrote its output there."})
		return nil
	}
	slices.Sort(matches)
	for _, m := range matches {
		if info, err := fs.Lstat(fsys, m); err == nil && info.IsDir() {
			s.walk(fsys, folder, m, base)
		} else {
			s.add(fsys, folder, m, base, false)
		}
	}
	return nil
}

func (s *stager) walk(fsys fs.FS, folder, dir, base string) {
	// The callback handles every error, so the walk has none to return.
	_ = fs.WalkDir(fsys, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			s.unreadable(p, err)
			return fs.SkipDir
		}
		if d.IsDir() {
			if d.Name() == ".git" && p != dir {
				return fs.SkipDir
			}
			return nil
		}
		s.add(fsys, folder, p, base, false)
		return nil
	})
}

// add stages one file; base is cut off its archived path.
func (s *stager) add(fsys fs.FS, folder, name, base string, explicit bool) {
	if s.opt.Context.Err() != nil {
		return
	}
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		s.unreadable(name, err)
		return
	}
	if !info.Mode().IsRegular() {
		d := perf.Diagnostic{Severity: perf.Notice, Code: "not-regular", Where: perf.Where{File: s.clean(s.prefix + name)},
			What: "skipped: not a regular file", Why: "links and devices are not followed"}
		if explicit {
			d.Severity, d.Do = perf.Error, "Name the file itself."
		}
		s.diags = append(s.diags, d)
		return
	}
	origin := folder + "\x00" + s.prefix + name
	if i, ok := s.origins[origin]; ok { // named by two patterns
		if i >= 0 {
			s.Files[i].Explicit = s.Files[i].Explicit || explicit
		}
		return
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(name, base), "/")
	if base == "." {
		rel = name
	}
	reason := s.leaveOut(rel, info.Size())
	scanner := s.opt.Secrets
	if reason != "" {
		scanner = nil // what is left out may hold anything
	}
	c, err := look(endingFS{fsys, s.opt.Context}, name, scanner)
	if err != nil {
		s.unreadable(name, err)
		return
	}
	f := StagedFile{Folder: folder, Origin: s.clean(s.prefix + name), Explicit: explicit,
		Bytes: info.Size(), SHA256: c.sha256, ModTime: info.ModTime(),
		Open: func() (io.ReadCloser, error) { return fsys.Open(name) }}
	f.Path = s.free(path.Join(rawFolder, folder), s.plainName(rel), s.plainName(name))
	if c.secrets() > 0 {
		if reason = s.withSecrets(fsys, name, &f, c); reason != "" {
			s.origins[origin] = -1 // another pattern need not tell of it again
		}
	}
	if reason != "" {
		s.setAside(f, reason)
		return
	}
	s.addNames(&f, c)
	s.take(f, origin)
}

// take adds a file to the entry.
func (s *stager) take(f StagedFile, origin string) {
	if f.Bytes > limits.FileWarnBytes {
		s.diags = append(s.diags, perf.Diagnostic{Severity: perf.Warning, Code: "large-file", Where: perf.Where{File: f.Origin},
			What: fmt.Sprintf("the file has %d MB", f.Bytes>>20), Why: fmt.Sprintf("from %d MB the server refuses it", limits.FileBytes>>20),
			Do: "Compress it, or leave it out with archive.exclude."})
	}
	s.taken[f.Path] = true
	for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
		s.folders[dir] = true
	}
	s.origins[origin] = len(s.Files)
	s.Files = append(s.Files, f)
}

func (s *stager) setAside(f StagedFile, reason string) {
	s.Excluded = append(s.Excluded, perf.FileInfo{Path: f.Path, SHA256: f.SHA256, Bytes: f.Bytes, Reason: reason})
	if f.Bytes > limits.FileBytes && reason != excludedByConfig {
		s.diags = append(s.diags, perf.Diagnostic{Severity: perf.Warning, Code: "file-too-large", Where: perf.Where{File: f.Origin},
			What: "not archived", Why: reason, Do: "Name and sha256 are recorded. Compress the file or leave it out with archive.exclude."})
	}
}

// free finds a path below dir that no other file or folder of the entry has:
// the path below the pattern's folder, else the whole path, else a numbered one.
func (s *stager) free(dir, rel, name string) string {
	for i := 1; ; i++ {
		p := path.Join(dir, safePath(rel))
		switch {
		case i == 2:
			p = path.Join(dir, safePath(name))
		case i > 2:
			p = path.Join(dir, strconv.Itoa(i), safePath(name))
		}
		clash := s.taken[p] || s.folders[p]
		for up := path.Dir(p); up != "."; up = path.Dir(up) {
			clash = clash || s.taken[up]
		}
		if !clash {
			return p
		}
	}
}

const excludedByConfig = "archive.exclude"

// leaveOut says why a file is not archived, "" if it is.
func (s *stager) leaveOut(rel string, size int64) string {
	for _, g := range s.opt.Exclude {
		if ok, err := doublestar.Match(g, rel); err == nil && ok {
			return excludedByConfig
		}
	}
	if size > limits.FileBytes {
		return fmt.Sprintf("%d MB, the server refuses files over %d MB", size>>20, limits.FileBytes>>20)
	}
	return ""
}

// endingFS opens files that can be read as long as the context lasts.
type endingFS struct {
	fs.FS
	ctx context.Context
}

func (e endingFS) Open(name string) (fs.File, error) {
	f, err := e.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return endingFile{f, e.ctx}, nil
}

type endingFile struct {
	fs.File
	ctx context.Context
}

func (f endingFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

// Select is the part of the staged files for which keep holds, with the
// modules that have any, left-out files of those modules included.
func (s *Staged) Select(keep func(StagedFile) bool) *Staged {
	out := &Staged{}
	folders := map[string]bool{}
	for _, f := range s.Files {
		if keep(f) {
			out.Files = append(out.Files, f)
			folders[f.Folder] = true
		}
	}
	for _, m := range s.Modules {
		if folders[m.Folder] {
			out.Modules = append(out.Modules, m)
		}
	}
	for _, x := range s.Excluded {
		if folder, _, _ := strings.Cut(strings.TrimPrefix(x.Path, rawFolder+"/"), "/"); folders[folder] {
			out.Excluded = append(out.Excluded, x)
		}
	}
	return out
}

// RawPath is the file's path below the raw folder, as decoders see it.
func (f *StagedFile) RawPath() string { return strings.TrimPrefix(f.Path, rawFolder+"/") }

// Infos lists the staged files as metadata records them.
func (s *Staged) Infos() []perf.FileInfo {
	out := make([]perf.FileInfo, len(s.Files))
	for i, f := range s.Files {
		out[i] = perf.FileInfo{Path: f.Path, SHA256: f.SHA256, Bytes: f.Bytes, Redacted: f.Redacted}
	}
	return out
}

// FS shows the staged files under the names the archive will have, below raw.
func (s *Staged) FS() fs.FS {
	m := make(stagedFS, len(s.Files))
	for i := range s.Files {
		m[s.Files[i].RawPath()] = &s.Files[i]
	}
	return m
}

// stagedFS opens files by name; decoders are given names and never list.
type stagedFS map[string]*StagedFile

func (m stagedFS) Open(name string) (fs.File, error) {
	f, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	if file, ok := r.(fs.File); ok {
		return file, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}
