package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var pytestBenchmark = Format{
	Name:    "pytest-benchmark",
	Aliases: []string{"pytest"},
	Tool:    "pytest-benchmark",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "what `pytest --benchmark-json FILE` or `--benchmark-save` writes",
		Reads:  "the time of every round as samples where the file has them (`--benchmark-save-data`), else all statistics; rounds and iterations; start, commit, machine and Python version",
		Absent: "benchmarks that raised: pytest-benchmark leaves them out. Rounds, unless their saving was asked for",
		Notes: []string{
			"The full name (`file.py::test[param]`) is the name; `params` are parameters too.",
			"`extra_info` is not read.",
		},
	},
	Sniff: func(_ string, head []byte) Confidence {
		if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) && bytes.Contains(head, []byte(`"machine_info"`)) || bytes.Contains(head, []byte(`"fullname"`)) {
			if bytes.Contains(head, []byte(`"benchmarks"`)) && bytes.Contains(head, []byte(`"stats"`)) && bytes.Contains(head, []byte(`"rounds"`)) {
				return Certain
			}
		}
		return No
	},
	Decode: decodePytest,
}

type pytestResult struct {
	Group    *string        `json:"group"`
	Name     string         `json:"name"`
	FullName string         `json:"fullname"`
	Params   map[string]any `json:"params"`
	Param    *string        `json:"param"`
	Stats    struct {
		Min, Max, Mean, StdDev, Median looseNum
		Q1, Q3                         looseNum
		Rounds                         int64
		Iterations                     int64
		Data                           roundTimes
	} `json:"stats"`
}

// roundTimes are the times of all rounds; people who shorten the file put a text
// in their place, which stands for none.
type roundTimes []float64

// UnmarshalJSON reads a list of numbers; anything else is none.
func (r *roundTimes) UnmarshalJSON(b []byte) error {
	var list []float64
	if json.Unmarshal(b, &list) == nil {
		*r = list
	}
	return nil
}

type pytestMachine struct {
	Machine string          `json:"machine"`
	System  string          `json:"system"`
	Release string          `json:"release"`
	Python  string          `json:"python_version"`
	CPU     json.RawMessage `json:"cpu"`
}

func decodePytest(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	d := strictjson.NewDecoder(in.Data, strictjson.Options{KeepGoing: true, NaN: true})
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	var told problems
	if d.Kind() != strictjson.Object {
		return nil, nil, d.At(d.Offset(), "the document is %s, not an object with benchmarks", d.Kind())
	}
	found := false
	for key := range fields(d) {
		switch k := string(key); {
		case k == "benchmarks" && d.Kind() == strictjson.Array:
			found = true
			err := records(d, &told, func(raw []byte) (string, error) {
				var r pytestResult
				if err := json.Unmarshal(withoutNaN(raw), &r); err != nil {
					return r.FullName, err
				}
				b, err := r.benchmark(&told)
				if err == nil {
					s.Benchmarks = append(s.Benchmarks, b)
				}
				return b.Name, err
			})
			if err != nil {
				return nil, told.all(), err
			}
		case k == "machine_info":
			s.Env = pytestEnv(d.Raw())
		case k == "datetime":
			text, _ := d.Str()
			s.Started = pytestTime(text)
		case k == "commit_info":
			var c struct{ ID string }
			if json.Unmarshal(d.Raw(), &c) == nil {
				s.Commit.SHA = c.ID
			}
		case k == "version":
			s.ToolVersion, _ = d.Str()
		default:
			d.Skip()
		}
	}
	if err := d.End(); err != nil {
		return nil, told.all(), err
	}
	if p := d.Problem(); p != nil {
		return nil, told.all(), p
	}
	if !found {
		return nil, nil, errors.New(`the document has no list "benchmarks"`)
	}
	return []perf.Suite{s}, told.all(), nil
}

