package decode

import (
	"regexp"
	"slices"
	"strings"

	"perfband/internal/perf"
)

// dotnetJob is the job part of a DisplayInfo.
type dotnetJob struct {
	raw   string // as in the file
	text  string // without the generated id
	id    string
	chars []perf.Param // characteristics: "IterationCount=15" and so on
	kind  perf.JobKind
}

// dotnetJobOf takes the job out of "Type.Method: Job(characteristics) [params]".
// The method may be quoted and hold colons, brackets and parentheses.
func dotnetJobOf(e *dotnetEntry) dotnetJob {
	rest := ""
	if after, ok := cutDotNetMethod(e.display.s, e.typ.s, e.title.s, e.method.s); ok {
		rest = after
	}
	raw, id, chars := splitDotNetJob(strings.TrimSpace(rest))
	j := dotnetJob{raw: raw, text: raw, id: id}
	if generatedJob.MatchString(id) {
		j.id = "Job"
		j.text = "Job" + strings.TrimPrefix(raw, id)
	}
	j.chars = splitCharacteristics(chars)
	j.kind = dotnetJobKind(j.id, j.chars)
	return j
}

// generatedJob matches the ids that the tool makes up from a hash.
var generatedJob = regexp.MustCompile(`^Job-[A-Z]{6}$`)

// cutDotNetMethod returns what follows "Type.Method: ".
func cutDotNetMethod(display, typ, title, method string) (string, bool) {
	for _, name := range []string{title, "'" + title + "'", method, "'" + method + "'"} {
		if name == "" || name == "''" {
			continue
		}
		if rest, ok := strings.CutPrefix(display, typ+"."+name+": "); ok {
			return rest, true
		}
	}
	// The type may be written otherwise here (generic or nested). A quoted
	// method ends at the quote before the colon.
	if i := strings.Index(display, ".'"); i >= 0 {
		if _, rest, ok := strings.Cut(display[i+2:], "': "); ok {
			return rest, true
		}
	}
	_, rest, ok := strings.Cut(display, ": ")
	return rest, ok
}

// splitDotNetJob splits "Id(characteristics) [params]" and drops the params.
func splitDotNetJob(s string) (raw, id, chars string) {
	end := strings.Index(s, " [")
	open := strings.IndexByte(s, '(')
	if open < 0 || end >= 0 && end < open {
		if end >= 0 {
			s = s[:end]
		}
		id = strings.TrimSpace(s)
		return id, id, ""
	}
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return s[:i+1], strings.TrimSpace(s[:open]), s[open+1 : i]
			}
		}
	}
	return s, strings.TrimSpace(s[:open]), s[open+1:]
}

// nextCharacteristic is the start of a characteristic after another one: values
// may hold commas themselves.
var nextCharacteristic = regexp.MustCompile(`, ([A-Za-z][A-Za-z0-9_]*)=`)

func splitCharacteristics(s string) []perf.Param {
	if s == "" {
		return nil
	}
	var out []perf.Param
	start := 0
	for _, at := range append(nextCharacteristic.FindAllStringIndex(s, -1), []int{len(s), len(s)}) {
		if name, value, ok := strings.Cut(s[start:at[0]], "="); ok {
			out = append(out, perf.Param{Name: name, Value: value})
		}
		start = min(at[0]+len(", "), len(s))
	}
	return out
}

func characteristic(chars []perf.Param, name string) string {
	for _, c := range chars {
		if c.Name == name && c.Value != "Default" {
			return c.Value
		}
	}
	return ""
}

// dotnetJobKind goes by the known job ids, then by characteristics that only
// the dry and short presets have.
func dotnetJobKind(id string, chars []perf.Param) perf.JobKind {
	switch id {
	case "Dry":
		return perf.Dry
	case "ShortRun":
		return perf.Short
	case "MediumRun":
		return perf.Medium
	}
	preset := func(launches, warmups, iterations string) bool {
		return characteristic(chars, "LaunchCount") == launches && characteristic(chars, "WarmupCount") == warmups &&
			characteristic(chars, "IterationCount") == iterations
	}
	switch {
	case characteristic(chars, "RunStrategy") == "ColdStart" && characteristic(chars, "IterationCount") == "1":
		return perf.Dry
	case preset("1", "3", "3"):
		return perf.Short
	case preset("2", "10", "15"):
		return perf.Medium
	}
	return perf.Default
}

