package gh

import (
	"cmp"
	"encoding/base64"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// minSecret is the shortest text treated as a secret, in bytes: removing
// shorter ones would garble ordinary words.
const minSecret = 6

// Secrets removes registered secrets from texts and errors. The zero value is
// ready; it is safe for concurrent use.
type Secrets struct {
	mu       sync.RWMutex
	forms    []string // longest first
	replacer *strings.Replacer
}

// Add registers a secret: each of its lines as it is, URL-encoded, and in any
// base64 text that contains it. Lines shorter than 6 bytes are left out.
func (s *Secrets) Add(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range secretLines(secret) {
		s.forms = append(s.forms, formsOf(line)...)
	}
	slices.SortFunc(s.forms, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	s.forms = slices.Compact(s.forms)
	pairs := make([]string, 0, 2*len(s.forms))
	for _, f := range s.forms {
		pairs = append(pairs, f, "***")
	}
	s.replacer = strings.NewReplacer(pairs...)
}

// Text is t with every registered secret replaced by "***".
func (s *Secrets) Text(t string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.forms) == 0 {
		return t
	}
	return s.replacer.Replace(t)
}

// Error is err with every registered secret removed from its text, nil for
// nil. [errors.Is] and [errors.As] still see the causes.
func (s *Secrets) Error(err error) error {
	if err == nil || s.Text(err.Error()) == err.Error() {
		return err
	}
	return &scrubbed{err: err, text: s.Text(err.Error())}
}

// String keeps the secrets out of formatted output.
func (s *Secrets) String() string { return "(secrets)" }

// GoString keeps the secrets out of formatted output.
func (s *Secrets) GoString() string { return s.String() }

// scrubbed hides the text of an error. It has no Unwrap, so that no one who
// walks the chain prints the text after all.
type scrubbed struct {
	err  error
	text string
}

func (e *scrubbed) Error() string        { return e.text }
func (e *scrubbed) Is(target error) bool { return errors.Is(e.err, target) }
func (e *scrubbed) As(target any) bool   { return errors.As(e.err, target) }

// secretLines are the lines of a secret that are long enough to be removed.
func secretLines(secret string) []string {
	var lines []string
	for line := range strings.FieldsFuncSeq(secret, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); len(line) >= minSecret {
			lines = append(lines, line)
		}
	}
	return lines
}

var percentCode = regexp.MustCompile(`%[0-9A-F]{2}`)

// formsOf lists how a secret may stand in a text.
func formsOf(secret string) []string {
	forms := []string{secret}
	for _, f := range []string{url.QueryEscape(secret), url.PathEscape(secret)} {
		forms = append(forms, f, percentCode.ReplaceAllStringFunc(f, strings.ToLower))
	}
	// In base64 a text looks different depending on how many bytes stand
	// before it, modulo 3. The characters at the ends also hold bits of the
	// neighbours and are left out.
	for before, skip := range []int{0, 2, 3} {
		padded := append(make([]byte, before), secret...)
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, enc.EncodeToString(padded)[skip:8*len(padded)/6])
		}
	}
	return forms
}
