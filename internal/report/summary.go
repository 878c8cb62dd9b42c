// Package report turns what was derived into Markdown for GitHub. It is
// opinionated about two things: the first line says what can be said, and
// foreign text can neither become markup nor notify anybody.
package report

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/text"
)

// Info is what the publishing job knows about its own doings. What is unknown
// is left out.
type Info struct {
	RunURL  string // page of the workflow run
	SiteURL string // page of the dashboard

	RawBranch string
	RawCommit string
	RawFiles  int
	RawBytes  int64

	SiteBranch string
	SiteCommit string
	SiteBytes  int64 // written by this publish

	// Diagnostics are problems of the job as a whole; those of the run are
	// taken from it.
	Diagnostics []perf.Diagnostic
}

// reserve is kept free of rows for what follows them.
const reserve = 64 << 10

// Summary is the job summary of a published run in Markdown. It stays below
// [limits.SummaryBytes], and says how many rows it leaves out.
func Summary(d *derive.Derived, run *derive.Run, info Info) string {
	var b strings.Builder
	b.WriteString("## perfband publish: " + headline(d, run) + "\n\n")
	diags := append(append([]perf.Diagnostic{}, info.Diagnostics...), run.Diagnostics...)
	facts(&b, run, info, len(diags))
	claims(&b, d, run)
	failed := slices.DeleteFunc(slices.Clone(run.Results), func(r *derive.Result) bool { return r.Status != perf.Fail })
	missing := run.Meta.Missing
	section(&b, fmt.Sprintf("### ✗ Failed: %d", len(failed)), problemHead, len(failed), limits.ProblemRows, func(i int) string {
		return problemRow(failed[i].Key, failed[i].Reason, "the report gives no reason")
	})
	section(&b, fmt.Sprintf("### ✗ Missing: %d", max(run.Counts.Missing, len(missing))), problemHead, len(missing), limits.ProblemRows, func(i int) string {
		m := missing[i]
		return problemRow(perf.Key{Module: m.Module, Name: m.Benchmark, Params: m.Params, Job: m.Job}, m.Reason, "expected, but in no report")
	})
	left := slices.DeleteFunc(slices.Clone(run.Results), func(r *derive.Result) bool { return r.Excluded == "" || !run.InTrend })
	section(&b, fmt.Sprintf("### Left out: %d", len(left)), problemHead, len(left), limits.ProblemRows, func(i int) string {
		return problemRow(left[i].Key, left[i].Excluded, "the configuration gives no reason")
	})
	values(&b, d, run)
	section(&b, "### Warnings", "", len(diags), limits.ProblemRows, func(i int) string {
		return fmt.Sprintf("%d. %s\n", i+1, cell(diags[i].Error(), limits.SentenceRunes))
	})
	return b.String()
}

// headline is the answer in words. A run that is not a measurement must not look
// like one, and what was not judged not like good news.
func headline(d *derive.Derived, run *derive.Run) string {
	all := plural(run.Counts.Benchmarks, noun(run.Kind))
	out, judged := counts(d, run)
	switch {
	case run.DuplicateOf != "":
		return all + ", a copy of an earlier run"
	case run.Excluded != "":
		out = all + " reported, not in trends (" + cell(run.Excluded, 80) + ")"
	case !judged:
		out = all + " measured, not judged"
		if words, _ := why(run); len(words) > 0 {
			out += ": " + cell(words[0], limits.SentenceRunes)
		}
	}
	if n := run.Counts.Failed; n > 0 {
		out += ", " + text.PlainNumbers.Count(n) + " failed"
	}
	if n := run.Counts.Missing; n > 0 {
		out += ", " + text.PlainNumbers.Count(n) + " missing"
	}
	return out
}

func facts(b *strings.Builder, run *derive.Run, info Info, warnings int) {
	b.WriteString("| | |\n|:--|:--|\n")
	row := func(name string, parts ...string) {
		var known []string
		for _, p := range parts {
			if p != "" {
				known = append(known, p)
			}
		}
		if len(known) > 0 {
			b.WriteString("| " + name + " | " + strings.Join(known, ", ") + " |\n")
		}
	}
	row("Measured", measured(run), link("run "+code(run.ID), info.RunURL), when(run))
	row("Machines", machines(run)...)
	row("Archived", branch(info.RawBranch, info.RawCommit), files(info.RawFiles), size(info.RawBytes, ""))
	dashboard := ""
	if webAddress(info.SiteURL) {
		dashboard = link("what was measured", info.SiteURL)
	}
	row("Dashboard", dashboard, branch(info.SiteBranch, info.SiteCommit), size(info.SiteBytes, " new"))
	if c := run.Claims; c.Judged > 0 {
		row("Judged", text.PlainNumbers.Count(c.Judged)+" of "+plural(run.Counts.Benchmarks, noun(run.Kind)))
	}
	row("Undecided", undecided(run)...)
	c := run.Counts
	if c.Stable+c.Unstable+c.ExpectedUnstable > 0 {
		expected := ""
		if c.ExpectedUnstable > 0 {
			expected = text.PlainNumbers.Count(c.ExpectedUnstable) + " expected to be unstable"
		}
		row("Repeatability", text.PlainNumbers.Count(c.Stable)+" stable", text.PlainNumbers.Count(c.Unstable)+" unstable", expected)
	}
	if c.Carried > 0 {
		row("Carried forward", plural(c.Carried, noun(run.Kind))+" (sources unchanged)")
	}
	if warnings > 0 {
		row("Warnings", fmt.Sprintf("%d: see below", warnings))
	}
	b.WriteString("\n")
}

