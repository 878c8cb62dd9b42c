package config

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/perf"
)

func TestParseAccepted(t *testing.T) {
	got, err := ParseAccepted([]byte(`# reviewed
schema: 1
accepted:
  - benchmark: core/BenchmarkSend
    reason: |
      checks its input
      now
  - {benchmark: "core/Map<K,V>[8]{n=1}", metric: alloc_bytes, commit: 0A1B2C3D, reason: " wider  "}
  - benchmark: core/Map[8]{n=1,m=2} & more
    commit: 0123456
    reason: 12
`), "perf-accepted.yml")
	want := []Accepted{
		{Benchmark: "core/BenchmarkSend", Reason: "checks its input\nnow", Line: 4},
		{Benchmark: "core/Map<K,V>[8]{n=1}", Metric: "alloc_bytes", Commit: "0a1b2c3d", Reason: "wider", Line: 8},
		{Benchmark: "core/Map[8]{n=1,m=2} & more", Commit: "0123456", Reason: "12", Line: 9},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n(-want +got)\n%s", err, d)
	}
}

func TestParseExcluded(t *testing.T) {
	got, err := ParseExcluded([]byte(`excluded:
- {run: 24302647964, reason: a}
- run: 24302647964.10
  machine: AMD EPYC 7763 64-Core Processor
  from: 2026-04-01T02:00:00+02:00
  to: 2026-04-01T00:00:00.5Z
  benchmark: core/*
  reason: b
- {benchmark: core/Old, reason: c}
`), "perf-excluded.yml")
	from := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	want := []Excluded{
		{Run: "24302647964", Reason: "a", Line: 2},
		{Run: "24302647964.10", Machine: "AMD EPYC 7763 64-Core Processor", From: from, To: from.Add(time.Second / 2),
			Benchmark: "core/*", Reason: "b", Line: 3},
		{Benchmark: "core/Old", Reason: "c", Line: 9},
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v\n(-want +got)\n%s", err, d)
	}
	for i, e := range got {
		if e.From.Location() != time.UTC { // shown as it is
			t.Errorf("from %v", e.From)
		}
		if e.Retires() != (i == 2) {
			t.Errorf("entry %d retires: %v", i, e.Retires())
		}
	}
}

func TestEmptyLists(t *testing.T) {
	for _, doc := range []string{"", "# none yet\n", "schema: 1\n", "accepted:\nexcluded:\n", "accepted: []\nexcluded: []\n"} {
		mine := func(key string) []byte { return []byte(strings.ReplaceAll(doc, key, "# ")) }
		a, err := ParseAccepted(mine("excluded"), "f")
		if err != nil || len(a) != 0 {
			t.Errorf("%q: %v %v", doc, a, err)
		}
		e, err := ParseExcluded(mine("accepted"), "f")
		if err != nil || len(e) != 0 {
			t.Errorf("%q: %v %v", doc, e, err)
		}
	}
}

