package site

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"perfband/internal/derive"
	"perfband/internal/perf"
	"perfband/internal/text"
)

//go:embed assets
var assets embed.FS

// templates are parsed once, each page with its own copy of the layout.
var templates = sync.OnceValues(func() (map[string]*template.Template, error) {
	layout, err := template.ParseFS(assets, "assets/layout.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the pages' layout: %w", err)
	}
	pages := map[string]*template.Template{}
	for _, name := range []string{"overview", "runs", "run", "bench", "load", "unstable", "method"} {
		page, err := layout.Clone()
		if err == nil {
			page, err = page.ParseFS(assets, "assets/"+name+".tmpl")
		}
		if err != nil {
			return nil, fmt.Errorf("read page template %s: %w", name, err)
		}
		pages[name] = page
	}
	return pages, nil
})

// page is what the layout needs.
type page struct {
	Path  string // of the file
	Title string // of the document; foreign parts made visible
	Here  string // entry of the navigation that the page belongs to
	Body  any
}

// emit renders a page into the site.
func (s *site) emit(name string, p page) error {
	all, err := templates()
	if err != nil {
		return err
	}
	b := &s.buf
	b.Reset()
	err = all[name].ExecuteTemplate(b, "layout", struct {
		page
		Root, Site string
		Formulas   int
	}{p, root(p.Path), s.title(), derive.Formulas})
	if err != nil {
		return fmt.Errorf("write page %s: %w", p.Path, err)
	}
	s.add(p.Path, bytes.Clone(b.Bytes()))
	return nil
}

func (s *site) add(path string, data []byte) {
	s.files = append(s.files, File{Path: path, Data: data})
}

// root leads from a page back to the site's folder.
func root(path string) string { return strings.Repeat("../", strings.Count(path, "/")) }

// title of the site.
func (s *site) title() string {
	switch {
	case s.d.Title != "":
		return text.Cut(text.Visible(s.d.Title), 80)
	case s.d.Repository != "":
		return "Performance of " + text.Cut(text.Visible(s.d.Repository), 80)
	}
	return "Performance"
}

// assets adds the style sheet and the icon.
func (s *site) assets() error {
	for _, name := range []string{"app.css", "icon.svg"} {
		data, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		s.add(name, data)
	}
	return nil
}

var (
	repositoryName = regexp.MustCompile(`^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$`)
	digits         = regexp.MustCompile(`^[0-9]+$`)
)

// isCommit reports whether s is a full commit id.
func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// repoURL is the repository's page, "" when it is unknown or not a web address.
func (s *site) repoURL() string {
	u, err := url.Parse(s.d.ServerURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || !repositoryName.MatchString(s.d.Repository) {
		return ""
	}
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(u.EscapedPath(), "/") + "/" + s.d.Repository
}

// commit writes the measured commit, linked where that can be.
func (s *site) commit(r *derive.Run) template.HTML {
	c := r.Meta.Commit
	if c.SHA == "" {
		return `<span class="muted">commit unknown</span>`
	}
	out := commitText(c)
	if base := s.repoURL(); base != "" && isCommit(c.SHA) {
		out = link(base+"/commit/"+c.SHA, out)
	}
	return out + doubt(c)
}

// commitRange writes the commits between two measured ones, the first of which
// may be unknown, linked where that can be.
func (s *site) commitRange(before, after *derive.Run) template.HTML {
	to := after.Meta.Commit
	switch {
	case to.SHA == "":
		return `<span class="muted">commit unknown</span>`
	case before == nil || before.Meta.Commit.SHA == "":
		return "up to " + s.commit(after)
	case before.Meta.Commit.SHA == to.SHA:
		return s.commit(after) + " itself, measured again"
	}
	from := before.Meta.Commit
	out := `<span class="range">` + commitText(from) + "…" + commitText(to) + "</span>"
	if base := s.repoURL(); base != "" && isCommit(from.SHA) && isCommit(to.SHA) {
		out = link(base+"/compare/"+from.SHA+"..."+to.SHA, out)
	}
	if from.Untrusted || to.Untrusted {
		out += small("not certain")
	}
	return out
}

func commitText(c perf.Commit) template.HTML {
	return "<code>" + esc(text.Cut(text.Visible(shortSHA(c.SHA)), 12)) + "</code>"
}

// doubt marks a commit that may not be what was measured.
func doubt(c perf.Commit) template.HTML {
	if c.Untrusted {
		return small("not certain")
	}
	return ""
}

func shortSHA(sha string) string {
	if isCommit(sha) {
		return sha[:7]
	}
	return sha
}

// rawBranch is where the raw entries are.
const rawBranch = "perf-raw"

// raw writes the run's folder on the raw branch, linked where that can be.
func (s *site) raw(r *derive.Run) template.HTML {
	if r.OriginPath == "" {
		return absent
	}
	out := "<code>" + name(r.OriginPath) + "</code>"
	if base := s.repoURL(); base != "" {
		out = link(base+"/tree/"+rawBranch+"/"+(&url.URL{Path: r.OriginPath}).EscapedPath(), out)
	}
	return out
}

// workflow links to the workflow run that measured, "" where that cannot be.
func (s *site) workflow(r *derive.Run) template.HTML {
	base := s.repoURL()
	if base == "" || !digits.MatchString(r.Meta.Run.RunID) {
		return name(r.ID)
	}
	return link(base+"/actions/runs/"+r.Meta.Run.RunID, name(r.ID))
}
