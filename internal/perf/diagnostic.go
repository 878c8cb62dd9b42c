package perf

import (
	"fmt"
	"strings"
)

// Severity of a diagnostic.
type Severity string

// The severities. An error means something the user asked for was not done.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Notice  Severity = "notice"
)

// Where is the place a diagnostic speaks of. Line and Col count from 1.
type Where struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
	Ref  string `json:"ref,omitempty"` // branch, when File is a path on it
}

// String is "ref:file:line:col" with the unknown parts left out.
func (w Where) String() string {
	var parts []string
	if w.Ref != "" {
		parts = append(parts, w.Ref)
	}
	if w.File != "" {
		parts = append(parts, w.File)
	}
	if w.Line > 0 {
		parts = append(parts, fmt.Sprint(w.Line))
		if w.Col > 0 {
			parts = append(parts, fmt.Sprint(w.Col))
		}
	}
	return strings.Join(parts, ":")
}

// Diagnostic is a problem told to the user: what happened, where, why, and
// what to do. It implements error. All texts are untrusted once they quote
// data: sinks escape them.
type Diagnostic struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"` // stable short name, e.g. "no-statistics"
	What     string   `json:"what"`
	Where    Where    `json:"where,omitzero"`
	Why      string   `json:"why,omitempty"`
	Do       string   `json:"do,omitempty"`
	Err      error    `json:"-"` // the cause, for errors.Is
}

// Error renders "where: what: why. do".
func (d *Diagnostic) Error() string {
	var b strings.Builder
	if w := d.Where.String(); w != "" {
		b.WriteString(w + ": ")
	}
	b.WriteString(d.What)
	if d.Why != "" {
		b.WriteString(": " + d.Why)
	}
	if d.Do != "" {
		if !strings.HasSuffix(b.String(), ".") {
			b.WriteByte('.')
		}
		b.WriteString(" " + d.Do)
	}
	return b.String()
}

// Unwrap returns the cause.
func (d *Diagnostic) Unwrap() error { return d.Err }
