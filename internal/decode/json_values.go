package decode

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// The readers below return, beside the value, what is wrong with it as the end
// of a sentence that begins with the key; "" when nothing is.

func readJSONString(d *strictjson.Decoder) (s, why string) {
	if k := d.Kind(); k != strictjson.String {
		d.Skip()
		return "", "is " + k.String() + ", not a string"
	}
	s, _ = d.Str()
	return s, ""
}

// readJSONWord reads one of a few words.
func readJSONWord[T ~string](d *strictjson.Decoder, words ...T) (T, string) {
	s, why := readJSONString(d)
	if why == "" && !slices.Contains(words, T(s)) {
		why = fmt.Sprintf("%s is none of %v", quote(s), words)
	}
	return T(s), why
}

func readJSONCount(d *strictjson.Decoder) (int64, string) {
	v, ok := d.Int()
	if !ok || v <= 0 {
		return 0, "is not a positive integer"
	}
	return v, ""
}

// readJSONNumber reads a measured number. It refuses what a float64 cannot hold
// as meant: a number too small, or an integer with more digits than fit.
func readJSONNumber(d *strictjson.Decoder) (v perf.Num, why string) {
	if k := d.Kind(); k != strictjson.Number {
		d.Skip()
		return perf.Num{}, "is " + k.String() + ", not a number"
	}
	raw := string(d.Raw())
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return perf.Num{}, "is out of range"
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(raw), "e")
	switch {
	case f == 0 && strings.ContainsAny(mantissa, "123456789"):
		return perf.Num{}, "is too small to be held"
	case f == 0:
		return perf.Some(0), "" // also -0
	case len(raw) > 15 && isDigits(bytes.TrimPrefix([]byte(raw), []byte("-"))) && strconv.FormatFloat(f, 'f', -1, 64) != raw:
		return perf.Num{}, "has more digits than can be held"
	}
	return perf.Some(f), ""
}

// readJSONSamples reads [1, 2, 3], or [[1, 2], [3, 4]] with one list per block.
func readJSONSamples(d *strictjson.Decoder) (samples []perf.Sample, why string) {
	if k := d.Kind(); k != strictjson.Array {
		d.Skip()
		return nil, "is " + k.String() + ", not an array"
	}
	block := int32(0)
	add := func(iter int32) {
		v, what := readJSONNumber(d)
		if what != "" && why == "" {
			why = "hold a value that " + what
		}
		samples = append(samples, perf.Sample{Value: v.Or(0), Block: block, Iter: iter})
	}
	iter := int32(0)
	for ok := d.Array(); ok && d.More(); {
		if d.Kind() != strictjson.Array {
			iter++
			add(iter)
			continue
		}
		block++
		inner := int32(0)
		for ok := d.Array(); ok && d.More(); {
			inner++
			add(inner)
		}
	}
	if block > 0 && iter > 0 && why == "" {
		why = "mix numbers and lists"
	}
	return slices.Clip(samples), why
}

// readJSONParams reads an object whose values are strings, numbers or booleans.
func readJSONParams(d *strictjson.Decoder) (params []perf.Param, why string) {
	if k := d.Kind(); k != strictjson.Object {
		d.Skip()
		return nil, "is " + k.String() + ", not an object"
	}
	for key := range fields(d) {
		p := perf.Param{Name: string(key)}
		switch k := d.Kind(); k {
		case strictjson.String:
			p.Value, _ = d.Str()
		case strictjson.Number, strictjson.Bool:
			p.Value = string(d.Raw())
		default:
			d.Skip()
			if why == "" {
				why = fmt.Sprintf("holds %s under %s, not a string, number or boolean", k, quote(p.Name))
			}
		}
		params = append(params, p)
	}
	return params, why
}
