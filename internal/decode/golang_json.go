package decode

import (
	"bytes"

	"perfband/internal/strictjson"
)

// isGoJSON reports lines of "go test -json": the first is a test event.
func isGoJSON(data []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(data, " \t\r\n"), []byte("\n"))
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"Action":`)) &&
		(bytes.Contains(line, []byte(`"Package":`)) || bytes.Contains(line, []byte(`"ImportPath":`)))
}

// readGoJSON puts together the output of each package, in the order in which the
// packages began. Packages run at the same time, so their events mix, and an
// event may end within a line.
func readGoJSON(data []byte) []*goText {
	texts := map[string]*goText{}
	var order []*goText
	number := 0
	for line := range bytes.Lines(data) {
		number++
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
