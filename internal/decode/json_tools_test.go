package decode

import "testing"

func FuzzHyperfine(f *testing.F) { fuzzFormat(f, "hyperfine") }

func FuzzPytestBenchmark(f *testing.F) { fuzzFormat(f, "pytest-benchmark") }

func FuzzJMH(f *testing.F) { fuzzFormat(f, "jmh") }

// What Python writes for no number is replaced outside of texts only.
func TestWithoutNaN(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":NaN,"b":-Infinity,"c":Infinity}`: `{"a":null,"b":null,"c":null}`,
		`{"NaN":"Infinity \" NaN","a":-1.5}`:   `{"NaN":"Infinity \" NaN","a":-1.5}`,
		`[NaN]`:                                `[null]`,
		`{"a":1}`:                              `{"a":1}`,
	} {
		if got := string(withoutNaN([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
