package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"perfband/internal/limits"
	"perfband/internal/perf"
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
	ModTime  time.Time
	Open     func() (io.ReadCloser, error)
}

// Stage collects every regular file the sources name. Links and other odd
// files are skipped with a notice, never followed. A pattern that matches
// nothing is an error diagnostic; other patterns still count.
func Stage(sources []Source, exclude []string) (*Staged, []perf.Diagnostic, error) {
	s := &stager{Staged: &Staged{}, exclude: exclude, taken: map[string]string{}}
	for _, src := range sources {
		folder := text.Slug(src.Module)
		format := src.Format
		if format == "auto" {
			format = ""
		}
		m := perf.EntryModule{Folder: folder, Module: src.Module, Format: format, Params: src.Params}
		if !slices.ContainsFunc(s.Modules, func(o perf.EntryModule) bool { return o.Folder == folder }) {
			s.Modules = append(s.Modules, m)
		}
		s.prefix = src.Prefix
		for _, pattern := range src.Results {
			if err := s.pattern(src.FS, folder, pattern); err != nil {
				return nil, s.diags, err
			}
		}
	}
	slices.SortFunc(s.Files, func(a, b StagedFile) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(s.Excluded, func(a, b perf.FileInfo) int { return strings.Compare(a.Path, b.Path) })
	if len(s.Files) > limits.Files {
		return nil, s.diags, fmt.Errorf("stage results: %d files; at most %d belong in one entry. Narrow the results or set archive.exclude", len(s.Files), limits.Files)
	}
	return s.Staged, s.diags, nil
}

type stager struct {
	*Staged
	exclude []string
	prefix  string
	taken   map[string]string // path in the entry -> file it came from
	diags   []perf.Diagnostic
}

// pattern adds what one file name, folder or glob stands for.
func (s *stager) pattern(fsys fs.FS, folder, pattern string) error {
	pattern = path.Clean(pattern)
	if info, err := fs.Lstat(fsys, pattern); err == nil {
		switch {
		case info.IsDir():
			return s.walk(fsys, folder, pattern, pattern)
		case info.Mode().IsRegular():
			return s.add(fsys, folder, pattern, path.Dir(pattern), true)
		}
	}
	base, _ := doublestar.SplitPattern(pattern)
	matches, err := doublestar.Glob(fsys, pattern, doublestar.WithNoFollow())
	if err != nil {
		return fmt.Errorf("results %s: %w", pattern, err)
	}
	if len(matches) == 0 {
		s.diags = append(s.diags, perf.Diagnostic{Severity: perf.Error, Code: "no-results", Where: perf.Where{File: s.prefix + pattern},
			What: "no such file, folder or match", Do: "Check the path and that the measuring step wrote its output there."})
		return nil
	}
	slices.Sort(matches)
	for _, m := range matches {
		info, err := fs.Lstat(fsys, m)
		if err != nil {
			return fmt.Errorf("read results %s: %w", m, err)
		}
		if info.IsDir() {
			if err := s.walk(fsys, folder, m, base); err != nil {
				return err
			}
		} else if err := s.add(fsys, folder, m, base, false); err != nil {
			return err
		}
	}
	return nil
}

func (s *stager) walk(fsys fs.FS, folder, dir, base string) error {
	return fs.WalkDir(fsys, dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read results %s: %w", p, err)
		}
		if d.IsDir() {
			if d.Name() == ".git" && p != dir {
				return fs.SkipDir
			}
			return nil
		}
		return s.add(fsys, folder, p, base, false)
	})
}

// add stages one file; base is cut off its archived path.
func (s *stager) add(fsys fs.FS, folder, name, base string, explicit bool) error {
	info, err := fs.Lstat(fsys, name)
	if err != nil {
		return fmt.Errorf("read results %s: %w", name, err)
	}
	if !info.Mode().IsRegular() {
		s.diags = append(s.diags, perf.Diagnostic{Severity: perf.Notice, Code: "not-regular", Where: perf.Where{File: s.prefix + name},
			What: "skipped: not a regular file", Why: "links and devices are not followed"})
		return nil
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(name, base), "/")
	if base == "." {
		rel = name
	}
	sum, err := hashFile(fsys, name)
	if err != nil {
		return fmt.Errorf("read results %s: %w", name, err)
	}
	f := StagedFile{Path: path.Join(rawFolder, folder, safePath(rel)), Folder: folder, Origin: s.prefix + name, Explicit: explicit,
		Bytes: info.Size(), SHA256: sum, ModTime: info.ModTime(),
		Open: func() (io.ReadCloser, error) { return fsys.Open(name) }}
	if reason := s.leaveOut(rel, info.Size()); reason != "" {
		s.Excluded = append(s.Excluded, perf.FileInfo{Path: f.Path, SHA256: sum, Bytes: f.Bytes, Reason: reason})
		if reason != excludedByConfig {
			s.diags = append(s.diags, perf.Diagnostic{Severity: perf.Warning, Code: "file-too-large", Where: perf.Where{File: s.prefix + name},
				What: "not archived", Why: reason, Do: "Name and sha256 are recorded. Compress the file or leave it out with archive.exclude."})
		}
		return nil
	}
	if from, dup := s.taken[f.Path]; dup {
		if from == name { // named by two patterns
			i := slices.IndexFunc(s.Files, func(o StagedFile) bool { return o.Path == f.Path })
			s.Files[i].Explicit = s.Files[i].Explicit || explicit
			return nil
		}
		f.Path = path.Join(rawFolder, folder, safePath(name)) // keep both, under their full paths
	}
	s.taken[f.Path] = name
	s.Files = append(s.Files, f)
	return nil
}

const excludedByConfig = "archive.exclude"

// leaveOut says why a file is not archived, "" if it is.
func (s *stager) leaveOut(rel string, size int64) string {
	for _, g := range s.exclude {
		if ok, err := doublestar.Match(g, rel); err == nil && ok {
			return excludedByConfig
		}
	}
	if size > limits.FileBytes {
		return fmt.Sprintf("%d MB, the server refuses files over %d MB", size>>20, limits.FileBytes>>20)
	}
	return ""
}

func hashFile(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
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
		out[i] = perf.FileInfo{Path: f.Path, SHA256: f.SHA256, Bytes: f.Bytes}
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
