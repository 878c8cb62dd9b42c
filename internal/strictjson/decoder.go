package strictjson

import (
	"bytes"
	"math"
	"strconv"

	"perfband/internal/limits"
)

// Decoder hands out the values of one document in order. Faults are sticky:
// after one, every method returns its zero value, so callers check once, with
// [Decoder.End].
//
// A value is read by exactly one of Object, Array, Str, Text, Float, Int, Bool,
// Raw or Skip. Each of them accepts any value; one of another kind is skipped
// and reported as not there.
type Decoder struct {
	data []byte
	pos  int
	opt  Options
	err  *Error
	soft *Error

	frames []frame
	keys   []key // keys of all open objects, innermost last
	buf    []byte

	// Lines before counted, and where the line it is in begins.
	counted, lines, lineStart int
}

// frame is an open object or array.
type frame struct {
	keys  int // index in Decoder.keys of its first key
	seen  map[string]struct{}
	begun bool
}

// key is a decoded key with a cheap signature that tells most keys apart.
type key struct {
	sig  uint64
	text []byte
}

// mapFrom is the number of keys from which an object's keys are kept in a map;
// below it a scan is faster.
const mapFrom = 48

// NewDecoder reads data, which it does not copy: the bytes it returns are valid
// until the next call and only while data is unchanged.
func NewDecoder(data []byte, opt Options) *Decoder {
	return &Decoder{data: data, opt: opt}
}

// Err is the first fault, nil if there is none so far.
func (d *Decoder) Err() error {
	if d.err == nil {
		return nil
	}
	return d.err
}

// End checks that nothing but blanks follows and returns the first fault.
func (d *Decoder) End() error {
	if d.err == nil && d.next() != 0 {
		d.fail(d.pos, "data after the end of the document")
	}
	return d.Err()
}

// Problem returns the first fault of single values since the last call, nil if
// there was none; see Options.KeepGoing.
func (d *Decoder) Problem() *Error {
	p := d.soft
	d.soft = nil
	return p
}

// Offset is the position of the next unread byte.
func (d *Decoder) Offset() int { return d.pos }

// At makes an error at an offset of the document, for faults in what a value
// means.
func (d *Decoder) At(offset int, format string, args ...any) *Error {
	return d.fault(offset, format, args...)
}

// next skips blanks and returns the next byte, 0 at the end. A NUL byte in the
// document is told from the end by its position.
func (d *Decoder) next() byte {
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; c {
		case ' ', '\t', '\n', '\r':
			d.pos++
		case 0:
			d.fail(d.pos, "unexpected NUL byte")
			return 0
		default:
			return c
		}
	}
	return 0
}

// Kind is the kind of the next value.
func (d *Decoder) Kind() Kind {
	switch c := d.next(); c {
	case '{':
		return Object
	case '[':
		return Array
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	case 'N', 'I':
		if d.opt.NaN {
			return NaN
		}
	case '-':
		if d.opt.NaN && d.pos+1 < len(d.data) && d.data[d.pos+1] == 'I' {
			return NaN
		}
		return Number
	default:
		if '0' <= c && c <= '9' {
			return Number
		}
	}
	return None
}

// Object enters an object; the caller then calls Key until it reports the end.
// Another value is skipped and false returned.
func (d *Decoder) Object() bool { return d.enter('{') }

// Array enters an array; the caller then calls More before each element.
// Another value is skipped and false returned.
func (d *Decoder) Array() bool { return d.enter('[') }

func (d *Decoder) enter(open byte) bool {
	if d.next() != open {
		d.Skip()
		return false
	}
	if len(d.frames) >= limits.JSONDepth {
		d.fail(d.pos, "nested deeper than %d levels", limits.JSONDepth)
		return false
	}
	d.pos++
	d.frames = append(d.frames, frame{keys: len(d.keys)})
	return true
}

func (d *Decoder) leave() {
	f := &d.frames[len(d.frames)-1]
	d.keys = d.keys[:f.keys]
	f.seen = nil
	d.frames = d.frames[:len(d.frames)-1]
}

// separator moves past the comma between elements, or past the closing byte,
// and reports whether an element follows.
func (d *Decoder) separator(closing byte) bool {
	c := d.next()
	if d.err != nil {
		return false
	}
	f := &d.frames[len(d.frames)-1]
	if c == closing {
		d.pos++
		d.leave()
		return false
	}
	if !f.begun {
		f.begun = true
		return true
	}
	if c != ',' {
		d.unexpected(c, "',' or '"+string(closing)+"'")
		return false
	}
	d.pos++
	if d.next() == closing {
		d.fail(d.pos, "',' before '%c'", closing)
	}
	return d.err == nil
}

// More reports whether another element follows in the array, and leaves the
// array when none does.
func (d *Decoder) More() bool { return d.separator(']') }

// Key returns the next key of the object, decoded, and leaves the object when
// none follows. The caller then reads the value.
func (d *Decoder) Key() ([]byte, bool) {
	if !d.separator('}') {
		return nil, false
	}
	if c := d.next(); c != '"' {
		d.unexpected(c, "a key")
		return nil, false
	}
	start := d.pos
	raw, escaped := d.scanString()
	text := raw
	if escaped {
		// The key outlives the buffer, since later keys are compared with it.
		text = d.unescape(nil, raw, start+1)
	}
	if d.err != nil {
		return nil, false
	}
	d.remember(text, start)
	if c := d.next(); c != ':' {
		d.unexpected(c, "':'")
		return nil, false
	}
	d.pos++
	return text, true
}

