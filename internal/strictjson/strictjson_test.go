package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"perfband/internal/limits"
)

func TestValidate(t *testing.T) {
	depth := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	many := func(last string) string {
		var b strings.Builder
		for i := range 300 {
			fmt.Fprintf(&b, `"key%d":%d,`, i, i)
		}
		return "{" + b.String() + last + ":0}"
	}
	tests := []struct {
		name, in string
		want     string // part of the message, "" for valid
		offset   int
	}{
		{"empty object", ` { } `, "", 0},
		{"all kinds", `{"a":[1,-0.5e+3,true,false,null,"x\u00e9\n"],"b":{}}`, "", 0},
		{"scalar", `12`, "", 0},
		{"pair of surrogates", `"\ud83d\ude00"`, "", 0},
		{"same key in two objects", `[{"a":1},{"a":2},{"b":{"a":{"a":1}}}]`, "", 0},
		{"case differs", `{"a":1,"A":2}`, "", 0},
		{"many keys", many(`"last"`), "", 0},
		{"deepest", depth(limits.JSONDepth), "", 0},
		{"largest", `1.7976931348623157e308`, "", 0},
		{"underflow reads as zero", `1e-400`, "", 0},
		{"nothing", ``, "cut off", 0},
		{"blanks", " \n", "cut off", 2},
		{"duplicate", `{"a":1,"b":2,"a":3}`, `key "a" occurs twice`, 13},
		{"duplicate by escape", `{"value":1,"v\u0061lue":3}`, `key "value" occurs twice`, 11},
		{"duplicate nested", `[{"x":{"k":1,"k":2}}]`, `key "k" occurs twice`, 13},
		{"duplicate after a nested object", `{"a":{"b":1},"c":{"a":1},"a":2}`, `key "a" occurs twice`, 25},
		{"duplicate among many", many(`"key7"`), `key "key7" occurs twice`, len(many("")) - 3},
		{"too deep", depth(limits.JSONDepth + 1), "nested deeper", limits.JSONDepth},
		{"overflow", `[1e400]`, "out of range", 1},
		{"overflow of digits", strings.Repeat("9", 400), "out of range", 0},
		{"huge exponent", `1E+999999999`, "out of range", 0},
		{"second document", "[1]\n[2]", "after the end", 4},
		{"garbage after", `{}x`, "after the end", 2},
		{"lone high surrogate", `"a\ud800"`, "lone surrogate", 2},
		{"lone low surrogate", `"\udc00x"`, "lone surrogate", 1},
		{"two high surrogates", `"\ud800\ud800"`, "lone surrogate", 1},
		{"invalid UTF-8", "[\"ab\xffcd\"]", "invalid UTF-8", 4},
		{"overlong UTF-8", "\"\xc0\xaf\"", "invalid UTF-8", 1},
		{"surrogate in UTF-8", "\"\xed\xa0\x80\"", "invalid UTF-8", 1},
		{"invalid UTF-8 in a key", "{\"\xfe\":1}", "invalid UTF-8", 2},
		{"NaN", `[NaN]`, "unexpected 'N'", 1},
		{"Infinity", `[Infinity]`, "unexpected 'I'", 1},
		{"minus Infinity", `[-Infinity]`, "malformed number", 1},
		{"cut in an object", `{"a":1`, "cut off", 6},
		{"cut in a key", `{"a`, "cut off", 3},
		{"cut before a value", `{"a":`, "cut off", 5},
		{"cut after a backslash", `"ab\`, "cut off", 4},
		{"cut in a word", `[tru`, "unexpected 't'", 1},
		{"trailing comma", `[1,]`, "',' before ']'", 3},
		{"trailing comma in an object", `{"a":1,}`, "',' before '}'", 7},
		{"no comma", `[1 2]`, "expected", 3},
		{"no colon", `{"a" 1}`, "':' expected", 5},
		{"key not a string", `{a:1}`, "a key expected", 1},
		{"wrong closing", `[1}`, "expected", 2},
		{"control character", "\"a\nb\"", "control character U+000A", 2},
		{"control character far", "\"0123456789abc\tdef\"", "control character U+0009", 14},
		{"unknown escape", `"\x"`, "unknown escape", 1},
		{"short unicode escape", `"\u12"`, "four hexadecimal digits", 1},
		{"leading zero", `[012]`, "malformed number", 1},
		{"plus", `[+1]`, "unexpected '+'", 1},
		{"no digits after the point", `[1.]`, "malformed number", 1},
		{"no digits before the point", `[.5]`, "unexpected '.'", 1},
		{"no exponent", `[1e]`, "malformed number", 1},
		{"NUL", "[1,\x00]", "NUL", 3},
		{"comment", "[1/**/]", "expected", 2},
		{"single quotes", `['a']`, "unexpected", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Validate([]byte(tt.in))
			if tt.want == "" {
				if err != nil {
					t.Fatalf("valid document refused: %v", err)
				}
				if !json.Valid([]byte(tt.in)) {
					t.Fatal("the document is not JSON for encoding/json either")
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error = %v, want an *Error", err)
			}
			if !strings.Contains(e.Msg, tt.want) {
				t.Errorf("message %q does not hold %q", e.Msg, tt.want)
			}
			if e.Offset != tt.offset {
				t.Errorf("offset = %d, want %d", e.Offset, tt.offset)
			}
		})
	}
}

func TestPosition(t *testing.T) {
	err := Validate([]byte("{\n \"a\": 1,\n \"b\": x}"))
	want := &Error{Offset: 17, Line: 3, Col: 7, Msg: "unexpected 'x': a value expected"}
	var e *Error
	if !errors.As(err, &e) || *e != *want {
		t.Errorf("error = %+v, want %+v", err, want)
	}
}

func TestDecoderValues(t *testing.T) {
	d := NewDecoder([]byte(`{"s":"a\u00e9","f":24.419498533010483,"i":-42,"e":2e3,"h":1.5,"b":true,"n":NaN,"x":"","o":{"k":[1,{"z":2}]},"r": [1, 2] }`),
		Options{NaN: true})
	if !d.Object() {
		t.Fatal("no object")
	}
	for {
		k, ok := d.Key()
		if !ok {
			break
		}
		var got, want any
		switch string(k) {
		case "s":
			got, _ = d.Str()
			want = "aé"
		case "f":
			got, _ = d.Float()
			want = 24.419498533010483
		case "i":
			got, _ = d.Int()
			want = int64(-42)
		case "e":
			got, _ = d.Int()
			want = int64(2000)
		case "h":
			_, got = d.Int()
			want = false
		case "b":
			got, _ = d.Bool()
			want = true
		case "n", "x": // no number there: absent, not an error
			_, got = d.Float()
			want = false
		case "o":
			got, _ = d.Str() // another kind is skipped
			want = ""
		case "r":
			got, want = string(d.Raw()), "[1, 2]"
		}
		if got != want {
			t.Errorf("%s = %v, want %v", k, got, want)
		}
	}
	if err := d.End(); err != nil {
		t.Error(err)
	}
}

// TestFaultPositions: a document with many faults has the position of each, and
// counting them does not begin anew every time.
func TestFaultPositions(t *testing.T) {
	var doc bytes.Buffer
	doc.WriteString("[")
	for i := range 50 {
		if i > 0 {
			doc.WriteString(",")
		}
		doc.WriteString(strings.Repeat("\n", i%3) + `{"a":1,"a":2}`)
	}
	doc.WriteString("]")
	d := NewDecoder(doc.Bytes(), Options{KeepGoing: true})
	n := 0
	for ok := d.Array(); ok && d.More(); {
		d.Skip()
		p := d.Problem()
		if p == nil {
			t.Fatalf("value %d: no problem", n)
		}
		before := doc.String()[:p.Offset]
		if line, col := strings.Count(before, "\n")+1, p.Offset-strings.LastIndexByte(before, '\n'); p.Line != line || p.Col != col {
			t.Errorf("value %d: %d:%d, want %d:%d", n, p.Line, p.Col, line, col)
		}
		n++
	}
	if n != 50 {
		t.Errorf("%d values", n)
	}
}

func TestKeepGoing(t *testing.T) {
	d := NewDecoder([]byte(`[{"a":1,"a":2},{"a":1e999},{"a":"\ud800"},{"a":3}]`), Options{KeepGoing: true})
	var got []string
	for ok := d.Array(); ok && d.More(); {
		d.Skip()
		if p := d.Problem(); p != nil {
			got = append(got, p.Msg)
		} else {
			got = append(got, "ok")
		}
	}
	if err := d.End(); err != nil {
		t.Fatal(err)
	}
	want := []string{`key "a" occurs twice in one object`, "number 1e999 is out of range", `lone surrogate \uD800`, "ok"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("problems = %q, want %q", got, want)
	}
}

// FuzzValidate compares with encoding/json: what is valid here is valid there
// with equal values, and numbers are read bit by bit the same.
func FuzzValidate(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x"],"b":null}`, `[1e400]`, `"\ud800"`, `{"a":1,"a":1}`, "[\"\xff\"]", `123456789012345678`, `0.1234567890123456`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Validate(data)
		if err == nil && !json.Valid(data) {
			t.Fatalf("accepted, but not JSON: %q", data)
		}
		d := NewDecoder(data, Options{})
		v, ok := d.Float()
		if !ok || d.End() != nil {
			return
		}
		var want float64
		if err := json.Unmarshal(data, &want); err != nil || want != v {
			t.Fatalf("%q reads as %v, want %v (%v)", data, v, want, err)
		}
	})
}

// report is a document in the shape of a benchmark report.
func report() []byte {
	var b bytes.Buffer
	b.WriteString(`{"Title":"T","Benchmarks":[`)
	for i := range 400 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"FullName":"Ns.Type.Method%d","Measurements":[`, i)
		for j := range 60 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"IterationMode":"Workload","IterationStage":"Result","LaunchIndex":1,"IterationIndex":%d,"Operations":65536,"Nanoseconds":%d.%d}`, j, 4638932+i, 1234567*j)
		}
		b.WriteString(`]}`)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func BenchmarkValidate(b *testing.B) {
	data := report()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := Validate(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodingJSONValid(b *testing.B) {
	data := report()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if !json.Valid(data) {
			b.Fatal("not valid")
		}
	}
}

func TestTooManyKeys(t *testing.T) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range limits.JSONKeys + 1 {
		fmt.Fprintf(&b, `"%d":0,`, i)
	}
	b.WriteString(`"last":0}`)
	if err := Validate(b.Bytes()); err == nil || !strings.Contains(err.Error(), "more than 1000000 keys") {
		t.Errorf("error = %v, want one that names the limit", err)
	}
}
