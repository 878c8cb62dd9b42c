package gh

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/secret"
	"perfband/internal/text"

	"github.com/sethvargo/go-githubactions"
)

// progressEvery is the least time between two progress lines.
const progressEvery = 10 * time.Second

// Log is the only writer to standard output and standard error. Everything
// written is freed of registered secrets; no text can become a workflow
// command but those the methods stand for. It is safe for concurrent use.
//
// Messages go to standard output in GitHub Actions, where the runner shows it
// as the log, and to standard error elsewhere. After [Log.Raw] was called they
// go to standard error everywhere, so that standard output holds data alone.
type Log struct {
	mu             sync.Mutex
	stdout, stderr io.Writer
	messages       io.Writer // one of the two
	inActions      bool
	debug          bool
	secrets        Secrets
	commands       *githubactions.Action
	inGroup        bool
	annotated      map[perf.Severity]int
	told           map[diagnosticKind]int
	raw            *rawWriter
	now            func() time.Time
	lastProgress   time.Time
}

// diagnosticKind is what diagnostics are counted by.
type diagnosticKind struct {
	severity perf.Severity
	code     string
}

// NewLog makes the log. inActions says that a GitHub runner reads the streams;
// debug turns on [Log.Debugf].
func NewLog(stdout, stderr io.Writer, inActions, debug bool) *Log {
	l := &Log{
		stdout: stdout, stderr: stderr, messages: stderr, inActions: inActions, debug: debug,
		annotated: map[perf.Severity]int{}, told: map[diagnosticKind]int{}, now: time.Now,
	}
	if inActions {
		l.messages = stdout
	}
	// The library panics when a write fails and reads the environment unless told not to.
	l.commands = githubactions.New(
		githubactions.WithWriter(messageWriter{l}),
		githubactions.WithGetenv(func(string) string { return "" }))
	return l
}

// messageWriter writes to the stream for messages. A closed stream is no
// reason to stop archiving, and there is nowhere left to say so.
type messageWriter struct{ l *Log }

func (w messageWriter) Write(p []byte) (int, error) {
	w.l.messages.Write(p)
	return len(p), nil
}

// Secrets are the secrets removed from all that is written.
func (l *Log) Secrets() *Secrets { return &l.secrets }

// Mask registers a secret for removal from everything written, and in GitHub
// Actions asks the runner to hide it in the logs of later steps too.
func (l *Log) Mask(value string) {
	l.secrets.Add(value)
	if !l.inActions {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range secret.Lines(value) {
		l.commands.AddMask(line)
	}
}

// Info writes lines of text.
func (l *Log) Info(lines string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines(lines)
}

// Infof is [Log.Info] of a formatted text.
func (l *Log) Infof(format string, args ...any) { l.Info(fmt.Sprintf(format, args...)) }

// Debugf writes lines of text if debugging is on.
func (l *Log) Debugf(format string, args ...any) {
	if !l.debug {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := fmt.Sprintf(format, args...)
	if l.inActions {
		l.commands.Debugf("%s", l.clean(s))
		return
	}
	l.lines("debug: " + s)
}

// Progress tells how far long work has come; of calls in quick succession only
// the first is shown.
func (l *Log) Progress(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); now.Sub(l.lastProgress) >= progressEvery {
		l.lastProgress = now
		l.lines(line)
	}
}

// Group opens a part of the log that GitHub can fold, closing the one before;
// elsewhere it does nothing.
func (l *Log) Group(title string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endGroup()
	if l.inActions {
		l.inGroup = true
		l.commands.Group(l.clean(title))
	}
}

// EndGroup closes the open group, if there is one.
func (l *Log) EndGroup() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endGroup()
}

func (l *Log) endGroup() {
	if l.inGroup {
		l.inGroup = false
		l.commands.EndGroup()
	}
}

// Diagnostic tells the user of a problem: as an annotation while GitHub still
// shows more of that severity, else as a line. Of one severity and code the
// first [limits.AnnotationsPerKind] are told; [Log.Close] counts the others.
func (l *Log) Diagnostic(d perf.Diagnostic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kind := diagnosticKind{d.Severity, d.Code}
	l.told[kind]++
	if l.told[kind] > limits.AnnotationsPerKind {
		return
	}
	if l.inActions && l.annotated[d.Severity] < limits.AnnotationsPerKind {
		l.annotated[d.Severity]++
		l.annotate(d)
		return
	}
	line := d.Error()
	if d.Severity != perf.Error || l.inActions {
		line = string(d.Severity) + ": " + line
	}
	l.lines(line)
}

// annotate writes the diagnostic as an annotation of the file it speaks of. A
// place on another branch is told in the text only.
func (l *Log) annotate(d perf.Diagnostic) {
	fields := map[string]string{"title": l.clean("perfband: " + d.Code)}
	if d.Where.File != "" && d.Where.Ref == "" {
		fields["file"] = l.clean(d.Where.File)
		if d.Where.Line > 0 {
			fields["line"] = fmt.Sprint(d.Where.Line)
			if d.Where.Col > 0 {
				fields["col"] = fmt.Sprint(d.Where.Col)
			}
		}
	}
	message, commands := l.clean(d.Error()), l.commands.WithFieldsMap(fields)
	switch d.Severity {
	case perf.Error:
		commands.Errorf("%s", message)
	case perf.Warning:
		commands.Warningf("%s", message)
	default:
		commands.Noticef("%s", message)
	}
}

// Close tells what was only counted, closes the open group and writes what
// [Log.Raw] still holds. The error is that of the raw writer.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endGroup()
	kinds := slices.SortedFunc(maps.Keys(l.told), func(a, b diagnosticKind) int {
		return cmp.Or(cmp.Compare(a.severity, b.severity), cmp.Compare(a.code, b.code))
	})
	for _, k := range kinds {
		if more := l.told[k] - limits.AnnotationsPerKind; more > 0 {
			l.lines(fmt.Sprintf("%s: and %d more of %q", k.severity, more, k.code))
		}
	}
	clear(l.told)
	if l.raw == nil {
		return nil
	}
	err := l.raw.close()
	if l.raw.changed > 0 {
		l.lines(fmt.Sprintf("notice: %d places of the data on standard output looked like workflow commands and got a blank; outside a workflow they are written as they are", l.raw.changed))
	}
	return err
}

// lines writes s, which may hold several lines, to the stream for messages.
func (l *Log) lines(s string) {
	io.WriteString(messageWriter{l}, l.clean(s)+"\n")
}

// clean frees s of secrets and makes each of its lines harmless.
func (l *Log) clean(s string) string {
	lines := strings.Split(strings.TrimRight(l.secrets.Text(s), "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = text.LogLine(strings.TrimSuffix(line, "\r"))
	}
	return strings.Join(lines, "\n")
}
