// Package secret finds secrets in files that are about to become public: the
// tokens of this call in any common encoding, keys of well-known formats, and
// values that look random beside words like password. It also finds names of
// people and machines, which are no secrets but worth a notice.
//
// It guards against accidents, not against somebody who wants to hide a secret.
// A finding says where and of what kind, never what.
package secret

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Kinds that are no format of a key.
const (
	Token       = "run-token"    // a token of this call
	Credential  = "credential"   // looks random, beside a word like password
	URLPassword = "url-password" // the same in front of a host name
	HomeFolder  = "home folder"
	UserName    = "user name"
	HostName    = "host name"
)

// Finding is one place that holds a secret or a name.
type Finding struct {
	Kind       string
	Line, Col  int   // of the first byte, from 1, Col in bytes
	Start, End int64 // offsets of the value in the text, in bytes
}

// Personal says that the place holds the name of a person or a machine, which
// is no secret.
func (f Finding) Personal() bool { return personal(f.Kind) }

func personal(kind string) bool { return kind == HomeFolder || kind == UserName || kind == HostName }

// marker is what a secret of a kind is replaced by.
func marker(kind string) string { return "[redacted:" + kind + "]" }

// Scanner finds secrets; it is safe for concurrent use.
type Scanner struct {
	values []value
	rules  []rule
	// table has the bucket of each hash of four bytes that a rule may begin
	// with, 0 for none. It is the only thing looked at for most bytes.
	table   [1 << tableBits]uint8
	buckets [][]uint16 // indexes of rules; the first is empty
}

const tableBits = 14

// rule is a literal by which something to look at closer is recognised.
type rule struct {
	literal string // at least 3 bytes
	fold    bool   // the literal is in lower case, the text may have any
	// after are the bytes that may follow a literal of 3 bytes.
	after string
	// match looks at the text around the literal, which begins at at.
	match func(w *window, at int)
}

// New makes a scanner that knows the given tokens besides the formats. Tokens
// shorter than 6 bytes would be found in ordinary words and are left out.
func New(tokens ...string) *Scanner {
	var values []value
	for _, t := range tokens {
		for _, line := range Lines(t) {
			values = append(values, value{line, Token})
		}
	}
	return newScanner(values)
}

// value is a text known to be secret.
type value struct{ text, kind string }

// newScanner knows the formats and the values.
func newScanner(values []value) *Scanner {
	s := &Scanner{values: values, buckets: [][]uint16{nil}}
	seen := map[string]bool{}
	for _, v := range values {
		for _, form := range Forms(v.text) {
			if seen[form] {
				continue
			}
			seen[form] = true
			s.rules = append(s.rules, rule{literal: form, match: func(w *window, at int) { w.add(v.kind, at, at+len(form)) }})
		}
	}
	s.rules = append(s.rules, builtIn...)
	s.index()
	return s
}

// index fills the table and the buckets.
func (s *Scanner) index() {
	slots := map[uint32][]uint16{}
	put := func(gram string, r int) {
		slot := slotOf(binary.LittleEndian.Uint32([]byte(gram)))
		if !slices.Contains(slots[slot], uint16(r)) {
			slots[slot] = append(slots[slot], uint16(r))
		}
	}
	for i, r := range s.rules {
		if len(r.literal) > 3 {
			put(r.literal[:4], i)
			continue
		}
		for j := range len(r.after) {
			put(r.literal+r.after[j:j+1], i)
		}
	}
	numbers := map[string]uint8{}
	for slot := range uint32(len(s.table)) {
		rules := slots[slot]
		if len(rules) == 0 {
			continue
		}
		key := fmt.Sprint(rules)
		b, ok := numbers[key]
		switch {
		case ok:
		case len(s.buckets) <= 255:
			b = uint8(len(s.buckets))
			s.buckets = append(s.buckets, rules)
			numbers[key] = b
		default: // the last bucket takes all that are left
			b = 255
			for _, r := range rules {
				if !slices.Contains(s.buckets[b], r) {
					s.buckets[b] = append(s.buckets[b], r)
				}
			}
		}
		s.table[slot] = b
	}
}

// slotOf is the place of four bytes in the table, the case of letters aside.
func slotOf(gram uint32) uint32 { return (gram | 0x20202020) * 0x9E3779B1 >> (32 - tableBits) }

// String keeps tokens out of formatted output.
func (s *Scanner) String() string { return "(secrets)" }

// GoString keeps tokens out of formatted output.
func (s *Scanner) GoString() string { return s.String() }

// search looks for rules that begin in w.text[from:to].
func (s *Scanner) search(w *window, from, to int) {
	text := w.text
	to = min(to, len(text)-3)
	for i := from; i < to; i++ {
		if b := s.table[slotOf(binary.LittleEndian.Uint32(text[i:]))]; b != 0 {
			s.look(w, i, b)
		}
	}
}

func (s *Scanner) look(w *window, at int, bucket uint8) {
	for _, i := range s.buckets[bucket] {
		r := &s.rules[i]
		if at+len(r.literal) > len(w.text) {
			continue
		}
		here := w.text[at : at+len(r.literal)]
		if r.fold && equalFold(here, r.literal) || string(here) == r.literal {
			r.match(w, at)
		}
	}
}

// equalFold compares with an ASCII text in lower case.
func equalFold(b []byte, lower string) bool {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// Text is a short text with every secret in it replaced by a marker that names
// its kind, and how many there were.
func (s *Scanner) Text(t string) (string, int) {
	scan := s.Scan(nil)
	io.WriteString(scan, t) // writes and reads in memory do not fail
	scan.Close()
	if scan.Secrets() == 0 {
		return t, 0
	}
	var b strings.Builder
	r := scan.Redact(strings.NewReader(t))
	io.Copy(&b, r)
	return b.String(), r.Places()
}