// withoutNaN replaces the literals Python writes for what JSON has no number
// for.
func withoutNaN(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("NaN")) && !bytes.Contains(raw, []byte("Infinity")) {
		return raw
	}
	var out bytes.Buffer
	inText := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inText && c == '\\':
			out.WriteByte(c)
			i++
			out.WriteByte(raw[i])
			continue
		case c == '"':
			inText = !inText
		case !inText && (c == 'N' || c == 'I' || c == '-'):
			rest := bytes.TrimPrefix(raw[i:], []byte("-"))
			for _, word := range []string{"NaN", "Infinity"} {
				if bytes.HasPrefix(rest, []byte(word)) {
					out.WriteString("null")
					i = len(raw) - len(rest) + len(word) - 1
					c = 0
					break
				}
			}
			if c == 0 {
				continue
			}
		}
		out.WriteByte(raw[i])
	}
	return out.Bytes()
}

// benchmark turns an entry of the file into ours.
func (r *pytestResult) benchmark(told *problems) (perf.Benchmark, error) {
	name := r.FullName
	if name == "" {
		name = r.Name
	}
	b := perf.Benchmark{Name: name, Rows: 1, Status: perf.OK, JobKind: perf.Default}
	if strings.TrimSpace(name) == "" {
		return b, errors.New("it has no name")
	}
	b.Identity = append(b.Identity, perf.Param{Name: "name", Value: r.Name})
	if r.Group != nil {
		b.Identity = append(b.Identity, perf.Param{Name: "group", Value: *r.Group})
	}
	if r.Param != nil {
		b.Identity = append(b.Identity, perf.Param{Name: "param", Value: *r.Param})
	}
	for _, p := range slices.Sorted(maps.Keys(r.Params)) {
		b.Params = append(b.Params, perf.Param{Name: p, Value: pytestParam(r.Params[p])})
	}
	st := &r.Stats
	m := perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: "s", Scale: 1e9}}
	var sum float64
	for _, v := range st.Data {
		if why := badTime(v); why != "" {
			return b, errors.New(why)
		}
		sum += v
	}
	mean, ok := st.Mean.Get()
	if n := float64(len(st.Data)); n > 0 && ok && math.Abs(sum/n-mean) > 1e-6*mean {
		told.add(perf.Diagnostic{Severity: perf.Warning, Code: "ignored", What: fmt.Sprintf("%s: the list of rounds is not read", quote(name)),
			Why: "its mean is not the mean the file states"})
	} else {
		for i, v := range st.Data {
			sample(&m, v, 0, i+1)
			m.Samples[i].Ops = max(st.Iterations, 0)
		}
	}
	for _, stat := range []struct {
		name  string
		value looseNum
	}{{"mean", st.Mean}, {"stddev", st.StdDev}, {"median", st.Median}, {"min", st.Min}, {"max", st.Max}, {"p25", st.Q1}, {"p75", st.Q3}} {
		reported(&m, stat.name, stat.value.Num, max(st.Rounds, 0))
	}
	if len(m.Samples) == 0 && len(m.Reported) == 0 {
		return b, errors.New("it has no time")
	}
	b.Metrics = []perf.Metric{m}
	return b, nil
}

// pytestParam is a parameter's value as text.
func pytestParam(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return perf.Some(v).String()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// pytestEnv is the machine as far as the file tells it.
func pytestEnv(raw []byte) (e perf.Env) {
	var m pytestMachine
	if json.Unmarshal(raw, &m) != nil {
		return e
	}
	e.OS, e.Kernel, e.Arch = strings.ToLower(m.System), m.Release, m.Machine
	var cpu struct {
		Brand    string `json:"brand"`
		BrandRaw string `json:"brand_raw"`
		Count    int    `json:"count"`
	}
	if json.Unmarshal(m.CPU, &cpu) == nil {
		e.CPUModel, e.CPUCount = strings.TrimSpace(cpu.BrandRaw), max(cpu.Count, 0)
		if e.CPUModel == "" {
			e.CPUModel = strings.TrimSpace(cpu.Brand)
		}
	}
	if m.Python != "" {
		e.Toolchain = map[string]string{"python": m.Python}
	}
	return e
}

// pytestTime reads the file's start, in UTC unless it states a zone; zero if it
// cannot be read.
func pytestTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
