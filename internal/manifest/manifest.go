// Package manifest reads .github/perf-manifest/{module}.json: what a module's
// benchmarks are called in documents and which of them are known to be
// unstable, with the reason.
package manifest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// File is one manifest.
type File struct {
	Schema     int         `json:"schema"`
	Module     string      `json:"module"`
	Benchmarks []Benchmark `json:"benchmarks"`
}

// Benchmark is what a manifest says of one benchmark.
type Benchmark struct {
	// ID is the benchmark's name within the module, as exports print it; with
	// Job set, only that job's result is meant.
	ID             string          `json:"id"`
	Job            string          `json:"job,omitempty"`
	DocRef         string          `json:"docref,omitempty"`
	ExpectUnstable *ExpectUnstable `json:"expect_unstable,omitempty"`
}

// ExpectUnstable says that a large spread is known and accepted.
type ExpectUnstable struct {
	Reason string `json:"reason"`
}

// Set is all manifests of a repository. The zero value is empty and usable.
type Set struct {
	byKey map[ref]Benchmark
}

type ref struct{ module, id, job string }

// Load reads every *.json in dir. A folder that does not exist is an empty
// set. Errors are *perf.Diagnostic naming the file.
func Load(fsys fs.FS, dir string) (Set, error) {
	var s Set
	names, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read manifests %s: %w", dir, err)
	}
	s.byKey = map[ref]Benchmark{}
	for _, e := range names {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		p := path.Join(dir, e.Name())
		if err := s.add(fsys, p); err != nil {
			return s, &perf.Diagnostic{Severity: perf.Error, Code: "manifest", Where: perf.Where{File: p},
				What: "not readable as a manifest", Why: err.Error(), Err: err,
				Do: `Expected {"schema": 1, "module": "…", "benchmarks": [{"id": "…"}]}.`}
		}
	}
	return s, nil
}

func (s *Set) add(fsys fs.FS, p string) error {
	data, err := fs.ReadFile(fsys, p)
	if err != nil {
		return err
	}
	if err := strictjson.Validate(data); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var f File
	if err := dec.Decode(&f); err != nil {
		return err
	}
	if f.Schema != 1 {
		return fmt.Errorf("schema %d: this perfband reads schema 1; update the action if the file is newer", f.Schema)
	}
	if f.Module == "" {
		return errors.New(`"module" is missing`)
	}
	for i, b := range f.Benchmarks {
		if b.ID == "" {
			return fmt.Errorf(`benchmarks[%d]: "id" is missing`, i)
		}
		if b.ExpectUnstable != nil && b.ExpectUnstable.Reason == "" {
			return fmt.Errorf(`benchmarks[%d] (%s): "expect_unstable" needs a "reason"`, i, b.ID)
		}
		r := ref{f.Module, b.ID, b.Job}
		if _, dup := s.byKey[r]; dup {
			return fmt.Errorf("benchmarks[%d]: %s is listed twice", i, b.ID)
		}
		s.byKey[r] = b
	}
	return nil
}

// Digest identifies the content of the set.
func (s Set) Digest() string {
	keys := slices.SortedFunc(maps.Keys(s.byKey), func(a, b ref) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.id, b.id), cmp.Compare(a.job, b.job))
	})
	h := sha256.New()
	for _, k := range keys {
		b := s.byKey[k]
		fmt.Fprintf(h, "%q %q %q %q", k.module, k.id, k.job, b.DocRef)
		if b.ExpectUnstable != nil {
			fmt.Fprintf(h, " %q", b.ExpectUnstable.Reason)
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Find returns what the manifests say of a benchmark: the entry for its job,
// else the one for any job.
func (s Set) Find(k perf.Key) (Benchmark, bool) {
	id := k.Benchmark()
	if b, ok := s.byKey[ref{k.Module, id, k.Job}]; ok {
		return b, true
	}
	b, ok := s.byKey[ref{k.Module, id, ""}]
	return b, ok
}
