package site

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"perfband/internal/derive"
	"perfband/internal/perf"
	"perfband/internal/stats"
)

// elements are all that pages consist of; anything else came from foreign text.
var elements = strings.Fields(`html head meta title link body a header div img nav ul li main footer p code h1 h2 h3 strong small span br
	section dl dt dd table caption thead tbody tr th td time wbr figure figcaption pre
	svg title desc g path text`)

var unsafeText = regexp.MustCompile("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")

// checkSite checks every page for what must hold on all of them.
func checkSite(t *testing.T, site map[string][]byte) {
	t.Helper()
	ids := map[string]map[string]bool{}
	links := map[string][]string{}
	for p, data := range site {
		switch path.Ext(p) {
		case ".html":
			ids[p], links[p] = checkPage(t, p, data)
		case ".svg":
			checkXML(t, p, data)
		}
		if ext := path.Ext(p); ext != ".png" && ext != ".json" && unsafeText.Match(data) {
			t.Errorf("%s holds an invisible character: %q", p, unsafeText.Find(data))
		}
	}
	for p, list := range links {
		for _, l := range list {
			if strings.HasPrefix(l, "https://github.com/example/widgets/") {
				continue
			}
			target, fragment, _ := strings.Cut(l, "#")
			full := p
			if target != "" {
				full = path.Join(path.Dir(p), target)
			}
			if _, ok := site[full]; !ok {
				t.Errorf("%s links to %q, which is not there", p, l)
			} else if fragment != "" && !ids[full][fragment] {
				t.Errorf("%s links to %q, but there is no such place", p, l)
			}
		}
	}
}

var svgElement = regexp.MustCompile(`(?s)<svg .*?</svg>`)

func checkPage(t *testing.T, p string, data []byte) (ids map[string]bool, links []string) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	if bytes.Count(data, []byte("Content-Security-Policy")) != 1 {
		t.Errorf("%s has no content policy", p)
	}
	ids = map[string]bool{}
	count := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		count[n.Data]++
		if !slices.Contains(elements, n.Data) {
			t.Errorf("%s: element <%s>", p, n.Data)
		}
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s: <%s %s=%q>", p, n.Data, a.Key, a.Val)
			}
		}
		if id := attr["id"]; id != "" {
			if ids[id] {
				t.Errorf("%s: two elements with id %q", p, id)
			}
			ids[id] = true
		}
		for _, ref := range []string{"href", "src"} {
			if l, ok := attr[ref]; ok {
				links = append(links, l)
			}
		}
		if _, ok := attr["alt"]; n.Data == "img" && !ok {
			t.Errorf("%s: image without alternative", p)
		}
		if n.Data == "svg" && attr["role"] != "img" {
			t.Errorf("%s: chart without role", p)
		}
		if n.Data == "html" && attr["lang"] != "en" {
			t.Errorf("%s: no language", p)
		}
	}
	if count["h1"] != 1 || count["main"] != 1 || count["caption"] != count["table"] {
		t.Errorf("%s: %d h1, %d main, %d captions for %d tables", p, count["h1"], count["main"], count["caption"], count["table"])
	}
	for _, s := range svgElement.FindAll(data, -1) {
		checkXML(t, p, s)
	}
	return ids, links
}

func checkXML(t *testing.T, name string, data []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%s: not well formed: %v\n%.300s", name, err, data)
			return
		}
	}
}

func TestPages(t *testing.T) { checkSite(t, render(t, example())) }

