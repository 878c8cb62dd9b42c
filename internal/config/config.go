// Package config reads .github/perf.yml and the lists beside it: changes that
// were accepted and results that are to be left out. All are optional and every
// setting has a default; a key nobody reads is an error with its position,
// since a setting that silently does nothing is worse than none.
package config

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"perfband/internal/perf"
)

// DefaultPath is where the configuration is looked for.
const DefaultPath = ".github/perf.yml"

// Config is the effective configuration.
type Config struct {
	Schema  int     `yaml:"schema"`
	Suites  []Suite `yaml:"suites"`
	Stats   Stats   `yaml:"stats"`
	Verdict Verdict `yaml:"verdict"`
	Archive Archive `yaml:"archive"`
	Site    Site    `yaml:"site"`
	// Aliases join the series of renamed benchmarks: "module/old name" to
	// "module/new name". Parameters and job stay as they are.
	Aliases map[string]string `yaml:"aliases"`

	// Accepted and Excluded stand in files of their own, see [Config.ReadLists].
	Accepted []Accepted `yaml:"-"`
	Excluded []Excluded `yaml:"-"`
}

// Suite says where a module's results are found.
type Suite struct {
	Module  string    `yaml:"module"`
	Kind    perf.Kind `yaml:"kind"`    // bench | load; default: what the format measures
	Results []string  `yaml:"results"` // globs or folders, relative to the workspace
	Format  string    `yaml:"format"`  // decoder name; default auto
	// Params are added to every key of the module, e.g. feature and provider of
	// a load test whose report does not name them.
	Params map[string]string `yaml:"params"`
}

// Stats holds the limits of the derived statistics.
type Stats struct {
	Confidence float64 `yaml:"confidence"` // level of intervals, in (0.5, 1)
	StableCV   float64 `yaml:"stable_cv"`  // largest CV of a stable result with at least low_n samples
	LowNCV     float64 `yaml:"low_n_cv"`   // the same for fewer samples
	MinN       int     `yaml:"min_n"`      // fewer samples are never stable
	LowN       int     `yaml:"low_n"`      // from here on stable_cv applies
	Outliers   string  `yaml:"outliers"`   // rule that labels outliers: iqr, mad, zscore or grubbs
}

// The rules of a verdict.
const (
	RuleHistory = "history" // prediction interval of the earlier runs on the same class of machine
	RuleADR     = "adr"     // two medians in a row outside one run's 99 % interval; one in four is a false alarm
)

// Verdict says when a benchmark counts as slower or faster than its history.
// Margins are ratios: 0.10 is 10 %.
type Verdict struct {
	// Rule is RuleHistory or, for comparison, RuleADR.
	Rule  string  `yaml:"rule"`
	Alpha float64 `yaml:"alpha"` // chance of a claim about one unchanged benchmark in one run, in (0, 0.2]
	// A change of Margin is large enough to be claimed for every benchmark, one
	// below MinMargin for none; the margin of a benchmark with little noise lies
	// between the two. 0 < MinMargin <= Margin <= 1.
	Margin         float64 `yaml:"margin"`
	MinMargin      float64 `yaml:"min_margin"`
	ConfirmAfter   int     `yaml:"confirm_after"`    // runs in a row that confirm a claim, 1 to 10
	Serious        float64 `yaml:"serious"`          // an open slowdown surely above this turns the badge red
	StaleAfterDays int     `yaml:"stale_after_days"` // days without results after which the badge says so, at least 1
}

// Archive says what is kept.
type Archive struct {
	Exclude []string `yaml:"exclude"` // globs, relative to the results' folder; recorded, not archived
}

// Site names the site.
type Site struct {
	Title string `yaml:"title"`
}

// Default returns the configuration of a repository without a file.
func Default() Config {
	return Config{
		Schema: 1,
		Stats:  Stats{Confidence: 0.99, StableCV: 0.10, LowNCV: 0.03, MinN: 3, LowN: 10, Outliers: "iqr"},
		Verdict: Verdict{Rule: RuleHistory, Alpha: 0.05, Margin: 0.10, MinMargin: 0.05, ConfirmAfter: 2,
			Serious: 0.10, StaleAfterDays: 30},
	}
}

// check returns the first value out of range: key path, what is wrong.
func (c *Config) check() (key, why string) {
	if why := badSchema(c.Schema); why != "" {
		return "schema", why
	}
	if key, why := c.Stats.check(); key != "" {
		return "stats." + key, why
	}
	if key, why := c.Verdict.check(); key != "" {
		return "verdict." + key, why
	}
	for i, su := range c.Suites {
		if key, why := su.check(); key != "" {
			return fmt.Sprintf("suites[%d].%s", i, key), why
		}
	}
	for _, g := range c.Archive.Exclude {
		if why := badGlob(g); why != "" {
			return "archive.exclude", why
		}
	}
	for _, old := range slices.Sorted(maps.Keys(c.Aliases)) {
		if why := c.badAlias(old, c.Aliases[old]); why != "" {
			return "aliases", why
		}
	}
	return "", ""
}

