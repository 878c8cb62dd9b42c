package gh

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"

	"perfband/internal/secret"
)

// Secrets removes registered secrets from texts and errors. The zero value is
// ready; it is safe for concurrent use.
type Secrets struct {
	mu       sync.RWMutex
	forms    []string // longest first
	replacer *strings.Replacer
}

// Add registers a secret: each of its lines as it is, URL-encoded, and in any
// base64 text that contains it. Lines shorter than 6 bytes are left out.
func (s *Secrets) Add(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range secret.Lines(value) {
		s.forms = append(s.forms, secret.Forms(line)...)
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
