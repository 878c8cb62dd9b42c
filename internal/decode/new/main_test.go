package main

import (
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBegin(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "internal", "decode")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	registry, err := os.ReadFile("../registry.go")
	if err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(dir, "registry.go")
	if err := os.WriteFile(table, registry, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := begin(top, "my-new-tool"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"registry.go":         "\n\tmyNewToolFormat,\n}",
		"my_new_tool.go":      `Name:    "my-new-tool"`,
		"my_new_tool_test.go": `func FuzzMyNewTool(f *testing.F) { fuzzFormat(f, "my-new-tool") }`,
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		if formatted, err := format.Source(text); err != nil || string(formatted) != string(text) {
			t.Errorf("%s is not formatted: %v", name, err)
		}
	}
	if i, err := os.Stat(filepath.Join(top, "testdata", "decode", "my-new-tool")); err != nil || !i.IsDir() {
		t.Errorf("the folder of examples: %v", err)
	}
	before, _ := os.ReadFile(table)
	if err := begin(top, "my-new-tool"); err == nil {
		t.Error("a decoder was written over")
	}
	if after, _ := os.ReadFile(table); string(after) != string(before) {
		t.Error("the table changed though nothing was begun")
	}
	for _, bad := range []string{"", "My-Tool", "a--b", "../x", "9a", "a_b"} {
		if err := begin(top, bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
