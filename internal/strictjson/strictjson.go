// Package strictjson reads JSON strictly and in one pass: a small pull parser
// ([Decoder]) that checks everything while it hands out values, and [Validate]
// for documents which another package then decodes.
//
// It is opinionated: a document that two readers could understand differently
// is refused. Duplicate keys (also when one is spelled with escapes), numbers
// beyond float64, lone surrogates, invalid UTF-8, nesting beyond
// limits.JSONDepth and data after the first document are errors. Keys match by
// exact spelling.
package strictjson

import (
	"bytes"
	"fmt"
)

// Error is a fault in a document. Offset counts bytes from 0, Line and Col
// count from 1; Col counts bytes.
type Error struct {
	Offset    int
	Line, Col int
	Msg       string
}

// Error renders "line:col: message (byte offset)".
func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s (byte %d)", e.Line, e.Col, e.Msg, e.Offset)
}

// Validate checks that data is exactly one strict JSON document. The error is
// an [*Error].
func Validate(data []byte) error {
	d := NewDecoder(data, Options{})
	d.Skip()
	return d.End()
}

// Options loosen the rules where a real tool needs it.
type Options struct {
	// NaN accepts the bare literals NaN, Infinity and -Infinity, which some
	// tools write where they have no number. They read as absent.
	NaN bool
	// KeepGoing makes faults inside one value (a duplicate key, a number out of
	// range, a lone surrogate) problems of that value, to be fetched with
	// [Decoder.Problem], instead of ending the document.
	KeepGoing bool
}

// Kind is the kind of a value.
type Kind byte

// The kinds of value. None means that no value follows: the document has
// ended or is faulty. NaN is one of the literals that Options.NaN accepts.
const (
	None Kind = iota
	Object
	Array
	String
	Number
	Bool
	Null
	NaN
)

// String names the kind as a message would.
func (k Kind) String() string {
	return [...]string{"nothing", "an object", "an array", "a string", "a number", "a boolean", "null", "NaN"}[k]
}

// fault describes what is wrong at an offset. Lines are counted on from the last
// fault: a document may have as many faults as values.
func (d *Decoder) fault(offset int, format string, args ...any) *Error {
	if offset < d.counted {
		d.counted, d.lines, d.lineStart = 0, 0, 0
	}
	more := d.data[d.counted:offset]
	d.lines += bytes.Count(more, []byte{'\n'})
	if i := bytes.LastIndexByte(more, '\n'); i >= 0 {
		d.lineStart = d.counted + i + 1
	}
	d.counted = offset
	return &Error{
		Offset: offset,
		Line:   d.lines + 1,
		Col:    offset - d.lineStart + 1,
		Msg:    fmt.Sprintf(format, args...),
	}
}

// fail records a fault that ends the document and moves to the end, so that
// every later call finds nothing.
func (d *Decoder) fail(offset int, format string, args ...any) {
	if d.err == nil {
		d.err = d.fault(offset, format, args...)
	}
	d.pos = len(d.data)
}

// problem records a fault of one value.
func (d *Decoder) problem(offset int, format string, args ...any) {
	if !d.opt.KeepGoing {
		d.fail(offset, format, args...)
		return
	}
	if d.soft == nil {
		d.soft = d.fault(offset, format, args...)
	}
}
