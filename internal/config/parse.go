package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"perfband/internal/perf"
	"perfband/internal/text"
)

// Parse reads a configuration file over the defaults. name is used in errors,
// which are *perf.Diagnostic with the position of the offending text. An empty
// document is the default configuration.
func Parse(name string, data []byte) (Config, error) {
	c := Default()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return c, problem(name, err)
	}
	for _, doc := range file.Docs {
		if d := noAliases(name, doc); d != nil {
			return c, d
		}
	}
	if len(file.Docs) > 1 {
		return c, &perf.Diagnostic{Severity: perf.Error, Code: "config", Where: perf.Where{File: name},
			What: "more than one YAML document", Do: "Keep one document."}
	}
	if empty(file) {
		return c, nil
	}
	if err := yaml.UnmarshalWithOptions(data, &c, yaml.Strict()); err != nil {
		return c, problem(name, err)
	}
	if key, why := c.check(); key != "" {
		w := perf.Where{File: name}
		if line, col := position(file, key); line > 0 {
			w.Line, w.Col = line, col
		}
		return c, &perf.Diagnostic{Severity: perf.Error, Code: "config", Where: w, What: "bad value of " + key, Why: why}
	}
	return c, nil
}

// empty reports a document of nothing but comments, which the library would
// decode as zeros over the defaults.
func empty(file *ast.File) bool {
	for _, doc := range file.Docs {
		switch doc.Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
		default:
			return false
		}
	}
	return true
}

// problem turns a library error into a diagnostic with a position.
func problem(name string, err error) *perf.Diagnostic {
	d := &perf.Diagnostic{Severity: perf.Error, Code: "config", Where: perf.Where{File: name},
		What: "not readable as configuration", Err: err}
	var pos yaml.Error
	if errors.As(err, &pos) {
		d.Why = pos.GetMessage()
		if t := pos.GetToken(); t != nil && t.Position != nil {
			d.Where.Line, d.Where.Col = t.Position.Line, t.Position.Column
		}
	} else {
		d.Why = err.Error()
	}
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) && unknown.Token != nil {
		key := unknown.Token.Value
		d.What, d.Why = `unknown key "`+key+`"`, ""
		if near := text.Nearest(key, keys(reflect.TypeFor[Config]())); near != "" {
			d.What += ` (did you mean "` + near + `"?)`
		}
	}
	return d
}

// keys lists every key name of the configuration, sorted.
func keys(t reflect.Type) []string {
	var out []string
	switch t.Kind() {
	case reflect.Slice:
		return keys(t.Elem())
	case reflect.Struct:
		for f := range t.NumField() {
			tag, _, _ := strings.Cut(t.Field(f).Tag.Get("yaml"), ",")
			out = append(out, tag)
			out = append(out, keys(t.Field(f).Type)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

type aliasFinder struct{ found ast.Node }

func (f *aliasFinder) Visit(n ast.Node) ast.Visitor {
	switch n.(type) {
	case *ast.AliasNode, *ast.AnchorNode, *ast.MergeKeyNode:
		if f.found == nil {
			f.found = n
		}
		return nil
	}
	return f
}

// noAliases refuses anchors and aliases: a few lines of them expand to
// gigabytes, and no setting here needs one.
func noAliases(name string, doc *ast.DocumentNode) *perf.Diagnostic {
	if doc.Body == nil {
		return nil
	}
	f := &aliasFinder{}
	ast.Walk(f, doc.Body)
	if f.found == nil {
		return nil
	}
	p := f.found.GetToken().Position
	return &perf.Diagnostic{Severity: perf.Error, Code: "config", Where: perf.Where{File: name, Line: p.Line, Col: p.Column},
		What: "anchors and aliases are not allowed", Do: "Write the value out."}
}

// position finds the line of a dotted key, or of what holds it.
func position(file *ast.File, key string) (line, col int) {
	for key != "" {
		path, err := yaml.PathString("$." + key)
		if err != nil {
			return 0, 0
		}
		if n, err := path.FilterFile(file); err == nil && n != nil && n.GetToken() != nil {
			return n.GetToken().Position.Line, n.GetToken().Position.Column
		}
		i := strings.LastIndexAny(key, ".[")
		key = key[:max(i, 0)]
	}
	return 0, 0
}
