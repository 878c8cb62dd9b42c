package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"perfband/internal/perf"
)

// The lists lie beside the configuration file.
const (
	AcceptedName = "perf-accepted.yml"
	ExcludedName = "perf-excluded.yml"
)

// Accepted is an entry of perf-accepted.yml: a change that was looked at and is
// meant to stay. It closes open slowdowns of the benchmarks it names, and what
// follows is compared with the results after it.
type Accepted struct {
	// Benchmark is a pattern of module/benchmark, see [Accepted.Matches].
	Benchmark string `yaml:"benchmark"`
	// Metric is the name of the metric, "" for all.
	Metric string `yaml:"metric"`
	// Commit is the beginning of the hash, 7 to 40 lower-case hex digits, of the
	// commit that made the change. Empty: the one that adds the entry.
	Commit string `yaml:"commit"`
	Reason string `yaml:"reason"` // never empty
	Line   int    `yaml:"-"`      // of the file, from 1
}

// Matches reports whether the entry is about a metric of a benchmark. The
// pattern is compared with "module/name", "module/name{parameters}" and the
// same with " [job]", all of it, case and accents as written. What equals the
// pattern matches. Otherwise * stands for any run of characters, slashes and
// none among them, and ? for one; nothing else is special, since names hold
// brackets, braces and backslashes of their own. A literal * or ? therefore
// matches itself, and others.
func (a Accepted) Matches(key perf.Key, metric string) bool {
	return (a.Metric == "" || a.Metric == metric) && matchKey(a.Benchmark, key)
}

// ID identifies the entry by its content, wherever in the file it stands: 16
// hex digits. Entries of one file have different ones.
func (a Accepted) ID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", a.Benchmark, a.Metric, a.Reason, a.Commit))
	return hex.EncodeToString(sum[:8])
}

// Excluded is an entry of perf-excluded.yml: results that are not to be relied
// on. The raw branch keeps them. At least one condition is set; all that are
// must hold.
type Excluded struct {
	// Run is a run's id, "24302647964", that of one attempt, "24302647964.1", or
	// of one entry of the archive, "24302647964.1.linux".
	Run string `yaml:"run"`
	// Machine is a pattern of the CPU model, as in [Accepted.Matches]. A machine
	// whose model is unknown matches none.
	Machine string `yaml:"machine"`
	// From and To bound the run's start, From included and To not, in UTC. Zero
	// is no bound. A run whose start is unknown lies outside.
	From      time.Time `yaml:"from"`
	To        time.Time `yaml:"to"`
	Benchmark string    `yaml:"benchmark"` // a pattern as in [Accepted.Matches]
	Reason    string    `yaml:"reason"`    // never empty
	Line      int       `yaml:"-"`         // of the file, from 1
}

// Retires reports whether the entry is about benchmarks alone. It then takes
// their series out of lists and leaves their results as they are; every other
// entry takes the results it matches out of all that is derived.
func (e Excluded) Retires() bool {
	return e.Benchmark != "" && e.Run == "" && e.Machine == "" && e.From.IsZero() && e.To.IsZero()
}

// Matches reports whether all conditions hold for a result: of which run, on
// which CPU model ("" unknown), of which benchmark. What follows from it says
// [Excluded.Retires].
func (e Excluded) Matches(run perf.Run, cpuModel string, key perf.Key) bool {
	switch {
	case e.Run != "" && !e.isRun(run),
		e.Machine != "" && (cpuModel == "" || !match(e.Machine, cpuModel)),
		run.Started.Before(e.From),
		!e.To.IsZero() && (run.Started.IsZero() || !run.Started.Before(e.To)),
		e.Benchmark != "" && !matchKey(e.Benchmark, key):
		return false
	}
	return true
}

func (e Excluded) isRun(run perf.Run) bool {
	return e.Run == run.RunID || e.Run == run.ID ||
		run.Attempt > 0 && e.Run == fmt.Sprintf("%s.%d", run.RunID, run.Attempt)
}

type acceptedFile struct {
	Schema   int        `yaml:"schema"`
	Accepted []Accepted `yaml:"accepted"`
}

type excludedFile struct {
	Schema   int        `yaml:"schema"`
	Excluded []Excluded `yaml:"excluded"`
}

// ParseAccepted reads perf-accepted.yml. file is used in errors, which are
// *perf.Diagnostic with the position of the offending text.
func ParseAccepted(data []byte, file string) ([]Accepted, error) {
	f := acceptedFile{Schema: 1}
	doc, err := read(file, data, &f)
	if err != nil {
		return nil, err
	}
	for i := range f.Accepted {
		f.Accepted[i].Line, _ = position(doc, fmt.Sprintf("accepted[%d]", i))
	}
	return f.Accepted, nil
}

