package decode

import (
	"bytes"
	"path"
	"strings"
	"time"

	"perfband/internal/perf"
)

var benchmarkDotNet = Format{
	Name:    "benchmarkdotnet",
	Aliases: []string{"bdn"},
	Tool:    "BenchmarkDotNet",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files: "`*-report-full-compressed.json`, `*-report-full.json`, `*-report-brief.json`; `*-report.csv` and `*-report-github.md` when there is no JSON",
		Reads: "time with every measured, warm-up, pilot and overhead iteration and the statistics of the tool; alloc_bytes; gc0 to gc2; other columns of diagnosers as custom metrics",
		Absent: "categories and hence DocRefs (they come from the manifest); the commit; in CSV and Markdown everything but rounded statistics. " +
			"Use the full JSON: only it has the iterations",
		Notes: []string{
			"Of several reports of one class only the richest is read.",
			"Generated job ids (`Job-ABCDEF`) are dropped; the characteristics stay.",
			"`Statistics: null` and `NA` are failed results.",
			"gc0 to gc2 are collections during the whole measurement, as the JSON has them, not per 1000 operations.",
			"CSV and Markdown are read in any locale; the class comes from the file's name.",
		},
	},
	Sniff:  sniffDotNet,
	Decode: decodeDotNet,
}

func sniffDotNet(name string, head []byte) Confidence {
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		if bytes.Contains(head, []byte(`"HostEnvironmentInfo"`)) {
			return Certain
		}
		if bytes.Contains(head, []byte(`"Benchmarks"`)) && (bytes.Contains(head, []byte(`"FullName"`)) || bytes.Contains(head, []byte(`"Statistics"`))) {
			return Likely
		}
	case path.Ext(name) == ".md" || bytes.HasPrefix(text, []byte("```")):
		if bytes.Contains(head, []byte("BenchmarkDotNet")) && bytes.Contains(head, []byte("| Method")) {
			return Certain
		}
	default:
		line, _, _ := bytes.Cut(text, []byte("\n"))
		if isDotNetHeader(strings.TrimSpace(string(line))) {
			return Certain
		}
	}
	return No
}

func decodeDotNet(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	text := bytes.TrimLeft(in.Data, " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("{")):
		return decodeDotNetJSON(in)
	case path.Ext(in.Name) == ".md" || bytes.HasPrefix(text, []byte("```")):
		return decodeDotNetMarkdown(in)
	}
	return decodeDotNetCSV(in)
}

// dotnetStarted reads the start of measuring, in UTC, from the end of a title
// such as "Ns.Type-20260405-182445". It is the zero time when there is none.
func dotnetStarted(title string) time.Time {
	const layout = "20060102-150405"
	if len(title) < len(layout)+1 || title[len(title)-len(layout)-1] != '-' {
		return time.Time{}
	}
	t, err := time.Parse(layout, title[len(title)-len(layout):])
	if err != nil {
		return time.Time{}
	}
	return t
}

// operatingSystem guesses GOOS from a tool's description.
func operatingSystem(text string) string {
	lower := strings.ToLower(text)
	for _, os := range []struct{ word, name string }{
		{"windows", "windows"}, {"macos", "darwin"}, {"mac os", "darwin"}, {"darwin", "darwin"},
		{"linux", "linux"}, {"ubuntu", "linux"}, {"debian", "linux"}, {"alpine", "linux"}, {"fedora", "linux"},
	} {
		if strings.Contains(lower, os.word) {
			return os.name
		}
	}
	return ""
}
