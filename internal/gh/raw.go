package gh

import (
	"bytes"
	"io"
	"regexp"
	"strings"
)

// Raw is standard output for data that people or programs asked for: JSON
// lines, CSV, a table. Modes that print data call it before anything else,
// since it moves all messages to standard error.
//
// Secrets are removed here too. In GitHub Actions a runner may read the data
// unless it goes to a file, which cannot be known: there, and only where a line
// would be a workflow command, a blank is put into it ("## [", ": :"), which
// keeps JSON and CSV well-formed, and [Log.Close] says how often. A line is
// written once its end is known; [Log.Close] writes the rest.
func (l *Log) Raw() io.Writer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.raw == nil {
		l.messages = l.stderr
		l.raw = &rawWriter{log: l}
	}
	return l.raw
}

// rawWriter passes whole lines on.
type rawWriter struct {
	log     *Log
	partial []byte // the line whose end is not known yet
	changed int    // places made harmless
}

func (w *rawWriter) Write(p []byte) (int, error) {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	end := bytes.LastIndexByte(p, '\n') + 1
	if end > 0 {
		whole := string(w.partial) + string(p[:end])
		w.partial = w.partial[:0]
		if err := w.put(whole); err != nil {
			return 0, err
		}
	}
	w.partial = append(w.partial, p[end:]...)
	return len(p), nil
}

func (w *rawWriter) close() error {
	rest := string(w.partial)
	w.partial = nil
	if rest == "" {
		return nil
	}
	return w.put(rest)
}

func (w *rawWriter) put(s string) error {
	s = w.log.secrets.Text(s)
	if w.log.inActions {
		s = w.defuse(s)
	}
	_, err := io.WriteString(w.log.stdout, s)
	return err
}

// commandStart is "::" at the start of a line, as the runner sees lines and
// blanks.
var commandStart = regexp.MustCompile(`(?:^|[\r\n])[\s\x{85}\p{Z}]*::`)

// defuse puts a blank into whatever a runner would take for a command.
func (w *rawWriter) defuse(s string) string {
	const anywhere = "##["
	if n := strings.Count(s, anywhere); n > 0 {
		w.changed += n
		s = strings.ReplaceAll(s, anywhere, "## [")
	}
	if !strings.Contains(s, "::") {
		return s
	}
	return commandStart.ReplaceAllStringFunc(s, func(m string) string {
		w.changed++
		return strings.TrimSuffix(m, "::") + ": :"
	})
}
