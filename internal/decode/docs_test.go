package decode

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docsFile holds, between two marks, what the table of formats says.
const (
	docsFile  = "../../docs/formats.md"
	docsBegin = "<!-- formats: written by go test ./internal/decode -update -->\n"
	docsEnd   = "<!-- end of formats -->\n"
)

// formatDocs renders the table of formats.
func formatDocs() string {
	var b strings.Builder
	for _, name := range Names() {
		f, err := ByName(name)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&b, "\n### %s: %s\n\n", f.Name, f.Tool)
		if len(f.Aliases) > 0 {
			fmt.Fprintf(&b, "Also called `%s`. ", strings.Join(slices.Sorted(slices.Values(f.Aliases)), "`, `"))
		}
		fmt.Fprintf(&b, "Decoder version %d, measures `%s`.\n\n- Files: %s\n- Reads: %s\n- Not in the file: %s\n", f.Version, f.Kind, f.Doc.Files, f.Doc.Reads, f.Doc.Absent)
		for _, n := range f.Doc.Notes {
			fmt.Fprintf(&b, "- %s\n", n)
		}
	}
	return b.String() + "\n"
}

// TestDocs: docs/formats.md says what the table says, and the table says all.
func TestDocs(t *testing.T) {
	for _, f := range formats {
		if f.Tool == "" || f.Doc.Files == "" || f.Doc.Reads == "" || f.Doc.Absent == "" {
			t.Errorf("%s lacks documentation: %+v", f.Name, f.Doc)
		}
	}
	data, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), docsBegin)
	got, after, ok2 := strings.Cut(rest, docsEnd)
	if !ok || !ok2 {
		t.Fatalf("%s lacks its marks", docsFile)
	}
	want := formatDocs()
	if *update && got != want {
		if err := os.WriteFile(docsFile, []byte(before+docsBegin+want+docsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("run go test ./internal/decode -update (-table +file):\n%s", d)
	}
}
