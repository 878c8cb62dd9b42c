package app_test

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	gtext "github.com/yuin/goldmark/text"
	"golang.org/x/net/html"

	"perfband/internal/app"
	"perfband/internal/gitdb/gittest"
)

// stage is a repository on a server and a workspace, in which the action is
// called as a runner calls it.
type stage struct {
	*gittest.Server
	server string // address of the server, as links begin
	top    string // holds everything but the repository
	ws     string
	env    map[string]string
}

const ownToken = "own4token5of6the7stage8aB3dE5"

// newStage makes the stage. Event, branch and workflow names are hostile too.
func newStage(t *testing.T) *stage {
	t.Helper()
	st := &stage{top: t.TempDir()}
	st.Server = gittest.New(t, gittest.Options{Token: ownToken, Before: func(_ http.ResponseWriter, r *http.Request) bool {
		r.URL.Path = strings.Replace(r.URL.Path, "/octo/demo.git/", "/repo.git/", 1)
		return false
	}})
	st.server = strings.TrimSuffix(st.URL, "/repo.git")
	st.ws = filepath.Join(st.top, "ws")
	const event = `{"ref":"refs/heads/main","after":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","repository":{"id":1,"full_name":"octo/demo","default_branch":"main"},
		"head_commit":{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","timestamp":"2026-04-01T09:00:00+14:00",
		"message":"::error::forged\n##[add-mask]a fixes #1 <img src=x onerror=alert(1)> @octocat | [a](https://tracker.test)",
		"author":{"name":"</td><script>alert(1)</script>","email":"a@b.test"}}}`
	for name, data := range map[string]string{"ws/.keep": "", "event.json": event} {
		file := filepath.Join(st.top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(data), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	st.env = map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": st.ws, "GITHUB_EVENT_PATH": filepath.Join(st.top, "event.json"), "GITHUB_EVENT_NAME": "push",
		"GITHUB_SHA": strings.Repeat("a", 40), "GITHUB_REF": "refs/heads/main", "GITHUB_SERVER_URL": st.server, "GITHUB_REPOSITORY": "octo/demo",
		"GITHUB_WORKFLOW": "##[error]w|`<b>`@octocat", "GITHUB_JOB": "measure", "GITHUB_RUN_ATTEMPT": "1", "INPUT_MODE": "publish", "INPUT_TOKEN": ownToken,
	}
	return st
}

// put writes a file of the workspace.
func (st *stage) put(t *testing.T, name string, data []byte) {
	t.Helper()
	file := filepath.Join(st.ws, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// told is what one call of the action said and wrote.
type told struct {
	code    int
	log     string
	outputs map[string]string
	summary string
}

// act calls the action for run id, or the command with arguments in its place,
// which does not wait for other writers, and checks what holds of every call: the
// file commands, the commands in the log, where it wrote, that nothing holds
// the token.
func (st *stage) act(t *testing.T, id string, inputs map[string]string, args ...string) told {
	t.Helper()
	env := maps.Clone(st.env)
	env["GITHUB_RUN_ID"] = id
	for name, value := range inputs {
		env["INPUT_"+strings.ToUpper(name)] = value
	}
	fileCommands := map[string]string{}
	for _, name := range []string{"OUTPUT", "ENV", "PATH", "STATE", "STEP_SUMMARY"} {
		fileCommands[name] = filepath.Join(st.top, id+name)
		env["GITHUB_"+name] = fileCommands[name]
		if err := os.WriteFile(fileCommands[name], nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	env["RUNNER_DEBUG"] = inputs["debug"]
	if len(args) > 0 {
		env["PERFBAND_TOKEN"] = ownToken
	}
	before := st.tree(t)
	var stdout, stderr bytes.Buffer
	got := told{code: app.Main(context.Background(), app.Env{Args: args, Dir: st.ws, Stdout: &stdout, Stderr: &stderr, Random: crand.Reader, Version: "test",
		Getenv: func(name string) string { return env[name] }, Now: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }})}
	got.log = stdout.String() + "\n" + stderr.String()
	checkLog(t, got.log)
	for _, file := range st.tree(t) {
		if !slices.Contains(before, file) && !strings.HasPrefix(file, "ws/perfband-out") {
			t.Errorf("%s was written", file)
		}
	}
	read := func(name string) string {
		data, err := os.ReadFile(fileCommands[name])
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var err error
	if got.outputs, err = parseFileCommand(read("OUTPUT")); err != nil {
		t.Errorf("GITHUB_OUTPUT: %v", err)
	}
	got.summary = read("STEP_SUMMARY")
	if all := read("ENV") + read("PATH") + read("STATE"); all != "" {
		t.Errorf("GITHUB_ENV, _PATH or _STATE were written: %q", all)
	}
	objects := gittest.Git(t, st.Repo, "", "cat-file", "--batch-all-objects", "--batch", "--unordered")
	for _, form := range formsOf(ownToken) {
		for where, s := range map[string]string{"log": strings.ReplaceAll(got.log, "::add-mask::"+ownToken+"\n", ""), "outputs": read("OUTPUT"), "summary": got.summary, "repository": objects} {
			if strings.Contains(s, form) {
				t.Errorf("the %s holds the token as %s", where, form)
			}
		}
	}
	return got
}

// tree lists everything outside the repository.
func (st *stage) tree(t *testing.T) []string {
	t.Helper()
	var out []string
	err := fs.WalkDir(os.DirFS(st.top), ".", func(name string, _ fs.DirEntry, err error) error {
		out = append(out, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkLog reads a log as the runner does: there are no commands but ours.
func checkLog(t *testing.T, log string) {
	t.Helper()
	for line := range strings.SplitSeq(strings.ReplaceAll(log, "\r", "\n"), "\n") {
		if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x202a && r <= 0x202e || r >= 0x200b && r <= 0x200f }) {
			t.Errorf("the log holds an invisible character: %q", line)
		}
		c, ok := parseCommand(line)
		if !ok {
			continue
		}
		title := c.props["title"]
		switch {
		case slices.Contains([]string{"error", "warning", "notice"}, c.name) && regexp.MustCompile(`^perfband: [a-z-]+$`).MatchString(title):
		case c.name == "group" && slices.Contains([]string{"Read results", "Archive", "Derive and write the site"}, c.data):
		case c.name == "endgroup" && c.data == "", c.name == "add-mask" && c.data == ownToken, c.name == "debug":
		default:
			t.Errorf("a command that is not ours: %q", line)
		}
	}
}

// checkSummary parses the Markdown as GitHub does: no links, pictures, markup or
// mentions but ours, and whole tables.
func checkSummary(t *testing.T, markdown, server string) {
	t.Helper()
	source := []byte(markdown)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gtext.NewReader(source))
	columns, open := 0, 0
	err := ast.Walk(doc, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if !enter {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			if !ourLink(string(n.Destination), server) {
				t.Errorf("summary: link to %s", n.Destination)
			}
		case *ast.Image, *ast.AutoLink, *ast.RawHTML, *ast.FencedCodeBlock, *ast.CodeBlock, *east.TaskCheckBox, *east.Strikethrough:
			t.Errorf("summary: %s", n.Kind())
		case *ast.HTMLBlock:
			block := strings.TrimSpace(string(n.Lines().Value(source)))
			open += strings.Count(block, "<details>") - strings.Count(block, "</details>")
			if block != "</details>" && !regexp.MustCompile(`^<details><summary>Values with their [0-9.]+.% intervals</summary>$`).MatchString(block) {
				t.Errorf("summary: HTML %q", block)
			}
		case *east.TableHeader:
			columns = n.ChildCount()
		case *east.TableRow:
			if n.ChildCount() != columns {
				t.Errorf("summary: a row of %d cells under %d", n.ChildCount(), columns)
			}
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if s := string(n.Value(source)); liveText.MatchString(s) {
				t.Errorf("summary: %q is live", s)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if open != 0 {
		t.Errorf("summary: %d <details> stay open", open)
	}
}

// liveText is what GitHub makes links, mentions, references or pictures of.
var liveText = regexp.MustCompile(`@\w|#\d|\b[A-Za-z]+-\d|\b[0-9a-f]{7,}\b|://|www\.|:\w+:|\$|\[`)

func ourLink(address, server string) bool {
	return regexp.MustCompile(`^` + regexp.QuoteMeta(server) + `/octo/demo/(actions/runs/\d+|(commit|tree)/[A-Za-z0-9._/-]+)$`).MatchString(address)
}

var (
	pageElements = strings.Fields(`html head meta title link body a header div img nav ul li main footer p code h1 h2 h3 strong small span br
		section dl dt dd table caption thead tbody tr th td time wbr figure figcaption pre svg desc g path text`)
	pageAttributes = strings.Fields(`alt aria-current aria-describedby aria-label aria-labelledby charset class colspan content d height href
		http-equiv id lang name rel role scope src tabindex text-anchor viewBox width x y xmlns property`)
	hiddenText = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{ad}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{2069}\x{fe00}-\x{fe0f}\x{feff}\x{e0000}-\x{e007f}]`)
)

// checkSite reads the whole site branch and returns the headings of the
// benchmarks' pages by path.
func checkSite(t *testing.T, repo, server string) map[string]string {
	t.Helper()
	site := files(t, repo, "gh-pages")
	folded, titles := map[string]bool{}, map[string]string{}
	for name, data := range site {
		if folded[strings.ToLower(name)] || !filepath.IsLocal(name) || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`\:*?"<>|`, r) }) {
			t.Errorf("site: path %q", name)
		}
		folded[strings.ToLower(name)] = true
		switch ext := path.Ext(name); {
		case ext == ".png":
			continue
		case ext == ".html":
			titles[name] = checkPage(t, name, data, site, server)
		case ext == ".svg":
			checkXML(t, name, data)
		case ext == ".json" && !json.Valid(data):
			t.Errorf("%s is not JSON", name)
		}
		if bad := hiddenText.Find(data); bad != nil && path.Ext(name) != ".json" { // data has names verbatim
			t.Errorf("%s holds an invisible character: %q", name, bad)
		}
	}
	maps.DeleteFunc(titles, func(name, _ string) bool { return !strings.HasPrefix(name, "perf/bench/") })
	return titles
}

func checkPage(t *testing.T, name string, data []byte, site map[string][]byte, server string) (title string) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.CommentNode {
			t.Errorf("%s: comment %q", name, n.Data)
		}
		if n.Type != html.ElementNode {
			continue
		}
		if !slices.Contains(pageElements, n.Data) {
			t.Errorf("%s: element <%s>", name, n.Data)
		}
		if n.Data == "h1" {
			for d := range n.Descendants() {
				if d.Type == html.TextNode {
					title += d.Data
				}
			}
		}
		for _, a := range n.Attr {
			if !slices.Contains(pageAttributes, a.Key) {
				t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
			}
			if a.Key != "href" && a.Key != "src" {
				continue
			}
			target, _, _ := strings.Cut(a.Val, "#")
			if _, ok := site[path.Join(path.Dir(name), target)]; !ok && target != "" && !ourLink(a.Val, server) {
				t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
			}
		}
	}
	return title
}

func checkXML(t *testing.T, name string, data []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if e, ok := token.(xml.StartElement); ok {
			if !slices.Contains([]string{"svg", "title", "desc", "g", "path", "text", "rect", "clipPath"}, e.Name.Local) {
				t.Errorf("%s: element <%s>", name, e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" || a.Name.Local == "style" {
					t.Errorf("%s: <%s %s=%q>", name, e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

// looks is what a reader may take two texts to be: without marks, and with
// letters of other scripts as the Latin ones they are drawn like.
func looks(s string) string {
	twins := strings.NewReplacer("\u0430", "a", "\u0435", "e", "\u0420", "P", "\u0440", "p", "\u043e", "o", "\u0421", "C", "\u0441", "c", "\u0445", "x", "\u00e9", "e")
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Cf) {
			return -1
		}
		return r
	}, twins.Replace(s))
}
