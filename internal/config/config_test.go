package config

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
verdict: {rule: adr, alpha: 0.2, margin: 1, min_margin: 1, confirm_after: 10, serious: 0, stale_after_days: 1}
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
	want.Verdict = Verdict{Rule: RuleADR, Alpha: 0.2, Margin: 1, MinMargin: 1, ConfirmAfter: 10, Serious: 0, StaleAfterDays: 1}
	want.Archive.Exclude = []string{"**/*.html"}
	want.Site.Title = "Encina"
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestParseEmpty(t *testing.T) {
	for _, doc := range []string{"", "\n# nothing\n", "schema: 1\n", "\ufeffschema: 1\r\n", "schema:\nsuites:\nverdict: # all commented out\nsite: ~\n", "{}"} {
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
		{"wrong type", "stats:\n  min_n: many\n", "perf.yml:2:10: bad value of stats.min_n: must be a whole number"},
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
		{"no alpha", "verdict: {alpha: 0}\n", "perf.yml:1:18: bad value of verdict.alpha: must be above 0 and at most 0.2"},
		{"alpha in per cent", "verdict: {alpha: 5}\n", "bad value of verdict.alpha"},
		{"alpha too large", "verdict: {alpha: 0.21}\n", "bad value of verdict.alpha"},
		{"alpha is no number", "verdict: {alpha: .nan}\n", "bad value of verdict.alpha"},
		{"margin in per cent", "verdict: {margin: 10}\n", "bad value of verdict.margin: must be a ratio above 0 and at most 1"},
		{"no margin", "verdict: {margin: 0}\n", "bad value of verdict.margin"},
		{"no least margin", "verdict: {min_margin: 0}\n", "bad value of verdict.min_margin: must be a ratio above 0"},
		{"least margin is no number", "verdict: {min_margin: .nan}\n", "bad value of verdict.min_margin"},
		{"margin below the least", "schema: 1\nverdict:\n  margin: 0.04\n", "perf.yml:3:9: bad value of verdict.min_margin: must not be above verdict.margin"},
		{"never confirmed", "verdict: {confirm_after: 0}\n", "bad value of verdict.confirm_after: must be 1 to 10 runs"},
		{"confirmed too late", "verdict: {confirm_after: 11}\n", "bad value of verdict.confirm_after"},
		{"half a run", "verdict: {confirm_after: 1.5}\n", "bad value of verdict.confirm_after: must be a whole number"},
		{"never serious", "verdict: {serious: .inf}\n", "bad value of verdict.serious"},
		{"serious gain", "verdict: {serious: -0.1}\n", "bad value of verdict.serious: must be a ratio of 0 or more"},
		{"stale at once", "verdict: {stale_after_days: 0}\n", "bad value of verdict.stale_after_days: must be at least 1 day"},
		{"not a number", "stats: {confidence: .nan}\n", "bad value of stats.confidence"},
		{"number as text", "stats: {min_n: '3'}\n", "perf.yml:1:16: bad value of stats.min_n: must be a whole number"},
		{"truth as number", "stats: {confidence: true}\n", "perf.yml:1:21: bad value of stats.confidence: must be a number"},
		{"truth as text", "site: {title: true}\n", "perf.yml:1:15: bad value of site.title: must be text; put it in quotes"},
		{"text as list", "archive: {exclude: x}\n", "perf.yml:1:20: bad value of archive.exclude: must be a list"},
		{"list as section", "site: []\n", "perf.yml:1:7: bad value of site: must be a mapping"},
		{"list as document", "- a\n", "perf.yml:1:1: bad value of the document: must be a mapping"},
		{"no value", "stats:\n  min_n:\n", "perf.yml:2:3: bad value of stats.min_n: has no value"},
		{"number as key", "stats: {1: 2}\n", `perf.yml:1:9: unknown key "1"`},
		{"structure as key", "? schema\n: 1\n", "perf.yml:1:1: bad value of the document: has a key that is not plain text"},
		{"key of another section", "verdict: {stable_cv: 3}\n",
			`unknown key "stable_cv". Keys known here: alpha, confirm_after, margin, min_margin, rule, serious, stale_after_days.`},
		{"list as a key", "Accepted: []\n", `unknown key "Accepted"`},
		{"no key", "'-': []\n", `unknown key "-"`},
		{"tag", "schema: !!int '1'\n", "perf.yml:1:9: tags and directives are not allowed"},
		{"tag at the end", "schema: !x", "perf.yml:1:9: tags and directives are not allowed"},
		{"directive", "%YAML 1.2\n---\nschema: 1\n", "perf.yml:1:1: tags and directives are not allowed"},
		{"merge key", "site: {<<: {title: x}}\n", "perf.yml:1:8: anchors and aliases are not allowed"},
		{"same key twice, once in quotes", "site:\n  title: a\n  'title': b\n", `perf.yml:3:3: not readable as configuration: mapping key "title" already defined`},
		{"same key twice, once as a number", "suites:\n- {module: a, results: [x], params: {1: a, '1': b}}\n", `perf.yml:2:44: not readable as configuration: mapping key "1" already defined`},
		{"too deep", "archive: {exclude: " + strings.Repeat("[", 100_000), "perf.yml:1:51: nested deeper than 32 levels"},
		{"too deep in block style", strings.Repeat("- ", 100_000), "perf.yml:1:65: nested deeper than 32 levels"},
		{"too long", strings.Repeat("#\n", 200_000), "perf.yml: larger than 256 KiB"},
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

// Text is what stands in the file, also where YAML would see a number.
func TestTextStays(t *testing.T) {
	for _, want := range []string{"1.10", "0123", "1_000", "0x10", "24302647964.10", "1e3", "on", "2026-01-01"} {
		c, err := Parse("perf.yml", []byte("suites:\n- {module: m, results: ["+want+"], params: {"+want+": "+want+"}}\nsite:\n  title: "+want))
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if su := c.Suites[0]; c.Site.Title != want || su.Results[0] != want || su.Params[want] != want {
			t.Errorf("%s became %+v", want, c)
		}
	}
}

// TestParseLong: what is side by side is not nested.
func TestParseLong(t *testing.T) {
	c, err := Parse("perf.yml", []byte("suites:\n"+strings.Repeat("- module: a\n  results: [x, y]\n  params: {a: b}\n- {module: b, results: [x]}\n", 500)))
	if err != nil || len(c.Suites) != 1000 {
		t.Errorf("%d suites, %v", len(c.Suites), err)
	}
}

// TestParseKeeps: the caller's bytes are not written to.
func TestParseKeeps(t *testing.T) {
	whole := []byte("schema: 1X")
	if _, err := Parse("perf.yml", whole[:9]); err != nil || string(whole) != "schema: 1X" {
		t.Errorf("%q %v", whole, err)
	}
}

// TestReadme: what the README shows is all there is, with the defaults.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(name string) string {
		for _, b := range strings.Split(string(readme), "```yaml\n")[1:] {
			if b, _, _ := strings.Cut(b, "```"); strings.Contains(b, name+":") {
				return b
			}
		}
		t.Fatalf("no block with %s:", name)
		return ""
	}
	doc := block("suites")
	c, err := Parse("README.md", []byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Suites) != 1 {
		t.Errorf("%d suites", len(c.Suites))
	}
	c.Suites = nil
	if d := cmp.Diff(Default(), c, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("(-default +shown)\n%s", d)
	}
	accepted, excluded := block("accepted"), block("excluded")
	if _, err := ParseAccepted([]byte(accepted), "README.md"); err != nil {
		t.Error(err)
	}
	if _, err := ParseExcluded([]byte(excluded), "README.md"); err != nil {
		t.Error(err)
	}
	for shown, typ := range map[string]reflect.Type{doc: reflect.TypeFor[Config](), accepted: reflect.TypeFor[acceptedFile](), excluded: reflect.TypeFor[excludedFile]()} {
		eachKey(typ, func(key string) {
			if !regexp.MustCompile(`(?m)^[\s-]*` + key + `:`).MatchString(shown) {
				t.Errorf("%s is not shown in\n%s", key, shown)
			}
		})
	}
}

// eachKey calls f with all key names of a type and what is in it.
func eachKey(t reflect.Type, f func(key string)) {
	switch {
	case t.Kind() == reflect.Slice:
		eachKey(t.Elem(), f)
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]():
		for i := range t.NumField() {
			if k := keyOf(t.Field(i)); k != "-" {
				f(k)
				eachKey(t.Field(i).Type, f)
			}
		}
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
