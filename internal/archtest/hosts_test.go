package archtest

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hosts are all the hosts that the program names, with the files that do. None
// is contacted because it stands here: the program talks to the servers that
// GITHUB_SERVER_URL, GITHUB_API_URL and --remote name, and listens where
// --listen says. Packages that can talk at all have net/http in the table.
var hosts = map[string][]string{
	// Whether the server is the one whose Pages have an address of this form,
	// to which the log and the summary then link.
	// In the Dockerfile it begins names of packages, as golang.org does.
	"github.com": {"Dockerfile", "internal/app/site.go"},
	"golang.org": {"Dockerfile"},
	".github.io": {"internal/app/site.go"},
	// Default and example of --listen.
	"127.0.0.1": {"internal/app/options.go", "internal/app/serve.go"},
	// Words of messages: the form of an address, and the platform.
	"host": {"internal/gh/client.go"},
	".net": {"internal/decode/bdn_job.go"},
	// How keys of that service begin, which are kept out of the archive.
	"hooks.slack.com": {"internal/secret/formats.go"},
	// Words of a page.
	"shields.io": {"internal/site/assets/overview.tmpl"},
	// The name of SVG's elements.
	"www.w3.org": {"internal/site/assets/icon.svg", "internal/svg/badge.go"},
}

// hostForm finds a host behind a scheme, a name under a common top-level
// domain and an address of four numbers.
var hostForm = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://([a-z0-9.-]+)|((?:\b[a-z0-9-]+)?(?:\.[a-z0-9-]+)*\.(?:com|net|org|io|dev|app|cloud|info|sh|ai|co|me|eu|us|de|uk))\b|\b(\d+\.\d+\.\d+\.\d+)\b`)

func hostsIn(text string) []string {
	var found []string
	for _, m := range hostForm.FindAllStringSubmatch(text, -1) {
		found = append(found, strings.ToLower(m[1]+m[2]+m[3]))
	}
	return found
}

// TestHosts lists every host named in the code, in what is built into the
// program, in action.yml and in the Dockerfile.
func TestHosts(t *testing.T) {
	_, _, pkgs := module(t)
	got := map[string][]string{}
	add := func(file, text string) {
		for _, host := range hostsIn(text) {
			if !slices.Contains(got[host], file) {
				got[host] = append(got[host], file)
			}
		}
	}
	for _, p := range pkgs {
		for _, f := range p.files {
			if f.test || table[p.path].testSupport {
				continue
			}
			for _, text := range texts(f.ast) {
				add(f.name, text)
			}
		}
	}
	root := filepath.Join("..", "..")
	others, err := filepath.Glob(filepath.Join(root, "internal", "*", "assets", "*"))
	if err != nil || len(others) == 0 {
		t.Fatalf("no files are built into the program: %v", err)
	}
	for _, name := range append(others, filepath.Join(root, "action.yml"), filepath.Join(root, "Dockerfile")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		add(filepath.ToSlash(rel), string(data))
	}
	for _, files := range got {
		slices.Sort(files)
	}
	if d := cmp.Diff(hosts, got); d != "" {
		t.Errorf("hosts (-known +found):\n%s", d)
	}
}

// texts are the string literals of a file but for its imports.
func texts(f *ast.File) []string {
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, s)
			}
		}
		return true
	})
	return out
}

// TestBuildImages: the image is built from the base that its ARG names and
// from nothing, and the build fetches modules alone.
func TestBuildImages(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var from []string
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case strings.EqualFold(words[0], "FROM"):
			from = append(from, words[1])
		case strings.EqualFold(words[0], "ADD"), strings.HasPrefix(strings.ToLower(line), "# syntax"), strings.Contains(line, "--mount"):
			t.Errorf("Dockerfile: %s", line)
		}
	}
	if d := cmp.Diff([]string{"${GO_IMAGE}", "scratch"}, from); d != "" {
		t.Error(d)
	}
}

func TestHostForm(t *testing.T) {
	got := hostsIn(`see https://API.example.test/x, git@git.example.com:a/b, owner.github.io, "127.0.0.1:80", .pages.dev, file.json, 1.2.3, ftp://h:1`)
	want := []string{"api.example.test", "git.example.com", "owner.github.io", "127.0.0.1", ".pages.dev", "h"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
