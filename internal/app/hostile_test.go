package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"perfband/internal/gitdb/gittest"
)

// hostile reads a file of the shared hostile inputs.
func hostile(t *testing.T, name string) []byte {
	t.Helper()
	dir := os.Getenv("PERFBAND_CORPUS")
	if dir == "" {
		dir = root + "/../shared/corpus"
	}
	data, err := os.ReadFile(filepath.Join(dir, "hostile", filepath.FromSlash(name)))
	need(t, "corpus", err == nil)
	return data
}

// namesFile makes a result file with one result for each name.
func namesFile(t *testing.T, names []string) []byte {
	t.Helper()
	type row struct {
		Name  string `json:"name"`
		Unit  string `json:"unit"`
		Value int    `json:"value"`
	}
	var rows []row
	for i, n := range names {
		rows = append(rows, row{n, "ns", 100 + i})
	}
	data, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestHostileResults publishes each hostile result file as the action does, and
// looks at everything that was written.
func TestHostileResults(t *testing.T) {
	needGit(t)
	t.Parallel()
	var commands struct{ Results []struct{ Command string } }
	if err := json.Unmarshal(hostile(t, "names/X05-hyperfine-workflow-commands.json"), &commands); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range commands.Results {
		names = append(names, r.Command)
	}
	for _, tc := range []struct {
		file  string
		rows  int
		code  int
		wants []string // in the log
	}{
		{"names/X01-go-markup.txt", 10, 0, nil},
		{"names/X03-bdn-bidi-lookalike.json", 10, 1, []string{"look-alike", "without a method name"}},
		{"names/X05.json", len(names), 0, nil}, // the strings of X05 as names
		{"names/X07-custom-output-delimiter.json", 7, 1, []string{`verdict\x00=x`}},
		{"names/X08-custom-csv-formula.json", 13, 0, nil},
		{"names/X12-autolinks.txt", 74, 0, nil},
		{"structure/X20-depth-arrays.json", 0, 1, []string{"200 levels"}},
		{"structure/X22-numbers.json", 4, 1, []string{"too-big", "underflow", "negative", "forty-digits", "huge-exp", `"string"`, `"true"`, `"null"`, `"array"`}},
		{"structure/X24-duplicate-keys.json", 1, 1, []string{`key "name" occurs twice`}},
		{"structure/X25-case-variant-keys.json", 0, 1, []string{`key "value" occurs twice`}},
		{"structure/X26-invalid-utf8.json", 0, 1, []string{"byte 14"}},
		{"structure/X28-entity-expansion.jtl", 0, 1, []string{"not a format perfband knows"}},
		{"structure/X30-truncated.json.gz", 0, 1, []string{"truncated"}},
		{"structure/X31-gzip-bomb.json.gz", 1, 0, nil},
		{"structure/X36-regex-go.txt", 4, 1, []string{"iteration count", "1000 metrics"}},
		{"structure/X37-regex-wrk.txt", 0, 1, []string{"not a format perfband knows"}},
		{"structure/X38-broken.csv", 0, 1, []string{"X38-broken.csv:2"}},
		{"structure/X41-two-documents.json", 0, 1, []string{"byte 37"}},
	} {
		file := path.Base(tc.file)
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var data []byte
			if file == "X05.json" {
				data = namesFile(t, names)
			} else {
				data = hostile(t, tc.file)
			}
			st := newStage(t)
			st.put(t, file, data)
			// As the action with debugging on, and as a command in a workflow.
			for id, args := range map[string][]string{"7": nil, "71": {"publish", "--results", file}} {
				got := st.act(t, id, map[string]string{"results": file, "debug": map[bool]string{true: "1"}[args == nil]}, args...)
				if got.code != tc.code {
					t.Errorf("exit %d, want %d\n%s", got.code, tc.code, got.log)
				}
				for _, want := range tc.wants {
					if !strings.Contains(got.log, want) {
						t.Errorf("the log does not tell of %s:\n%s", want, got.log)
					}
				}
				st.checkOutputs(t, got, id, tc.rows)
				checkSummary(t, got.summary, st.server)
				if raw := gittest.Git(t, st.Repo, "", "show", "perf-raw:"+got.outputs["raw-path"]+"/raw/main/"+file); raw != string(data) {
					t.Errorf("the archived file is not the input")
				}
			}
			seen := map[string]string{}
			for page, title := range checkSite(t, st.Repo, st.server) {
				if other, ok := seen[looks(title)]; ok {
					t.Errorf("%s and %s both look like %q", page, other, title)
				}
				seen[looks(title)] = page
			}
			if tc.rows != len(seen) {
				t.Errorf("%d pages of benchmarks, want %d", len(seen), tc.rows)
			}
			checkExports(t, st.Repo)
			tip := gittest.Git(t, st.Repo, "", "rev-parse", "gh-pages")
			if got := st.act(t, "8", nil, "recalc"); got.code != 0 {
				t.Errorf("recalc: exit %d\n%s", got.code, got.log)
			}
			if gittest.Git(t, st.Repo, "", "rev-parse", "gh-pages") != tip {
				t.Error("a recalculation changed the site")
			}
		})
	}
}

