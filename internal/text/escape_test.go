package text

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"fmt"
	"html/template"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	gtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

func TestSinks(t *testing.T) {
	for _, c := range []struct {
		name string
		f    func(string) string
		in   string
		want string
	}{
		{"HTML", HTML, `<a href="x">&'` + "\u202e", `&lt;a href=&#34;x&#34;&gt;&amp;&#39;\u{202E}`},
		{"HTML", HTML, "12\u202fns", "12\u202fns"},
		{"HTML of Visible", func(s string) string { return HTML(Visible(s)) }, "a\u200b ", `a\u{200B}\u{20}`},
		{"XML", XML, "a\x00b<\ufffe>", `a\u{0}b&lt;\u{FFFE}&gt;`},
		{"CodeSpan", CodeSpan, "Send<T>(n: 1)", "`Send<T>(n: 1)`"},
		{"CodeSpan", CodeSpan, "", "`(empty)`"},
		{"CodeSpan", CodeSpan, " ", "`\\u{20}`"},
		{"CodeSpan", CodeSpan, "a|b", "`a\\|b`"},
		{"CodeSpan", CodeSpan, `a\|b`, "`a\\u{5C}\\|b`"},
		{"CodeSpan", CodeSpan, "a`b", "``a`b``"},
		{"CodeSpan", CodeSpan, "`x`_``y``", "``` `x`_``y`` ```"},
		{"CodeSpan", CodeSpan, "a\nb", "`a\\u{A}b`"},
		{"MarkdownCell", MarkdownCell, "The interval is 1.2 ns (99 %), wider than before.", "The interval is 1.2 ns (99 %), wider than before."},
		{"MarkdownCell", MarkdownCell, "fixes #1 by @octocat now", "fixes `#1` by `@octocat` now"},
		{"MarkdownCell", MarkdownCell, "see https://x.test or www.x.test", "see `https://x.test` or `www.x.test`"},
		{"MarkdownCell", MarkdownCell, "commit 0123abc of GH-1", "commit `0123abc` of `GH-1`"},
		{"MarkdownCell", MarkdownCell, "some feedback, 1,234,567 times", "some feedback, 1,234,567 times"},
		{"MarkdownCell", MarkdownCell, "- item", "`-` item"},
		{"MarkdownCell", MarkdownCell, "1. item", "`1.` item"},
		{"MarkdownCell", MarkdownCell, "a | b", "a `\\|` b"},
		{"MarkdownCell", MarkdownCell, "file x_y *z* end", "file `x_y *z*` end"},
		{"MarkdownCell", MarkdownCell, "    a", "a"},
		{"MarkdownCell", MarkdownCell, "", ""},
		{"CSVCell", CSVCell, "plain", "plain"},
		{"CSVCell", CSVCell, "", ""},
		{"CSVCell", CSVCell, "a\u202eb", `a\u{202E}b`},
		{"CSVCell", CSVCell, "＝1+1", "'＝1+1"},
		{"CSVCell", CSVCell, "a;b", `"a;b"`},
		{"CSVCell", CSVCell, `a"b`, `"a""b"`},
	} {
		if got := c.f(c.in); got != c.want {
			t.Errorf("%s(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestXMLIsWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "s")
		doc := fmt.Sprintf(`<t a="%s">%s</t>`, XML(s), XML(s))
		var got struct {
			A    string `xml:"a,attr"`
			Text string `xml:",chardata"`
		}
		if err := xml.Unmarshal([]byte(doc), &got); err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		if got.Text != got.A || got.Text != show(s, 0) {
			t.Fatalf("%q reads as %q and %q", s, got.A, got.Text)
		}
	})
}

// TestHTMLAgreesWithTemplates: what html/template writes for a shown name is
// what HTML writes, but for the spelling of entities.
func TestHTMLAgreesWithTemplates(t *testing.T) {
	page := template.Must(template.New("").Parse(`{{.}}`))
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "s")
		var b bytes.Buffer
		if err := page.Execute(&b, Visible(s)); err != nil {
			t.Fatal(err)
		}
		if got, want := HTML(Visible(s)), strings.ReplaceAll(b.String(), "&#43;", "+"); got != want {
			t.Fatalf("HTML %q, template %q", got, want)
		}
	})
}

