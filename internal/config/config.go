// Package config reads .github/perf.yml. The file is optional and every key
// has a default; a key nobody reads is an error with its position, since a
// setting that silently does nothing is worse than none.
package config

import (
	"fmt"
	"path"
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
	Archive Archive `yaml:"archive"`
	Site    Site    `yaml:"site"`
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
		Stats:  Stats{Confidence: 0.99, StableCV: 0.10, LowNCV: 0.03, MinN: 3, LowN: 10},
	}
}

// check returns the first value out of range: key path, what is wrong.
func (c *Config) check() (key, why string) {
	if c.Schema != 1 {
		return "schema", "this perfband reads schema 1; update the action if the file is newer"
	}
	s := c.Stats
	switch {
	case !(s.Confidence > 0.5 && s.Confidence < 1): // NaN too
		return "stats.confidence", "must be between 0.5 and 1, for example 0.99"
	case !(s.StableCV > 0 && s.StableCV <= 10):
		return "stats.stable_cv", "must be a ratio above 0, for example 0.10 for 10 %"
	case !(s.LowNCV > 0 && s.LowNCV <= 10):
		return "stats.low_n_cv", "must be a ratio above 0, for example 0.03 for 3 %"
	case s.MinN < 2:
		return "stats.min_n", "must be at least 2: one sample has no spread"
	case s.LowN < s.MinN:
		return "stats.low_n", "must not be below stats.min_n"
	}
	for i, su := range c.Suites {
		at := func(key string) string { return fmt.Sprintf("suites[%d].%s", i, key) }
		if su.Module == "" {
			return at("module"), "must name the module the results belong to"
		}
		if su.Kind != "" && su.Kind != perf.Bench && su.Kind != perf.Load {
			return at("kind"), "must be bench or load"
		}
		if len(su.Results) == 0 {
			return at("results"), "must name at least one file, folder or glob"
		}
		for _, g := range su.Results {
			if why := badGlob(g); why != "" {
				return at("results"), why
			}
		}
	}
	for _, g := range c.Archive.Exclude {
		if why := badGlob(g); why != "" {
			return "archive.exclude", why
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