// Every refusal names the file, the line and what is wrong.
func TestListsRefuse(t *testing.T) {
	const a, e = "accepted:\n- ", "excluded:\n- "
	for _, tc := range []struct{ name, doc, want string }{
		{"newer schema", "schema: 2\naccepted: []\n", "f.yml:1:9: bad value of schema: this perfband reads schema 1"},
		{"unknown section", "accepted: []\nexclude: []\n", `f.yml:2:1: unknown key "exclude". Keys known here: accepted, schema.`},
		{"unknown key", a + "benchmark: a/b\n  reasn: x\n", `f.yml:3:3: unknown key "reasn" (did you mean "reason"?). Keys known here: benchmark, commit, metric, reason.`},
		{"inner field", a + "benchmark: a/b\n  reason: x\n  Line: 3\n", `f.yml:4:3: unknown key "Line"`},
		{"duplicate key", a + "benchmark: a/b\n  reason: x\n  reason: y\n", `f.yml:4:3: not readable as configuration: mapping key "reason" already defined`},
		{"list of texts", a + "core/BenchmarkSend\n", "f.yml:2:3: bad value of accepted[0]: must be a mapping"},
		{"empty entry", a + "\n", "bad value of accepted[0]: must be a mapping"},
		{"no list", "accepted: {benchmark: a/b, reason: x}\n", "f.yml:1:11: bad value of accepted: must be a list"},
		{"list as text", a + "{benchmark: [a/b], reason: x}\n", "f.yml:2:15: bad value of accepted[0].benchmark: must be text"},
		{"truth as reason", a + "{benchmark: a/b, reason: true}\n", "f.yml:2:28: bad value of accepted[0].reason: must be text"},
		{"no benchmark", a + "{reason: x}\n", "f.yml:2:3: bad value of accepted[0].benchmark: must name what is accepted"},
		{"blank benchmark", a + "{benchmark: ' ', reason: x}\n", "f.yml:2:15: bad value of accepted[0].benchmark: is blank"},
		{"no module", a + "{benchmark: BenchmarkSend, reason: x}\n", "f.yml:2:15: bad value of accepted[0].benchmark: must begin with the module"},
		{"no reason", a + "{benchmark: a/b}\n", "f.yml:2:3: bad value of accepted[0].reason: must say why"},
		{"blank reason", a + "benchmark: a/b\n  reason: |\n\n", "f.yml:3:11: bad value of accepted[0].reason"},
		{"valueless reason", a + "benchmark: a/b\n  reason:\n", "f.yml:3:3: bad value of accepted[0].reason: has no value"},
		{"blank metric", a + "{benchmark: a/b, reason: x, metric: ''}\n", "bad value of accepted[0].metric: is blank"},
		{"short commit", a + "{benchmark: a/b, reason: x, commit: abcdef}\n", "f.yml:2:39: bad value of accepted[0].commit: must be 7 to 40 hex digits"},
		{"long commit", a + "{benchmark: a/b, reason: x, commit: " + strings.Repeat("a", 41) + "}\n", "bad value of accepted[0].commit"},
		{"branch as commit", a + "{benchmark: a/b, reason: x, commit: feature}\n", "bad value of accepted[0].commit"},
		{"twice", a + "{benchmark: a/b, reason: x}\n- {benchmark: a/c, reason: x}\n- {reason: ' x', benchmark: a/b}\n", "f.yml:4:3: bad value of accepted[2]: repeats accepted[0]"},
		{"unquoted star", a + "{benchmark: */b, reason: x}\n", "f.yml:2:15: anchors and aliases are not allowed. Write the value out; text that begins with * or & needs quotes."},

		{"no condition", e + "{reason: x}\n", "f.yml:2:3: bad value of excluded[0]: must say what is left out: run, machine, from, to or benchmark"},
		{"excluded for nothing", e + "{run: 1}\n", "bad value of excluded[0].reason: must say why"},
		{"valueless condition", e + "benchmark: a/*\n  run:\n  reason: x\n", "f.yml:3:3: bad value of excluded[0].run: has no value"},
		{"blank condition", e + "{benchmark: a/*, machine: '', reason: x}\n", "f.yml:2:29: bad value of excluded[0].machine: is blank"},
		{"list of runs", e + "{run: [1, 2], reason: x}\n", "f.yml:2:9: bad value of excluded[0].run: must be text"},
		{"no module to exclude", e + "{benchmark: b, reason: x}\n", "f.yml:2:15: bad value of excluded[0].benchmark: must begin with the module"},
		{"day", e + "{from: 2026-04-01, reason: x}\n", "f.yml:2:10: bad value of excluded[0].from: must be a time with its zone"},
		{"no zone", e + "{to: 2026-04-01T00:00:00, reason: x}\n", "f.yml:2:8: bad value of excluded[0].to: must be a time with its zone"},
		{"no such day", e + "{to: 2026-02-30T00:00:00Z, reason: x}\n", "bad value of excluded[0].to"},
		{"year", e + "{to: 2026, reason: x}\n", "bad value of excluded[0].to"},
		{"backwards", e + "{from: 2026-04-02T00:00:00Z, to: 2026-04-01T00:00:00Z, reason: x}\n", "f.yml:2:36: bad value of excluded[0].to: must be after from"},
		{"no time", e + "{from: 2026-04-02T00:00:00Z, to: 2026-04-02T02:00:00+02:00, reason: x}\n", "bad value of excluded[0].to: must be after from"},
		{"accepted among excluded", e + "{benchmark: a/b, commit: 1234567, reason: x}\n", `f.yml:2:20: unknown key "commit". Keys known here: benchmark, from, machine, reason, run, to.`},

		{"alias bomb", "accepted:\n- &a [x, x, x, x]\n- &b [*a, *a, *a, *a]\n- &c [*b, *b, *b, *b]\n", "f.yml:2:3: anchors and aliases are not allowed"},
		{"tag", a + "{benchmark: !!binary YS9i, reason: x}\n", "f.yml:2:15: tags and directives are not allowed"},
		{"too deep", a + strings.Repeat("{a: ", 50_000), "nested deeper than 32 levels"},
		{"two documents", "schema: 1\n---\nschema: 1\n", "f.yml: more than one YAML document"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var err error
			if strings.HasPrefix(tc.doc, e) {
				_, err = ParseExcluded([]byte(tc.doc), "f.yml")
			} else {
				_, err = ParseAccepted([]byte(tc.doc), "f.yml")
			}
			var d *perf.Diagnostic
			if !errors.As(err, &d) {
				t.Fatalf("%v is not a diagnostic", err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %q\nlacks %q", err, tc.want)
			}
		})
	}
}