func measured(run *derive.Run) string {
	c, out := run.Meta.Commit, ""
	if c.SHA != "" {
		sha := c.SHA
		if len(sha) >= 40 {
			sha = sha[:7]
		}
		out = code(sha)
		if c.Untrusted {
			out += " (not certain)"
		}
	}
	if ref := strings.TrimPrefix(run.Meta.Run.Ref, "refs/heads/"); ref != "" {
		out = strings.TrimSpace(out + " on " + code(ref))
	}
	return out
}

func when(run *derive.Run) string {
	if run.Started.IsZero() {
		return ""
	}
	return run.Started.UTC().Format("2006-01-02 15:04 UTC")
}

func machines(run *derive.Run) []string {
	var out []string
	for i, c := range run.CPUs {
		if i == limits.MachineRows {
			return append(out, plural(len(run.CPUs)-i, "other"))
		}
		model := "unknown"
		if c.Model != "" {
			model = cell(c.Model, 60)
		}
		if len(run.CPUs) > 1 {
			model += " (" + plural(c.Results, "result") + ")"
		}
		out = append(out, model)
	}
	return out
}

const problemHead = "| Benchmark | Why |\n|:--|:--|\n"

func problemRow(k perf.Key, why, unknown string) string {
	if why == "" {
		why = unknown
	}
	return "| " + code(k.String()) + " | " + cell(why, limits.SentenceRunes) + " |\n"
}

// section writes a heading and the first of n rows, at most so many. Without
// rows there is none.
func section(b *strings.Builder, heading, head string, n, most int, row func(int) string) {
	if n == 0 {
		return
	}
	b.WriteString(heading + "\n\n" + head)
	if hidden := writeRows(b, n, most, row); hidden > 0 {
		fmt.Fprintf(b, "\nand %s more\n", text.PlainNumbers.Count(hidden))
	}
	b.WriteString("\n")
}

// writeRows writes the first of n rows, as many as most allows and the summary
// has room for, and returns how many it left out.
func writeRows(b *strings.Builder, n, most int, row func(int) string) (hidden int) {
	for i := range min(n, most) {
		r := row(i)
		if b.Len()+len(r) > limits.SummaryBytes-reserve {
			return n - i
		}
		b.WriteString(r)
	}
	return max(n-most, 0)
}

// values lists what was measured, folded.
func values(b *strings.Builder, d *derive.Derived, run *derive.Run) {
	measured := slices.DeleteFunc(slices.Clone(run.Results), func(r *derive.Result) bool {
		return r.Status != perf.OK || r.Side || r.Excluded != "" || r.Headline() == nil
	})
	if len(measured) == 0 {
		return
	}
	fmt.Fprintf(b, "<details><summary>Values with their %s intervals</summary>\n\n| %s | Value | n | Repeatability |\n|:--|--:|--:|:--|\n",
		text.PlainNumbers.Level(d.Level), title(run.Kind))
	hidden := writeRows(b, len(measured), limits.SummaryRows, func(i int) string {
		r := measured[i]
		m := r.Headline()
		return fmt.Sprintf("| %s | %s | %s | %s |\n", code(r.Key.String()), value(m, d.Level), samples(m), r.Stability)
	})
	if hidden > 0 {
		fmt.Fprintf(b, "\n%s more are on the dashboard and in the archive.\n", text.PlainNumbers.Count(hidden))
	}
	b.WriteString("\n</details>\n\n")
}

// value writes a metric's mean with its interval, or the word that says why
// there is none.
func value(m *derive.Metric, level float64) string {
	unit := cell(string(m.Unit), 16)
	mean, okMean := m.Mean.Get()
	lo, okLo := m.CI.Lo.Get()
	hi, okHi := m.CI.Hi.Get()
	center, ok := m.Center().Get()
	switch {
	case !ok:
		return "–"
	case m.Exact:
		return text.PlainNumbers.Value(center, unit) + " (exact)"
	case !okMean || !okLo || !okHi:
		return text.PlainNumbers.Value(center, unit) + " (single value)"
	}
	out := text.PlainNumbers.Interval(mean, lo, hi, unit)
	if m.CI.Level != level {
		out += " (" + text.PlainNumbers.Level(m.CI.Level) + ")"
	}
	return out
}

func samples(m *derive.Metric) string {
	if m.N == 0 {
		return "–"
	}
	return text.PlainNumbers.Count(m.N)
}

func noun(k perf.Kind) string {
	if k == perf.Load {
		return "scenario"
	}
	return "benchmark"
}

// title heads a column of them.
func title(k perf.Kind) string {
	s := noun(k)
	return strings.ToUpper(s[:1]) + s[1:]
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return text.PlainNumbers.Count(n) + " " + noun
}

// code writes a foreign name.
func code(s string) string { return text.CodeSpan(text.Cut(text.Visible(s), limits.NameRunes)) }

// cell writes a foreign sentence of at most n runes.
func cell(s string, n int) string { return text.MarkdownCell(text.Cut(text.Visible(s), n)) }

// link writes a link, or its body alone when the address is no plain web address.
func link(body, address string) string {
	if !webAddress(address) {
		return body
	}
	return "[" + body + "](" + address + ")"
}

func webAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && !strings.ContainsAny(s, " ()<>|\\`\"'")
}

func branch(name, commit string) string {
	if name == "" {
		return ""
	}
	out := code(name)
	if len(commit) >= 40 {
		out += " at " + code(commit[:7])
	}
	return out
}

func files(n int) string {
	if n == 0 {
		return ""
	}
	return plural(n, "file")
}

func size(n int64, suffix string) string {
	if n == 0 {
		return ""
	}
	return text.PlainNumbers.Value(float64(n), "B") + suffix
}
