package text

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSlug(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct{ in, want string }{
		{"core", "core"},
		{"encina.caching_2-x", "encina.caching_2-x"},
		{"go1.26", "go1.26"},
		{long, long},
		{long + "x", long + "-c508e75f24e2"},
		{"Core", "core-70ea1983c983"},
		{"Encina.Caching", "encina.caching-f5459bfbdb4a"},
		{"a/b\\c:d", "a-b-c-d-be96e4bd71a4"},
		{"", "x-e3b0c44298fc"},
		{" ", "x-36a9e7f1c95b"},
		{"..", "x-5ec1f7e700f3"},
		{"-rf", "rf-686c39acd632"},
		{"trailing.", "trailing-44c12a4e432e"},
		{"nul.txt", "nul-txt-7f3cbdd58ac5"},
		{"con", "con-1143da2bc54c"},
		{"core-70ea1983c983", "core-70ea1983c983-2d960211df0f"},
		{"naïve", "na-ve-f86fd89de87a"},
	} {
		if got := Slug(c.in); got != c.want {
			t.Errorf("Slug(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

var component = regexp.MustCompile(`^[a-z0-9_][a-z0-9._-]*$`)

// checkSlug holds what file systems demand of a name, whatever it was made of.
func checkSlug(s string) error {
	stem, _, _ := strings.Cut(s, ".")
	switch {
	case len(s) < 1 || len(s) > 100:
		return fmt.Errorf("%d bytes", len(s))
	case !component.MatchString(s), strings.HasSuffix(s, "."):
		return fmt.Errorf("not a portable component")
	case !filepath.IsLocal(s) || filepath.Base(s) != s:
		return fmt.Errorf("not one local component")
	case regexp.MustCompile(`^(con|prn|aux|nul|conin|conout|clock|com[0-9]|lpt[0-9])$`).MatchString(stem):
		return fmt.Errorf("a device name")
	}
	return nil
}

// anyName draws names near the edges: short ones, device names, slugs of other
// names, case variants, arbitrary bytes.
func anyName() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-zA-Z0-9._ /-]{0,5}`),
		rapid.StringMatching(`(con|nul|COM1|lpt9)(\.[a-z.]{0,3})?`),
		rapid.Map(rapid.String(), Slug),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.StringMatching(`[a-zA-Z]{58,62}`),
	)
}

func TestSlugProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyName().Draw(t, "a")
		b := rapid.OneOf(anyName(), rapid.SampledFrom([]string{
			a + " ", a + ".", strings.ToUpper(a), strings.ToLower(a), Slug(a), "-" + a, a + "/",
		})).Draw(t, "b")
		for _, name := range []string{a, b} {
			if err := checkSlug(Slug(name)); err != nil {
				t.Fatalf("Slug(%q) = %q: %v", name, Slug(name), err)
			}
		}
		if a != b && Slug(a) == Slug(b) {
			t.Fatalf("%q and %q share the slug %q", a, b, Slug(a))
		}
		if Slug(a) != Slug(strings.Clone(a)) {
			t.Fatal("not stable")
		}
	})
}

// TestSlugHostile runs the shared list of evil module names.
func TestSlugHostile(t *testing.T) {
	var doc struct{ Modules []string }
	if err := json.Unmarshal(hostile(t, "names/X10-module-paths.json"), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Modules) == 0 {
		t.Fatal("the file holds no names")
	}
	seen := map[string]string{}
	for _, name := range doc.Modules {
		s := Slug(name)
		if err := checkSlug(s); err != nil {
			t.Errorf("Slug(%q) = %q: %v", name, s, err)
		}
		if other, ok := seen[s]; ok {
			t.Errorf("%q and %q share the slug %q", name, other, s)
		}
		seen[s] = name
	}
}

// hostile reads a file of the hostile inputs, or skips the test.
func hostile(t *testing.T, name string) []byte {
	t.Helper()
	corpus := os.Getenv("PERFBAND_CORPUS")
	if corpus == "" {
		corpus = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	b, err := os.ReadFile(filepath.Join(corpus, "hostile", filepath.FromSlash(name)))
	if err != nil {
		require := "," + os.Getenv("PERFBAND_REQUIRE") + ","
		if strings.Contains(require, ",corpus,") || strings.Contains(require, ",all,") {
			t.Fatal(err)
		}
		t.Skipf("no shared corpus: %v", err)
	}
	return b
}
