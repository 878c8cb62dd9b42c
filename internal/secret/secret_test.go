package secret

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// No secret stands in this file: all are put together when the tests run.

// random is n bytes of an alphabet, the same in each run.
func random(seed uint64, n int, alphabet string) string {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// find lists what a scanner finds as "kind line:col length".
func find(s *Scanner, text string) (out []string) {
	for _, f := range findings(s, text) {
		out = append(out, fmt.Sprintf("%s %d:%d %d", f.Kind, f.Line, f.Col, f.End-f.Start))
	}
	return out
}

func findings(s *Scanner, text string) (out []Finding) {
	c := s.Scan(func(f Finding) { out = append(out, f) })
	io.WriteString(c, text)
	c.Close()
	return out
}

func redact(t testing.TB, s *Scanner, text string) string {
	t.Helper()
	c := s.Scan(nil)
	io.WriteString(c, text)
	c.Close()
	out, err := io.ReadAll(c.Redact(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// sample is a secret of a kind.
type sample struct{ kind, value string }

// samples has one of every format.
func samples() []sample {
	part := func(prefix string, seed uint64, n int, alphabet string) string {
		return prefix + random(seed, n, alphabet)
	}
	segment := func(doc string) string { return base64.RawURLEncoding.EncodeToString([]byte(doc)) }
	token := segment(`{"alg":"HS256","typ":"JWT"}`) + "." + segment(`{"sub":"1234567890","name":"x"}`) + "." + random(1, 43, base64u)
	out := []sample{
		{"github-token", part("github"+"_pat_", 2, 22, alnum) + "_" + random(3, 59, alnum)},
		{"github-token", "ghs" + "_1234567_" + token},
		{"gitlab-token", part("glpat"+"-", 4, 20, base64u)},
		{"slack-token", "xoxb" + "-" + random(5, 12, digits) + "-" + random(6, 12, digits) + "-" + random(7, 24, alnum)},
		{"slack-token", "xoxe" + ".xoxp-1-" + random(8, 100, alnum)},
		{"slack-webhook", "hooks.slack.com" + "/services/T" + random(9, 8, upper) + "/B" + random(10, 8, upper) + "/" + random(11, 24, alnum)},
		{"npm-token", part("npm"+"_", 12, 36, alnum)},
		{"pypi-token", part("pypi-"+"AgE", 13, 80, base64u)},
		{"rubygems-key", part("rubygems"+"_", 14, 48, hexLower)},
		{"nuget-key", part("oy"+"2", 15, 43, lower+digits)},
		{"cargo-token", part("ci"+"o", 16, 32, alnum)},
		{"docker-token", part("dckr_pat"+"_", 17, 27, base64u)},
		{"google-api-key", part("AI"+"za", 18, 35, base64u)},
		{"google-oauth-secret", part("GOCSPX"+"-", 19, 28, base64u)},
		{"google-oauth-token", part("ya29"+".", 20, 120, base64u)},
		{"azure-key", part("Account"+"Key=", 21, 86, base64s) + "=="},
		{"azure-key", part("SharedAccess"+"Key=", 22, 43, base64s) + "="},
		{"stripe-key", part("sk_"+"live_", 23, 24, alnum)},
		{"sendgrid-key", part("S"+"G.", 24, 22, alnum) + "." + random(25, 43, alnum)},
		{"openai-key", part("sk-"+"proj-", 26, 120, alnum)},
		{"anthropic-key", part("sk-"+"ant-", 27, 100, base64u)},
		{"huggingface-token", part("h"+"f_", 28, 34, alnum)},
		{"digitalocean-token", part("dop_"+"v1_", 29, 64, hexLower)},
		{"vault-token", part("hv"+"s.", 30, 95, base64u)},
		{"grafana-token", part("glsa"+"_", 31, 32, alnum) + "_" + random(32, 8, hexLower)},
		{"newrelic-key", part("NRAK"+"-", 33, 27, upper+digits)},
		{"atlassian-token", part("ATATT"+"3", 34, 180, base64u)},
		{"age-key", part("AGE-SECRET"+"-KEY-1", 35, 58, upper+digits)},
		{"aws-access-key", part("AK"+"IA", 36, 16, upper+"234567")},
		{"jwt", token},
		{"private-key", "-----BEGIN " + "PRIVATE KEY-----" + `\n` + random(37, 64, alnum) + `\n-----END ` + "PRIVATE KEY-----"},
		{"private-key", base64.StdEncoding.EncodeToString([]byte("-----BEGIN " + "RSA PRIVATE KEY-----\n" + random(38, 300, alnum)))},
	}
	for i, prefix := range []string{"ghp", "gho", "ghu", "ghs", "ghr"} {
		out = append(out, sample{"github-token", part(prefix+"_", uint64(40+i), 36, alnum)})
	}
	return out
}

func TestFormats(t *testing.T) {
	s := New()
	covered := map[string]bool{}
	for _, x := range samples() {
		covered[x.kind] = true
		for name, around := range map[string]string{
			"alone": "%s", "log line": "12:00 using %s now", "assignment": "key=%s", "JSON": `{"a": "%s", "b": [1]}`, "quoted twice": `{\"a\":\"%s\"}`,
			"JSON escape": `{"a": "x\n%s\n"}`, "query": "https://x.test/?k%%3D%s&b=1", "colour": "\x1b[32m%s\x1b[0m", "XML": "<k>%s</k>", "CSV": "a,%s,b",
		} {
			text := "first line\n" + fmt.Sprintf(around, x.value) + "\nlast line\n"
			got := findings(s, text)
			if len(got) != 1 || got[0].Kind != x.kind || got[0].Line != 2 || text[got[0].Start:got[0].End] != x.value {
				t.Errorf("%s, %s: found %+v", x.kind, name, got)
			}
		}
		// One byte less than the shortest form, or another beginning, is no key.
		if cut := x.value[1:]; x.kind != "private-key" && !strings.Contains(x.value, "eyJ") && !strings.Contains(x.value, ".xox") && len(find(s, "x "+cut)) > 0 {
			t.Errorf("%s: found without the beginning of its prefix", x.kind)
		}
	}
	for _, f := range formats {
		if !covered[f.kind] {
			t.Errorf("%s: no sample", f.kind)
		}
	}
}

// TestNotFormats: texts that begin like keys.
func TestNotFormats(t *testing.T) {
	for _, text := range []string{
		"gh" + "p_short", "BenchmarkParse/gh" + "p_prefix-8", "np" + "m_config_registry", "AKIA" + "IOSFODNN7EXAMPLE", "AIza" + random(1, 34, alnum),
		"AIza" + random(1, 36, alnum), "ta" + "sk-proj-" + random(2, 60, alnum), "eyJ" + "hbGciOiJIUzI1NiJ9.e30", "-----BEGIN " + "PUBLIC KEY-----",
		"-----BEGIN " + "CERTIFICATE-----\n" + random(3, 64, alnum) + "\n-----END " + "CERTIFICATE-----", "half_" + random(4, 34, lower),
		"x" + "AKIA" + random(5, 16, upper), "https://example.test:8080/a@b", "https://github.test/@scope/name",
	} {
		if got := find(New(), text); len(got) > 0 {
			t.Errorf("%.40q: %v", text, got)
		}
	}
}

func TestBeside(t *testing.T) {
	v := random(50, 24, alnum)
	hex := random(51, 32, hexLower)
	sign := random(52, 24, alnum+"!#%^*")
	s := New()
	for _, text := range []string{
		"password=" + v, "PASSWORD = " + v, "db_password: " + v, "export API_TOKEN=" + v, `"password":"` + v + `"`, `"apiKey" : "` + v + `"`,
		`{\"client_secret\":\"` + v + `\"}`, "x-api-key: " + v, "Authorization: Bearer " + v, "authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+v)),
		`"Authorization": ["token ` + v + `"]`, "--token " + v, "tool --api-key=" + v, "<password>" + v + "</password>", `password="` + v + `"`,
		"?access_token=" + v + "&x=1", "token%3D" + v, `{"name": "Authorization", "value": "Bearer ` + v + `"}`, `<add key="Password" value="` + v + `"/>`,
		"&quot;token&quot;:&quot;" + v + "&quot;", "Server=db;Password=" + v + ";", "['secret'] => '" + v + "'", "using bearer " + v, "SECRET_KEY: " + v,
		"token := \"" + v + "\"", "passwd=" + sign, "secret: '" + sign + "'", "secret=" + hex, "https://user:" + v + "@host.test/", "postgres://" + v + "@db/x",
		"token: \"\\u002B" + v + "\"", "**Password**: " + v, "PASSWORD2=" + v,
	} {
		got := findings(s, text)
		if len(got) != 1 || got[0].Personal() || !strings.Contains(text[got[0].Start:got[0].End], strings.TrimPrefix(text[got[0].Start:got[0].End], "\\u002B")) {
			t.Errorf("%q: %+v", text, got)
		}
		if left := redact(t, s, text); strings.Contains(left, v) || strings.Contains(left, hex) || strings.Contains(left, sign) {
			t.Errorf("%q: redacted to %q", text, left)
		}
	}
	key := random(53, 40, base64s)
	for text, want := range map[string][]string{
		"AWS_SECRET_ACCESS_KEY=" + key:                   {"aws-secret-key 1:23 40"},
		`"SecretAccessKey": "` + strings.Repeat("a", 40): {"aws-secret-key 1:21 40"},
		"AK" + "IA" + random(54, 16, upper) + "," + key:  {"aws-access-key 1:1 20", "aws-secret-key 1:22 40"},
		"https://x-access-token:" + v + "@host.test/a/b": {"url-password 1:24 24"},
		"password: x\ntoken: " + v:                       {"credential 2:8 24"},
	} {
		if d := cmp.Diff(want, find(s, text)); d != "" {
			t.Errorf("%.30q: %s", text, d)
		}
	}
}

// TestNotBeside: the words, and what ordinarily stands beside them.
func TestNotBeside(t *testing.T) {
	v := random(50, 24, alnum)
	for _, text := range []string{
		"password=", "token: 12345678901234567890", "tokens=" + v, "tokenizer: " + v, "secretary=" + v, "passwordless: " + v, "token_hash=" + v, "secretName: " + v,
		"PublicKeyToken=b77a5c561934e089", "CancellationToken cancellationToken) in /home/runner/work/a/b.cs:line 12", "token: 3f2504e0-4f89-11d3-9a0c-0305e82c3301",
		"secret = GetSecretFromConfigurationProvider", "password: correct-horse-battery-staple-2024", "api_key: ${{ secrets.API_KEY_2_PRODUCTION }}",
		"token=$GITHUB_TOKEN_4_Xy_9_aB3dE", "password: ****************", "token: <your-Token-12aB-here-x9Y8z>", "tokenExpires=2026-04-19T01:56:06Z", "token: 2026-04-19T01:56:06.123+02:00",
		"authorization: https://login.example.test/oauth2/v2.0/token", "BenchmarkToken/size=1024-8 \t 100 \t 1234 ns/op", "| MapAuthorizationForbidden | DefaultJob | 12.3 ns |",
		"Authorization: Encina.Security.AuthorizationBehavior2Benchmarks", "secret: Version=1.2.3.4-preview5.25277.114", "token " + v, "password: \"two words aB3dE9xY2qZ\"",
		`"token":"read","id":"` + v + `"`, "bearer" + v, "postgres://bench:bench@localhost:5432/db", "https://example.test/a:b@c", "api-keys: " + v, "token\n" + v,
	} {
		if got := find(New(), text); len(got) > 0 {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestBounds: the stated share of random values is found.
func TestBounds(t *testing.T) {
	for _, tc := range []struct {
		n, atLeast int // of 1000
		alphabet   string
	}{
		{20, 930, alnum}, {40, 990, alnum}, {40, 990, base64s}, {64, 995, base64u}, {32, 990, hexLower}, {24, 930, alnum + "!#$%^*"}, {16, 850, alnum},
		{15, 0, alnum}, {31, 0, hexLower}, {40, 0, digits},
	} {
		found := 0
		for i := range 1000 {
			if looksRandom([]byte(random(uint64(i), tc.n, tc.alphabet))) {
				found++
			}
		}
		if found < tc.atLeast || tc.atLeast == 0 && found > 0 {
			t.Errorf("%d of 1000 random values of %d bytes of %q are found, want %d", found, tc.n, tc.alphabet, tc.atLeast)
		}
	}
}

func TestToken(t *testing.T) {
	token := "t" + random(60, 30, alnum) + "/?" + random(61, 8, alnum)
	s := New(token, "short", token+"x\nsecond-line-of-it")
	for name, text := range map[string]string{
		"as it is": "a" + token + "b", "URL": url.QueryEscape(token), "lower case": strings.ToLower(url.QueryEscape("/?")) + strings.Replace(url.QueryEscape(token), "%2F%3F", "%2f%3f", 1),
		"base64 0": base64.StdEncoding.EncodeToString([]byte(token)), "base64 1": base64.StdEncoding.EncodeToString([]byte("x" + token + "yz")),
		"base64 2": base64.StdEncoding.EncodeToString([]byte("xy" + token + "z")), "base64 URL": base64.URLEncoding.EncodeToString([]byte("x-access-token:" + token)),
		"second line": "x second-line-of-it x",
	} {
		got := findings(s, "\n"+text+"\n")
		if len(got) != 1 || got[0].Kind != Token || got[0].Line != 2 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := find(s, "short "+token[1:]); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	// The better name wins where several rules meet.
	gh := "gh" + "s_" + random(62, 36, alnum)
	text := "Authorization: Bearer " + gh
	if d := cmp.Diff([]string{"github-token 1:23 40"}, find(New(), text)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"run-token 1:23 40"}, find(New(gh), text)); d != "" {
		t.Error(d)
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string][]string{
		"host: build-7.corp.internal user: jane.doe home: /home/jane.doe.":                                                      {"host name 1:7 21", "user name 1:35 8", "home folder 1:56 8"},
		`{"path":"C:\\Users\\jane\\x", "machineName":"JANES-PC"}`:                                                               {"home folder 1:21 4", "host name 1:46 8"},
		"in C:\\Users\\jane\\x and /Users/joe/y":                                                                                {"home folder 1:13 4", "home folder 1:31 3"},
		"file:///home/joe/x\n\"host_name\": \"laptop\"":                                                                         {"home folder 1:14 3", "host name 2:15 6"},
		"/home/runner/work /home/runneradmin C:\\Users\\runneradmin /Users/runner/x":                                            nil,
		"https://example.test/home/index /var/home/x user: 12 users: bob host: example.test host: 10.0.0.1 hostname: localhost": nil,
		`"MachineName":"runnervm35a4x" "user": 0.05 ?username=foo user=test host:port user:(x) user(bob)`:                       nil,
	} {
		got := find(New(), text)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", text, d)
		}
		if left := redact(t, New(), text); left != text {
			t.Errorf("names are no secrets, but %q became %q", text, left)
		}
	}
}

// TestBorders: what is found does not depend on where chunks and windows end.
func TestBorders(t *testing.T) {
	token := random(70, 40, alnum)
	s := New(token)
	pem := "-----BEGIN " + "RSA PRIVATE KEY-----\n" + strings.Repeat(random(71, 64, alnum)+"\n", 40) + "-----END " + "RSA PRIVATE KEY-----"
	for _, secret := range []string{token, pem, "password = \"" + random(72, 3000, alnum) + "\""} {
		for _, at := range []int{0, 1, windowBytes - ahead - 1, windowBytes - ahead, windowBytes - ahead - behind, windowBytes - ahead + 3, windowBytes - 20, windowBytes - 3, windowBytes, windowBytes + 1, 3 * windowBytes} {
			fill := strings.Repeat(strings.Repeat("x", 99)+"\n", at/100+1)[:at]
			text := fill + " " + secret + " tail\n" + fill
			got := findings(s, text)
			if len(got) != 1 || got[0].Line != strings.Count(fill, "\n")+1 || !strings.Contains(secret, text[got[0].Start:got[0].End]) {
				t.Fatalf("at %d: %+v", at, got)
			}
			var small []Finding
			c := s.Scan(func(f Finding) { small = append(small, f) })
			io.CopyBuffer(struct{ io.Writer }{c}, iotest.OneByteReader(strings.NewReader(text)), nil)
			c.Close()
			if d := cmp.Diff(got, small); d != "" {
				t.Errorf("at %d, byte by byte: %s", at, d)
			}
			out, err := io.ReadAll(iotest.HalfReader(c.Redact(strings.NewReader(text))))
			want := text[:got[0].Start] + marker(got[0].Kind) + strings.Repeat("\n", strings.Count(secret, "\n")) + text[got[0].End:]
			if err != nil || string(out) != want {
				t.Errorf("at %d: redacted wrongly, %v", at, err)
			}
		}
	}
	// One line without an end.
	long := strings.Repeat("x", 5*windowBytes) + token + strings.Repeat("y", windowBytes)
	if d := cmp.Diff([]string{fmt.Sprintf("run-token 1:%d 40", 5*windowBytes+1)}, find(s, long)); d != "" {
		t.Error(d)
	}
}

func TestRedact(t *testing.T) {
	v := random(80, 24, alnum)
	pem := "-----BEGIN " + "EC PRIVATE KEY-----\r\n" + random(81, 64, alnum) + "\r\n-----END " + "EC PRIVATE KEY-----"
	for text, want := range map[string]string{
		"a password=" + v + " b": "a password=[redacted:credential] b",
		"password=" + v + "\nlater " + v + ", " + base64.StdEncoding.EncodeToString([]byte(v)): "password=[redacted:credential]\nlater [redacted:credential], [redacted:credential]",
		"x " + pem + "\r\ny":                              "x [redacted:private-key]\r\n\r\n\r\ny",
		"-----BEGIN " + "RSA PRIVATE KEY-----\nhost: x\n": "[redacted:private-key]\nhost: x\n",
		"-----BEGIN " + "RSA PRIVATE KEY-----\n" + random(82, 64, alnum) + "\nAbc=\nhost: x\n": "[redacted:private-key]\n\n\nhost: x\n",
		"nothing": "nothing",
	} {
		got := redact(t, New(), text)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s", d)
		}
		if again := redact(t, New(), got); again != got {
			t.Errorf("redacted twice: %q", again)
		}
	}
	// The markers leave JSON what it was.
	for _, x := range samples() {
		doc, _ := json.Marshal(map[string]any{"benchmarks": []any{map[string]any{"name": x.value, "password": x.value}}, "n": 1})
		doc = bytes.ReplaceAll(doc, []byte(`\\n`), []byte(`\n`))
		left := redact(t, New(), string(doc))
		if !json.Valid([]byte(left)) || strings.Contains(left, x.value) {
			t.Errorf("%s: %s", x.kind, left)
		}
	}
	if text, n := New().Text("x " + v); n != 0 || text != "x "+v {
		t.Errorf("Text = %q, %d", text, n)
	}
	if text, n := New().Text("token=" + v); n != 1 || text != "token=[redacted:credential]" {
		t.Errorf("Text = %q, %d", text, n)
	}
}

// TestNothingRemains: whatever stands around them and wherever they stand, no
// secret that was found is left, and no line is lost.
func TestNothingRemains(t *testing.T) {
	all := samples()
	r := rand.New(rand.NewPCG(1, 2))
	token := random(90, 40, alnum)
	s := New(token)
	for range 300 {
		var b strings.Builder
		for range 1 + r.IntN(30) {
			switch r.IntN(6) {
			case 0:
				b.WriteString(all[r.IntN(len(all))].value)
			case 1:
				b.WriteString("password=" + random(r.Uint64(), 10+r.IntN(40), alnum))
			case 2:
				b.WriteString(token[:r.IntN(41)])
			case 3:
				b.WriteString(strings.Repeat("BenchmarkX-8 100 12.5 ns/op\n", r.IntN(3000)))
			case 4:
				b.WriteString([]string{"\n", " ", "\"", ": ", "=", "\\", "\\n", ","}[r.IntN(8)])
			case 5:
				b.WriteString(token)
			}
		}
		checkRedaction(t, s, b.String())
	}
}

func checkRedaction(t *testing.T, s *Scanner, text string) {
	t.Helper()
	left := redact(t, s, text)
	if strings.Count(left, "\n") != strings.Count(text, "\n") {
		t.Fatalf("%q: lines lost: %q", text, left)
	}
	places := 0
	var end int64
	for _, f := range findings(s, text) {
		if f.Start < end || f.End <= f.Start || f.End > int64(len(text)) {
			t.Fatalf("%q: findings out of order: %+v", text, f)
		}
		end = f.End
		if f.Personal() {
			continue
		}
		places++
		value := text[f.Start:f.End]
		if places <= maxValues && len(value) >= minValue && len(value) <= maxCopied && strings.Contains(left, value) && !strings.Contains("[redacted:"+f.Kind+"]", value) {
			t.Fatalf("%q: a %s remains: %q", text, f.Kind, left)
		}
		if line := strings.Count(text[:f.Start], "\n") + 1; f.Line != line || f.Col != int(f.Start)-strings.LastIndexByte(text[:f.Start], '\n') {
			t.Fatalf("%q: %+v, want line %d", text, f, line)
		}
	}
	if places == 0 && left != text {
		t.Fatalf("%q: nothing found, yet changed to %q", text, left)
	}
}

func FuzzRedact(f *testing.F) {
	for _, x := range samples() {
		f.Add("a: " + x.value + "\n")
	}
	for _, text := range []string{`{"password":"aB3dE5fG7hI9jK1l"}`, "://a:b@c", "token=token=token=", "-----BEGIN " + "PRIVATE KEY-----", `\\users\\x\y`, "api_key: [\"", "&quot;token&quot;"} {
		f.Add(text)
	}
	s := New(random(90, 40, alnum))
	f.Fuzz(func(t *testing.T, text string) { checkRedaction(t, s, text) })
}

// TestHidden: what holds values does not show them.
func TestHidden(t *testing.T) {
	v := random(95, 24, alnum)
	c := New().Scan(nil)
	io.WriteString(c, "password="+v)
	c.Close()
	if shown := fmt.Sprintf("%v %+v %#v %v %#v", c, c, c, New(v), New(v)); strings.Contains(shown, v) {
		t.Error("a value is shown")
	}
}

// TestHostileTexts: what begins a rule again and again takes no more than a
// fixed time for each byte; the test would run for minutes otherwise.
func TestHostileTexts(t *testing.T) {
	for _, unit := range []string{"token=", "eyJ", "-----BEGIN ", "-----BEGIN " + "PRIVATE KEY-----\n", "://a:", "gh" + "p_", "xox" + "b-", "AK" + "IA", "secret=\"", "bearer ", "user:", "password=\\u002B"} {
		text := strings.Repeat(unit, 2<<20/len(unit))
		c := New().Scan(nil)
		io.WriteString(c, text)
		c.Close()
		if c.Secrets() > 1 && !strings.Contains(unit, "PRIVATE") {
			t.Errorf("%q: %d found", unit, c.Secrets())
		}
	}
}

// TestCorpus: real output of real tools holds no secret.
func TestCorpus(t *testing.T) {
	dirs := []string{"../../testdata/demo", "../../testdata/decode"}
	corpus := os.Getenv("PERFBAND_CORPUS")
	if corpus == "" {
		corpus = "../../../shared/corpus"
	}
	if _, err := os.Stat(corpus); err == nil {
		dirs = append(dirs, corpus)
	} else if req := os.Getenv("PERFBAND_REQUIRE"); req == "all" || slices.Contains(strings.Split(req, ","), "corpus") {
		t.Fatalf("corpus is required and missing: %v", err)
	} else {
		t.Log("corpus is missing: only own files are read")
	}
	s, files := New(random(1, 40, alnum)), 0
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.Contains(filepath.ToSlash(p), "hostile/secrets") {
				return err
			}
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			files++
			for _, f := range findings(s, string(data)) {
				if !f.Personal() {
					t.Errorf("%s:%d:%d: %s", p, f.Line, f.Col, f.Kind)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 50 {
		t.Errorf("only %d files read", files)
	}
}

func BenchmarkScan(b *testing.B) {
	for _, name := range []string{"json", "log"} {
		unit := `{"Namespace":"Encina.Benchmarks","Type":"TokenBenchmarks","Method":"Send","Parameters":"Size=10","Statistics":{"OriginalValues":[123.456,124.5],"N":15,"Mean":1234.567,"StandardError":0.1}},` + "\n"
		if name == "log" {
			unit = "WorkloadActual  12: 8192 op, 1234567890.00 ns, 150.7041 us/op\n// AfterActualRun in /home/runner/work/a/b/bin/Release/net10.0/user-host.dll --token-count 12\n"
		}
		text := []byte(strings.Repeat(unit, 4<<20/len(unit)))
		b.Run(name, func(b *testing.B) {
			s := New("gh" + "s_" + random(1, 36, alnum))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				c := s.Scan(nil)
				c.Write(text)
				c.Close()
			}
		})
	}
}
