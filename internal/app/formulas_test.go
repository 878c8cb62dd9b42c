package app_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perfband/internal/derive"
)

var update = flag.Bool("update", false, "rewrite golden files")

// TestFormulas: whoever changes what a frozen archive derives to (every exported
// table, every data file of the site and the memo) must raise derive.Formulas,
// so that what older formulas left behind is not trusted. How pages look may
// change freely.
func TestFormulas(t *testing.T) {
	dir := t.TempDir()
	if _, errs, code := call(t, dir, "demo", "--no-serve", "--dir", filepath.Join(dir, "d")); code != 0 {
		t.Fatalf("demo: exit %d\n%s", code, errs)
	}
	repo := filepath.Join(dir, "d", "repository.git")
	h := sha256.New()
	for _, what := range derive.TableNames {
		fmt.Fprintln(h, mustCall(t, "export", "--remote", repo, "--what", what))
	}
	data := filepath.Join(dir, "d", "site", "data")
	err := filepath.WalkDir(data, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		fmt.Fprintln(h, strings.TrimPrefix(p, data), len(b))
		h.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("formulas %d\nderived %s\n", derive.Formulas, hex.EncodeToString(h.Sum(nil)))
	file := root + "/testdata/derive/formulas.txt"
	want, err := os.ReadFile(file)
	if *update {
		version, _, _ := strings.Cut(got, "\n")
		if err == nil && string(want) != got && strings.HasPrefix(string(want), version+"\n") {
			t.Fatalf("the demo's runs derive to something new: raise derive.Formulas first")
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the demo's runs derive to\n%snot\n%sIf that is meant, raise derive.Formulas and run with -update", got, want)
	}
}
