package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"perfband/internal/perf"
	"perfband/internal/text"
)

// conform checks a document against the type it is decoded into and makes the
// library read it as it is written. Left alone the library turns the unquoted
// run 24302647964.10 into "2.430264796410e+10", the commit 0123456 into an
// octal number and 1.5 into the whole number 1, passes over keys that are
// numbers, and reads an empty value as zero. Here text stays as it stands in the
// file, a section with nothing in it leaves the defaults, and the rest is
// refused. blank says whether text may be blank.
func conform(name string, root ast.Node, dst any, blank bool) *perf.Diagnostic {
	_, d := conformer{name, blank}.node(root, reflect.TypeOf(dst).Elem(), "")
	return d
}

type conformer struct {
	name  string
	blank bool
}

// node returns the node to decode in place of n into a value of type t.
func (w conformer) node(n ast.Node, t reflect.Type, key string) (ast.Node, *perf.Diagnostic) {
	if t == reflect.TypeFor[time.Time]() {
		return w.time(n, key)
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return w.mapping(n, t, key)
	case reflect.Slice:
		return w.list(n, t, key)
	case reflect.String:
		return w.text(n, key)
	case reflect.Int:
		if _, ok := n.(*ast.IntegerNode); !ok {
			return nil, w.bad(n, key, "must be a whole number")
		}
	case reflect.Float64:
		switch n.(type) {
		case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode: // ranges are checked later
		default:
			return nil, w.bad(n, key, "must be a number")
		}
	}
	return n, nil
}

func (w conformer) text(n ast.Node, key string) (ast.Node, *perf.Diagnostic) {
	var value string
	switch s := n.(type) {
	case *ast.StringNode:
		value = s.Value
	case *ast.LiteralNode:
		value = s.Value.Value
	case *ast.IntegerNode, *ast.FloatNode:
		return ast.String(n.GetToken()), nil
	default:
		return nil, w.bad(n, key, "must be text; put it in quotes")
	}
	if !w.blank && strings.TrimSpace(value) == "" {
		return nil, w.bad(n, key, "is blank; write a value or remove the key")
	}
	return n, nil
}

func (w conformer) time(n ast.Node, key string) (ast.Node, *perf.Diagnostic) {
	if s, ok := n.(*ast.StringNode); ok {
		if _, err := time.Parse(time.RFC3339, s.Value); err == nil {
			return n, nil
		}
	}
	return nil, w.bad(n, key, "must be a time with its zone as in RFC 3339, for example 2026-04-01T12:00:00Z")
}

func (w conformer) list(n ast.Node, t reflect.Type, key string) (ast.Node, *perf.Diagnostic) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, w.bad(n, key, "must be a list")
	}
	for i, v := range seq.Values {
		v, d := w.node(v, t.Elem(), fmt.Sprintf("%s[%d]", key, i))
		if d != nil {
			return nil, d
		}
		seq.Values[i] = v
	}
	return seq, nil
}

// mapping takes the pairs of a struct, whose keys are known, or of a map.
func (w conformer) mapping(n ast.Node, t reflect.Type, key string) (ast.Node, *perf.Diagnostic) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return nil, w.bad(n, key, "must be a mapping of keys to values")
	}
	for _, p := range m.Values {
		k, d := w.text(p.Key, key)
		s, ok := k.(*ast.StringNode)
		if d != nil || !ok {
			return nil, w.bad(p.Key, key, "has a key that is not plain text")
		}
		inner := t
		if t.Kind() == reflect.Map {
			inner = t.Elem()
		} else if inner, ok = field(t, s.Value); !ok {
			return nil, w.unknown(s, t)
		}
		below := strings.TrimPrefix(key+"."+s.Value, ".")
		if _, null := p.Value.(*ast.NullNode); null {
			if key == "" { // a section of which all lines are comments
				continue
			}
			return nil, w.bad(s, below, "has no value; write one or remove the key")
		}
		v, d := w.node(p.Value, inner, below)
		if d != nil {
			return nil, d
		}
		p.Key, p.Value = s, v
	}
	return m, nil
}

func (w conformer) bad(n ast.Node, key, why string) *perf.Diagnostic {
	if key == "" {
		key = "the document"
	}
	return badValue(where(w.name, n), key, why)
}

func (w conformer) unknown(key *ast.StringNode, t reflect.Type) *perf.Diagnostic {
	var known []string
	for f := range t.NumField() {
		if k := keyOf(t.Field(f)); k != "-" {
			known = append(known, k)
		}
	}
	slices.Sort(known)
	d := &perf.Diagnostic{Severity: perf.Error, Code: "config", Where: where(w.name, key),
		What: fmt.Sprintf("unknown key %q", key.Value), Do: "Keys known here: " + strings.Join(known, ", ") + "."}
	if near := text.Nearest(key.Value, known); near != "" {
		d.What += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return d
}

// field returns the type behind a key of a struct.
func field(t reflect.Type, key string) (reflect.Type, bool) {
	for f := range t.NumField() {
		if k := keyOf(t.Field(f)); k == key && k != "-" {
			return t.Field(f).Type, true
		}
	}
	return nil, false
}

// keyOf is the key of a field in the file, "-" if it has none.
func keyOf(f reflect.StructField) string { return f.Tag.Get("yaml") }
