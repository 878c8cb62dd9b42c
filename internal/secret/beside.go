package secret

import (
	"bytes"
	"math"
	"strconv"
)

// The bounds of a value that looks random. With them, of random values of 20
// letters and digits 1 in 20 is missed, of 40 fewer than 1 in 100; words in any
// of the styles of programs, numbers, times, versions and GUIDs are not found.
const (
	leastRandom = 16   // bytes
	leastHex    = 32   // bytes, if all are hex digits: shorter ones are often ids
	leastBits   = 3.25 // Shannon entropy per byte
	leastMixed  = 0.25 // share of neighbours of different class
	mostValue   = 8 << 10
	judgedBytes = 256 // of longer values the beginning is judged
)

// tails are what may follow a word in the name of a value without changing what
// it is; after others, such as Name or Hash, the value is no secret.
var tails = map[string]bool{"": true, "key": true, "accesskey": true, "keybase": true, "value": true, "string": true, "base64": true, "b64": true}

// beside looks for a value beside a word like password, which stands at
// [at, end): an assignment, a key of JSON, an attribute, element or header.
func beside(w *window, at, end int) {
	text := w.text
	tailEnd := isName.run(text, end, 32)
	tail := plainTail(text[end:tailEnd])
	if !tails[tail] {
		return
	}
	name := nameStart(text, at)
	if bytes.HasSuffix(text[:name], []byte("://")) {
		return // the user of a URL, see userinfo
	}
	flag := text[name] == '-' && (name == 0 || !isWord[text[name-1]])
	start, ok := separator(text, tailEnd, flag)
	if !ok {
		return
	}
	start, quote := opening(text, start)
	start = scheme(text, start)
	stop := w.valueEnd(start, quote)
	v := text[start:stop]
	switch {
	case tail == "accesskey" && len(v) == 40 && isBase64.run(v, 0, 40) == 40:
		w.add("aws-secret-key", start, stop)
	case looksRandom(v):
		w.add(Credential, start, stop)
	}
}

// bearer looks for the value of "Bearer VALUE", wherever it stands.
func bearer(w *window, at int) {
	start := skipBlanks(w.text, at+len("bearer"))
	if start == at+len("bearer") {
		return
	}
	if stop := w.valueEnd(start, nil); looksRandom(w.text[start:stop]) {
		w.add(Credential, start, stop)
	}
}

// userinfo looks for a password, or a token, before the host of a URL; at is
// that of "://".
func userinfo(w *window, at int) {
	start := at + len("://")
	at = isUserinfo.run(w.text, start, 600)
	if at == len(w.text) || w.text[at] != '@' {
		return
	}
	if i := bytes.IndexByte(w.text[start:at], ':'); i >= 0 {
		start += i + 1
	}
	if looksRandom(w.text[start:at]) {
		w.add(URLPassword, start, at)
	}
}

var (
	isName     = setOf(alnum + "_-")
	isUserinfo = setOf(alnum + "-._~%!$&()*+,;=:#^")
	// isValue is what a value without quotes is made of.
	isValue = setOf(alnum + "+/=-_.~!@#$%^*:?")
)

// plainTail is the rest of a name in lower case, without separators and without
// digits at its end.
func plainTail(tail []byte) string {
	var out []byte
	for _, c := range tail {
		if c != '_' && c != '-' {
			out = append(out, c)
		}
	}
	return string(bytes.ToLower(bytes.TrimRight(out, digits)))
}

// nameStart is where the name around at begins.
func nameStart(text []byte, at int) int {
	i := at
	for i > 0 && at-i < behind/2 && isName[text[i-1]] {
		i--
	}
	return i
}

func skipBlanks(text []byte, i int) int {
	for n := 0; i < len(text) && n < 16 && (text[i] == ' ' || text[i] == '\t'); n++ {
		i++
	}
	return i
}

// quotes are the ways a quote is written, after any backslashes.
var quotes = [][]byte{[]byte(`"`), []byte(`'`), []byte("`"), []byte("&quot;"), []byte("&#34;"), []byte("&#39;"), []byte(`u0022`), []byte(`u0027`)}

// quoteAt is the quote at i with the backslashes before it, nil if there is none.
func quoteAt(text []byte, i int) []byte {
	j := i
	for j < len(text) && j-i < 8 && text[j] == '\\' {
		j++
	}
	for _, q := range quotes {
		if bytes.HasPrefix(text[j:], q) && (q[0] != 'u' || j > i) {
			return text[i : j+len(q)]
		}
	}
	return nil
}

// separator finds what stands between a name that ends at i and its value.
func separator(text []byte, i int, flag bool) (value int, ok bool) {
	end := i
	q := quoteAt(text, i)
	i += len(q)
	for i < len(text) && (text[i] == ']' || text[i] == '*') {
		i++
	}
	i = skipBlanks(text, i)
	if q != nil {
		if v := besideValue(text, i); v > 0 {
			return v, true
		}
	}
	rest := text[i:min(i+8, len(text))]
	for _, sep := range []string{"=>", ":=", "==", "=", ":", ">", "%3D", "%3d", "%3A", "%3a"} {
		if bytes.HasPrefix(rest, []byte(sep)) {
			return skipBlanks(text, i+len(sep)), sep != ">" || i == end
		}
	}
	return i, flag && i > end && q == nil
}