// TestMarkdownIsInert parses tables and paragraphs that hold foreign text with
// a real parser of GitHub's dialect: nothing but our own structure, plain text
// and code may come out, and the code must be the name as shown.
func TestMarkdownIsInert(t *testing.T) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(anyText(), rapid.SampledFrom([]string{
			"--><script>alert(1)</script><!--", "[docs](javascript:alert(1))", "![p](https://tracker.test/p.png)",
			"</details></summary><h1>big</h1>", "@everyone_@octocat", "a@b.test", "mailto:a@b.test", "www.tracker.test",
			"https://tracker.test/a?b=c", "&lt;b&gt;&#96;", "$\\href{https://tracker.test}{x}$", `a\`, `a\\|b`, "`|`", "|", "a|",
		})).Draw(t, "s")
		source := "| a | b |\n|---|---|\n| " + CodeSpan(s) + " | " + MarkdownCell(s) + " |\n\n" +
			"Text " + CodeSpan(s) + " text.\n\n" + MarkdownCell(s) + "\n"
		var codes []string
		cells := 0
		doc := md.Parser().Parse(gtext.NewReader([]byte(source)))
		err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.Document, *ast.Paragraph, *ast.Text, *ast.TextBlock, *east.Table, *east.TableHeader, *east.TableRow, *ast.String:
			case *east.TableCell:
				cells++
			case *ast.CodeSpan:
				codes = append(codes, codeText(n, source))
			default:
				return ast.WalkStop, fmt.Errorf("a %s came out", n.Kind())
			}
			return ast.WalkContinue, nil
		})
		if err != nil {
			t.Fatalf("%q in\n%s: %v", s, source, err)
		}
		if cells != 4 {
			t.Fatalf("%q in\n%s: %d cells", s, source, cells)
		}
		if want := shownName(s); len(codes) == 0 || codes[0] != want {
			t.Fatalf("%q in\n%s: code %q, want %q", s, source, codes, want)
		}
	})
}

// codeText is the text of a code span, which the parser keeps in pieces.
func codeText(span *ast.CodeSpan, source string) string {
	var b strings.Builder
	for c := span.FirstChild(); c != nil; c = c.NextSibling() {
		b.Write(c.(*ast.Text).Segment.Value([]byte(source)))
	}
	return b.String()
}

// shownName is the text a reader should see of a code span in a table.
func shownName(s string) string {
	if s == "" {
		return "(empty)"
	}
	return strings.ReplaceAll(show(s, outerBlanks|wideBlanks), `\|`, `\u{5C}|`)
}

// TestMarkdownHostile: no character that starts a mention, a reference or a
// link may stand outside code.
func TestMarkdownHostile(t *testing.T) {
	lines := 0
	for _, file := range []string{"names/X01-go-markup.txt", "names/X12-autolinks.txt"} {
		for _, line := range strings.Split(string(hostile(t, file)), "\n") {
			name, isResult := strings.CutPrefix(line, "Benchmark")
			if !isResult {
				continue
			}
			name, _, _ = strings.Cut(name, " ")
			lines++
			if cell := MarkdownCell(name); !strings.HasPrefix(cell, "`") && strings.ContainsAny(cell, "@#<[|:/") {
				t.Errorf("MarkdownCell(%q) = %q", name, cell)
			}
		}
	}
	if lines < 60 {
		t.Errorf("only %d names read", lines)
	}
}

func TestCSVCellReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(anyText(), rapid.StringMatching(`[ \t\r\n]{0,3}[=+@-][a-z1,"]{0,5}`)).Draw(t, "s")
		line := CSVCell(s) + "," + CSVCell("x") + "\n"
		records, err := csv.NewReader(strings.NewReader(line)).ReadAll()
		if err != nil || len(records) != 1 || len(records[0]) != 2 {
			t.Fatalf("CSVCell(%q) = %q: %v, %v", s, CSVCell(s), records, err)
		}
		got := records[0][0]
		if first := strings.TrimLeft(got, " \t\r\n"); first != "" && strings.Contains("=+-@", first[:1]) {
			t.Fatalf("CSVCell(%q) reads as the formula %q", s, got)
		}
	})
	for _, c := range []struct{ in, want string }{
		{"=1+1", "'=1+1"}, {"\t=1+1", "\"'\t=1+1\""}, {"\r=1+1", "\"'\r=1+1\""}, {" =1+1", "' =1+1"},
		{"-2+3", "'-2+3"}, {"@SUM(1,1)", `"'@SUM(1,1)"`}, {"a=b", "a=b"}, {" a", `" a"`},
	} {
		if got := CSVCell(c.in); got != c.want {
			t.Errorf("CSVCell(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
