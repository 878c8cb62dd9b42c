package gh

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// Outputs collects the outputs of the action and writes them once, at the end.
// A value is written between lines of a random delimiter, so that no benchmark
// name can end it and forge another output.
type Outputs struct {
	path   string
	random io.Reader
	log    *Log
	names  []string // in the order they were set
	values map[string]string
}

// NewOutputs collects for the file of GITHUB_OUTPUT. Without a path nothing is
// written. random gives 16 bytes a value; pass crypto/rand.Reader.
func NewOutputs(path string, random io.Reader, log *Log) *Outputs {
	return &Outputs{path: path, random: random, log: log, values: map[string]string{}}
}

var outputName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// Set sets an output; the last value of a name counts. Secrets are removed, a
// NUL is written as \u{0} and other bytes that are not UTF-8 as U+FFFD. A value
// longer than [limits.OutputBytes] is refused, since half a list could be taken
// for the whole.
func (o *Outputs) Set(name, value string) error {
	if !outputName.MatchString(name) {
		return fmt.Errorf("set output %q: not a name of an output", name)
	}
	value = strings.ToValidUTF8(o.log.Secrets().Text(value), "\uFFFD")
	value = strings.ReplaceAll(value, "\x00", `\u{0}`)
	if len(value) > limits.OutputBytes {
		return &perf.Diagnostic{
			Severity: perf.Error, Code: "output-size", What: fmt.Sprintf("output %s was not set", name),
			Why: fmt.Sprintf("its %d bytes are more than the %d allowed", len(value), limits.OutputBytes),
		}
	}
	if _, ok := o.values[name]; !ok {
		o.names = append(o.names, name)
	}
	o.values[name] = value
	return nil
}

// Write appends all outputs to the file in one write. Where there is no file
// they are shown when debugging is on.
func (o *Outputs) Write() error {
	if o.path == "" {
		for _, name := range o.names {
			o.log.Debugf("output %s=%s", name, o.values[name])
		}
		return nil
	}
	var b strings.Builder
	for _, name := range o.names {
		token := make([]byte, 16)
		if _, err := io.ReadFull(o.random, token); err != nil {
			return fmt.Errorf("draw a delimiter for output %s: %w", name, err)
		}
		delimiter := "perfband_" + hex.EncodeToString(token)
		if strings.Contains(o.values[name], delimiter) {
			return fmt.Errorf("write output %s: its value contains the random delimiter", name)
		}
		fmt.Fprintf(&b, "%s<<%s\n%s\n%s\n", name, delimiter, o.values[name], delimiter)
	}
	return appendFile(o.path, b.String())
}

// Summary writes the job summary.
type Summary struct {
	path string
	log  *Log
}

// NewSummary writes to the file of GITHUB_STEP_SUMMARY. Without a path nothing
// is written.
func NewSummary(path string, log *Log) *Summary { return &Summary{path: path, log: log} }

const summaryCut = "\n\nThe summary ends here: GitHub shows no more than 1 MiB.\n"

// Write appends Markdown. What would make the file larger than
// [limits.SummaryBytes] is cut at the end of a line, and the text says so,
// since GitHub drops a larger summary as a whole.
func (s *Summary) Write(markdown string) error {
	if s.path == "" {
		return nil
	}
	markdown = s.log.Secrets().Text(markdown)
	room := limits.SummaryBytes
	if info, err := os.Stat(s.path); err == nil {
		room -= int(min(info.Size(), limits.SummaryBytes))
	}
	if len(markdown) > room {
		keep := max(0, room-len(summaryCut))
		markdown = markdown[:strings.LastIndexByte(markdown[:keep], '\n')+1]
		if room >= len(summaryCut) {
			markdown += summaryCut
		}
	}
	return appendFile(s.path, markdown)
}

// appendFile adds text to a file in one write.
func appendFile(path, text string) error {
	if text == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}