// remember notes a key of the innermost object and reports a duplicate.
func (d *Decoder) remember(text []byte, offset int) {
	f := &d.frames[len(d.frames)-1]
	if f.seen != nil {
		if _, dup := f.seen[string(text)]; dup {
			d.problem(offset, "key %q occurs twice in one object", text)
		}
		f.seen[string(text)] = struct{}{}
		if len(f.seen) > limits.JSONKeys {
			d.fail(offset, "more than %d keys in one object", limits.JSONKeys)
		}
		return
	}
	sig := signature(text)
	own := d.keys[f.keys:]
	for i := range own {
		if own[i].sig == sig && bytes.Equal(own[i].text, text) {
			d.problem(offset, "key %q occurs twice in one object", text)
			return
		}
	}
	d.keys = append(d.keys, key{sig, text})
	if len(own) >= mapFrom {
		f.seen = make(map[string]struct{}, 4*mapFrom)
		for _, k := range d.keys[f.keys:] {
			f.seen[string(k.text)] = struct{}{}
		}
	}
}

// signature mixes length and some bytes; equal texts have equal signatures.
func signature(b []byte) uint64 {
	n := len(b)
	s := uint64(n)
	if n > 0 {
		s = s<<8 | uint64(b[0])
		s = s<<8 | uint64(b[n/3])
		s = s<<8 | uint64(b[n/2])
		s = s<<8 | uint64(b[n-1])
	}
	return s
}

// Skip passes over one value of any kind, checking it.
func (d *Decoder) Skip() {
	switch c := d.next(); c {
	case '{':
		if d.Object() {
			for {
				if _, ok := d.Key(); !ok {
					return
				}
				d.Skip()
			}
		}
	case '[':
		if d.Array() {
			for d.More() {
				d.Skip()
			}
		}
	case '"':
		start := d.pos
		if raw, escaped := d.scanString(); escaped {
			d.buf = d.unescape(d.buf[:0], raw, start+1)
		}
	case 't':
		d.literal("true")
	case 'f':
		d.literal("false")
	case 'n':
		d.literal("null")
	default:
		if d.Kind() == NaN {
			d.skipNaN()
			return
		}
		if c == '-' || '0' <= c && c <= '9' {
			d.number()
			return
		}
		d.unexpected(c, "a value")
	}
}

// Raw passes over one value and returns its text.
func (d *Decoder) Raw() []byte {
	d.next()
	start := d.pos
	d.Skip()
	if d.err != nil {
		return nil
	}
	return d.data[start:d.pos]
}

// Str returns a string value as a copy.
func (d *Decoder) Str() (string, bool) {
	b, ok := d.Text()
	return string(b), ok
}

// Text returns a string value's decoded bytes, valid until the next call.
func (d *Decoder) Text() ([]byte, bool) {
	if d.next() != '"' {
		d.Skip()
		return nil, false
	}
	start := d.pos
	raw, escaped := d.scanString()
	if escaped {
		d.buf = d.unescape(d.buf[:0], raw, start+1)
		raw = d.buf
	}
	return raw, d.err == nil
}

// Bool returns a boolean value.
func (d *Decoder) Bool() (value, ok bool) {
	switch d.next() {
	case 't':
		return d.literal("true"), d.err == nil
	case 'f':
		d.literal("false")
		return false, d.err == nil
	}
	d.Skip()
	return false, false
}

// Float returns a number. Out of range is a fault.
func (d *Decoder) Float() (float64, bool) {
	if c := d.next(); c != '-' && (c < '0' || c > '9') || d.Kind() == NaN {
		d.Skip()
		return 0, false
	}
	return d.number()
}

// Int returns a number that is an integer within int64; 2.0 and 2e3 count.
func (d *Decoder) Int() (int64, bool) {
	d.next()
	// Nearly all integers are short and plain.
	var v int64
	for i := d.pos; i < len(d.data) && i-d.pos <= 18; i++ {
		c := d.data[i]
		if c-'0' <= 9 {
			v = v*10 + int64(c-'0')
			continue
		}
		if i > d.pos && (d.data[d.pos] != '0' || i == d.pos+1) && (c == ',' || c == '}' || c == ']' || c == '\r' || c == '\n' || c == ' ') {
			d.pos = i
			return v, true
		}
		break
	}
	f, ok := d.Float()
	if !ok || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

func (d *Decoder) literal(word string) bool {
	if !bytes.HasPrefix(d.data[d.pos:], []byte(word)) {
		d.unexpected(d.data[d.pos], "a value")
		return false
	}
	d.pos += len(word)
	return true
}

func (d *Decoder) skipNaN() {
	switch d.data[d.pos] {
	case 'N':
		d.literal("NaN")
	case 'I':
		d.literal("Infinity")
	default:
		d.literal("-Infinity")
	}
}

// unexpected reports a byte that cannot stand here.
func (d *Decoder) unexpected(c byte, want string) {
	switch {
	case d.err != nil:
	case d.pos >= len(d.data):
		d.fail(d.pos, "the document is cut off: %s expected", want)
	default:
		d.fail(d.pos, "unexpected %s: %s expected", strconv.QuoteRune(rune(c)), want)
	}
}
