// Command new begins a decoder: go run ./internal/decode/new NAME, from the top
// of the checkout. It writes the format's file, its fuzz test and its folder of
// examples, and adds it to the table. What is left to do is marked TODO and makes
// the tests fail until it is done.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/decode/new NAME, for example my-tool")
		os.Exit(2)
	}
	if err := begin(".", os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "new:", err)
		os.Exit(1)
	}
	fmt.Printf("Put real output of the tool into testdata/decode/%s/*.in, fill in internal/decode/%s.go, then run go test ./internal/decode -update.\n",
		os.Args[1], file(os.Args[1]))
}

var valid = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// file is the name of a format's Go file without its ending.
func file(name string) string { return strings.ReplaceAll(name, "-", "_") }

// begin writes what a new format needs below the top of the checkout.
func begin(top, name string) error {
	if !valid.MatchString(name) {
		return fmt.Errorf("%q is no name for a format: use lower-case letters, digits and single hyphens, for example my-tool", name)
	}
	words := strings.Split(name, "-")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	variable := strings.Join(words, "") + "Format"
	exported := strings.ToUpper(variable[:1]) + strings.TrimSuffix(variable[1:], "Format")
	dir := filepath.Join(top, "internal", "decode")
	table := filepath.Join(dir, "registry.go")
	registry, err := os.ReadFile(table)
	if err != nil {
		return fmt.Errorf("read the table of formats (run this from the top of the checkout): %w", err)
	}
	head, rest, ok := strings.Cut(string(registry), "var formats = []Format{")
	list, tail, ok2 := strings.Cut(rest, "\n}")
	if !ok || !ok2 {
		return fmt.Errorf("%s has no table of formats", table)
	}
	fill := strings.NewReplacer("NAME", name, "VARIABLE", variable, "EXPORTED", exported).Replace
	for path, text := range map[string]string{
		filepath.Join(dir, file(name)+".go"):      fill(decoder),
		filepath.Join(dir, file(name)+"_test.go"): fill(test),
	} {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return fmt.Errorf("write the decoder: %w", err)
		}
		_, err = f.WriteString(text)
		if err2 := f.Close(); err == nil {
			err = err2
		}
		if err != nil {
			return fmt.Errorf("write the decoder: %w", err)
		}
	}
	if err := os.MkdirAll(filepath.Join(top, "testdata", "decode", name), 0o755); err != nil {
		return fmt.Errorf("make the folder of examples: %w", err)
	}
	return os.WriteFile(table, []byte(head+"var formats = []Format{"+list+"\n\t"+variable+",\n}"+tail), 0o644)
}

const decoder = `package decode

import "perfband/internal/perf"

var VARIABLE = Format{
	Name:    "NAME",
	Tool:    "TODO: the tool's own name",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "TODO: names of the files it comes in",
		Reads:  "TODO: metrics read",
		Absent: "TODO: what one might expect but the file does not hold",
	},
	Sniff: func(_ string, head []byte) Confidence {
		return No // TODO: recognise the content, and nothing else
	},
	Decode: func(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
		return nil, nil, nil // TODO
	},
}
`

const test = `package decode

import "testing"

func FuzzEXPORTED(f *testing.F) { fuzzFormat(f, "NAME") }
`
