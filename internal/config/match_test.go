package config

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMatch(t *testing.T) {
	for _, tc := range []struct {
		pattern, s string
		want       bool
	}{
		{"core/Send", "core/Send", true},
		{"core/Send", "core/Send2", false},
		{"core/Send", "core/send", false},
		{"ore/Send", "core/Send", false},
		{"core/*", "core/Send/n=1", true},
		{"core/*", "core/", true},
		{"core/*", "core", false},
		{"*/Send", "a/b/Send", true},
		{"**", "a/b", true},
		{"c*/S*d", "core/a/Send", true},
		{"c*/S*d", "core/a/Sent", false},
		{"a*a", "a", false},
		{"a*b*c", "abcbc", true},
		{"a*b*c", "acbbd", false},
		{"core/S?nd", "core/Send", true},
		{"core/S?nd", "core/Sénd", true},
		{"core/S?nd", "core/Se\u0301nd", false}, // two characters
		{"core/S??nd", "core/Se\u0301nd", true},
		{"core/S?nd", "core/S😀nd", true},
		{"core?Send", "core/Send", true},
		{"core/?", "core/", false},
		{"?", "", false},
		{"*", "", true},
		{"core/é*", "core/éa", true},
		{"core/é*", "core/è", false}, // shares a byte
		{"core/*\u0301", "core/Se\u0301", true},
		{"*??bc", "日bc", false}, // one character of three bytes
		{"日本/*語", "日本/日本語", true},
		{"a/?", "a/\xff", true},
		{"a/\xff", "a/\xfe", false},
		// Brackets, braces and backslashes are names.
		{"core/Get[int]", "core/Get[int]", true},
		{"core/Get[int]", "core/Geti", false},
		{"core/Get[*]", "core/Get[int]", true},
		{"core/Get[*]", "core/Geti", false},
		{"core/{a,b}", "core/{a,b}", true},
		{"core/{a,b}", "core/a", false},
		{"core/Send{n=*}", "core/Send{n=1,m=2}", true},
		{"core/Send{n=*}", "core/Send{m=1}", false},
		{`core/\w`, `core/\w`, true},
		{`core/\*`, `core/\w`, true},
		{`core/\*`, `core/*`, false},
		{"core/[", "core/[", true},
		{"core/[!a]", "core/b", false},
		{"core/(*T).Get", "core/(*T).Get", true},
		{"core/a?b", "core/a?b", true},
		{"core/^a$|b.", "core/^a$|b.", true},
		{"core/a.b", "core/aXb", false},
	} {
		if got := match(tc.pattern, tc.s); got != tc.want {
			t.Errorf("match(%q, %q) = %v", tc.pattern, tc.s, got)
		}
	}
}

// TestMatchAgrees compares with a regular expression of the same meaning.
func TestMatchAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.RuneFrom([]rune("ab/*?[é{\\")), 0, 8, -1).Draw(t, "pattern")
		s := rapid.StringOfN(rapid.RuneFrom([]rune("ab/*?[éè日{\\")), 0, 8, -1).Draw(t, "s")
		exp := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
		if want := pattern == s || regexp.MustCompile(`(?s)\A`+exp+`\z`).MatchString(s); match(pattern, s) != want {
			t.Fatalf("match(%q, %q) = %v", pattern, s, !want)
		}
	})
}

// TestMatchItself: whatever a name holds, it names itself, and stars find it.
func TestMatchItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		cut := rapid.IntRange(0, len(s)).Draw(t, "cut")
		for _, pattern := range []string{s, "*", s + "*", "*" + s, s[:cut] + "*" + s[cut:]} {
			if !match(pattern, s) {
				t.Fatalf("%q does not match %q", pattern, s)
			}
		}
		if s != "" && !strings.ContainsAny(s, "*?") && match(s, s+"x") {
			t.Fatalf("%q matches more than itself", s)
		}
	})
}
