package derive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"perfband/internal/decode"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// part is what one module of one entry gave.
type part struct {
	results []*Result
	diags   []perf.Diagnostic
	started time.Time // earliest start a report states, zero if none does
}

// moduleFiles is the files of one module of one entry.
type moduleFiles struct {
	entry  perf.Entry
	module perf.EntryModule
	paths  []string // below Entry.Raw
	envs   []string // machine descriptions
	same   []perf.Diagnostic
}

// filesOf lists the files below a module's folder. An older layout may have a
// file in place of the folder.
func filesOf(e perf.Entry, m perf.EntryModule) (moduleFiles, error) {
	j := moduleFiles{entry: e, module: m}
	err := fs.WalkDir(e.Raw, m.Folder, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && p == m.Folder {
			return fs.SkipAll // the module has no archived file
		}
		if err != nil || d.IsDir() {
			return err
		}
		if d.Name() == perf.EnvFileName {
			j.envs = append(j.envs, p)
			return nil
		}
		j.paths = append(j.paths, p)
		return nil
	})
	if err != nil {
		return j, fmt.Errorf("read %s/%s: %w", e.Path, m.Folder, err)
	}
	j.dropCopies()
	return j, nil
}

// dropCopies leaves out reports whose bytes another report has: counting both
// would make one measurement look more certain than it is.
func (j *moduleFiles) dropCopies() {
	sums := map[string]string{}
	for _, f := range j.entry.Meta.Files {
		if f.Bytes > 0 {
			sums[f.Path] = f.SHA256
		}
	}
	first, drop := map[string]string{}, map[string]bool{}
	for _, p := range decode.Wanted(j.paths) {
		sum := sums["raw/"+p]
		other, again := first[sum]
		if sum == "" || !again {
			first[sum] = p
			continue
		}
		drop[p] = true
		j.same = append(j.same, perf.Diagnostic{Severity: perf.Warning, Code: "same-file", Where: perf.Where{File: path.Join(j.entry.Path, p)},
			What: "not counted", Why: "it is a copy of " + other})
	}
	j.paths = slices.DeleteFunc(j.paths, func(p string) bool { return drop[p] })
}

// decode reads the module's files and summarises what they hold.
func (j moduleFiles) decode(opt Options) (part, error) {
	var p part
	e, m := j.entry, j.module
	origin := e.Meta.Run // a copy: results must not keep all of the metadata
	format := m.Format
	if format == "" {
		format = "auto"
	}
	suites, diags, err := decode.Files(e.Raw, j.paths, decode.Options{Format: format, Module: m.Module, Kind: e.Meta.Run.Kind, Context: opt.Context})
	if err != nil {
		return p, fmt.Errorf("decode %s/%s: %w", e.Path, m.Folder, err)
	}
	p.diags = append(p.diags, j.same...)
	for _, d := range diags {
		if d.Severity == perf.Notice {
			continue // said once, when the entry was published
		}
		d.Where.File = path.Join(e.Path, d.Where.File)
		d.What, d.Why, d.Do, d.Where.File = clean(d.What), clean(d.Why), clean(d.Do), clean(d.Where.File)
		p.diags = append(p.diags, d)
	}
	beside := map[string]perf.Env{}
	for _, name := range j.envs {
		env, err := readEnv(e.Raw, name)
		if err != nil {
			p.diags = append(p.diags, perf.Diagnostic{Severity: perf.Warning, Code: "env-file", What: "machine description not readable",
				Where: perf.Where{File: path.Join(e.Path, name)}, Why: err.Error(), Err: err})
			continue
		}
		beside[path.Dir(name)] = env
	}
	for i := range suites {
		s := &suites[i]
		if !s.Started.IsZero() && (p.started.IsZero() || s.Started.Before(p.started)) {
			p.started = s.Started
		}
		env := s.Env
		for dir := path.Dir(s.File); ; dir = path.Dir(dir) {
			if near, ok := beside[dir]; ok {
				env = env.Or(near)
				break
			}
			if dir == "." || dir == "/" {
				break
			}
		}
		env = cleanEnv(env.Or(e.Meta.Env))
		for b := range s.Benchmarks {
			if opt.ended() {
				return p, opt.Context.Err()
			}
			r := result(s, b, env, e, m, opt)
			r.origin = &origin
			p.results = append(p.results, r)
		}
	}
	return p, nil
}

