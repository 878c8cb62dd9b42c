package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestImports(t *testing.T) {
	name, _, pkgs := module(t)
	for _, problem := range checkImports(name, pkgs, table) {
		t.Errorf("%s; see ARCHITECTURE.md and internal/archtest/table_test.go", problem)
	}
}

// checkImports compares what the packages import with the table.
func checkImports(module string, pkgs []pkg, table map[string]rule) []string {
	var problems []string
	seen := map[string]bool{}
	for _, p := range pkgs {
		seen[p.path] = true
		row, ok := table[p.path]
		if !ok {
			problems = append(problems, fmt.Sprintf("package %s has no row in the table", p.path))
			continue
		}
		if row.pure && len(row.effects) > 0 {
			problems = append(problems, fmt.Sprintf("package %s cannot be pure and have effects", p.path))
		}
		used := map[string]bool{}
		for _, f := range p.files {
			for _, imported := range f.imports {
				allowance, ok := allowed(module, p.path, row, f.test, imported, table)
				if !ok {
					problems = append(problems, fmt.Sprintf("package %s imports %s (%s): not in the table", p.path, imported, f.name))
				} else if !f.test {
					used[allowance] = true
				}
			}
		}
		for _, a := range slices.Concat(row.imports, row.modules, row.effects) {
			if !used[a] {
				problems = append(problems, fmt.Sprintf("package %s does not import %s: remove it from the table", p.path, a))
			}
		}
	}
	for _, p := range slices.Sorted(maps.Keys(table)) {
		if !seen[p] {
			problems = append(problems, fmt.Sprintf("package %s is in the table and not there", p))
		}
	}
	return problems
}

// allowed says whether a file of a package may import a path, and which entry
// of the row says so ("" where none is needed).
func allowed(module, from string, row rule, test bool, imported string, table map[string]rule) (allowance string, ok bool) {
	if below(imported, module) {
		to := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
		if to == "" {
			to = "."
		}
		target := table[to]
		switch {
		case test:
			// Nothing depends on the program but itself.
			return "", to != "." && (to != "internal/app" || from == to || slices.Contains(row.imports, to))
		case target.testSupport:
			return "", false
		case target.foundation:
			return "", true
		}
		return to, slices.Contains(row.imports, to)
	}
	if domain, _, _ := strings.Cut(imported, "/"); strings.Contains(domain, ".") {
		if m := anyBelow(imported, row.modules); m != "" {
			return m, true
		}
		return "", test && anyBelow(imported, forTests) != ""
	}
	if anyBelow(imported, outside) == "" || slices.Contains(inside, imported) || test {
		return "", true
	}
	return imported, slices.Contains(row.effects, imported)
}

// TestPure looks for clocks, time zones and unseeded chance in packages that
// must not depend on them. Everything else that is impure needs an import,
// which TestImports sees.
func TestPure(t *testing.T) {
	_, fset, pkgs := module(t)
	for _, p := range pkgs {
		if !table[p.path].pure {
			continue
		}
		for _, f := range p.files {
			if f.test {
				continue
			}
			f.uses(func(at token.Pos, path, name string) {
				if slices.Contains(impure[path], name) {
					t.Errorf("%s: pure package %s uses %s.%s: take times and seeds from the data; see ARCHITECTURE.md", fset.Position(at), p.path, path, name)
				}
			})
		}
	}
}

// TestNoPrinting: the log scrubs secrets and keeps foreign text from becoming a
// workflow command, so nothing may go past it.
func TestNoPrinting(t *testing.T) {
	_, fset, pkgs := module(t)
	for _, p := range pkgs {
		if slices.Contains(mayPrint, p.path) || table[p.path].testSupport {
			continue
		}
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, at := range prints(f) {
				t.Errorf("%s: package %s prints past the log of internal/gh; see ARCHITECTURE.md", fset.Position(at), p.path)
			}
		}
	}
}

// prints finds what writes to the standard streams.
func prints(f file) []token.Pos {
	var found []token.Pos
	f.uses(func(at token.Pos, path, name string) {
		switch {
		case path == "fmt" && strings.HasPrefix(name, "Print"), path == "os" && strings.HasPrefix(name, "Std"), below(path, "log"):
			found = append(found, at)
		}
	})
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
				found = append(found, id.Pos())
			}
		}
		return true
	})
	return found
}

// TestComments: every package says what it is for, once, and everything
// exported from it is documented.
func TestComments(t *testing.T) {
	_, fset, pkgs := module(t)
	for _, p := range pkgs {
		var of []string
		for _, f := range p.files {
			if f.ast.Doc != nil {
				of = append(of, f.name)
			}
			if f.test {
				continue
			}
			for _, id := range undocumented(f.ast) {
				t.Errorf("%s: exported %s has no comment", fset.Position(id.Pos()), id.Name)
			}
		}
		if len(of) != 1 {
			t.Errorf("package %s has %d package comments %v, want one", p.path, len(of), of)
		}
	}
}

// undocumented returns the exported names of a file without a comment: of
// types, functions, methods of exported types, constants and variables.
func undocumented(f *ast.File) []*ast.Ident {
	var out []*ast.Ident
	missing := func(id *ast.Ident, docs ...*ast.CommentGroup) {
		if id.IsExported() && !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return d != nil }) {
			out = append(out, id)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
				missing(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					missing(s.Name, d.Doc, s.Doc, s.Comment)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						missing(id, d.Doc, s.Doc, s.Comment)
					}
				}
			}
		}
	}
	return out
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
