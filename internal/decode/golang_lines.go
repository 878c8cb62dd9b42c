package decode

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// goLineBytes is the longest line that the benchmark reader takes.
const goLineBytes = 60 << 10

// goText is a part of a file to be read on its own: all of it, or what one
// package printed.
type goText struct {
	text    []byte
	numbers []int // line in the file of each line of text; nil when they are equal
	line    int   // lines read so far
}

// goLines turns the output of go test, in which anything may stand between and
// within the lines that matter, into clean lines of the benchmark format. It is
// an [io.Reader] of these, so that a file with too many results is given up
// early.
type goLines struct {
	texts   []*goText // still to be read
	clean   []byte
	read    int   // bytes of clean handed out
	numbers []int // line in the file of each clean line

	name       []byte // printed without its numbers so far
	nameLine   int
	pkg        string // package of the lines being read, "" after its last line
	panicked   string
	failures   []goFailure
	packages   []goFailure
	explaining bool // the line before said that a benchmark failed
	told       problems
}

// goFailure is a benchmark or package that failed or was skipped.
type goFailure struct {
	pkg, name, reason string
	status            perf.Status
	line              int
}

// Read hands out the clean lines.
func (l *goLines) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if l.read == len(l.clean) {
			l.clean, l.read = l.clean[:0], 0
			if !l.next() {
				break
			}
		}
		k := copy(p[n:], l.clean[l.read:])
		l.read += k
		n += k
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// next takes the next line of the file; false at the end.
func (l *goLines) next() bool {
	for len(l.texts) > 0 {
		t := l.texts[0]
		if len(t.text) == 0 {
			l.dropName()
			l.texts = l.texts[1:]
			continue
		}
		line := t.text
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		t.text = t.text[len(line):]
		t.line++
		number := t.line
		if t.numbers != nil {
			number = t.numbers[t.line-1]
		}
		l.take(line, number)
		return true
	}
	return false
}

// lineOf is the line in the file of a clean line; both count from 1.
func (l *goLines) lineOf(clean int) int {
	if clean < 1 || clean > len(l.numbers) {
		return 0
	}
	return l.numbers[clean-1]
}

func (l *goLines) emit(number int, parts ...[]byte) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n > goLineBytes {
		l.warn(perf.Error, "parse", number, fmt.Sprintf("a benchmark line of %d bytes is refused", n), fmt.Sprintf("the limit is %d", goLineBytes))
		return
	}
	for _, p := range parts {
		l.clean = append(l.clean, p...)
	}
	l.clean = append(l.clean, '\n')
	l.numbers = append(l.numbers, number)
}

func (l *goLines) warn(severity perf.Severity, code string, line int, what, why string) {
	l.told.add(perf.Diagnostic{Severity: severity, Code: code, Where: perf.Where{Line: line}, What: what, Why: why})
}

// take sorts out what a line is.
func (l *goLines) take(line []byte, number int) {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) > limits.LineBytes {
		l.warn(perf.Error, "parse", number, fmt.Sprintf("a line of %d bytes is skipped", len(line)), fmt.Sprintf("the limit is %d", limits.LineBytes))
		return
	}
	explaining := l.explaining
	l.explaining = false
	switch {
	case bytes.HasPrefix(line, []byte("Benchmark")):
		l.benchmark(line, number)
	case bytes.HasPrefix(line, []byte("--- ")):
		l.verdict(line, number)
	case explaining && bytes.HasPrefix(line, []byte("    ")):
		f := &l.failures[len(l.failures)-1]
		f.reason += ": " + string(bytes.TrimSpace(line))
	case bytes.HasPrefix(line, []byte("pkg: ")):
		l.pkg = string(bytes.TrimSpace(line[len("pkg: "):]))
		l.emit(number, line)
	case bytes.HasPrefix(line, []byte("ok  \t")), bytes.HasPrefix(line, []byte("FAIL\t")):
		l.endPackage(line, number)
	case bytes.Equal(line, []byte("PASS")), bytes.Equal(line, []byte("FAIL")):
		l.dropName()
	case bytes.HasPrefix(line, []byte("panic: ")):
		l.panicked = string(line)
	case bytes.HasPrefix(line, []byte("Unit ")), isGoConfig(line):
		l.emit(number, line)
	default:
		l.other(line, number)
	}
}

// benchmark takes a line that begins with a benchmark's name. The numbers may
// follow at once, after output of the benchmark, or in a later line.
func (l *goLines) benchmark(line []byte, number int) {
	l.dropName()
	name, rest := cutField(line)
	switch {
	case len(name) == len(line): // with -v the name alone comes first
	case isGoResult(rest):
		l.emit(number, line)
	case bytes.HasPrefix(rest, []byte("--- ")):
		l.verdict(rest, number)
	default:
		if tail := goResultIn(rest); tail != nil {
			l.emit(number, name, []byte("\t"), tail)
		} else if isPrintedName(name, line[len(name):]) {
			l.name, l.nameLine = bytes.Clone(name), number
		}
	}
}