// besideValue is where the value begins when its name, which ended before i, is
// a value itself: "name": "password", "value": "…". It is 0 if there is none.
func besideValue(text []byte, i int) int {
	if i < len(text) && text[i] == ',' {
		i = skipBlanks(text, i+1)
	}
	i += len(quoteAt(text, i))
	end := i + len("value")
	if end > len(text) || !equalFold(text[i:end], "value") {
		return 0
	}
	end += len(quoteAt(text, end))
	if end = skipBlanks(text, end); end < len(text) && (text[end] == ':' || text[end] == '=') {
		return skipBlanks(text, end+1)
	}
	return 0
}

// opening skips a bracket and a quote before a value.
func opening(text []byte, i int) (value int, quote []byte) {
	if i < len(text) && text[i] == '[' {
		i = skipBlanks(text, i+1)
	}
	quote = quoteAt(text, i)
	return i + len(quote), quote
}

// scheme skips the name of an authorization scheme.
func scheme(text []byte, i int) int {
	for _, name := range []string{"bearer", "basic", "token", "apikey", "key"} {
		if n := i + len(name); n < len(text) && equalFold(text[i:n], name) {
			if next := skipBlanks(text, n); next > n {
				return next
			}
		}
	}
	return i
}

// valueEnd is the end of the value at i. Values without quotes in one run of
// bytes have one end, which is looked for once.
func (w *window) valueEnd(i int, quote []byte) int {
	if quote != nil {
		return endOfValue(w.text, i, quote)
	}
	if i < w.valueFrom || i >= w.valueTo {
		w.valueFrom, w.valueTo = i, endOfValue(w.text, i, nil)
	}
	return w.valueTo
}

// endOfValue is where the value at i ends: at a closing quote, a blank or what
// values are not made of.
func endOfValue(text []byte, i int, quote []byte) int {
	end := i
	most := min(len(text), i+mostValue)
	for end < most {
		switch c := text[end]; {
		case quote != nil && bytes.HasPrefix(text[end:], quote):
			return end
		case c == '\\':
			n := escaped(text[end:most])
			if n == 0 {
				return end
			}
			end += n
		case isValue[c] || quote != nil && c > ' ' && c != '<' && c != '"' && c != '\'':
			end++
		default:
			return end
		}
	}
	return end
}

// escaped is the length of the JSON escape of a visible character, 0 if text
// begins with none.
func escaped(text []byte) int {
	if len(text) >= 2 && text[1] == '/' {
		return 2
	}
	if c, ok := unicodeEscape(text); ok && c > ' ' && c < 0x7f && c != '"' && c != '\'' {
		return 6
	}
	return 0
}

func unicodeEscape(text []byte) (byte, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return byte(n), err == nil && n < 0x80
}

// unescape undoes the JSON escapes of visible characters.
func unescape(v []byte) []byte {
	out := make([]byte, 0, min(len(v), judgedBytes))
	for len(v) > 0 && len(out) < judgedBytes {
		switch n := escaped(v); n {
		case 0:
			out, v = append(out, v[0]), v[1:]
		case 2:
			out, v = append(out, '/'), v[2:]
		default:
			c, _ := unicodeEscape(v)
			out, v = append(out, c), v[6:]
		}
	}
	return out
}

// looksRandom is the bound of what counts as a secret for its look alone.
func looksRandom(v []byte) bool {
	if len(v) < leastRandom {
		return false
	}
	v = bytes.TrimRight(unescape(v), ".:?")
	if len(v) < leastRandom || bytes.IndexByte([]byte("$<{%*"), v[0]) >= 0 ||
		bytes.Contains(v, []byte("://")) || bytes.Contains(v, []byte("EXAMPLE")) || isGUID(v) {
		return false
	}
	var n [256]int
	letter, digit, sign, hex := 0, 0, 0, 0
	changes, last := 0, byte(0)
	for _, c := range v {
		n[c]++
		k := classOf(c)
		switch k {
		case 'a', 'A':
			letter++
		case '0':
			digit++
		case '!':
			sign++
		}
		if k == '0' || c|0x20 >= 'a' && c|0x20 <= 'f' {
			hex++
		}
		// A capital before a small letter begins a word; separators do too.
		if last != 0 && k != last && k != '-' && last != '-' && !(last == 'A' && k == 'a') {
			changes++
		}
		last = k
	}
	bits := entropy(&n, len(v))
	switch {
	case letter == 0 || digit+sign == 0:
		return false
	case hex == len(v):
		return len(v) >= leastHex && bits >= 3
	}
	return bits >= leastBits && float64(changes) >= leastMixed*float64(len(v)-1)
}

// classOf tells small letters, capitals, digits, separators of words and signs.
func classOf(c byte) byte {
	switch {
	case c >= 'a' && c <= 'z':
		return 'a'
	case c >= 'A' && c <= 'Z':
		return 'A'
	case c >= '0' && c <= '9':
		return '0'
	case c == '-' || c == '_' || c == '.' || c == ':' || c == '/' || c == '=':
		return '-'
	}
	return '!'
}

// entropy is that of Shannon in bits per byte, for total bytes counted in n.
func entropy(n *[256]int, total int) float64 {
	bits := 0.0
	for _, k := range n {
		if k > 0 {
			p := float64(k) / float64(total)
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// isGUID says that v has the form of a GUID, which names things more often
// than it guards them.
func isGUID(v []byte) bool {
	if v = bytes.TrimPrefix(v, []byte("urn:uuid:")); len(v) != 36 {
		return false
	}
	for i, c := range v {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !(c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f') {
			return false
		}
	}
	return true
}
