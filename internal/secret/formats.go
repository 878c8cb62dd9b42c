package secret

import (
	"bytes"
	"encoding/base64"
)

const (
	lower    = "abcdefghijklmnopqrstuvwxyz"
	upper    = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits   = "0123456789"
	alnum    = lower + upper + digits
	base64s  = alnum + "+/"
	base64u  = alnum + "-_"
	hexLower = digits + "abcdef"
)

// set is a set of bytes.
type set [256]bool

func setOf(chars string) *set {
	var s set
	for i := range len(chars) {
		s[chars[i]] = true
	}
	return &s
}

// run is the end of the bytes of a set that begin at from, at most most.
func (s *set) run(text []byte, from, most int) int {
	end := min(len(text), from+most)
	for from < end && s[text[from]] {
		from++
	}
	return from
}

var (
	isAlnum   = setOf(alnum)
	isWord    = setOf(alnum + "_")
	isBase64  = setOf(base64s)
	isBase64u = setOf(base64u)
	isUpper32 = setOf(upper + "234567")
	isDigit   = setOf(digits)
	isPadding = setOf("=")
	isTitle   = setOf(upper + digits + " ") // what PEM calls things
)

// format is a key that begins with a fixed text and goes on with at least least
// and at most most bytes of one alphabet, none following.
type format struct {
	kind        string
	prefixes    []string
	alphabet    string
	least, most int
	// whole: no letter or digit may stand before it, since the prefix is short.
	whole bool
}

// formats are keys whose makers gave them a recognisable form. Lengths are the
// makers' where they are published, else what all known keys have.
var formats = []format{
	{kind: "github-token", prefixes: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, alphabet: alnum, least: 36, most: 255},
	{kind: "github-token", prefixes: []string{"github_pat_"}, alphabet: alnum + "_", least: 40, most: 255},
	{kind: "gitlab-token", prefixes: []string{"glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glagent-"}, alphabet: base64u + ".", least: 20, most: 300, whole: true},
	{kind: "slack-token", prefixes: []string{"xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.xox", "xapp-"}, alphabet: alnum + "-", least: 24, most: 400, whole: true},
	{kind: "slack-webhook", prefixes: []string{"hooks.slack.com/services/T", "hooks.slack.com/workflows/T"}, alphabet: alnum + "/", least: 30, most: 100},
	{kind: "npm-token", prefixes: []string{"npm_"}, alphabet: alnum, least: 36, most: 36},
	{kind: "pypi-token", prefixes: []string{"pypi-AgE"}, alphabet: base64u, least: 50, most: 1000},
	{kind: "rubygems-key", prefixes: []string{"rubygems_"}, alphabet: hexLower, least: 48, most: 48},
	{kind: "nuget-key", prefixes: []string{"oy2"}, alphabet: lower + digits, least: 43, most: 43, whole: true},
	{kind: "cargo-token", prefixes: []string{"cio"}, alphabet: alnum, least: 32, most: 32, whole: true},
	{kind: "docker-token", prefixes: []string{"dckr_pat_", "dckr_oat_"}, alphabet: base64u, least: 27, most: 64},
	{kind: "google-api-key", prefixes: []string{"AIza"}, alphabet: base64u, least: 35, most: 35},
	{kind: "google-oauth-secret", prefixes: []string{"GOCSPX-"}, alphabet: base64u, least: 28, most: 28},
	{kind: "google-oauth-token", prefixes: []string{"ya29."}, alphabet: base64u + ".", least: 40, most: 2048, whole: true},
	{kind: "azure-key", prefixes: []string{"AccountKey="}, alphabet: base64s + "=", least: 88, most: 88},
	{kind: "azure-key", prefixes: []string{"SharedAccessKey="}, alphabet: base64s + "=", least: 44, most: 44},
	{kind: "stripe-key", prefixes: []string{"sk_live_", "rk_live_", "sk_test_", "rk_test_"}, alphabet: alnum, least: 24, most: 255, whole: true},
	{kind: "sendgrid-key", prefixes: []string{"SG."}, alphabet: base64u + ".", least: 66, most: 66, whole: true},
	{kind: "openai-key", prefixes: []string{"sk-proj-", "sk-svcacct-", "sk-admin-"}, alphabet: base64u, least: 40, most: 300, whole: true},
	{kind: "anthropic-key", prefixes: []string{"sk-ant-"}, alphabet: base64u, least: 80, most: 200, whole: true},
	{kind: "huggingface-token", prefixes: []string{"hf_"}, alphabet: alnum, least: 34, most: 40, whole: true},
	{kind: "digitalocean-token", prefixes: []string{"dop_v1_", "doo_v1_", "dor_v1_"}, alphabet: hexLower, least: 64, most: 64},
	{kind: "vault-token", prefixes: []string{"hvs.", "hvb."}, alphabet: base64u, least: 90, most: 400, whole: true},
	{kind: "grafana-token", prefixes: []string{"glsa_"}, alphabet: alnum + "_", least: 41, most: 41, whole: true},
	{kind: "newrelic-key", prefixes: []string{"NRAK-"}, alphabet: upper + digits, least: 27, most: 27, whole: true},
	{kind: "atlassian-token", prefixes: []string{"ATATT3", "ATCTT3"}, alphabet: base64u + "=", least: 80, most: 300},
	{kind: "age-key", prefixes: []string{"AGE-SECRET-KEY-1"}, alphabet: upper + digits, least: 58, most: 58},
}

