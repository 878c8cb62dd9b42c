package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/perf"
)

func TestParse(t *testing.T) {
	c, err := Parse("perf.yml", []byte(`
schema: 1
suites:
  - module: core
    kind: bench
    results: ["artifacts/core/**/*-report-full*.json"]
  - module: outbox
    kind: load
    results: [load]
    params: {feature: outbox, provider: redis}
stats: {stable_cv: 0.2}
archive: {exclude: ["**/*.html"]}
site: {title: Encina}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Suites = []Suite{
		{Module: "core", Kind: perf.Bench, Results: []string{"artifacts/core/**/*-report-full*.json"}},
		{Module: "outbox", Kind: perf.Load, Results: []string{"load"}, Params: map[string]string{"feature": "outbox", "provider": "redis"}},
	}
	want.Stats.StableCV = 0.2
	want.Archive.Exclude = []string{"**/*.html"}
	want.Site.Title = "Encina"
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestParseEmpty(t *testing.T) {
	for _, doc := range []string{"", "\n# nothing\n", "schema: 1\n"} {
		c, err := Parse("perf.yml", []byte(doc))
		if err != nil {
			t.Errorf("%q: %v", doc, err)
		}
		if d := cmp.Diff(Default(), c); d != "" {
			t.Errorf("%q is not the default:\n%s", doc, d)
		}
	}
}

// Every refusal names the file, the line and what is wrong.
func TestParseRefuses(t *testing.T) {
	for _, tc := range []struct{ name, doc, want string }{
		{"unknown key", "schema: 1\nstats:\n  stable_cw: 0.1\n", `perf.yml:3:3: unknown key "stable_cw" (did you mean "stable_cv"?)`},
		{"not yaml", "stats: [\n", "perf.yml:1:"},
		{"wrong type", "stats:\n  min_n: many\n", "perf.yml:2:10: not readable as configuration"},
		{"duplicate key", "schema: 1\nschema: 1\n", "perf.yml:2:1: not readable as configuration"},
		{"alias", "site: &a {title: x}\nstats: *a\n", "perf.yml:1:7: anchors and aliases are not allowed"},
		{"two documents", "schema: 1\n---\nschema: 1\n", "perf.yml: more than one YAML document"},
		{"newer schema", "schema: 2\n", "perf.yml:1:9: bad value of schema"},
		{"confidence", "stats: {confidence: 99}\n", "perf.yml:1:21: bad value of stats.confidence"},
		{"escaping glob", "suites:\n- module: a\n  results: ['../x']\n", "perf.yml:3:12: bad value of suites[0].results"},
		{"absolute glob", "suites:\n- module: a\n  results: [/etc/passwd]\n", "perf.yml:3:12: bad value of suites[0].results"},
		{"no results", "suites:\n- module: a\n", "perf.yml:2:9: bad value of suites[0].results"},
		{"second suite", "suites:\n- {module: a, results: [x]}\n- {module: b, results: [x], kind: bad}\n", "perf.yml:3:35: bad value of suites[1].kind"},
		{"no module", "suites:\n- results: [x]\n", "bad value of suites[0].module"},
		{"bad glob", "suites:\n- {module: a, results: ['[x']}\n", "bad value of suites[0].results: is not a valid glob"},
		{"bad exclude", "archive: {exclude: ['[x']}\n", "bad value of archive.exclude: is not a valid glob"},
		{"not a number", "stats: {confidence: .nan}\n", "bad value of stats.confidence"},
		{"exclude outside", "archive: {exclude: [../../x]}\n", "perf.yml:1:20: bad value of archive.exclude"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse("perf.yml", []byte(tc.doc))
			if err == nil {
				t.Fatal("accepted")
			}
			var d *perf.Diagnostic
			if !errors.As(err, &d) {
				t.Errorf("%T is not a diagnostic", err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q\nlacks %q", err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("schema: 1\nsuites:\n- module: a\n  results: [x]\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		c, err := Parse("f", doc)
		if err == nil {
			if key, why := c.check(); key != "" {
				t.Errorf("accepted a bad %s: %s", key, why)
			}
		}
	})
}
