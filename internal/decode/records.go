package decode

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// looseNum is a number that tools also write as null or as text ("NaN",
// "Infinity") when they have none.
type looseNum struct{ perf.Num }

// UnmarshalJSON reads a number, null, or a text that stands for none.
func (n *looseNum) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		switch strings.ToLower(strings.TrimLeft(text, "+-")) {
		case "", "nan", "inf", "infinity", "\u221e":
			n.Num = perf.Num{}
			return nil
		}
		return fmt.Errorf("%s is not a number", quote(text))
	}
	return n.Num.UnmarshalJSON(b)
}

// records reads the elements of the array that comes next, each by itself: one
// that cannot be read is told and costs no other. read gets an element's bytes
// and gives the result's name, for the message, with what is wrong.
func records(d *strictjson.Decoder, told *problems, read func(raw []byte) (name string, err error)) error {
	n := 0
	for ok := d.Array(); ok && d.More(); {
		d.Kind() // moves past blanks
		offset := d.Offset()
		raw := d.Raw()
		if d.Err() != nil {
			return d.Err()
		}
		if n++; n > limits.Benchmarks {
			return tooMany(0)
		}
		if p := d.Problem(); p != nil {
			told.add(refusedRecord("", p))
			continue
		}
		if name, err := read(raw); err != nil {
			told.add(refusedRecord(name, d.At(offset, "%s", err)))
		}
	}
	return nil
}

// reported appends a statistic in the metric's unit if the file has it.
func reported(m *perf.Metric, stat string, v perf.Num, n int64) {
	if x, ok := v.Get(); ok {
		m.Reported = append(m.Reported, perf.Reported{Stat: stat, Value: x * m.Source.Scale, N: n})
	}
}

// sample appends a measured value, given in the file's unit.
func sample(m *perf.Metric, v float64, block, iter int) {
	m.Samples = append(m.Samples, perf.Sample{Value: v * m.Source.Scale, Block: int32(min(block, math.MaxInt32)), Iter: int32(min(iter, math.MaxInt32))})
}

// badTime says what is wrong with a time, "" if nothing is.
func badTime(v float64) string {
	if v < 0 {
		return "a time is negative"
	}
	return ""
}

// stripANSI removes the escape sequences by which terminals colour text.
func stripANSI(line string) string {
	if !strings.Contains(line, "\x1b") {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] != 0x1b {
			b.WriteByte(line[i])
			continue
		}
		if i+1 < len(line) && line[i+1] == '[' {
			for i += 2; i < len(line) && (line[i] < '@' || line[i] > '~'); i++ {
			}
		}
	}
	return b.String()
}