func TestAcceptedMatches(t *testing.T) {
	key := perf.Key{Module: "core", Name: "Send[int]", Params: []perf.Param{{Name: "m", Value: "{a}"}, {Name: "n", Value: "1"}}, Job: "net9"}
	for _, tc := range []struct {
		benchmark, metric string
		want              bool
	}{
		{"core/Send[int]", "", true},
		{"core/Send[int]{m={a},n=1}", "", true},
		{"core/Send[int]{m={a},n=1} [net9]", "", true},
		{"core/Send[int] [net9]", "", true},
		{"core/Send[int] [net8]", "", false},
		{"core/Send[int]{m={a},n=2}", "", false},
		{"core/Send[int]{m={a}}", "", false},
		{"core/Send[*]", "", true},
		{"core/*n=1}", "", true},
		{"Send[int]", "", false},
		{"other/*", "", false},
		{"core/*", "time", true},
		{"core/*", "alloc_bytes", false},
		{"core/*", "tim", false},
	} {
		a := Accepted{Benchmark: tc.benchmark, Metric: tc.metric}
		if got := a.Matches(key, "time"); got != tc.want {
			t.Errorf("%+v matches: %v", a, got)
		}
	}
	key.Job = ""
	if (Accepted{Benchmark: "core/Send[int] []"}).Matches(key, "time") {
		t.Error("no job is not an empty one")
	}
}

func TestAcceptedID(t *testing.T) {
	base := Accepted{Benchmark: "a/b", Metric: "time", Commit: "1234567", Reason: "x", Line: 1}
	moved := base
	moved.Line = 9
	if base.ID() != moved.ID() {
		t.Error("the id depends on the line")
	}
	// Stored in derived data: must never change.
	if got := base.ID(); got != "9150606d3a046484" {
		t.Errorf("id %s", got)
	}
	seen := map[string]Accepted{}
	for _, a := range []Accepted{base, {Benchmark: "a/b"}, {Metric: "a/b"}, {Commit: "a/b"}, {Reason: "a/b"},
		{Benchmark: "a", Metric: "b"}, {Benchmark: "a b"}, {Benchmark: `a" "b`}, {Benchmark: "ab"}, {}} {
		if other, twice := seen[a.ID()]; twice {
			t.Errorf("%+v and %+v share an id", a, other)
		}
		if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(a.ID()) {
			t.Errorf("id %q", a.ID())
		}
		seen[a.ID()] = a
	}
}

