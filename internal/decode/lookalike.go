package decode

import (
	"fmt"
	"strings"
	"unicode"

	"perfband/internal/perf"
)

// lookAlikes gives one notice when names differ only by characters a reader
// cannot see or tell apart. Such names stay different results.
func lookAlikes(benchmarks []perf.Benchmark, told *problems) {
	ascii := true
	for i := range benchmarks {
		ascii = ascii && isASCII(benchmarks[i].Name)
	}
	if ascii {
		return
	}
	first := make(map[string]string, len(benchmarks))
	var pairs []string
	for i := range benchmarks {
		name := benchmarks[i].Name
		shape := skeleton(name)
		other, ok := first[shape]
		if !ok {
			first[shape] = name
		} else if other != name {
			pairs = append(pairs, fmt.Sprintf("%+q and %+q", other, name))
		}
	}
	if len(pairs) == 0 {
		return
	}
	shown := strings.Join(pairs[:min(len(pairs), 3)], "; ")
	if len(pairs) > 3 {
		shown += fmt.Sprintf(" and %d more", len(pairs)-3)
	}
	told.add(perf.Diagnostic{
		Severity: perf.Notice, Code: "look-alike",
		What: fmt.Sprintf("%d names differ from others only by invisible or look-alike characters", len(pairs)),
		Why:  shown, Do: "They are kept as different benchmarks; rename one of each if that is not meant.",
	})
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// skeleton replaces what looks alike by one letter and drops what cannot be
// seen: format characters and combining marks.
func skeleton(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return r
		}
		if unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me) {
			return -1
		}
		if base, ok := lookAlike[r]; ok {
			return base
		}
		return r
	}, s)
}

// lookAlike maps letters of other scripts, and Latin letters with a mark, to
// the plain Latin letter they resemble. It covers Cyrillic, Greek and Latin-1
// with Extended-A, the sets met in identifiers.
var lookAlike = func() map[rune]rune {
	m := map[rune]rune{}
	for _, class := range []string{
		"aаαàáâãäåāăą", "AАΑÀÁÂÃÄÅĀĂĄ", "BВΒ", "cсςçćĉċč", "CСϹÇĆĈĊČ", "dԁďđ", "DĎĐ", "eеεèéêëēĕėęě", "EЕΕÈÉÊËĒĔĖĘĚ",
		"gɡĝğġģ", "GĜĞĠĢ", "hһĥħ", "HНΗĤĦ", "iіιìíîïĩīĭįı", "IІΙÌÍÎÏĨĪĬĮİ", "jјĵ", "JЈĴ", "kкκķ", "KКΚĶ", "lӏĺļľŀł", "LĹĻĽĿŁ",
		"MМΜ", "nոñńņňŉ", "NΝÑŃŅŇ", "oоοòóôõöøōŏő", "OОΟÒÓÔÕÖØŌŎŐ", "pрρ", "PРΡ", "qԛ", "rгŕŗř", "RŔŖŘ", "sѕśŝşš", "SЅŚŜŞŠ",
		"tţťŧ", "TТΤŢŤŦ", "uυùúûüũūŭůűų", "UÙÚÛÜŨŪŬŮŰŲ", "vνѵ", "VѴ", "wԝŵ", "WԜŴ", "xхχ", "XХΧ", "yуγýÿŷ", "YУΥÝŶŸ", "zźżž", "ZΖŹŻŽ",
		" \u00a0\u2002\u2003\u2009\u202f", "-\u2010\u2011\u2012\u2013\u2212", "'\u2018\u2019\u02bc", ".\u2024", "/\u2044\u2215",
	} {
		base := []rune(class)[0]
		for _, r := range class {
			m[r] = base
		}
	}
	return m
}()
