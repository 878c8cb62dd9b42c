package secret

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
)

// A text is looked at through a window that moves over it, so memory is bounded
// whatever its size or the length of its lines. What begins at a place is
// decided when ahead bytes after it are in the window.
const (
	windowBytes = 128 << 10
	ahead       = 20 << 10 // how far a rule looks ahead; more than any value
	behind      = 64       // how far a rule looks back
)

// maxValues is how many different values of one text are looked for outside
// the places by which they were recognised.
const maxValues = 100

// maxCopied is the longest value looked for elsewhere, in bytes.
const maxCopied = 512

// span is a finding by its place in the window.
type span struct {
	kind       string
	start, end int
}

// window is a part of the text and what was found in it.
type window struct {
	text  []byte
	found []span
	// What begins inside a run that was looked at need not be looked at again,
	// which keeps hostile texts linear.
	noJWT              int // end of a run that is no JSON web token
	valueFrom, valueTo int // a run that is a value
}

func (w *window) add(kind string, start, end int) { w.found = append(w.found, span{kind, start, end}) }

// stream moves the window.
type stream struct {
	scanner *Scanner
	window
	base    int64 // offset of the window in the text
	scanned int   // rules that begin before it have been tried
	decided int   // everything before it was handed on
	line    int   // line breaks before decided
	bol     int64 // offset of the beginning of that line
	plain   func(text []byte)
	hit     func(f Finding, text []byte)
}

func newStream(s *Scanner, plain func([]byte), hit func(Finding, []byte)) *stream {
	return &stream{scanner: s, plain: plain, hit: hit}
}

func (s *stream) write(p []byte) {
	for len(p) > 0 {
		n := min(len(p), windowBytes-len(s.text))
		s.text = append(s.text, p[:n]...)
		p = p[n:]
		if len(s.text) == windowBytes {
			s.step(len(s.text)-ahead, false)
		}
	}
}

func (s *stream) close() {
	s.step(len(s.text), true)
	s.text = nil
}

// step tries the rules that begin before limit and hands on what is certain.
func (s *stream) step(limit int, last bool) {
	s.scanner.search(&s.window, s.scanned, limit)
	s.scanned = limit
	certain := limit
	if !last {
		certain -= behind // a rule that begins later may reach back
	}
	s.found = join(s.found)
	pending := s.found[:0]
	for _, f := range s.found {
		if f.end > certain {
			pending = append(pending, f)
			continue
		}
		s.pass(f.start)
		at := Finding{Kind: f.kind, Line: s.line + 1, Col: int(s.base+int64(f.start)-s.bol) + 1,
			Start: s.base + int64(f.start), End: s.base + int64(f.end)}
		s.hit(at, s.text[f.start:f.end])
		s.count(s.text[f.start:f.end])
	}
	if s.found = pending; len(pending) > 0 {
		certain = min(certain, pending[0].start)
	}
	s.pass(certain)
	s.shift(max(s.decided-behind, 0))
}

// pass hands on text without findings.
func (s *stream) pass(to int) {
	if to <= s.decided {
		return
	}
	if s.plain != nil {
		s.plain(s.text[s.decided:to])
	}
	s.count(s.text[s.decided:to])
}

// count moves decided over text.
func (s *stream) count(text []byte) {
	if n := bytes.Count(text, []byte("\n")); n > 0 {
		s.line += n
		s.bol = s.base + int64(s.decided+bytes.LastIndexByte(text, '\n')) + 1
	}
	s.decided += len(text)
}

// shift drops n bytes from the front of the window.
func (s *stream) shift(n int) {
	s.text = s.text[:copy(s.text, s.text[n:])]
	s.base += int64(n)
	s.scanned -= n
	s.decided -= n
	s.noJWT -= n
	s.valueFrom -= n
	s.valueTo -= n
	for i := range s.found {
		s.found[i].start -= n
		s.found[i].end -= n
	}
}

