package archtest

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// source parses a small file for the tests of the rules themselves.
func source(t *testing.T, name, text string) file {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return newFile(name, parsed)
}

// TestRules proves that the rules find what they are there for.
func TestRules(t *testing.T) {
	rows := map[string]rule{
		"base":  {pure: true, foundation: true},
		"world": {effects: []string{"os", "net/http"}, modules: []string{"example.test/a"}},
		"core":  {pure: true, imports: []string{"world"}},
		"help":  {testSupport: true},
		"gone":  {},
		"both":  {pure: true, effects: []string{"os"}},
	}
	pkgs := []pkg{
		{"base", []file{
			source(t, "base/a.go", `package base; import ("net/url"; "os"; "m/world"; "example.test/a/b"; . "math/rand"; "math/rand/v2")`),
			source(t, "base/a_test.go", `package base; import ("os"; "m/world"; "m/help"; "github.com/google/go-cmp/cmp"; "example.test/a"; "m")`),
		}},
		{"world", []file{source(t, "world/a.go", `package world; import ("os"; "net"; "example.test/a/b"; "m/base"; "m/help")`)}},
		{"core", []file{source(t, "core/a.go", `package core; import _ "m/world"`)}},
		{"new", []file{source(t, "new/a.go", `package new`)}},
		{"both", []file{source(t, "both/a.go", `package both; import "os"`)}},
		{"help", []file{source(t, "help/a.go", `package help`)}},
	}
	want := []string{
		"package base imports example.test/a/b (base/a.go): not in the table",
		"package base imports m/world (base/a.go): not in the table",
		"package base imports math/rand (base/a.go): not in the table",
		"package base imports os (base/a.go): not in the table",
		"package base imports example.test/a (base/a_test.go): not in the table",
		"package base imports m (base/a_test.go): not in the table",
		"package world imports m/help (world/a.go): not in the table",
		"package world imports net (world/a.go): not in the table",
		"package world does not import net/http: remove it from the table",
		"package new has no row in the table",
		"package both cannot be pure and have effects",
		"package gone is in the table and not there",
	}
	if diff := cmp.Diff(want, checkImports("m", pkgs, rows)); diff != "" {
		t.Error(diff)
	}
}

func TestRulesOfFiles(t *testing.T) {
	f := source(t, "a.go", `package a

import (
	"fmt"
	"io"
	"log"
	"os"
	clock "time"
)

// Documented is.
type Documented struct{}

func (Documented) Bare() { fmt.Println(); fmt.Fprintln(os.Stdout); log.Print(); println(); clock.Now() }
func (*hidden) Fine(w io.Writer) { fmt.Fprintln(w); fmt.Sprint() }
func Bare2[T any]() {}

type hidden struct{}
type Generic[T any] struct{}

func (*Generic[T]) Bare3() {}

// Group of constants.
const (
	A = 1
)

var B, c = 1, 2
var D = 3 // said here
`)
	if got := len(prints(f)); got != 4 {
		t.Errorf("%d places that print, want 4", got)
	}
	var names []string
	for _, id := range undocumented(f.ast) {
		names = append(names, id.Name)
	}
	if diff := cmp.Diff([]string{"Bare", "Bare2", "Generic", "Bare3", "B"}, names); diff != "" {
		t.Error(diff)
	}
	clocks := 0
	f.uses(func(_ token.Pos, path, name string) {
		if path == "time" && name == "Now" {
			clocks++
		}
	})
	if clocks != 1 {
		t.Errorf("%d clocks found under another name, want 1", clocks)
	}
}
