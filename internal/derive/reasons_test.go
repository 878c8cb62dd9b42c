package derive

import (
	"testing"

	"perfband/internal/perf"
)

// People read words, not codes.
func TestReasonWords(t *testing.T) {
	seen := map[string]string{}
	for _, code := range []string{"few-runs", "other-machine", "noisy", "two-clusters", "platform-shift", "small", "open", "accepted",
		"carried", "no-ratio", "not-judged", "unknown-direction", "constant-rate", "errors"} {
		words := ReasonWords(code)
		if words == code && code != "accepted" {
			t.Errorf("%s has no words", code)
		}
		if other, twice := seen[words]; twice {
			t.Errorf("%s and %s are both %q", code, other, words)
		}
		seen[words] = code
	}
	if got := ReasonWords("of-a-later-version"); got != "of-a-later-version" {
		t.Errorf("an unknown code became %q", got)
	}
}

func TestMainReason(t *testing.T) {
	for _, c := range []struct {
		reasons []string
		want    string
	}{
		{nil, ""},
		{[]string{"noisy"}, "noisy"},
		{[]string{"platform-shift", "small"}, "small"},
		{[]string{"platform-shift", "accepted"}, ""},
		{[]string{"two-clusters", "accepted"}, "two-clusters"},
		{[]string{"open", "noisy"}, "noisy"},
		{[]string{"open"}, ""},
	} {
		if got := MainReason(&perf.Verdict{Reasons: c.reasons}); got != c.want {
			t.Errorf("%v: %q, want %q", c.reasons, got, c.want)
		}
	}
}