// isPrintedName tells a name that testing printed, padded with blanks and then
// a tab, from a line of text such as "Benchmarking the cache".
func isPrintedName(name, after []byte) bool {
	r, _ := utf8.DecodeRune(name[len("Benchmark"):])
	return !unicode.IsLower(r) && bytes.HasPrefix(bytes.TrimLeft(after, " "), []byte("\t"))
}

// other takes a line of other output, which may hold the numbers that a name is
// waiting for.
func (l *goLines) other(line []byte, number int) {
	if l.name != nil {
		if tail := goResultIn(line); tail != nil {
			l.emit(number, l.name, []byte("\t"), tail)
			l.name = nil
		}
		return
	}
	if i := bytes.Index(line, []byte("Benchmark")); i > 0 && bytes.IndexByte(line[i:], '\t') > 0 {
		if _, rest := cutField(line[i:]); isGoResult(rest) {
			l.warn(perf.Warning, "ignored", number, "a result that does not begin its line is ignored: "+quote(string(line[i:])),
				"other output stands before it, so it may be a quotation")
		}
	}
}

// dropName gives up waiting for the numbers of a name: the benchmark has ended
// the process, or was cut off.
func (l *goLines) dropName() {
	if l.name != nil {
		l.fail(goFailure{pkg: l.pkg, name: string(l.name), line: l.nameLine, status: perf.Fail,
			reason: "no-measurement: it was started, but its numbers are not in the file"})
		l.name = nil
	}
}

// fail notes a failure; one more than allowed is enough to refuse the file.
func (l *goLines) fail(f goFailure) {
	if len(l.failures) <= limits.Benchmarks {
		l.failures = append(l.failures, f)
	}
}

// verdict takes "--- FAIL: BenchmarkX" and "--- SKIP: BenchmarkX".
func (l *goLines) verdict(line []byte, number int) {
	word, name, ok := strings.Cut(string(line[len("--- "):]), ": ")
	name, _ = splitName(name)
	if !ok || !strings.HasPrefix(name, "Benchmark") {
		return
	}
	f := goFailure{pkg: l.pkg, name: name, line: number}
	switch word {
	case "FAIL":
		f.status, f.reason = perf.Fail, "failed: "+string(line)
	case "SKIP":
		f.status, f.reason = perf.Skipped, "skipped: "+string(line)
	default:
		return
	}
	l.name = nil
	l.fail(f)
	l.explaining = true
}

func splitName(s string) (name, rest string) {
	n, r := cutField([]byte(s))
	return string(n), string(r)
}

// endPackage takes "ok  \tpkg\t1.2s", "FAIL\tpkg\t1.2s" and "FAIL\tpkg [build failed]".
func (l *goLines) endPackage(line []byte, number int) {
	l.dropName()
	_, rest := cutField(line)
	pkg, _ := splitName(string(rest))
	// A failure may be printed before the line that names the package.
	for i := range l.failures {
		if l.failures[i].pkg == "" {
			l.failures[i].pkg = pkg
		}
	}
	if line[0] == 'F' {
		reason := strings.Join(strings.Fields(string(line)), " ")
		if l.panicked != "" {
			reason += ": " + l.panicked
		}
		l.packages = append(l.packages, goFailure{pkg: pkg, reason: reason, status: perf.Fail, line: number})
	}
	l.pkg, l.panicked = "", ""
}

// cutField splits at the first run of blanks.
func cutField(b []byte) (field, rest []byte) {
	i := bytes.IndexAny(b, " \t")
	if i < 0 {
		return bytes.TrimRight(b, "\r\n"), nil
	}
	return b[:i], bytes.TrimLeft(b[i:], " \t")
}

// isGoConfig reports a "key: value" line. Log lines of that shape get through
// too and do no harm.
func isGoConfig(line []byte) bool {
	i := bytes.IndexByte(line, ':')
	return i > 0 && len(line) < goLineBytes && 'a' <= line[0] && line[0] <= 'z' && !bytes.ContainsAny(line[:i], " \t")
}

// isGoResult reports that b begins with a count, a number and a unit.
func isGoResult(b []byte) bool {
	count, rest := cutField(b)
	if !isDigits(count) {
		return false
	}
	value, rest := cutField(rest)
	unit, _ := cutField(rest)
	return isGoNumber(value) && len(unit) > 0
}

// goResultIn finds the numbers of a result after output that did not end its
// line: a count, a tab, a value and a unit, as testing prints them.
func goResultIn(b []byte) []byte {
	for from := 0; ; {
		i := bytes.IndexByte(b[from:], '\t')
		if i < 0 {
			return nil
		}
		tab := from + i
		from = tab + 1
		start := tab
		for start > 0 && '0' <= b[start-1] && b[start-1] <= '9' {
			start--
		}
		// A digit-like neighbour would mean that the count began earlier.
		if start < tab && (start == 0 || b[start-1] != '.' && b[start-1] != '-') && isGoResult(b[start:]) {
			return b[start:]
		}
	}
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

func isGoNumber(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && !strings.ContainsRune("+-.eE", rune(c)) {
			// testing prints these where a value is unknown; the reader refuses them.
			return string(b) == "NaN" || string(b) == "+Inf" || string(b) == "-Inf"
		}
	}
	return len(b) > 0
}
