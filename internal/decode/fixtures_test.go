package decode

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the wanted output of fixtures")

var fixturesDir = filepath.Join("..", "..", "testdata", "decode")

// fixtures lists the example inputs of a format.
func fixtures(t testing.TB, format string) []string {
	files, err := filepath.Glob(filepath.Join(fixturesDir, format, "*.in"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestFixtures decodes testdata/decode/FORMAT/NAME.in under the name NAME and
// compares results and diagnostics, one JSON object a line, with
// NAME.want.json.
func TestFixtures(t *testing.T) {
	for _, format := range Names() {
		for _, in := range fixtures(t, format) {
			name := strings.TrimSuffix(filepath.Base(in), ".in")
			t.Run(format+"/"+name, func(t *testing.T) {
				data, err := os.ReadFile(in)
				if err != nil {
					t.Fatal(err)
				}
				suites, diagnostics, err := File(name, data, Options{Module: "m", Explicit: true, Histories: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range suites {
					if s.Decoder != format {
						t.Errorf("decoded as %s", s.Decoder)
					}
				}
				got := lines(t, suites)
				for _, d := range diagnostics {
					line, err := json.Marshal(d)
					if err != nil {
						t.Fatal(err)
					}
					got += string(line) + "\n"
				}
				want := strings.TrimSuffix(in, ".in") + ".want.json"
				if *update {
					if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				wanted, err := os.ReadFile(want)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(strings.Split(string(wanted), "\n"), strings.Split(got, "\n")); diff != "" {
					t.Errorf("run with -update if this is meant (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestFixtureFolders walks from the table to the folders and back.
func TestFixtureFolders(t *testing.T) {
	for _, name := range Names() {
		if len(fixtures(t, name)) == 0 {
			t.Errorf("format %s has no example in testdata/decode/%s", name, name)
		}
	}
	entries, err := os.ReadDir(fixturesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(Names(), e.Name()) {
			t.Errorf("testdata/decode/%s belongs to no format", e.Name())
		}
	}
}

// TestDocumentedExample reads the example that docs/formats.md shows.
func TestDocumentedExample(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "```json\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/formats.md holds no example of the format json")
	}
	suites, diagnostics, err := File("example.json", []byte(example), Options{})
	if err != nil || len(diagnostics) > 0 {
		t.Fatal(err, diagnostics)
	}
	if len(suites) != 2 || len(suites[0].Benchmarks) != 1 || len(suites[1].Benchmarks) != 2 {
		t.Errorf("suites = %+v", suites)
	}
}
