package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"perfband/internal/perf"
)

const (
	// maxBytes is the largest file read; people do not write as much.
	maxBytes = 256 << 10
	// maxDepth is the deepest nesting accepted: settings need five levels, and
	// the library's time and memory grow with the square.
	maxDepth = 32
)

// checker is what a file is decoded into: check returns the first value that
// is not allowed, with its key path and what is wrong.
type checker interface{ check() (key, why string) }

// Parse reads a configuration file over the defaults. name is used in errors,
// which are *perf.Diagnostic with the position of the offending text. An empty
// document is the default configuration.
func Parse(name string, data []byte) (Config, error) {
	c := Default()
	if _, err := read(name, data, &c); err != nil {
		return c, err
	}
	return c, nil
}

// read decodes one strict YAML document over what dst holds and checks it. The
// file returned serves [position]. Errors are *perf.Diagnostic.
func read(name string, data []byte, dst checker) (*ast.File, error) {
	doc := strings.TrimPrefix(string(data), "\ufeff") // as some editors begin every file
	if !strings.HasSuffix(doc, "\n") {
		doc += "\n" // without it the library overlooks a tag at the end
	}
	if d := plain(name, doc); d != nil {
		return nil, d
	}
	file, err := parser.ParseBytes([]byte(doc), 0)
	if err != nil {
		return nil, problem(name, err)
	}
	if len(file.Docs) > 1 {
		return nil, &perf.Diagnostic{Severity: perf.Error, Code: "config", Where: perf.Where{File: name},
			What: "more than one YAML document", Do: "Keep one document."}
	}
	if empty(file) {
		return file, nil
	}
	root := file.Docs[0].Body
	// In the lists a blank condition would be none, and the entry say much more
	// than was meant.
	_, blank := dst.(*Config)
	if d := conform(name, root, dst, blank); d != nil {
		return nil, d
	}
	if err := yaml.NodeToValue(root, dst, yaml.Strict()); err != nil {
		return nil, problem(name, err)
	}
	if key, why := dst.check(); key != "" {
		w := perf.Where{File: name}
		if line, col := position(file, key); line > 0 {
			w.Line, w.Col = line, col
		}
		return nil, badValue(w, key, why)
	}
	return file, nil
}

func badValue(w perf.Where, key, why string) *perf.Diagnostic {
	return &perf.Diagnostic{Severity: perf.Error, Code: "config", Where: w, What: "bad value of " + key, Why: why}
}

// plain refuses, before the parser sees it, what would cost it more than any
// real file may, and what no setting needs: a few lines of anchors and aliases
// expand to gigabytes, and a tag makes a value something else than it looks.
func plain(name, doc string) *perf.Diagnostic {
	d := &perf.Diagnostic{Severity: perf.Error, Code: "config", Where: perf.Where{File: name}}
	if len(doc) > maxBytes {
		d.What, d.Do = fmt.Sprintf("larger than %d KiB", maxBytes>>10), "Use patterns instead of long lists."
		return d
	}
	var columns []int // of the open entries of block style
	flow := 0
	for _, t := range lexer.Tokenize(doc) {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			for len(columns) > 0 && columns[len(columns)-1] >= t.Position.Column {
				columns = columns[:len(columns)-1]
			}
			columns = append(columns, t.Position.Column)
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			d.What, d.Do = "anchors and aliases are not allowed", "Write the value out; text that begins with * or & needs quotes."
		case token.TagType, token.DirectiveType:
			d.What, d.Do = "tags and directives are not allowed", "Write the value without it; text that begins with ! or % needs quotes."
		}
		if flow+len(columns) > maxDepth {
			d.What = fmt.Sprintf("nested deeper than %d levels", maxDepth)
		}
		if d.What != "" {
			d.Where.Line, d.Where.Col = t.Position.Line, t.Position.Column
			return d
		}
	}
	return nil
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
	if !errors.As(err, &pos) {
		d.Why = err.Error()
		return d
	}
	d.Why = pos.GetMessage()
	if t := pos.GetToken(); t != nil && t.Position != nil {
		d.Where.Line, d.Where.Col = t.Position.Line, t.Position.Column
	}
	return d
}

// where is the position of a node.
func where(name string, n ast.Node) perf.Where {
	w := perf.Where{File: name}
	if t := n.GetToken(); t != nil && t.Position != nil {
		w.Line, w.Col = t.Position.Line, t.Position.Column
	}
	return w
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