// checkOutputs compares the outputs with what they should say.
func (st *stage) checkOutputs(t *testing.T, got told, id string, rows int) {
	t.Helper()
	want := map[string]string{"rows": strconv.Itoa(rows), "run-id": id + ".1", "site-url": "", "slower": "0",
		"raw-commit":  strings.TrimSpace(gittest.Git(t, st.Repo, "", "rev-parse", "perf-raw")),
		"site-commit": strings.TrimSpace(gittest.Git(t, st.Repo, "", "rev-parse", "gh-pages")), "summary-file": "perfband-out/summary.md"}
	for name, value := range got.outputs {
		switch w, fixed := want[name]; {
		case fixed && value != w:
			t.Errorf("output %s=%q, want %q", name, value, w)
		case fixed, name == "raw-path" && regexp.MustCompile(`^benchmarks/\d{4}-\d\d-\d\d/`+id+`\.1$`).MatchString(value),
			(name == "unstable" || name == "inconclusive") && regexp.MustCompile(`^\d+$`).MatchString(value),
			name == "verdict" && slices.Contains([]string{"none", "inconclusive"}, value), name == "badge-color" && slices.Contains([]string{"green", "amber", "red", "grey"}, value):
		default:
			t.Errorf("output %s=%q", name, value)
		}
	}
	_, fromAction := got.outputs["summary-file"]
	if len(got.outputs) != len(want)+5 && (fromAction || len(got.outputs) != len(want)+4) {
		t.Errorf("%d outputs: %v", len(got.outputs), got.outputs)
	}
}

var number = regexp.MustCompile(`^(-?\d+(\.\d+)?([eE][-+]?\d+)?)?$`)

// checkExports reads the exported tables as a spreadsheet would: a cell that
// begins like a formula is a number, and the JSON form has the same rows.
func checkExports(t *testing.T, repo string) {
	t.Helper()
	for _, what := range []string{"runs", "stats"} {
		rows := table(t, mustCall(t, "export", "--remote", repo, "--what", what))
		for _, row := range rows {
			for column, cell := range row {
				if first := strings.TrimLeft(cell, " \t\r\n"); first != "" && strings.ContainsAny(first[:1], "=+-@") && !number.MatchString(cell) {
					t.Errorf("%s: %q is a formula", column, cell)
				}
				if hiddenText.MatchString(strings.NewReplacer("\t", "", "\r", "", "\n", "").Replace(cell)) {
					t.Errorf("%s: %q holds an invisible character", column, cell)
				}
			}
			for _, column := range []string{"n", "mean", "median", "stddev", "min", "max", "ci_lo", "ci_hi", "cv"} {
				if !number.MatchString(row[column]) {
					t.Errorf("%s %q is no number", column, row[column])
				}
			}
		}
		var doc []map[string]any
		if err := json.Unmarshal([]byte(mustCall(t, "export", "--remote", repo, "--what", what, "--format", "json")), &doc); err != nil || len(doc) != len(rows) {
			t.Errorf("%s: %d rows as JSON, %d as CSV (%v)", what, len(doc), len(rows), err)
		}
	}
}

