package strictjson

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, by its high bits, the bytes of w that need a look: quotes,
// backslashes, control characters and everything that is not ASCII. Bits above
// the first true one may be wrong, so only "none" and "the first" may be asked.
func special(w uint64) uint64 {
	quote := w ^ ('"' * ones)
	slash := w ^ ('\\' * ones)
	return ((w - 0x20*ones) | (quote - ones) | (slash - ones) | w) & highs
}

// scanString passes over the string at the opening quote and returns what
// stands between the quotes, undecoded, and whether it holds escapes.
func (d *Decoder) scanString() (raw []byte, escaped bool) {
	data := d.data
	start := d.pos + 1
	i := start
	for {
		for i+8 <= len(data) {
			m := special(binary.LittleEndian.Uint64(data[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
			i += 8
		}
		if i >= len(data) {
			d.fail(len(data), "the document is cut off inside a string")
			return nil, false
		}
		switch c := data[i]; {
		case c == '"':
			d.pos = i + 1
			return data[start:i], escaped
		case c == '\\':
			escaped = true
			if i += 2; i > len(data) {
				i = len(data)
			}
		case c < 0x20:
			d.fail(i, "control character U+%04X inside a string", c)
			return nil, false
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(data[i:])
			if r == utf8.RuneError && n == 1 {
				d.fail(i, "invalid UTF-8")
				return nil, false
			}
			i += n
		}
	}
}

// unescape appends the decoded text of raw, which starts at offset, to dst.
func (d *Decoder) unescape(dst, raw []byte, offset int) []byte {
	for i := 0; i < len(raw); {
		c := raw[i]
		if c != '\\' {
			dst = append(dst, c)
			i++
			continue
		}
		if i+1 >= len(raw) {
			d.fail(offset+i, "unfinished escape")
			return dst
		}
		switch c = raw[i+1]; c {
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, n := d.unicode(raw[i:], offset+i)
			if n == 0 {
				return dst
			}
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		default:
			d.fail(offset+i, "unknown escape \\%c", c)
			return dst
		}
		i += 2
	}
	return dst
}

// unicode decodes the \uXXXX at the start of b, with its second half when it is
// a surrogate, and returns how many bytes it took; 0 after a fault.
func (d *Decoder) unicode(b []byte, offset int) (rune, int) {
	r, ok := hex4(b)
	if !ok {
		d.fail(offset, "\\u needs four hexadecimal digits")
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if low, ok := hex4(b[6:]); ok {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				return full, 12
			}
		}
	}
	d.problem(offset, "lone surrogate \\u%04X", r)
	return utf8.RuneError, 6
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 6 {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// powers of ten that float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// number reads a number. With a mantissa below 2^53 and a power of ten up to
// 10^22 one division of two exact values is correctly rounded; the rest is left
// to strconv.
func (d *Decoder) number() (float64, bool) {
	data, start := d.data, d.pos
	i := start
	neg := data[i] == '-'
	if neg {
		i++
	}
	var mant uint64
	first := i
	for ; i < len(data) && data[i]-'0' <= 9; i++ {
		mant = mant*10 + uint64(data[i]-'0')
	}
	digits := i - first
	if digits == 0 || digits > 1 && data[first] == '0' {
		d.badNumber(start)
		return 0, false
	}
	frac := 0
	if i < len(data) && data[i] == '.' {
		i++
		first = i
		for ; i < len(data) && data[i]-'0' <= 9; i++ {
			mant = mant*10 + uint64(data[i]-'0')
		}
		if frac = i - first; frac == 0 {
			d.badNumber(start)
			return 0, false
		}
	}
	exp := i < len(data) && data[i]|0x20 == 'e'
	if exp {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		first = i
		for i < len(data) && data[i]-'0' <= 9 {
			i++
		}
		if i == first {
			d.badNumber(start)
			return 0, false
		}
	}
	d.pos = i
	// 18 digits cannot overflow mant.
	if !exp && digits+frac <= 18 && mant < 1<<53 {
		f := float64(mant) / pow10[frac]
		if neg {
			f = -f
		}
		return f, true
	}
	f, err := strconv.ParseFloat(string(data[start:i]), 64)
	if err != nil && errors.Is(err, strconv.ErrRange) || math.IsInf(f, 0) {
		d.problem(start, "number %s is out of range", clip(data[start:i]))
		return 0, false
	}
	return f, true
}

func (d *Decoder) badNumber(start int) { d.fail(start, "malformed number") }

// clip shortens a text quoted in a message.
func clip(b []byte) []byte {
	if len(b) > 40 {
		return append(append([]byte(nil), b[:40]...), "..."...)
	}
	return b
}
