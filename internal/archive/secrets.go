package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/secret"
)

// content is what one pass over a file tells.
type content struct {
	sha256 string
	scan   *secret.Scan
	first  secret.Finding // the first secret
	names  map[string]int // names of people and machines by kind
	named  int            // line of the first of these
	packed bool           // what was scanned are not the bytes of the file
}

// secrets is how many secrets the file holds.
func (c *content) secrets() int {
	if c.scan == nil {
		return 0
	}
	return c.scan.Secrets()
}

// look reads a file once: it hashes the bytes and, if scanner is not nil, looks
// for secrets in the text they hold.
func look(fsys fs.FS, name string, scanner *secret.Scanner) (*content, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, h := &content{names: map[string]int{}}, sha256.New()
	in := io.TeeReader(f, h)
	if scanner != nil {
		c.scan = scanner.Scan(c.found)
		var text io.Reader
		text, c.packed = plain(in)
		if _, err := io.Copy(c.scan, text); err != nil && !c.packed {
			return nil, err
		}
		c.scan.Close()
	}
	// The rest, where what is packed is broken or too large to be read.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return nil, err
	}
	c.sha256 = hex.EncodeToString(h.Sum(nil))
	return c, nil
}

func (c *content) found(f secret.Finding) {
	switch {
	case f.Personal():
		if len(c.names) == 0 {
			c.named = f.Line
		}
		c.names[f.Kind]++
	case c.first.Kind == "":
		c.first = f
	}
}

const readBytes = 64 << 10

// plain is the text in r as decoders read it, and whether that differs from
// r's own bytes.
func plain(r io.Reader) (text io.Reader, packed bool) {
	in := bufio.NewReaderSize(r, readBytes)
	if head, _ := in.Peek(2); !bytes.Equal(head, []byte{0x1F, 0x8B}) {
		return oneByte(in)
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return in, true
	}
	text, _ = oneByte(bufio.NewReaderSize(io.LimitReader(z, limits.DecodeBytes), readBytes))
	return text, true
}

// oneByte is UTF-16 without the zeros that make it two bytes a letter.
func oneByte(in *bufio.Reader) (text io.Reader, wide bool) {
	head, _ := in.Peek(2)
	if bytes.Equal(head, []byte{0xFF, 0xFE}) || bytes.Equal(head, []byte{0xFE, 0xFF}) {
		return noZeros{in}, true
	}
	return in, false
}

// noZeros leaves zero bytes out.
type noZeros struct{ r io.Reader }

func (z noZeros) Read(p []byte) (int, error) {
	n, err := z.r.Read(p)
	return len(slices.DeleteFunc(p[:n], func(c byte) bool { return c == 0 })), err
}

// withSecrets decides about a file that holds secrets: f becomes its redacted
// copy, or the reason to leave it out is returned.
func (s *stager) withSecrets(fsys fs.FS, name string, f *StagedFile, c *content) (reason string) {
	where := perf.Where{File: f.Origin, Line: c.first.Line, Col: c.first.Col}
	what := c.first.Kind
	if more := c.secrets() - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	d := perf.Diagnostic{Severity: perf.Error, Code: "secret", Where: where, What: "not archived: the file holds a secret (" + what + ")",
		Why: "the archive keeps it for ever, for everybody who can read the repository",
		Do:  "Revoke the secret and keep it out of what the tool writes, or set raw: redact."}
	if s.opt.Redact {
		err := s.redact(fsys, name, f, c)
		if err == nil {
			s.diags = append(s.diags, perf.Diagnostic{Severity: perf.Warning, Code: "redacted", Where: where,
				What: "archived without the secrets it holds (" + what + ")", Do: "Revoke them: other copies, such as the log, may be public."})
			return ""
		}
		d.Do, d.Why = "Revoke the secret and keep it out of what the tool writes.", err.Error()
	}
	s.diags = append(s.diags, d)
	return fmt.Sprintf("secret: %s at line %d", c.first.Kind, c.first.Line)
}

// redact makes f the file without its secrets.
func (s *stager) redact(fsys fs.FS, name string, f *StagedFile, c *content) error {
	if c.packed {
		return errors.New("raw: redact reads neither packed files nor UTF-16")
	}
	in, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	h, again := sha256.New(), s.opt.Secrets.Scan(nil)
	out := c.scan.Redact(in)
	n, err := io.Copy(io.MultiWriter(h, again), out)
	if err != nil {
		return err
	}
	if again.Close(); again.Secrets() > 0 {
		return errors.New("raw: redact leaves a secret in it")
	}
	f.Bytes, f.SHA256, f.Redacted = n, hex.EncodeToString(h.Sum(nil)), out.Places()
	f.Open = func() (io.ReadCloser, error) {
		in, err := fsys.Open(name)
		if err != nil {
			return nil, err
		}
		return &redactedFile{File: in, text: c.scan.Redact(in), size: n}, nil
	}
	return nil
}

// redactedFile is a file that is redacted while it is read.
type redactedFile struct {
	fs.File
	text *secret.Redacted
	size int64
}

func (f *redactedFile) Read(p []byte) (int, error) { return f.text.Read(p) }

func (f *redactedFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return sized{info, f.size}, err
}

type sized struct {
	fs.FileInfo
	size int64
}

func (s sized) Size() int64 { return s.size }

// plainName is a name without secrets.
func (s *stager) plainName(name string) string {
	shown, _ := s.opt.Secrets.Text(name)
	return shown
}

// clean is plainName, and says so if that differs.
func (s *stager) clean(name string) string {
	shown := s.plainName(name)
	if shown != name {
		s.diags = append(s.diags, perf.Diagnostic{Severity: perf.Warning, Code: "secret-in-name", Where: perf.Where{File: shown},
			What: "the file's name holds a secret", Do: "Revoke the secret and mend the step that names the file; this is how it is named here."})
	}
	return shown
}

// addNames adds the names of people and machines in an archived file.
func (s *stager) addNames(f *StagedFile, c *content) {
	if len(s.names) == 0 && len(c.names) > 0 {
		s.named = perf.Where{File: f.Origin, Line: c.named}
	}
	for kind, n := range c.names {
		s.names[kind] += n
	}
}

// tellNames says once that names become public.
func (s *stager) tellNames() {
	var list []string
	for _, kind := range []string{secret.UserName, secret.HomeFolder, secret.HostName} {
		if n := s.names[kind]; n == 1 {
			list = append(list, "1 "+kind)
		} else if n > 1 {
			list = append(list, fmt.Sprintf("%d %ss", n, kind))
		}
	}
	if len(list) > 0 {
		s.diags = append(s.diags, perf.Diagnostic{Severity: perf.Notice, Code: "names", Where: s.named,
			What: "the results name people or machines: " + strings.Join(list, ", "), Why: "the archive keeps them as they are, as public as the repository",
			Do: "If they should not be known, keep them out of what the tool writes or leave the files out with archive.exclude."})
	}
}
