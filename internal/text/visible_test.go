package text

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"perfband/internal/limits"

	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Send(n: 1)", "Send(n: 1)"},
		{"naïve µs 日本", "naïve µs 日本"},
		{"Send\u202edrawkcab\u202c", `Send\u{202E}drawkcab\u{202C}`},
		{"Par\u200bse", `Par\u{200B}se`},
		{"a\nb\tc\x00\x7f", `a\u{A}b\u{9}c\u{0}\u{7F}`},
		{"a\u00a0b\u202fc", `a\u{A0}b\u{202F}c`},
		{" a  b ", `\u{20}a \u{20}b\u{20}`},
		{"\U000e0041x\u3164\u2800\ufe0f\u034f", `\u{E0041}x\u{3164}\u{2800}\u{FE0F}\u{34F}`},
		{"q\u0305\u0302\u0303\u0304\u0305", "q\u0305\u0302\u0303" + `\u{304}\u{305}`},
		{"Caf\u00e9 Cafe\u0301", "Café Cafe" + `\u{301}`},
		{"\u0420arse P\u0430rse", `\u{420}arse P\u{430}rse`},
		{"\u0440\u0430\u0440\u0430", `\u{440}\u{430}\u{440}\u{430}`},
		{"Запрос данных, Parseд \u0420arseд", `Запрос данных, Parseд \u{420}arseд`},
		{"ώρα µs Ωmega \u039fmega α=1", `ώρα µs Ωmega \u{39F}mega α=1`},
		{"\u212aelvin a\u2010b a\u2013b a\u2215b", `\u{212A}elvin a\u{2010}b a–b a\u{2215}b`},
		{"bad\xffbyte", `bad\x{FF}byte`},
		{"\ufffd", "\ufffd"},
		{`literal \u{202E} \x{FF} \n`, `literal \u{5C}u{202E} \u{5C}x{FF} \n`},
		{"", ""},
	} {
		if got := Visible(c.in); got != c.want {
			t.Errorf("Visible(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

var escaped = regexp.MustCompile(`\\[ux]\{[0-9A-F]+\}`)

// unshow is the inverse of Visible, which proves that Visible keeps names apart.
func unshow(s string) string {
	return escaped.ReplaceAllStringFunc(s, func(e string) string {
		v, err := strconv.ParseUint(e[3:len(e)-1], 16, 32)
		if err != nil {
			panic(err)
		}
		if e[1] == 'x' {
			return string([]byte{byte(v)})
		}
		return string(rune(v))
	})
}

// anyText draws text with many of the characters the escapers care about.
func anyText() *rapid.Generator[string] {
	special := rapid.StringOf(rapid.SampledFrom([]rune(
		"ab1 |`\\\n\r\t<>&\"'@#*_[]()!:-=+~$.,;{}ux\u202e\u200b\u00a0\u202f\u0301\u3164\x00é")))
	return rapid.OneOf(rapid.String(), special, anyName())
}

func TestVisibleIsInjective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "s")
		v := Visible(s)
		if got := unshow(v); got != s {
			t.Fatalf("Visible(%q) = %q reads back as %q", s, v, got)
		}
		for _, r := range v {
			if hidden(r) {
				t.Fatalf("Visible(%q) = %q holds U+%04X", s, v, r)
			}
		}
	})
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöüß", 3, "äö…"}, {"ab", 1, "…"}, {"a", 1, "a"},
		{"abc", 0, ""}, {"", 5, ""}, {"\xff\xff\xff", 2, "\xff…"},
	} {
		if got := Cut(c.in, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestLogLine(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"std::vec::Vec", "std::vec::Vec"},
		{"::set-output name=a::b", `:\:set-output name=a::b`},
		{"   ::add-mask::a", `   :\:add-mask::a`},
		{"text ##[error]x", `text ##\[error]x`},
		{"####[error]x", `####\[error]x`},
		{"\t::error::x", `\u{9}::error::x`},
		{"\u00a0::error::x", `\u{A0}::error::x`},
		{"::group::a\r\n::endgroup::", `:\:group::a\u{D}\u{A}::endgroup::`},
		{"", ""},
	} {
		if got := LogLine(c.in); got != c.want {
			t.Errorf("LogLine(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLogLineProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(anyText(), rapid.StringMatching(`[ \t]{0,2}(::|##\[|:|#){1,3}[a-z]*`),
			rapid.Map(rapid.StringN(1, 50, -1), func(s string) string { return strings.Repeat(s, 2100/len(s)) }),
		).Draw(t, "s")
		line := LogLine(s)
		if len(line) > limits.LogLineBytes || !utf8.ValidString(line) {
			t.Fatalf("%d bytes, valid %v", len(line), utf8.ValidString(line))
		}
		if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
			t.Fatalf("LogLine(%q) = %q is a command", s, line)
		}
		if strings.ContainsFunc(line, hidden) {
			t.Fatalf("LogLine(%q) = %q holds a hidden character", s, line)
		}
		if again := LogLine(line); again != line {
			t.Fatalf("LogLine(%q) = %q", line, again)
		}
	})
}

func TestNearest(t *testing.T) {
	keys := []string{"margin", "confidence", "min_n", "site-dir", "a"}
	for _, c := range []struct{ word, want string }{
		{"margn", "margin"}, {"Margin", "margin"}, {"amrgin", "margin"}, {"confidnce", "confidence"},
		{"site_dir", "site-dir"}, {"banana", ""}, {"zz", ""}, {"", ""}, {"b", "a"},
		{strings.Repeat("m", 1000), ""},
	} {
		if got := Nearest(c.word, keys); got != c.want {
			t.Errorf("Nearest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("Nearest among nothing = %q", got)
	}
}

func TestEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"kitten", "sitting", 3}, {"ab", "ba", 1}, {"ca", "abc", 3}, {"", "abc", 3}, {"abc", "", 3}, {"same", "same", 0}} {
		if got := edits([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("edits(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