// builtIn are the rules of every scanner.
var builtIn = rules()

func rules() []rule {
	var out []rule
	for _, f := range formats {
		alphabet := setOf(f.alphabet)
		for _, p := range f.prefixes {
			out = append(out, rule{literal: p, after: f.alphabet, match: func(w *window, at int) { f.find(w, at, at+len(p), alphabet) }})
		}
	}
	for _, id := range []string{"AKIA", "ASIA"} {
		out = append(out, rule{literal: id, match: awsKeys})
	}
	out = append(out,
		rule{literal: "ghs_", match: githubJWT},
		rule{literal: "eyJ", after: base64u, match: jwt},
		rule{literal: "BEGIN ", match: privateKey},
		rule{literal: "LS0tLS1CRUdJTi", match: encodedPrivateKey},
		rule{literal: "://", after: alnum + "_%", match: userinfo})
	for _, word := range []string{"token", "secret", "password", "passwd", "apikey", "api_key", "api-key", "authorization"} {
		out = append(out, rule{literal: word, fold: true, match: func(w *window, at int) { beside(w, at, at+len(word)) }})
	}
	return append(append(out, rule{literal: "bearer", fold: true, match: bearer}), names...)
}

// find adds the key whose prefix stands at at if its rest has the right form.
func (f *format) find(w *window, at, rest int, alphabet *set) {
	end := alphabet.run(w.text, rest, f.most+1)
	if end-rest < f.least || end-rest > f.most || f.whole && !fresh(w.text, at) {
		return
	}
	w.add(f.kind, at, end)
}

// fresh says that no word goes on at at: what stands before it is no letter or
// digit, or belongs to an escape such as \n, %3D or that of a colour.
func fresh(text []byte, at int) bool {
	if at == 0 || !isWord[text[at-1]] {
		return true
	}
	before := text[max(at-8, 0):at]
	n := len(before)
	switch c := before[n-1]; {
	case n >= 2 && before[n-2] == '\\':
		return c == 'n' || c == 't' || c == 'r' || c == 'f' || c == 'b'
	case n >= 3 && before[n-3] == '%':
		return true
	case n >= 6 && before[n-6] == '\\' && before[n-5] == 'u':
		return true
	case c == 'm':
		return bytes.Contains(before, []byte("\x1b["))
	}
	return false
}

// awsKeys finds the id of an AWS key, and the key itself if it follows on the
// same line. The ids in Amazon's documents end in EXAMPLE.
func awsKeys(w *window, at int) {
	end := isUpper32.run(w.text, at+4, 17)
	if end-at != 20 || !fresh(w.text, at) || end < len(w.text) && isBase64[w.text[end]] || bytes.HasSuffix(w.text[at:end], []byte("EXAMPLE")) {
		return
	}
	w.add("aws-access-key", at, end)
	const near = 200
	for i := end; i < min(end+near, len(w.text)) && w.text[i] != '\n'; i++ {
		next := isBase64.run(w.text, i, near)
		if next-i == 40 && looksRandom(w.text[i:next]) {
			w.add("aws-secret-key", i, next)
			return
		}
		i = max(i, next)
	}
}

