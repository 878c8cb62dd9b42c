package decode

import (
	"bytes"
	"fmt"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// goEventBytes is the longest test event whose output is read: that of the
// longest line, with six bytes for each of its own.
const goEventBytes = 6*limits.LineBytes + 4096

// isGoJSON reports lines of "go test -json": the first is a test event.
func isGoJSON(data []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(data, " \t\r\n"), []byte("\n"))
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"Action":`)) &&
		(bytes.Contains(line, []byte(`"Package":`)) || bytes.Contains(line, []byte(`"ImportPath":`)))
}

// readGoJSON puts together the output of each package, in the order in which the
// packages began. Packages run at the same time, so their events mix, and an
// event may end within a line. An event that is too long is not read, which
// would take memory of several times its size.
func readGoJSON(data []byte, told *problems) []*goText {
	texts := map[string]*goText{}
	var order []*goText
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if len(line) > goEventBytes {
			for _, t := range order {
				t.end() // whose event it is is not known
			}
			told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: number},
				What: fmt.Sprintf("a line of %d bytes is skipped", len(line)), Why: fmt.Sprintf("the limit of its output is %d", limits.LineBytes)})
			continue
		}
		pkg, output, ok := readGoEvent(line)
		if !ok { // a line of the go command itself
			pkg, output = "", line
		}
		t := texts[pkg]
		if t == nil {
			t = &goText{}
			texts[pkg] = t
			order = append(order, t)
		}
		for part := range bytes.Lines(output) {
			if len(t.text) == 0 || t.text[len(t.text)-1] == '\n' {
				t.numbers = append(t.numbers, number)
			}
			t.text = append(t.text, part...)
		}
	}
	return order
}

// end ends a line whose rest is missing, so that what follows is not taken for it.
func (t *goText) end() {
	if len(t.text) > 0 && t.text[len(t.text)-1] != '\n' {
		t.text = append(t.text, '\n')
	}
}

// readGoEvent returns the package and output of an event; ok is false for a
// line that is none.
func readGoEvent(line []byte) (pkg string, output []byte, ok bool) {
	d := strictjson.NewDecoder(line, strictjson.Options{})
	if d.Kind() != strictjson.Object {
		return "", nil, false
	}
	for key := range fields(d) {
		switch string(key) {
		case "Package", "ImportPath":
			pkg, _ = d.Str()
		case "Output":
			out, _ := d.Text()
			output = bytes.Clone(out)
		default:
			d.Skip()
		}
	}
	return pkg, output, d.End() == nil
}