// badAlias says what is wrong with an alias, "" if nothing is.
func (c *Config) badAlias(old, now string) string {
	_, name, ok := strings.Cut(old, "/")
	_, newName, okNow := strings.Cut(now, "/")
	_, again := c.Aliases[now]
	switch {
	case !ok || !okNow || name == "" || newName == "":
		return fmt.Sprintf("%q: %q must join two names of the form module/benchmark, the old one first", old, now)
	case again:
		return fmt.Sprintf("%q: %q is itself an old name; join every old name to the newest", old, now)
	}
	return ""
}

// Renamed is the key under which a benchmark's series goes on, its own unless an
// alias says otherwise.
func (c *Config) Renamed(k perf.Key) perf.Key {
	now, ok := c.Aliases[k.Module+"/"+k.Name]
	if !ok {
		return k
	}
	if name, same := strings.CutPrefix(now, k.Module+"/"); same {
		k.Name = name // a module's name may hold slashes
	} else {
		k.Module, k.Name, _ = strings.Cut(now, "/")
	}
	return k
}

// badSchema says what is wrong with the schema number of a file, "" if nothing is.
func badSchema(schema int) string {
	if schema != 1 {
		return "this perfband reads schema 1; update the action if the file is newer"
	}
	return ""
}

func (s Stats) check() (key, why string) {
	switch {
	case !(s.Confidence > 0.5 && s.Confidence < 1): // NaN too
		return "confidence", "must be between 0.5 and 1, for example 0.99"
	case !(s.StableCV > 0 && s.StableCV <= 10):
		return "stable_cv", "must be a ratio above 0, for example 0.10 for 10 %"
	case !(s.LowNCV > 0 && s.LowNCV <= 10):
		return "low_n_cv", "must be a ratio above 0, for example 0.03 for 3 %"
	case s.MinN < 2:
		return "min_n", "must be at least 2: one sample has no spread"
	case s.LowN < s.MinN:
		return "low_n", "must not be below stats.min_n"
	case !slices.Contains([]string{"iqr", "mad", "zscore", "grubbs"}, s.Outliers):
		return "outliers", "must be iqr, mad, zscore or grubbs"
	}
	return "", ""
}

func (v Verdict) check() (key, why string) {
	switch {
	case v.Rule != RuleHistory && v.Rule != RuleADR:
		return "rule", "must be history or adr"
	case !(v.Alpha > 0 && v.Alpha <= 0.2): // NaN too, as below
		return "alpha", "must be above 0 and at most 0.2, for example 0.05"
	case !(v.Margin > 0 && v.Margin <= 1):
		return "margin", "must be a ratio above 0 and at most 1, for example 0.10 for 10 %"
	case !(v.MinMargin > 0):
		return "min_margin", "must be a ratio above 0, for example 0.05 for 5 %"
	case v.MinMargin > v.Margin:
		return "min_margin", "must not be above verdict.margin"
	case v.ConfirmAfter < 1 || v.ConfirmAfter > 10:
		return "confirm_after", "must be 1 to 10 runs"
	case !(v.Serious >= 0) || math.IsInf(v.Serious, 1):
		return "serious", "must be a ratio of 0 or more, for example 0.10 for 10 %"
	case v.StaleAfterDays < 1:
		return "stale_after_days", "must be at least 1 day"
	}
	return "", ""
}

func (su Suite) check() (key, why string) {
	if su.Module == "" {
		return "module", "must name the module the results belong to"
	}
	if su.Kind != "" && su.Kind != perf.Bench && su.Kind != perf.Load {
		return "kind", "must be bench or load"
	}
	if len(su.Results) == 0 {
		return "results", "must name at least one file, folder or glob"
	}
	for _, g := range su.Results {
		if why := badGlob(g); why != "" {
			return "results", why
		}
	}
	return "", ""
}

// badGlob says what is wrong with a slash-separated pattern, "" if nothing is.
func badGlob(glob string) string {
	switch {
	case !doublestar.ValidatePattern(glob):
		return "is not a valid glob"
	case !local(glob):
		return "must be relative and stay inside the workspace"
	}
	return ""
}

// local reports whether a slash-separated glob cannot leave its root.
func local(glob string) bool {
	if glob == "" || strings.HasPrefix(glob, "/") || strings.ContainsAny(glob, "\\\x00") || strings.Contains(glob, "://") {
		return false
	}
	c := path.Clean(glob)
	return c != ".." && !strings.HasPrefix(c, "../")
}