// githubJWT finds installation tokens that are a JWT after an id.
func githubJWT(w *window, at int) {
	id := isDigit.run(w.text, at+4, 20)
	if !bytes.HasPrefix(w.text[id:], []byte("_eyJ")) {
		return
	}
	if end, ok := jwtEnd(w.text, id+1); ok {
		w.add("github-token", at, end)
	}
}

const (
	jwtPart  = 4 << 10 // most bytes of one part
	jwtLeast = 10      // least
)

// jwt finds JSON web tokens: two JSON objects in base64 and a signature.
func jwt(w *window, at int) {
	if at < w.noJWT {
		return
	}
	end, ok := jwtEnd(w.text, at)
	if w.noJWT = end; ok {
		w.add("jwt", at, end)
	}
}

// jwtEnd is the end of the token at at, or that of what was no token.
func jwtEnd(text []byte, at int) (end int, ok bool) {
	head := isBase64u.run(text, at, jwtPart)
	if head-at < jwtLeast || !bytes.HasPrefix(text[head:], []byte(".eyJ")) {
		return head, false
	}
	body := isBase64u.run(text, head+1, 2*jwtPart)
	if body-head < jwtLeast || body == len(text) || text[body] != '.' {
		return head, false
	}
	end = isBase64u.run(text, body+1, jwtPart)
	return end, end-body > jwtLeast
}

const pemBytes = 16 << 10 // a key of 16,384 bits has 13 KB

// privateKey finds keys in PEM, also one whose end is missing. at is that of
// the word BEGIN.
func privateKey(w *window, at int) {
	const dashes = "-----"
	if at < len(dashes) || string(w.text[at-len(dashes):at]) != dashes {
		return
	}
	rest := w.text[at:min(at+pemBytes, len(w.text))]
	title := isTitle.run(rest, 0, 60)
	if name := rest[:title]; !bytes.HasPrefix(rest[title:], []byte(dashes)) ||
		!bytes.HasSuffix(name, []byte("PRIVATE KEY")) && !bytes.HasSuffix(name, []byte("PRIVATE KEY BLOCK")) {
		return
	}
	body := title + len(dashes)
	end := body
	if i := bytes.Index(rest[body:], []byte(dashes+"END ")); i >= 0 && !bytes.Contains(rest[body:body+i], []byte(dashes)) {
		tail := body + i + len(dashes) + len("END ")
		if end = isTitle.run(rest, tail, 60); bytes.HasPrefix(rest[end:], []byte(dashes)) {
			end += len(dashes)
		}
	} else {
		end = base64Lines(rest, body)
	}
	w.add("private-key", at-len(dashes), at+end)
}

// base64Lines is the end of the lines after from that hold nothing but base64.
func base64Lines(text []byte, from int) int {
	end := from
	for next := from; ; {
		for lineBreak(text, next) > 0 {
			next += lineBreak(text, next)
		}
		stop := isPadding.run(text, isBase64.run(text, next, len(text)), 2)
		if stop == next || stop < len(text) && lineBreak(text, stop) == 0 {
			return end
		}
		next, end = stop, stop
	}
}

// lineBreak is the length of the line break at i, also of one escaped in a
// string; 0 if there is none.
func lineBreak(text []byte, i int) int {
	switch {
	case i < len(text) && (text[i] == '\r' || text[i] == '\n'):
		return 1
	case i+1 < len(text) && text[i] == '\\' && (text[i+1] == 'r' || text[i+1] == 'n'):
		return 2
	}
	return 0
}

// encodedPrivateKey finds a PEM that is once more in base64, as in a kubeconfig.
func encodedPrivateKey(w *window, at int) {
	end := isBase64.run(w.text, at, pemBytes)
	head := w.text[at:min(end, at+64)]
	plain, err := base64.RawStdEncoding.AppendDecode(nil, head[:len(head)/4*4])
	if err == nil && bytes.Contains(plain, []byte("PRIVATE KEY")) {
		w.add("private-key", at, isPadding.run(w.text, end, 2))
	}
}
