package derive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"perfband/internal/decode"
	"perfband/internal/limits"
	"perfband/internal/perf"
)

// Memo is what an earlier derivation found out, so that the next one reads only
// what is new. It is a cache, never the truth: with it or without it a
// derivation gives the same bytes, and one that does not fit is ignored. The
// zero value and nil remember nothing.
type Memo struct {
	dates map[string]perf.KnownDate
	runs  map[string]memoRun // by runGroup.key
}

// Known is what is remembered of the archive, by date folder.
func (m *Memo) Known() map[string]perf.KnownDate {
	if m == nil {
		return nil
	}
	return m.dates
}

// Entries yields all entries that are remembered, by path.
func (m *Memo) Entries() iter.Seq2[perf.Entry, error] {
	return func(yield func(perf.Entry, error) bool) {
		for _, dir := range slices.Sorted(maps.Keys(m.Known())) {
			for _, e := range m.dates[dir].Entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// Entry returns what is remembered of the entry in a folder.
func (m *Memo) Entry(folder string) (perf.Entry, bool) {
	if m == nil {
		return perf.Entry{}, false
	}
	for _, e := range m.dates[path.Dir(folder)].Entries {
		if e.Path == folder {
			return e, true
		}
	}
	return perf.Entry{}, false
}

// memoRun is a remembered run. Without results it is a header only.
type memoRun struct {
	run        *Run
	hasResults bool
	hasSamples bool
}

// MemoFile is one file of a memo, relative to its folder.
type MemoFile struct {
	Path string
	Data []byte
}

// The files of a memo: what it rests on; entries and headers by month, so that
// a publish changes the newest month only; the results of each run in reach.
const (
	memoIndex  = "index.json"
	memoMonths = "months"
	memoRuns   = "runs"
)

// memoSchema is raised with any change of the files below.
const memoSchema = 2

// basis identifies everything besides the archive that results depend on. What
// was remembered on another basis is worthless.
func basis(opt Options) (string, error) {
	type decoder struct {
		Name    string
		Version int
	}
	var decoders []decoder
	for _, name := range decode.Names() {
		f, err := decode.ByName(name)
		if err != nil {
			return "", err
		}
		if !f.History { // no entry of the archive is decoded with it
			decoders = append(decoders, decoder{name, f.Version})
		}
	}
	b, err := json.Marshal(struct {
		Schema, Formulas, Metadata int
		Reach                      Reach
		Decoders                   []decoder
		Stats                      any
		Manifests, Left            string
	}{memoSchema, Formulas, perf.MetadataSchema, opt.Reach, decoders, opt.Config.Stats, opt.Manifests.Digest(), opt.Config.Digest()})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

type memoIndexFile struct {
	Schema   int    `json:"schema"`
	Kind     string `json:"kind"` // "memo"
	Formulas int    `json:"formulas"`
	Basis    string `json:"basis"`
}

type memoMonthFile struct {
	Schema int          `json:"schema"`
	Kind   string       `json:"kind"` // "memo-month"
	Dates  []memoDate   `json:"dates"`
	Runs   []memoHeader `json:"runs"`
}

type memoDate struct {
	Path    string      `json:"path"`
	ID      string      `json:"id"`
	Entries []memoEntry `json:"entries"`
}

type memoEntry struct {
	Path    string             `json:"path"`
	ID      string             `json:"id"`
	Content string             `json:"content"`
	Legacy  bool               `json:"legacy,omitempty"`
	Meta    perf.Metadata      `json:"meta"`
	Modules []perf.EntryModule `json:"modules,omitempty"`
}

// trim drops what only decoding an entry needs.
func trim(m perf.Metadata) perf.Metadata {
	m.Modules, m.Suites, m.Fingerprints, m.Status, m.Expected = nil, nil, nil, nil, nil
	m.Files, m.Excluded, m.Diagnostics, m.Unknown, m.Carried = nil, nil, nil, nil, nil
	return m
}

// ReadMemo reads the memo in a folder. What does not fit (another basis, files
// that are missing or damaged) is as if it were not there.
func ReadMemo(fsys fs.FS, opt Options) (*Memo, error) {
	want, err := basis(opt)
	if err != nil {
		return nil, err
	}
	m := &Memo{dates: map[string]perf.KnownDate{}, runs: map[string]memoRun{}}
	var index memoIndexFile
	if !readMemoFile(fsys, memoIndex, &index) || index.Schema != memoSchema || index.Kind != "memo" || index.Basis != want {
		return &Memo{}, nil
	}
	months, err := fs.ReadDir(fsys, memoMonths)
	if err != nil || len(months) > limits.MemoFiles {
		return &Memo{}, nil
	}
	for _, d := range months {
		var month memoMonthFile
		if !readMemoFile(fsys, path.Join(memoMonths, d.Name()), &month) || month.Schema != memoSchema || month.Kind != "memo-month" {
			continue
		}
		for _, date := range month.Dates {
			k := perf.KnownDate{ID: date.ID}
			for _, e := range date.Entries {
				k.Entries = append(k.Entries, perf.Entry{Path: e.Path, ID: e.ID, DateID: date.ID, Content: e.Content, Legacy: e.Legacy,
					Meta: e.Meta, Modules: e.Modules, Stub: true})
			}
			m.dates[date.Path] = k
		}
		for _, h := range month.Runs {
			m.runs[h.Key] = memoRun{run: h.run()}
		}
	}
	m.readResults(fsys)
	return m, nil
}

// readResults adds the results of the runs that have them.
func (m *Memo) readResults(fsys fs.FS) {
	files, err := fs.ReadDir(fsys, memoRuns)
	if err != nil || len(files) > limits.MemoFiles {
		return
	}
	for _, d := range files {
		var f memoResultsFile
		if !readMemoFile(fsys, path.Join(memoRuns, d.Name()), &f) || f.Schema != memoSchema || f.Kind != "memo-run" {
			continue
		}
		if r, ok := m.runs[f.Key]; ok && f.into(r.run) {
			m.runs[f.Key] = memoRun{run: r.run, hasResults: true, hasSamples: f.Samples}
		}
	}
}

func readMemoFile(fsys fs.FS, name string, v any) bool {
	data, err := fs.ReadFile(fsys, name)
	return err == nil && json.Unmarshal(data, v) == nil
}

// MemoFiles are the files to keep for the next derivation, sorted by path.
// Runs of entries whose content has no id are not remembered.
func (d *Derived) MemoFiles() ([]MemoFile, error) {
	months := map[string]*memoMonthFile{}
	month := func(entry string) *memoMonthFile {
		kind, rest, _ := strings.Cut(entry, "/")
		name := kind + "-" + rest[:min(len(rest), len("2006-01"))]
		if months[name] == nil {
			months[name] = &memoMonthFile{Schema: memoSchema, Kind: "memo-month", Dates: []memoDate{}, Runs: []memoHeader{}}
		}
		return months[name]
	}
	for _, e := range d.entries {
		if e.ID == "" {
			continue
		}
		m := month(e.Path)
		dir := path.Dir(e.Path)
		if n := len(m.Dates); n == 0 || m.Dates[n-1].Path != dir {
			m.Dates = append(m.Dates, memoDate{Path: dir, ID: e.DateID})
		}
		last := &m.Dates[len(m.Dates)-1]
		last.Entries = append(last.Entries, memoEntry{e.Path, e.ID, e.Content, e.Legacy, trim(e.Meta), e.Modules})
	}
	out := []MemoFile{}
	add := func(name string, b []byte, err error) error {
		out = append(out, MemoFile{name, b})
		return err
	}
	index, err := compactJSON(memoIndexFile{memoSchema, "memo", Formulas, d.basis})
	if err := add(memoIndex, index, err); err != nil {
		return nil, err
	}
	for _, run := range d.Runs {
		if run.key == "" || run.DuplicateOf != "" {
			continue
		}
		m := month(run.OriginPath)
		m.Runs = append(m.Runs, headerOf(run))
		if run.Results == nil {
			continue
		}
		results, err := runJSON(run)
		if err := add(path.Join(memoRuns, run.key[:32]+".json"), results, err); err != nil {
			return nil, err
		}
	}
	for name, m := range months {
		slices.SortFunc(m.Runs, func(a, b memoHeader) int { return strings.Compare(a.OriginPath, b.OriginPath) })
		b, err := compactJSON(m)
		if err := add(path.Join(memoMonths, name+".json"), b, err); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b MemoFile) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// compactJSON has no indentation, since nobody reads a memo, and one final
// newline.
func compactJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode memo: %w", err)
	}
	return b.Bytes(), nil
}

// key identifies what a run was made from: every entry's folder and content.
// "" when a content is unknown.
func (g runGroup) key() string {
	h := sha256.New()
	for _, list := range [][]perf.Entry{g.entries, g.copies, g.superseded} {
		for _, e := range list {
			if e.ID == "" {
				return ""
			}
			fmt.Fprintf(h, "%s\x00%s\x00", e.Path, e.ID)
		}
		h.Write([]byte{1})
	}
	return hex.EncodeToString(h.Sum(nil))
}
