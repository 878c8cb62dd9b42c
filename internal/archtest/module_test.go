package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pkg is a folder with Go files, read without building it.
type pkg struct {
	path  string // relative to the module, "." for its root
	files []file
}

type file struct {
	name    string // relative to the module
	test    bool
	ast     *ast.File
	imports []string          // sorted paths
	names   map[string]string // import path by the name used in the file
}

// module reads every package of the module, sorted by path.
func module(t *testing.T) (name string, fset *token.FileSet, pkgs []pkg) {
	t.Helper()
	root := filepath.Join("..", "..")
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(gomod), "\n")
	name = strings.TrimPrefix(first, "module ")
	fset = token.NewFileSet()
	byPath := map[string]*pkg{}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || slices.Contains(programs, rel)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		folder := path.Dir(rel)
		if byPath[folder] == nil {
			byPath[folder] = &pkg{path: folder}
		}
		byPath[folder].files = append(byPath[folder].files, newFile(rel, parsed))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range byPath {
		pkgs = append(pkgs, *p)
	}
	slices.SortFunc(pkgs, func(a, b pkg) int { return strings.Compare(a.path, b.path) })
	if len(pkgs) < 3 {
		t.Fatalf("only %d packages found below %s", len(pkgs), root)
	}
	return name, fset, pkgs
}

// newFile reads the imports of a parsed file.
func newFile(name string, parsed *ast.File) file {
	f := file{name: name, test: strings.HasSuffix(name, "_test.go"), ast: parsed, names: map[string]string{}}
	for _, spec := range parsed.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic(err) // the parser lets no such file pass
		}
		f.imports = append(f.imports, p)
		used := path.Base(p)
		if major := strings.TrimPrefix(used, "v"); major != used && strings.Trim(major, "0123456789") == "" {
			used = path.Base(path.Dir(p)) // math/rand/v2 is rand
		}
		if spec.Name != nil {
			used = spec.Name.Name
		}
		f.names[used] = p
	}
	slices.Sort(f.imports)
	return f
}

// below reports whether path is prefix or lies below it.
func below(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// anyBelow returns the prefix that path lies below, "" if there is none.
func anyBelow(path string, prefixes []string) string {
	for _, p := range prefixes {
		if below(path, p) {
			return p
		}
	}
	return ""
}

// uses calls f for every name of another package that the file mentions.
func (f file) uses(do func(at token.Pos, path, name string)) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				if p, ok := f.names[x.Name]; ok {
					do(s.Pos(), p, s.Sel.Name)
				}
			}
		}
		return true
	})
}
