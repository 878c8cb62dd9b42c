// Package decode turns the output of benchmark and load-test tools into
// [perf.Suite] values. [Files] reads what a run left behind, [File] one report.
//
// It is opinionated: units are converted to base units once, here; a number the
// file does not have is absent, never 0; what names a result is kept in parts;
// and nothing is dropped silently: a record that cannot be read is a diagnostic
// or a failed result, and its good neighbours stay.
//
// A format is one literal of type [Format] in its own file, a line in the table
// below, and a folder testdata/decode/NAME of examples.
package decode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"perfband/internal/perf"
)

// ErrUnrecognised marks diagnostics about files that no format claims.
var ErrUnrecognised = errors.New("not a format perfband knows")

// ErrHistory marks diagnostics about files that hold the history of many runs
// where the results of one are wanted.
var ErrHistory = errors.New("holds a history, not one run's results")

// DefaultModule is the module of results when neither file nor caller names one.
const DefaultModule = "main"

// Format describes how one tool's output is read.
type Format struct {
	Name    string
	Aliases []string // other accepted names; a decoder sees which in Input.Asked
	Tool    string   // the tool's own name, as people write it
	Version int      // rises whenever the reading of some file changes
	Kind    perf.Kind
	// History says that a file holds many runs, each a suite with its own start
	// and commit: no result of one run. See Options.Histories.
	History bool
	Doc     Doc
	// Sniff judges, from a file's name and first bytes, whether it is of this
	// format.
	Sniff func(name string, head []byte) Confidence
	// Decode reads one file. An error means nothing of it can be trusted.
	Decode func(Input) ([]perf.Suite, []perf.Diagnostic, error)
}

// Doc is what docs/formats.md says about a format.
type Doc struct {
	Files  string   // names of the files it comes in
	Reads  string   // metrics read
	Absent string   // what one might expect but the file does not hold
	Notes  []string // peculiarities
}

// Confidence is how sure a format is of a file.
type Confidence int

// The confidences. A tie goes to the format earlier in the table.
const (
	No Confidence = iota
	Maybe
	Likely
	Certain
)

// Input is one report, unpacked, as UTF-8 without a byte order mark.
type Input struct {
	Name   string // slash-separated path, without .gz
	Data   []byte
	Asked  string    // the format as the caller named it, "auto" if it was sniffed
	Module string    // for a history "" unless the caller named one
	Kind   perf.Kind // "" for the file's or the format's own
}

// formats is the table of all formats, in the order of ties.
var formats = []Format{
	renaissance, dacapo,
	benchmarkDotNet, nbomber, goTest, customJSON, githubActionBenchmark,
	bencherMetrics, hyperfine, pytestBenchmark, jmh, libtest, benchmarkJS, dart, tinybench, vitestBench,
	googleBenchmark, catch2, luau,
	julia,
}

// Names lists the format names, sorted.
func Names() []string {
	names := make([]string, 0, len(formats))
	for i := range formats {
		names = append(names, formats[i].Name)
	}
	slices.Sort(names)
	return names
}

// ByName returns the format of that name or alias. The error lists the valid
// names and the nearest one.
func ByName(name string) (Format, error) {
	var all []string
	for _, f := range formats {
		if f.Name == name || slices.Contains(f.Aliases, name) {
			return f, nil
		}
		all = append(all, f.Name)
		all = append(all, f.Aliases...)
	}
	slices.Sort(all)
	hint := ""
	if n := nearest(name, all); n != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", n)
	}
	return Format{}, fmt.Errorf("unknown format %q%s: set \"format\" to auto or one of %s", name, hint, strings.Join(all, ", "))
}

// isHistory reports whether files of the named format hold many runs.
func isHistory(format string) bool {
	return slices.ContainsFunc(formats, func(f Format) bool { return f.History && f.Name == format })
}

// recognise returns the format to read a file with, and how sure that format
// is of it: the one asked for or, without such, the surest. It is nil when none
// claims the file.
func recognise(asked *Format, name string, data []byte) (*Format, Confidence) {
	head := data[:min(len(data), headBytes)]
	if asked != nil {
		return asked, asked.Sniff(name, head)
	}
	var found *Format
	best := No
	for i := range formats {
		if best == Certain {
			break
		}
		if c := formats[i].Sniff(name, head); c > best {
			best, found = c, &formats[i]
		}
	}
	return found, best
}

// headBytes is how much of a file is sniffed: enough to get past the log lines
// that test runners print before the first result.
const headBytes = 256 << 10

// nearest returns the candidate with the smallest edit distance to s, ignoring
// case, or "" when none is near.
func nearest(s string, candidates []string) string {
	best, found := len(s)/2+1, ""
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(s), strings.ToLower(c)); d < best {
			best, found = d, c
		}
	}
	return found
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
