package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"perfband/internal/limits"
)

// marksShown is how many combining marks in a row may combine; more would
// cover the lines above and below.
const marksShown = 3

// Visible makes a name safe to look at: characters without a glyph, blanks at
// its ends or behind another blank, and piles of combining marks are shown as
// \u{XXXX}, bytes that are not UTF-8 as \x{XX}. Different names stay different:
// a backslash that stands before "u{" or "x{" in the name is shown as \u{5C}.
// So that they look different too, characters drawn like others are shown as
// \u{XXXX}: Cyrillic and Greek letters where they could be Latin ones, hyphens
// and slashes that are not the usual ones, marks of decomposed letters.
//
// Visible escapes no markup: pass its result to the function of the sink. The
// functions of the sinks show characters without a glyph too, but only Visible
// keeps every two names apart.
func Visible(name string) string { return show(name, outerBlanks|backslashes|wideBlanks|twins) }

// Cut shortens s to at most n runes, the last of which is "…" when something
// is missing. Long strings that differ only behind the cut become equal.
func Cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	runes, last := 0, 0
	for i := range s {
		runes++
		if runes == n {
			last = i
		}
		if runes > n {
			return s[:last] + "…"
		}
	}
	return s
}

// LogLine makes s one line of a log that no GitHub runner takes for a workflow
// command: "::" at its start and "##[" anywhere are broken by a backslash,
// characters without a glyph (line breaks too) are shown as \u{XXXX}, and
// lines longer than [limits.LogLineBytes] are cut and say so.
func LogLine(s string) string {
	tail := 0
	if len(s) > limits.LogLineBytes {
		// Showing never shortens, so what lies behind is cut in any case.
		tail = len(s) - limits.LogLineBytes
		s = s[:limits.LogLineBytes]
	}
	s = strings.ReplaceAll(show(s, wideBlanks), "##[", `##\[`)
	if body := strings.TrimLeft(s, " "); strings.HasPrefix(body, "::") {
		s = s[:len(s)-len(body)] + `:\` + body[1:]
	}
	if tail == 0 && len(s) <= limits.LogLineBytes {
		return s
	}
	const note = "… (line cut)"
	at := limits.LogLineBytes - len(note)
	for !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at] + note
}

// also says what [show] shows besides characters without a glyph.
type also uint8

const (
	outerBlanks also = 1 << iota // blanks at the ends or behind another blank
	backslashes                  // that look like the beginning of an escape
	wideBlanks                   // the no-break blanks of formatted numbers
	twins                        // characters that look like others
)

// show replaces what a reader could not see. Text that it returned it leaves
// alone, but for backslashes.
func show(s string, what also) string {
	if plain(s, what) {
		return s
	}
	var b strings.Builder
	marks := 0
	var finder twinFinder
	for i, r := range s {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		rest := s[i+size:]
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x{%02X}`, s[i])
		case r == '\u00a0' || r == '\u202f':
			if what&wideBlanks != 0 {
				fmt.Fprintf(&b, `\u{%X}`, r)
			} else {
				b.WriteRune(r)
			}
		case hidden(r), marks > marksShown, what&twins != 0 && finder.twin(s, i, r),
			what&outerBlanks != 0 && r == ' ' && (i == 0 || rest == "" || s[i-1] == ' '),
			what&backslashes != 0 && r == '\\' && (strings.HasPrefix(rest, "u{") || strings.HasPrefix(rest, "x{")):
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			b.WriteString(s[i : i+size])
		}
	}
	return b.String()
}

// hidden reports whether r has no glyph of its own: control, bidirectional,
// zero-width, tag and filler characters, unusual blanks, private and unassigned
// code points.
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || r == '\u2800' ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// plain reports that [show] has nothing to do, the usual case.
func plain(s string, what also) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~', c == '\\' && what&backslashes != 0:
			return false
		case c == ' ' && what&outerBlanks != 0 && (i == 0 || i == len(s)-1 || s[i-1] == ' '):
			return false
		}
	}
	return true
}
