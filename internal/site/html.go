package site

import (
	"html/template"
	"strings"
	"time"
	"unicode"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/text"
)

// esc escapes text for element content and quoted attributes.
func esc(s string) template.HTML { return template.HTML(text.HTML(s)) }

// name writes a foreign name: made visible, cut, escaped, and with places
// where a long one may break.
func name(s string) template.HTML { return softBreaks(text.Cut(text.Visible(s), limits.NameRunes)) }

// softBreaks escapes s and allows breaks after separators and between the
// words of camel case.
func softBreaks(s string) template.HTML {
	var b strings.Builder
	start, prev, run := 0, ' ', 0
	cut := func(at int) {
		b.WriteString(text.HTML(s[start:at]))
		b.WriteString("<wbr>")
		start, run = at, 0
	}
	for i, r := range s {
		switch {
		case i > 0 && strings.ContainsRune("./(_,:=-[{\\", prev) && !strings.ContainsRune("./(_,:=-[{\\", r),
			run > 10 && unicode.IsLower(prev) && unicode.IsUpper(r), run > 24:
			cut(i)
		}
		prev = r
		run++
		if r == ' ' {
			run = 0
		}
	}
	b.WriteString(text.HTML(s[start:]))
	return template.HTML(b.String())
}

// small writes a remark beside a value.
func small(s string) template.HTML {
	if s == "" {
		return ""
	}
	return " <small>" + esc(s) + "</small>"
}

// link writes an anchor. href is one of our own paths or was checked.
func link(href string, body template.HTML) template.HTML {
	return `<a href="` + esc(href) + `">` + body + "</a>"
}

// absent stands where there is nothing to show.
const absent template.HTML = `<span class="muted">–</span>`

// stamp writes a time in UTC; tables say so in their heads.
func stamp(t time.Time) template.HTML {
	if t.IsZero() {
		return "unknown time"
	}
	return template.HTML("<time>" + t.UTC().Format("2006-01-02 15:04") + "</time>")
}

// unit is the metric's unit as formatted numbers may show it.
func unit(u perf.Unit) string { return text.Cut(text.Visible(string(u)), 16) }

// value writes a metric's central value with its interval, or with the word
// that says why there is none.
func (s *site) value(m *derive.Metric) template.HTML {
	v, lo, hi, ok := center(m)
	if m == nil {
		return absent
	}
	c, present := m.Center().Get()
	switch {
	case !present:
		return absent
	case ok:
		mark := ""
		if m.CI.Level != s.d.Level {
			mark = text.HTMLNumbers.Level(m.CI.Level) + " interval"
		}
		return esc(text.HTMLNumbers.Interval(v, lo, hi, unit(m.Unit))) + small(mark)
	case m.Exact:
		return esc(text.HTMLNumbers.Value(c, unit(m.Unit))) + small("exact")
	}
	return single(m.Center(), m.Unit)
}

// single writes a number that has no interval.
func single(n perf.Num, u perf.Unit) template.HTML {
	v, ok := n.Get()
	if !ok {
		return `<span class="muted">not reported</span>`
	}
	return esc(text.HTMLNumbers.Value(v, unit(u))) + small("single value")
}

// center returns the mean with its interval; ok is false when there is none.
func center(m *derive.Metric) (v, lo, hi float64, ok bool) {
	if m == nil || m.Exact {
		return 0, 0, 0, false
	}
	v, okV := m.Mean.Get()
	lo, okLo := m.CI.Lo.Get()
	hi, okHi := m.CI.Hi.Get()
	return v, lo, hi, okV && okLo && okHi
}

// centerName says which statistic [derive.Metric.Center] is.
func centerName(m *derive.Metric) string {
	if _, ok := m.Mean.Get(); ok {
		return "mean"
	}
	if _, ok := m.Median.Get(); ok {
		return "median"
	}
	return "95th percentile"
}

func count(n int) template.HTML { return esc(text.HTMLNumbers.Count(n)) }

func percent(n perf.Num) template.HTML {
	v, ok := n.Get()
	if !ok {
		return absent
	}
	return esc(text.HTMLNumbers.Percent(v))
}

// samples writes n, the number of samples or requests behind a value.
func samples(m *derive.Metric) template.HTML {
	if m == nil || m.N == 0 {
		return absent
	}
	return count(m.N)
}

// stability writes the class in a word with a sign that needs no colour.
func stability(r *derive.Result) template.HTML {
	switch r.Stability {
	case derive.Stable:
		return "stable"
	case derive.Unstable:
		return `<span class="unsure">≈ unstable</span>`
	case derive.ExpectedUnstable:
		return `<span class="unsure">≈ expected</span>`
	}
	return absent
}

// joined writes the known ones of some foreign texts.
func joined(parts ...string) template.HTML {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, string(name(p)))
		}
	}
	return template.HTML(strings.Join(out, ", "))
}