func TestExcludedMatches(t *testing.T) {
	start := time.Date(2026, 4, 1, 12, 0, 0, 0, time.UTC)
	const cpu = "AMD EPYC 7763 64-Core Processor"
	run := perf.Run{ID: "24302647964.1.linux", RunID: "24302647964", Attempt: 1, Shard: "linux", Started: start}
	key := perf.Key{Module: "core", Name: "Send"}
	second := time.Second
	for _, tc := range []struct {
		name string
		e    Excluded
		want bool
	}{
		{"run", Excluded{Run: "24302647964"}, true},
		{"attempt", Excluded{Run: "24302647964.1"}, true},
		{"entry", Excluded{Run: "24302647964.1.linux"}, true},
		{"other attempt", Excluded{Run: "24302647964.2"}, false},
		{"beginning of a run", Excluded{Run: "2430264796"}, false},
		{"no pattern of runs", Excluded{Run: "*"}, false},
		{"machine", Excluded{Machine: "*EPYC 7763*"}, true},
		{"whole machine", Excluded{Machine: cpu}, true},
		{"part of a machine", Excluded{Machine: "EPYC"}, false},
		{"from its start", Excluded{From: start}, true},
		{"from later", Excluded{From: start.Add(second)}, false},
		{"to its start", Excluded{To: start}, false},
		{"to later", Excluded{To: start.Add(second)}, true},
		{"between", Excluded{From: start.Add(-second), To: start.Add(second)}, true},
		{"before", Excluded{From: start.Add(-2 * second), To: start.Add(-second)}, false},
		{"benchmark", Excluded{Benchmark: "core/*"}, true},
		{"other benchmark", Excluded{Benchmark: "other/*"}, false},
		{"all", Excluded{Run: "24302647964", Machine: "AMD*", From: start, To: start.Add(second), Benchmark: "core/Send"}, true},
		{"all but the run", Excluded{Run: "1", Machine: "AMD*", From: start, To: start.Add(second), Benchmark: "core/Send"}, false},
		{"all but the machine", Excluded{Run: "24302647964", Machine: "Intel*", From: start, To: start.Add(second), Benchmark: "core/Send"}, false},
		{"all but from", Excluded{Run: "24302647964", Machine: "AMD*", From: start.Add(second), To: start.Add(2 * second), Benchmark: "core/Send"}, false},
		{"all but to", Excluded{Run: "24302647964", Machine: "AMD*", From: start.Add(-second), To: start, Benchmark: "core/Send"}, false},
		{"all but the benchmark", Excluded{Run: "24302647964", Machine: "AMD*", From: start, To: start.Add(second), Benchmark: "core/Sen"}, false},
	} {
		if got := tc.e.Matches(run, cpu, key); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}

	// What is not known lies within no bound.
	for _, e := range []Excluded{{Machine: "*"}, {From: time.Unix(0, 0)}, {To: start}, {Run: "7.0"}} {
		if e.Matches(perf.Run{ID: "7", RunID: "7"}, "", key) {
			t.Errorf("%+v matches a run of which nothing is known", e)
		}
	}
}

func TestRetires(t *testing.T) {
	for _, tc := range []struct {
		e    Excluded
		want bool
	}{
		{Excluded{Benchmark: "a/b"}, true},
		{Excluded{}, false},
		{Excluded{Benchmark: "a/b", Run: "1"}, false},
		{Excluded{Benchmark: "a/b", Machine: "x"}, false},
		{Excluded{Benchmark: "a/b", From: time.Unix(1, 0)}, false},
		{Excluded{Benchmark: "a/b", To: time.Unix(1, 0)}, false},
	} {
		if got := tc.e.Retires(); got != tc.want {
			t.Errorf("%+v retires: %v", tc.e, got)
		}
	}
}