// ParseExcluded reads perf-excluded.yml as [ParseAccepted] does the other list.
func ParseExcluded(data []byte, file string) ([]Excluded, error) {
	f := excludedFile{Schema: 1}
	doc, err := read(file, data, &f)
	if err != nil {
		return nil, err
	}
	for i := range f.Excluded {
		f.Excluded[i].Line, _ = position(doc, fmt.Sprintf("excluded[%d]", i))
	}
	return f.Excluded, nil
}

var hash = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

func (f *acceptedFile) check() (key, why string) {
	if why := badSchema(f.Schema); why != "" {
		return "schema", why
	}
	seen := map[string]int{}
	for i := range f.Accepted {
		a := &f.Accepted[i]
		a.Commit = strings.ToLower(a.Commit)
		a.Reason = strings.TrimSpace(a.Reason)
		at := func(key string) string { return fmt.Sprintf("accepted[%d].%s", i, key) }
		switch why := badPattern(a.Benchmark); {
		case a.Benchmark == "":
			return at("benchmark"), "must name what is accepted, for example core/BenchmarkSend or core/*"
		case why != "":
			return at("benchmark"), why
		case a.Commit != "" && !hash.MatchString(a.Commit):
			return at("commit"), "must be 7 to 40 hex digits of a commit's hash; without it, the entry takes effect with the commit that adds it"
		case a.Reason == "":
			return at("reason"), "must say why the change is accepted"
		}
		if first, twice := seen[a.ID()]; twice {
			// It would not accept the change it was added for.
			return fmt.Sprintf("accepted[%d]", i), fmt.Sprintf("repeats accepted[%d]; another change needs its commit or a reason of its own", first)
		}
		seen[a.ID()] = i
	}
	return "", ""
}

func (f *excludedFile) check() (key, why string) {
	if why := badSchema(f.Schema); why != "" {
		return "schema", why
	}
	for i := range f.Excluded {
		e := &f.Excluded[i]
		e.From, e.To = e.From.UTC(), e.To.UTC()
		e.Reason = strings.TrimSpace(e.Reason)
		at := func(key string) string { return fmt.Sprintf("excluded[%d].%s", i, key) }
		switch why := badPattern(e.Benchmark); {
		case e.Run == "" && e.Machine == "" && e.From.IsZero() && e.To.IsZero() && e.Benchmark == "":
			return fmt.Sprintf("excluded[%d]", i), "must say what is left out: run, machine, from, to or benchmark"
		case why != "":
			return at("benchmark"), why
		case !e.From.IsZero() && !e.To.IsZero() && !e.From.Before(e.To):
			return at("to"), "must be after from"
		case e.Reason == "":
			return at("reason"), "must say why it is left out"
		}
	}
	return "", ""
}

// badPattern says why a pattern of benchmarks matches nothing, "" if it may
// match something.
func badPattern(pattern string) string {
	if pattern != "" && !strings.ContainsAny(pattern, "/*?") {
		return "must begin with the module, for example core/BenchmarkSend or *BenchmarkSend"
	}
	return ""
}

// ReadLists reads the two lists, each where it exists, from the folder of the
// configuration file; dir is the folder's name in errors.
func (c *Config) ReadLists(folder fs.FS, dir string) error {
	data, err := readList(folder, dir, AcceptedName)
	if err != nil {
		return err
	}
	if c.Accepted, err = ParseAccepted(data, path.Join(dir, AcceptedName)); err != nil {
		return err
	}
	if data, err = readList(folder, dir, ExcludedName); err != nil {
		return err
	}
	c.Excluded, err = ParseExcluded(data, path.Join(dir, ExcludedName))
	return err
}

// readList reads a file, nothing if there is none.
func readList(folder fs.FS, dir, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var data []byte
	if err == nil {
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, maxBytes+1))
	}
	if err != nil {
		return nil, &perf.Diagnostic{Severity: perf.Error, Code: "config", Where: perf.Where{File: path.Join(dir, name)},
			What: "cannot be read", Why: err.Error(), Err: err}
	}
	return data, nil
}

// Digest identifies what the lists and aliases say; comments and lines do not
// count.
func (c Config) Digest() string {
	h := sha256.New()
	for _, a := range c.Accepted {
		fmt.Fprintf(h, "accepted %s\n", a.ID())
	}
	for _, e := range c.Excluded {
		fmt.Fprintf(h, "excluded %q %q %s %s %q %q\n", e.Run, e.Machine,
			e.From.UTC().Format(time.RFC3339Nano), e.To.UTC().Format(time.RFC3339Nano), e.Benchmark, e.Reason)
	}
	for _, old := range slices.Sorted(maps.Keys(c.Aliases)) {
		fmt.Fprintf(h, "alias %q %q\n", old, c.Aliases[old])
	}
	return hex.EncodeToString(h.Sum(nil))
}