// hostile are names that would be markup, paths or invisible.
var hostile = []string{
	"</title><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "' onmouseover='alert(1)", "{{.}}{{template \"x\"}}",
	"javascript:alert(1)", "../../../../etc/cron.d/x", "..", ".", " ", "", "C:\\Windows\\x", "CON", "nul.txt", ".git/config", "name\x00.json",
	"a\nb\r\nc\td", "Send\u202edrawkcab\u202c", "zero\u200bwidth\u2066", "--><!--", "]]>", "<svg><script>1</script></svg>", "&lt;b&gt;&#96;",
	"Case", "case", "CASE", "\u212aelvin", "na\u00efve", "nai\u0308ve", "\xff\xfe", "%2e%2e%2f", "index.html", "data", "\ud7ff", "emoji 🚀",
	strings.Repeat("long", 1000), strings.Repeat("x", 200) + "1", strings.Repeat("x", 200) + "2",
}

// Every foreign text of a run is hostile at once; every name has its own page.
func TestHostileNames(t *testing.T) {
	names := append(slices.Clone(hostile), corpusNames(t)...)
	s := newSynthetic()
	type claim struct {
		run     *derive.Run
		result  *derive.Result
		verdict perf.Verdict
	}
	var claims []claim
	for i := range 2 {
		r := s.run(perf.Bench, i)
		l := s.run(perf.Load, i)
		for k, n := range names {
			res := s.add(r, n, n, k%3, measured(perf.Time, perf.Nanoseconds, s.samples(4310, 0.2, 5)), measured("custom:"+n, perf.Unit(n), s.samples(5, 0.1, 3)))
			res.Key.Params, res.Key.Job, res.DocRef, res.Tool, res.File, res.StabilityReason = []perf.Param{{Name: n, Value: n}}, n, n, n, n, n
			res.Env.OS, res.Env.CPUModel, res.Env.Toolchain = n, n, map[string]string{n: n}
			res.Excluded, res.Anomalies = n, []derive.Anomaly{{Metric: n, Reason: n}}
			res.Metrics[0].Labels = derive.Labels{Outliers: 1, OutlierRule: stats.OutlierRule(n)}
			v := numbers(perf.Slower, perf.Suspected, 1.2, 1.1, 1.3, n)
			v.Baseline = n
			claims = append(claims, claim{r, res, v})
			r.Shifts = append(r.Shifts, derive.Shift{Module: n, Metric: n, CPU: n, Ratio: perf.Some(1.1), Lo: perf.Some(1), Hi: perf.Some(1.2), Results: k})
			f := s.add(r, n, n+" failed", 0)
			f.Status, f.Reason, f.InTrend = perf.Fail, n, false
			s.add(l, n, n, 0, reported(perf.Throughput, perf.PerSecond, perf.Some(float64(k+i)), perf.Num{}, perf.Num{}, perf.Num{}))
			r.Meta.Missing = append(r.Meta.Missing, perf.Expected{Module: n, Benchmark: n, Reason: n})
			r.Diagnostics = append(r.Diagnostics, perf.Diagnostic{What: n, Why: n, Do: n, Where: perf.Where{File: n}})
		}
		n := names[i]
		r.ID, r.OriginPath, r.Excluded = n, n, n
		r.Meta.Commit.Subject, r.Meta.Commit.SHA, r.Meta.Run.Ref, r.Meta.Runner.Image = n, n, n, n
	}
	d := s.finish()
	d.Title, d.Badge.Message = hostile[0], hostile[0]
	for _, c := range claims {
		c.result.Metrics[0].Verdict = c.verdict
		d.Open = append(d.Open, derive.Open{Key: c.result.Key, Metric: c.result.Metrics[1].Name, Since: c.run, Before: d.Runs[0], Ratio: perf.Some(1.2)})
	}
	for i, sr := range d.Series {
		sr.Steps = []derive.Step{{Before: sr.Points[0].Run, After: sr.Points[len(sr.Points)-1].Run, Ratio: perf.Some(1.2), PValue: perf.Some(0.01)}}
		if i%5 == 0 {
			sr.Retired = sr.Key.Name
		}
	}
	site := render(t, d)
	checkSite(t, site)
	folded := map[string]string{}
	for p := range site {
		if other, ok := folded[strings.ToLower(p)]; ok {
			t.Errorf("%s and %s are one file without case", p, other)
		}
		folded[strings.ToLower(p)] = p
		if !filepath.IsLocal(filepath.FromSlash(p)) || strings.Contains(p, "\\") {
			t.Errorf("path %q leaves the site", p)
		}
	}
}

// A server that is not a web address must not be linked to.
func TestHostileServer(t *testing.T) {
	for _, c := range []struct{ server, repository string }{
		{"javascript:alert(1)//", "example/widgets"}, {"https://github.com", `x"><script>/y`}, {"", "example/widgets"}, {"//evil", "example/widgets"},
	} {
		d := example()
		d.ServerURL, d.Repository = c.server, c.repository
		site := render(t, d)
		checkSite(t, site)
		for p, data := range site {
			if strings.HasSuffix(p, ".html") && (bytes.Contains(data, []byte("href=\"javascript")) || bytes.Contains(data, []byte("/commit/"))) {
				t.Errorf("%s links to %q", p, c.server)
			}
		}
	}
}

// corpusNames are the lines of the shared hostile files.
func corpusNames(t *testing.T) []string {
	t.Helper()
	dir := os.Getenv("PERFBAND_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "hostile", "names", "*"))
	var out []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			if line = strings.TrimSpace(line); len(line) > 0 && len(line) < 300 && len(out) < 400 {
				out = append(out, line)
			}
		}
	}
	require := strings.Split(os.Getenv("PERFBAND_REQUIRE"), ",")
	if len(out) == 0 && (slices.Contains(require, "corpus") || slices.Contains(require, "all")) {
		t.Fatalf("no hostile names under %s", dir)
	}
	return out
}
