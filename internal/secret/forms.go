package secret

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// minValue is the shortest text treated as a secret because somebody said it
// is one, in bytes: shorter ones occur in ordinary words.
const minValue = 6

// Lines are the lines of a given secret that are long enough to be looked for,
// 6 bytes and more.
func Lines(secret string) []string {
	var lines []string
	for line := range strings.FieldsFuncSeq(secret, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); len(line) >= minValue {
			lines = append(lines, line)
		}
	}
	return lines
}

var percentCode = regexp.MustCompile(`%[0-9A-F]{2}`)

// Forms lists how a line of a secret may stand in a text: as it is,
// URL-encoded, and within any base64 text.
func Forms(secret string) []string {
	forms := []string{secret}
	for _, f := range []string{url.QueryEscape(secret), url.PathEscape(secret)} {
		forms = append(forms, f, percentCode.ReplaceAllStringFunc(f, strings.ToLower))
	}
	// In base64 a text looks different depending on how many bytes stand
	// before it, modulo 3. The characters at the ends also hold bits of the
	// neighbours and are left out.
	for before, skip := range []int{0, 2, 3} {
		padded := append(make([]byte, before), secret...)
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, enc.EncodeToString(padded)[skip:8*len(padded)/6])
		}
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}