func TestReadLists(t *testing.T) {
	both := fstest.MapFS{
		AcceptedName: {Data: []byte("accepted: [{benchmark: a/b, reason: x}]")},
		ExcludedName: {Data: []byte("excluded: [{run: 1, reason: x}]")},
	}
	c := Default()
	if err := c.ReadLists(both, ".github"); err != nil || len(c.Accepted) != 1 || len(c.Excluded) != 1 {
		t.Errorf("%v %+v", err, c)
	}
	for _, name := range []string{AcceptedName, ExcludedName} {
		one := fstest.MapFS{name: both[name]}
		c := Default()
		if err := c.ReadLists(one, ".github"); err != nil || len(c.Accepted)+len(c.Excluded) != 1 {
			t.Errorf("%s alone: %v %+v", name, err, c)
		}
		for what, bad := range map[string]*fstest.MapFile{"no YAML": {Data: []byte("[")}, "too long": {Data: []byte(strings.Repeat("#\n", maxBytes))}, "a folder": {Mode: 0o755 | 1<<31}} {
			err := c.ReadLists(fstest.MapFS{name: bad}, ".github")
			var d *perf.Diagnostic
			if !errors.As(err, &d) || d.Where.File != ".github/"+name {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	if err := c.ReadLists(fstest.MapFS{}, "."); err != nil || c.Accepted != nil || c.Excluded != nil {
		t.Errorf("a folder without lists: %v %+v", err, c)
	}
}

// TestDigest: it changes with whatever the lists say, and with nothing else.
func TestDigest(t *testing.T) {
	read := func(accepted, excluded string) string {
		var c Config
		if err := c.ReadLists(fstest.MapFS{AcceptedName: {Data: []byte(accepted)}, ExcludedName: {Data: []byte(excluded)}}, "."); err != nil {
			t.Fatal(err)
		}
		return c.Digest()
	}
	seen := map[string]string{}
	for _, lists := range [][2]string{
		{"", ""},
		{"accepted: [{benchmark: a/b, reason: x}]", ""},
		{"accepted: [{benchmark: a/b, reason: y}]", ""},
		{"accepted: [{benchmark: a/b, reason: x}, {benchmark: a/b, reason: y}]", ""},
		{"", "excluded: [{benchmark: a/b, reason: x}]"},
		{"", "excluded: [{run: a/b, reason: x}]"},
		{"", "excluded: [{machine: a/b, reason: x}]"},
		{"", "excluded: [{run: 1, reason: y}]"},
		{"", "excluded: [{from: 2026-04-01T00:00:00Z, reason: x}]"},
		{"", "excluded: [{to: 2026-04-01T00:00:00Z, reason: x}]"},
		{"", "excluded: [{to: 2026-04-01T00:00:00.001Z, reason: x}]"},
	} {
		d := read(lists[0], lists[1])
		if other, twice := seen[d]; twice {
			t.Errorf("%q and %s have one digest", lists, other)
		}
		seen[d] = lists[0] + lists[1]
	}
	if read("accepted: [{benchmark: a/b, commit: ABCDEF0, reason: x}]", "excluded: [{from: 2026-04-01T02:00:00+02:00, reason: x}]") !=
		read("# note\naccepted:\n- reason: ' x'\n  commit: abcdef0\n  benchmark: a/b", "\nexcluded:\n- from: 2026-04-01T00:00:00Z\n  reason: x") {
		t.Error("the same lists written otherwise have other digests")
	}
}

func FuzzLists(f *testing.F) {
	f.Add([]byte("accepted:\n- {benchmark: a/b, reason: x, commit: 0123456}\n"))
	f.Add([]byte("excluded:\n- {run: 1.10, machine: '*', from: 2026-04-01T00:00:00Z, reason: x}\n"))
	f.Add([]byte("accepted:\n- &a [*a]\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		lines := strings.Count(string(doc), "\n") + 1
		accepted, err := ParseAccepted(doc, "f")
		for _, a := range accepted {
			if a.Benchmark == "" || a.Reason == "" || a.Line < 1 || a.Line > lines || err != nil {
				t.Errorf("accepted %+v, %v", a, err)
			}
		}
		excluded, err := ParseExcluded(doc, "f")
		for _, e := range excluded {
			if e.Reason == "" || e.Line < 1 || e.Line > lines || err != nil ||
				e.Run == "" && e.Machine == "" && e.Benchmark == "" && e.From.IsZero() && e.To.IsZero() {
				t.Errorf("excluded %+v, %v", e, err)
			}
		}
	})
}