// TestHostileNamesStay: names are data, so exports as JSON have them verbatim.
func TestHostileNamesStay(t *testing.T) {
	needGit(t)
	for _, file := range []string{"X07-custom-output-delimiter.json", "X08-custom-csv-formula.json"} {
		var rows []struct{ Name string }
		data := hostile(t, "names/"+file)
		if err := json.Unmarshal(data, &rows); err != nil {
			t.Fatal(err)
		}
		dir, repo := t.TempDir(), gittest.NewRepo(t)
		if err := os.WriteFile(filepath.Join(dir, "a.json"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		call(t, dir, "publish", "--remote", repo, "--run-id", "1", "--results", "a.json", "--started", "2026-04-01T10:00:00Z")
		var doc []struct{ Benchmark string }
		if err := json.Unmarshal([]byte(mustCall(t, "export", "--remote", repo, "--what", "stats", "--format", "json")), &doc); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if there := slices.ContainsFunc(doc, func(d struct{ Benchmark string }) bool { return d.Benchmark == r.Name }); there == strings.Contains(r.Name, "\x00") {
				t.Errorf("%s: %q is exported: %v", file, r.Name, there)
			}
		}
	}
}

// TestHostileModules publishes every string of X10 as a module with a benchmark
// of that name: whatever becomes a path is one plain component, and no two meet,
// not even where upper and lower case are one.
func TestHostileModules(t *testing.T) {
	needGit(t)
	var doc struct{ Modules []string }
	if err := json.Unmarshal(hostile(t, "names/X10-module-paths.json"), &doc); err != nil {
		t.Fatal(err)
	}
	st := newStage(t)
	var config strings.Builder
	config.WriteString("suites:\n")
	modules, blank := 0, 0
	for i, m := range doc.Modules {
		if strings.ContainsRune(m, 0) {
			continue // YAML has no NUL
		}
		modules++
		if strings.TrimSpace(m) == "" {
			blank++ // no name of a benchmark
		}
		name, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&config, "  - module: %s\n    kind: bench\n    results: [\"r%d.json\"]\n", name, i)
		st.put(t, fmt.Sprintf("r%d.json", i), namesFile(t, []string{m}))
	}
	st.put(t, ".github/perf.yml", []byte(config.String()))
	got := st.act(t, "7", nil)
	if got.code != 1 || strings.Count(got.log, "a result without a name is refused") != blank {
		t.Errorf("exit %d\n%s", got.code, got.log)
	}
	folders := map[string]bool{}
	for name := range files(t, st.Repo, "perf-raw") {
		if rest, ok := strings.CutPrefix(name, got.outputs["raw-path"]+"/raw/"); ok {
			folders[strings.ToLower(strings.Split(rest, "/")[0])] = true
		}
	}
	if len(folders) != modules {
		t.Errorf("%d folders for %d modules: %v", len(folders), modules, folders)
	}
	device := regexp.MustCompile(`^(con|prn|aux|nul|com\d|lpt\d)(\.|$)`)
	for f := range folders {
		if !regexp.MustCompile(`^[a-z0-9_][a-z0-9._-]{0,99}$`).MatchString(f) || device.MatchString(f) || strings.HasSuffix(f, ".") {
			t.Errorf("folder %q", f)
		}
	}
	checkSummary(t, got.summary, st.server)
	if n := len(checkSite(t, st.Repo, st.server)); n != modules-blank {
		t.Errorf("%d pages for %d benchmarks", n, modules-blank)
	}
}