// rank orders kinds: the more is known of a secret, the better its name.
func rank(kind string) int {
	switch {
	case personal(kind):
		return 0
	case kind == Credential || kind == URLPassword:
		return 1
	case kind == Token:
		return 3
	}
	return 2
}

// join sorts findings and makes one of those that overlap.
func join(found []span) []span {
	slices.SortFunc(found, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(rank(b.kind), rank(a.kind)), cmp.Compare(b.end, a.end))
	})
	out := found[:0]
	for _, f := range found {
		if len(out) == 0 || out[len(out)-1].end <= f.start {
			out = append(out, f)
			continue
		}
		last := &out[len(out)-1]
		if f.end-last.start > ahead { // or a chain could outgrow the window
			if f.start = last.end; f.start < f.end {
				out = append(out, f)
			}
			continue
		}
		last.end = max(last.end, f.end)
		if rank(f.kind) > rank(last.kind) {
			last.kind = f.kind
		}
	}
	return out
}

// Scan looks for secrets in what is written to it.
type Scan struct {
	stream  *stream
	secrets int
	values  []value
}

// Scan starts a scan; found, which may be nil, is called for each place in
// order. The last places are known once the scan is closed.
func (s *Scanner) Scan(found func(Finding)) *Scan {
	c := &Scan{}
	c.stream = newStream(s, nil, func(f Finding, text []byte) {
		if !f.Personal() {
			c.secrets++
			c.remember(f.Kind, text)
		}
		if found != nil {
			found(f)
		}
	})
	return c
}

// Write scans p; it never fails.
func (c *Scan) Write(p []byte) (int, error) {
	c.stream.write(p)
	return len(p), nil
}

// Close ends the text.
func (c *Scan) Close() error {
	c.stream.close()
	return nil
}

// Secrets is how many secrets were found so far.
func (c *Scan) Secrets() int { return c.secrets }

// String keeps values out of formatted output.
func (c *Scan) String() string { return "(scan)" }

// GoString keeps values out of formatted output.
func (c *Scan) GoString() string { return c.String() }

// remember keeps a value, to find its copies where nothing else tells them.
func (c *Scan) remember(kind string, text []byte) {
	if len(c.values) >= maxValues || len(text) > maxCopied || len(text) < minValue {
		return
	}
	v := value{string(text), kind}
	if !slices.Contains(c.values, v) {
		c.values = append(c.values, v)
	}
}

// Redact is the text of r, which must be that of the scan, with every secret
// replaced by a marker like [redacted:github-token], copies of what was found
// included. Line breaks inside a secret stay, so that line numbers do.
func (c *Scan) Redact(r io.Reader) *Redacted {
	out := &Redacted{src: r, chunk: make([]byte, 32<<10)}
	plain := func(text []byte) { out.ready.Write(text) }
	out.stream = newStream(newScanner(slices.Concat(c.stream.scanner.values, c.values)), plain, func(f Finding, text []byte) {
		if f.Personal() {
			plain(text)
			return
		}
		out.places++
		out.ready.WriteString(marker(f.Kind))
		for {
			i := bytes.IndexByte(text, '\n')
			if i < 0 {
				return
			}
			if i > 0 && text[i-1] == '\r' {
				out.ready.WriteByte('\r')
			}
			out.ready.WriteByte('\n')
			text = text[i+1:]
		}
	})
	return out
}

// Redacted is a text without its secrets.
type Redacted struct {
	stream *stream
	src    io.Reader
	chunk  []byte
	ready  bytes.Buffer
	places int
	ended  bool
}

// Read gives the next bytes.
func (r *Redacted) Read(p []byte) (int, error) {
	for r.ready.Len() == 0 && !r.ended {
		n, err := r.src.Read(r.chunk)
		r.stream.write(r.chunk[:n])
		if errors.Is(err, io.EOF) {
			r.stream.close()
			r.ended = true
		} else if err != nil {
			return 0, err
		}
	}
	return r.ready.Read(p)
}

// Places is how many places were replaced so far.
func (r *Redacted) Places() int { return r.places }
