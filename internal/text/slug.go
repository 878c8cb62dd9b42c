package text

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	slugReadable = 60 // bytes of the name kept readable in a slug
	slugHash     = 12 // hex digits of the hash that tells names apart
)

// Slug turns any string into a file or folder name: one path component of 1 to
// 73 bytes from [a-z0-9._-], beginning with a letter, a digit or "_", never
// ending in "." and never a device name of Windows. The same name always gives
// the same slug, and different names give different slugs, on file systems
// without case too.
//
// A name that is such a component already, of at most 60 bytes, stays as it is:
// "core" is "core". Every other name keeps a readable part and gets "-" and 12
// hex digits of its SHA-256: "Encina.Caching" is
// "encina.caching-f5459bfbdb4a". A name that itself ends like that is hashed
// too, so the two forms never meet; hence a slug must not be slugged again.
//
// Slugs may equal fixed names such as "index.html": keep them in a folder of
// their own, or give them an extension.
func Slug(name string) string {
	if isSlug(name) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return readable(name) + "-" + hex.EncodeToString(sum[:])[:slugHash]
}

// isSlug reports whether name may stand for itself.
func isSlug(name string) bool {
	if name == "" || len(name) > slugReadable || name[0] == '.' || name[0] == '-' || strings.HasSuffix(name, ".") {
		return false
	}
	for i := range len(name) {
		if !slugByte(name[i]) {
			return false
		}
	}
	return !device(name) && !endsInHash(name)
}

func slugByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// endsInHash reports whether name ends like the slug of a hashed name.
func endsInHash(name string) bool {
	at := len(name) - slugHash - 1
	if at < 0 || name[at] != '-' {
		return false
	}
	return strings.Trim(name[at+1:], "0123456789abcdef") == ""
}

// device reports whether Windows takes a file of this name for a device. The
// part before the first dot decides.
func device(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	switch stem {
	case "con", "prn", "aux", "nul", "conin", "conout", "clock":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")) &&
		'0' <= stem[3] && stem[3] <= '9'
}

// readable is what a slug keeps of a name: lower-case ASCII, everything else
// as single dashes, "x" when nothing is left.
func readable(name string) string {
	var b strings.Builder
	for i := 0; i < len(name) && b.Len() < slugReadable; i++ {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		switch {
		case slugByte(c) && c != '-':
			b.WriteByte(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), ".-")
	if s == "" {
		return "x"
	}
	if device(s) {
		// With the hash behind it only the first dot still makes a device of it.
		s = strings.Replace(s, ".", "-", 1)
	}
	return s
}