// dims names what the job runs on: runtime, aot and gc. The host's runtime
// counts when the job names none.
func (j *dotnetJob) dims(host string) []perf.Param {
	var out []perf.Param
	name, aot := dotnetRuntime(characteristic(j.chars, "Runtime"))
	if name == "" {
		name, aot = dotnetRuntime(characteristic(j.chars, "Toolchain"))
	}
	if name == "" {
		name, aot = dotnetRuntime(host)
	}
	if name != "" {
		out = append(out, perf.Param{Name: "runtime", Value: name})
	}
	if aot {
		out = append(out, perf.Param{Name: "aot", Value: "NativeAOT"})
	}
	var gc []string
	for _, c := range j.chars {
		if slices.Contains([]string{"Server", "Concurrent", "Force", "RetainVm", "HeapCount", "CpuGroups", "AllowVeryLargeObjects"}, c.Name) && c.Value != "Default" {
			gc = append(gc, c.Name+"="+c.Value)
		}
	}
	if len(gc) > 0 {
		out = append(out, perf.Param{Name: "gc", Value: strings.Join(gc, " ")})
	}
	return out
}

var (
	modernRuntime    = regexp.MustCompile(`^\.NET (?:Core )?(\d+\.\d+)`)
	frameworkRuntime = regexp.MustCompile(`^\.NET Framework (\d+(?:\.\d+){1,2})`)
	monikerRuntime   = regexp.MustCompile(`^net(?:coreapp)?(\d+\.\d+)`)
	nativeRuntime    = regexp.MustCompile(`^(?:NativeAOT|nativeaot|ILCompiler)[ -]?(\d+\.\d+)`)
)

// dotnetRuntime is ".NET 8.0" for the many spellings of one runtime: with patch
// version and build, or as a target framework moniker. It is "" for a text that
// names no runtime, such as an in-process toolchain.
func dotnetRuntime(text string) (name string, aot bool) {
	if m := modernRuntime.FindStringSubmatch(text); m != nil {
		return ".NET " + m[1], strings.Contains(text, "NativeAOT")
	}
	if m := frameworkRuntime.FindStringSubmatch(text); m != nil {
		return ".NET Framework " + m[1], false
	}
	if m := monikerRuntime.FindStringSubmatch(text); m != nil {
		return ".NET " + m[1], false
	}
	if m := nativeRuntime.FindStringSubmatch(text); m != nil {
		return ".NET " + m[1], true
	}
	if strings.HasPrefix(text, "Mono") || strings.HasPrefix(text, "Clr") {
		name, _, _ = strings.Cut(text, " (")
		return name, false
	}
	return "", false
}

// nextParameter is the start of a parameter after another one.
var nextParameter = regexp.MustCompile(`&([\p{L}_][\p{L}\p{Nd}_.]*)=`)

// dotnetParams splits "A=1&B=2". A value may hold & and =: where the full name
// lists the parameters as "(A: 1, B: 2)", only names listed there begin one.
func dotnetParams(s, fullName string) []perf.Param {
	if s == "" {
		return nil
	}
	_, listed, known := strings.Cut(fullName, "(")
	var out []perf.Param
	start := 0
	add := func(end int) {
		name, value, _ := strings.Cut(s[start:end], "=")
		out = append(out, perf.Param{Name: name, Value: value})
	}
	for _, at := range nextParameter.FindAllStringSubmatchIndex(s, -1) {
		if known && !strings.Contains(listed, s[at[2]:at[3]]+": ") {
			continue
		}
		add(at[0])
		start = at[0] + 1
	}
	add(len(s))
	return out
}
