package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// cyrillicTwins and greekTwins are the letters which common fonts draw like
	// Latin ones.
	cyrillicTwins = "аеорсухѕіјһԁԛԝАВЕКМНОРСТУХЅІЈԚԜ"
	greekTwins    = "ονΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
	// otherTwins are drawn like another character wherever they stand: hyphens, a
	// dot, slashes, an apostrophe, a semicolon, the signs for kelvin, angstrom and
	// ohm.
	otherTwins = "\u2010\u2011\u2024\u2044\u2215\u02bc\u037e\u212a\u212b\u2126"
	// composing are the marks with which letters of their own exist: é may be one
	// character or two.
	composing = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0326\u0327\u0328"
)

// twinFinder finds the characters of a text which a reader takes for others. A
// letter drawn like a Latin one is no such in a word that is seen to be of
// another script: one without Latin letters and with a letter of its own.
type twinFinder struct {
	end             int // of the word at hand
	cyrillic, greek bool
}

// twin reports whether the rune at s[i] looks like another. It is called for
// every rune in order.
func (f *twinFinder) twin(s string, i int, r rune) bool {
	if i >= f.end && unicode.IsLetter(r) {
		f.word(s[i:], i)
	}
	switch {
	case r < utf8.RuneSelf:
		return false
	case strings.ContainsRune(cyrillicTwins, r):
		return !f.cyrillic
	case strings.ContainsRune(greekTwins, r):
		return !f.greek
	case strings.ContainsRune(composing, r):
		return i > 0 && (s[i-1]|0x20 >= 'a' && s[i-1]|0x20 <= 'z')
	}
	return strings.ContainsRune(otherTwins, r)
}

// word reads the word that begins s, at the given place of the whole text.
func (f *twinFinder) word(s string, at int) {
	*f = twinFinder{end: at + len(s)}
	latin := false
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) {
			f.end = at + i
			break
		}
		latin = latin || unicode.Is(unicode.Latin, r)
		f.cyrillic = f.cyrillic || unicode.Is(unicode.Cyrillic, r) && !strings.ContainsRune(cyrillicTwins, r)
		f.greek = f.greek || unicode.Is(unicode.Greek, r) && !strings.ContainsRune(greekTwins, r)
	}
	f.cyrillic, f.greek = f.cyrillic && !latin, f.greek && !latin
}