// ReadEnvFile parses a machine description.
func ReadEnvFile(data []byte) (perf.EnvFile, error) {
	var f perf.EnvFile
	if err := strictjson.Validate(data); err != nil {
		return f, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&f); err != nil {
		return f, err
	}
	if f.Schema != 1 || f.Kind != "env" {
		return f, fmt.Errorf(`expected {"schema": 1, "kind": "env"}, found schema %d, kind %q`, f.Schema, f.Kind)
	}
	return f, nil
}

func readEnv(raw fs.FS, name string) (perf.Env, error) {
	data, err := fs.ReadFile(raw, name)
	if err != nil {
		return perf.Env{}, err
	}
	f, err := ReadEnvFile(data)
	return f.Env, err
}

// result summarises one benchmark.
func result(s *perf.Suite, i int, env perf.Env, e perf.Entry, m perf.EntryModule, opt Options) *Result {
	b := &s.Benchmarks[i]
	key := s.Key(i)
	for _, p := range m.Params {
		if !hasParam(key.Params, p.Name) {
			key.Params = append(key.Params, p)
		}
	}
	key.Normalize()
	r := &Result{Key: key, Label: b.DisplayName(), JobKind: b.JobKind, Dims: b.Dims, DocRef: b.DocRef, Rows: max(b.Rows, 1), Side: b.Side,
		Status: b.Status, Reason: b.Reason, File: s.File, Env: env, Tool: strings.TrimSpace(s.Tool + " " + s.ToolVersion)}
	for _, s := range []*string{&r.Key.Name, &r.Key.Module, &r.Key.Job, &r.Label, &r.DocRef, &r.Reason, &r.File, &r.Tool} {
		*s = clean(*s)
	}
	r.Key.Params, r.Dims = cleanParams(r.Key.Params), cleanParams(r.Dims)
	r.Key = opt.Config.Renamed(r.Key)
	if r.JobKind == "" {
		r.JobKind = perf.Default
	}
	if k := e.Meta.Run.JobKind; k != "" {
		r.JobKind = k
	}
	if r.Status == "" {
		r.Status = perf.OK
	}
	for j := range b.Metrics {
		if m, ok := summarize(&b.Metrics[j], opt.Config.Stats); ok {
			if m.Name == perf.GC0 || m.Name == perf.GC1 || m.Name == perf.GC2 {
				m.Labels.Work = operations(b)
			}
			r.Metrics = append(r.Metrics, m)
		}
	}
	if r.Status == perf.OK && len(r.Metrics) == 0 {
		r.Status, r.Reason = perf.Fail, "the report holds no number for it"
	}
	return r
}

// clean replaces bytes that are not UTF-8. Text files may hold any, and what is
// remembered as JSON could not give them back.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func cleanParams(ps []perf.Param) []perf.Param {
	out := slices.Clone(ps)
	for i := range out {
		out[i].Name, out[i].Value = clean(out[i].Name), clean(out[i].Value)
	}
	return out
}

func cleanEnv(e perf.Env) perf.Env {
	for _, s := range []*string{&e.OS, &e.OSVersion, &e.Kernel, &e.Arch, &e.CPUModel} {
		*s = clean(*s)
	}
	if len(e.Toolchain) > 0 {
		versions := make(map[string]string, len(e.Toolchain))
		for name, v := range e.Toolchain {
			versions[clean(name)] = clean(v)
		}
		e.Toolchain = versions
	}
	return e
}

func hasParam(ps []perf.Param, name string) bool {
	for _, p := range ps {
		if p.Name == name {
			return true
		}
	}
	return false
}
