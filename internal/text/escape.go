package text

import (
	"html"
	"regexp"
	"strings"
	"unicode"
)

// HTML escapes s for HTML text and for quoted attribute values. Characters
// without a glyph are shown as \u{XXXX}, line breaks too (write lines apart),
// but for the no-break blanks of formatted numbers.
func HTML(s string) string { return html.EscapeString(show(s, 0)) }

// XML escapes s for text and quoted attribute values of XML and SVG. It shows
// characters without a glyph, among them all that XML forbids, as \u{XXXX},
// but for the no-break blanks of formatted numbers.
func XML(s string) string { return html.EscapeString(show(s, 0)) }

// CodeSpan writes s, a name, as a Markdown code span in which nothing is
// markup, a link, a mention or a reference. It holds in table cells as well as
// outside; for that a pipe is written "\|", which outside tables shows the
// backslash. Inside a block of HTML, where Markdown does not reach, use [HTML].
// The empty string becomes `(empty)`.
func CodeSpan(s string) string {
	if s == "" {
		return "`(empty)`"
	}
	s = show(s, outerBlanks|wideBlanks)
	// A backslash before the pipe's own would undo it in some renderers.
	s = strings.ReplaceAll(s, `\|`, `\u{5C}|`)
	s = strings.ReplaceAll(s, "|", `\|`)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if s[0] == '`' || s[len(s)-1] == '`' {
		s = " " + s + " "
	}
	return fence + s + fence
}

// MarkdownCell writes s, a sentence, as a line or table cell of Markdown: plain
// words stay, words that could be markup, a link, a mention or a reference
// stand in code spans.
func MarkdownCell(s string) string {
	var out, risky []string
	flush := func() {
		if len(risky) > 0 {
			out = append(out, CodeSpan(strings.Join(risky, " ")))
			risky = nil
		}
	}
	for i, word := range strings.FieldsFunc(show(s, 0), func(r rune) bool { return r == ' ' }) {
		if plainWord(word) && !(i == 0 && blockMarker(word)) {
			flush()
			out = append(out, word)
		} else {
			risky = append(risky, word)
		}
	}
	flush()
	return strings.Join(out, " ")
}

// reference is what GitHub or a repository's own rules may link: "GH-1",
// "ABC-12".
var reference = regexp.MustCompile(`[a-z]-[0-9]`)

// plainWord reports whether no Markdown renderer of GitHub makes anything of
// the word. Whatever is not known to be harmless is not plain.
func plainWord(word string) bool {
	for _, r := range word {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".,;:%()'\"?!/=+-–—…×±≥≤−\u00a0\u202f", r) {
			return false
		}
	}
	lower := strings.ToLower(word)
	if strings.Contains(lower, "www.") || strings.Contains(lower, "//") ||
		strings.Count(word, ":") > 1 || reference.MatchString(lower) {
		return false
	}
	for _, part := range strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(part) >= 7 && strings.Trim(part, "0123456789abcdef") == "" { // a commit id
			return false
		}
	}
	return true
}

// blockMarker reports whether a line that begins with word could be a list, a
// rule or the underline of a heading.
func blockMarker(word string) bool {
	return strings.Trim(word, "-+=") == "" ||
		strings.Trim(word, "0123456789") == "." || strings.Trim(word, "0123456789") == ")"
}

// CSVCell writes s as a text cell of a CSV file. A cell that a spreadsheet
// would take for a formula (it begins, perhaps after blanks, tabs or line
// breaks, with = + - or @) gets a leading apostrophe; one with a separator, a
// quote, a line break or a blank at its ends is quoted (RFC 4180). Other
// characters without a glyph are shown as \u{XXXX}. Numeric cells are written
// without this function.
func CSVCell(s string) string {
	first := strings.TrimLeft(s, " \t\r\n")
	for _, sign := range []string{"=", "+", "-", "@", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(first, sign) {
			s = "'" + s
			break
		}
	}
	var b strings.Builder
	for rest := s; rest != ""; {
		at := strings.IndexAny(rest, "\t\r\n")
		if at < 0 {
			b.WriteString(show(rest, wideBlanks))
			break
		}
		b.WriteString(show(rest[:at], wideBlanks))
		b.WriteByte(rest[at])
		rest = rest[at+1:]
	}
	s = b.String()
	if strings.ContainsAny(s, ",;\"\t\r\n") || strings.Trim(s, " ") != s {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
