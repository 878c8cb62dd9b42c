package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"

	"perfband/internal/perf"
)

// legacyMeta is the metadata of the layouts before perfband: the ADR's and
// Encina's. Only these five fields were ever written.
type legacyMeta struct {
	RunID     json.Number `json:"runId"`
	SHA       string      `json:"sha"`
	Timestamp string      `json:"timestamp"`
	Workflow  string      `json:"workflow"`
}

var stampFolder = regexp.MustCompile(`^(nbomber|metrics|harness)-\d{4}-\d{2}-\d{2}`)

// legacy upgrades an entry of an older layout in memory. The tool's files
// stand directly in the run's folder, one folder per module. The time stamp is
// that of publishing and the sha that of the branch head at that moment, so
// the first serves only where no report says when it started and the second
// is marked untrusted.
func (r *reader) legacy(kind perf.Kind, p string, data []byte) (perf.Entry, error) {
	name := path.Join(p, metadataName)
	var lm legacyMeta
	if err := json.Unmarshal(data, &lm); err != nil || lm.RunID == "" {
		return perf.Entry{}, r.foreign(name, "neither a run's metadata nor that of an older layout")
	}
	e := perf.Entry{Path: p, Legacy: true}
	e.Meta.Kind = "run"
	e.Meta.Run = perf.Run{ID: lm.RunID.String(), RunID: lm.RunID.String(), Kind: kind, Workflow: lm.Workflow}
	if t, err := time.Parse(time.RFC3339, lm.Timestamp); err == nil {
		e.Meta.Run.Started = t.UTC()
	} else if t, err := time.Parse("2006-01-02", path.Base(path.Dir(p))); err == nil {
		e.Meta.Run.Started = t
	}
	e.Meta.Commit = perf.Commit{SHA: lm.SHA, Untrusted: lm.SHA != ""}
	e.Meta.Unknown = []string{"run.attempt", "run.event", "run.ref", "env", "runner"}

	raw := &rawFS{r: r, dir: p}
	e.Raw = raw
	content, err := r.content(p)
	if err != nil {
		return e, err
	}
	if kind == perf.Load && content["harness"] != "" && content["harness"] == content["load-metrics"] {
		raw.drop = "harness" // uploaded twice under two names
	}
	whole := sha256.New()
	top, err := raw.ReadDir(".")
	if err != nil {
		return e, fmt.Errorf("list %s:%s: %w", r.branch, p, err)
	}
	for _, d := range top {
		fmt.Fprintf(whole, "%s\x00%s\x00", d.Name(), content[d.Name()])
		e.Modules = append(e.Modules, legacyModule(kind, d))
	}
	e.Content = hex.EncodeToString(whole.Sum(nil))
	return e, nil
}

// legacyModule names the module of a top folder or file.
func legacyModule(kind perf.Kind, d fs.DirEntry) perf.EntryModule {
	m := perf.EntryModule{Folder: d.Name(), Module: strings.TrimPrefix(d.Name(), "benchmarks-")}
	if !d.IsDir() || stampFolder.MatchString(d.Name()) {
		m.Module = "main"
	}
	if kind == perf.Load {
		if _, provider, ok := strings.Cut(d.Name(), "-load-metrics-"); ok {
			m.Params = []perf.Param{{Name: "provider", Value: provider}}
		}
	}
	return m
}

// content gives, for each top folder, a hash over the names and ids of the
// files below it.
func (r *reader) content(dir string) (map[string]string, error) {
	out := map[string]string{}
	es, err := r.tree.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list %s:%s: %w", r.branch, dir, err)
	}
	for _, e := range es {
		info, err := e.Info()
		if err != nil {
			return nil, fmt.Errorf("list %s:%s: %w", r.branch, path.Join(dir, e.Name()), err)
		}
		// A git object id names the bytes of a file and, for a folder, every
		// name and byte below it.
		out[e.Name()] = fmt.Sprint(info.Sys())
	}
	return out, nil
}
