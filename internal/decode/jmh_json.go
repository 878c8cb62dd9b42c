package decode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

type jmhResult struct {
	Version   string               `json:"jmhVersion"`
	Benchmark string               `json:"benchmark"`
	Mode      string               `json:"mode"`
	Threads   int                  `json:"threads"`
	Forks     *int                 `json:"forks"`
	JDK       string               `json:"jdkVersion"`
	Params    map[string]jmhParam  `json:"params"`
	Primary   *jmhMetric           `json:"primaryMetric"`
	Secondary map[string]jmhMetric `json:"secondaryMetrics"`
}

type jmhMetric struct {
	Score       looseNum            `json:"score"`
	Error       looseNum            `json:"scoreError"`
	Confidence  []looseNum          `json:"scoreConfidence"`
	Percentiles map[string]looseNum `json:"scorePercentiles"`
	Unit        string              `json:"scoreUnit"`
	Raw         [][]looseNum        `json:"rawData"`
	Histogram   jmhHistogram        `json:"rawDataHistogram"`
}

// jmhParam is a parameter's value: JMH writes texts, others plain values.
type jmhParam string

// UnmarshalJSON keeps a value that is no text as it is written.
func (p *jmhParam) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		text = string(b)
	}
	*p = jmhParam(text)
	return nil
}

// jmhHistogram is the number of samples in a histogram, a list for each fork of
// lists for each iteration of pairs of value and count.
type jmhHistogram int64

// UnmarshalJSON counts without keeping the pairs, which may be millions.
func (h *jmhHistogram) UnmarshalJSON(b []byte) error {
	d := strictjson.NewDecoder(b, strictjson.Options{})
	for ok := d.Array(); ok && d.More(); {
		for ok := d.Array(); ok && d.More(); {
			for ok := d.Array(); ok && d.More(); {
				for i, ok := 0, d.Array(); ok && d.More(); i++ {
					if i != 1 {
						d.Skip()
					} else if n, ok := d.Int(); ok && n > 0 && *h < 1<<53 {
						*h += jmhHistogram(min(n, 1<<53))
					}
				}
			}
		}
	}
	return d.End()
}

func decodeJMH(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	r := jmhReader{s: perf.Suite{Module: in.Module, Kind: in.Kind}}
	if err := r.documents(in.Data); err != nil {
		return nil, r.told.all(), err
	}
	return []perf.Suite{r.s}, r.told.all(), nil
}

// jmhReader collects the results of a JSON file.
type jmhReader struct {
	s    perf.Suite
	told problems
}

// documents reads the lists of results in a file, usually one. What stands
// around them is blanked in a copy, so that positions stay as they are.
func (r *jmhReader) documents(data []byte) error {
	data = jmhUTF8(data, &r.told)
	start, end := max(jmhStart(data), 0), len(bytes.TrimRight(data, " \t\r\n"))
	if start > 0 || end > 0 && data[end-1] != ']' {
		data = bytes.Clone(data)
	}
	d := strictjson.NewDecoder(data, strictjson.Options{KeepGoing: true, NaN: true}) // kotlinx-benchmark writes NaN bare
	around := 0
	for from := 0; start >= 0; {
		around += blank(data[from : from+start])
		if k := d.Kind(); k != strictjson.Array {
			return d.At(d.Offset(), "the document is %s, not a list of results", k)
		}
		if err := r.list(d); err != nil {
			return err
		}
		if from = d.Offset(); d.Err() != nil {
			break // told
		}
		start = jmhStart(data[from:])
		if start < 0 {
			around += len(bytes.TrimSpace(data[from:]))
		}
	}
	if around > 0 {
		r.told.add(perf.Diagnostic{Severity: perf.Notice, Code: "surrounded", What: fmt.Sprintf("%d bytes of other output around the results are not read", around)})
	}
	return nil
}

// blank overwrites text with blanks, line ends excepted, and returns how much
// it was.
func blank(text []byte) int {
	n := len(bytes.TrimSpace(text))
	if n > 0 {
		for i, c := range text {
			if c != '\n' {
				text[i] = ' '
			}
		}
	}
	return n
}

// list reads one list of results. The whole ones of a list that is cut off are
// kept.
func (r *jmhReader) list(d *strictjson.Decoder) error {
	err := records(d, &r.told, func(raw []byte) (string, error) {
		var result jmhResult
		if err := json.Unmarshal(withoutNaN(raw), &result); err != nil {
			return result.Benchmark, err
		}
		b, err := result.read()
		if err != nil {
			return result.Benchmark, err
		}
		if len(r.s.Benchmarks) <= limits.Benchmarks { // one more is told below
			r.s.Benchmarks = append(r.s.Benchmarks, b)
		}
		r.s.ToolVersion = result.Version
		if result.JDK != "" {
			r.s.Env.Toolchain = map[string]string{"jdk": result.JDK}
		}
		return "", nil
	})
	if err == nil {
		err = d.Err()
	}
	var at *strictjson.Error
	switch {
	case len(r.s.Benchmarks) > limits.Benchmarks:
		return tooMany(0)
	case err == nil:
		return nil
	case !errors.As(err, &at) || len(r.s.Benchmarks) == 0:
		return err
	}
	r.told.add(perf.Diagnostic{Severity: perf.Error, Code: "parse", Where: perf.Where{Line: at.Line, Col: at.Col},
		What: "the rest of the file cannot be read", Why: fmt.Sprintf("%s (byte %d)", at.Msg, at.Offset), Do: "The results before it are kept.", Err: at})
	return nil
}

// jmhUTF8 turns Latin-1, in which older JVMs write on Windows, into UTF-8.
func jmhUTF8(data []byte, told *problems) []byte {
	if utf8.Valid(data) {
		return data
	}
	told.add(perf.Diagnostic{Severity: perf.Notice, Code: "encoding", What: "the file is not UTF-8; what is not is read as Latin-1"})
	out := make([]byte, 0, len(data)+len(data)/8)
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			r = rune(data[0])
		}
		out = utf8.AppendRune(out, r)
		data = data[size:]
	}
	return out
}

// read turns a result of the file into ours.
func (r *jmhResult) read() (perf.Benchmark, error) {
	var params []perf.Param
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		params = append(params, perf.Param{Name: name, Value: string(r.Params[name])})
	}
	b := jmhResultOf(r.Benchmark, r.Mode, jmhThreads(r.Threads), params)
	if strings.TrimSpace(r.Benchmark) == "" {
		return b, errors.New("it has no name")
	}
	if r.Forks != nil {
		b.Identity = append(b.Identity, perf.Param{Name: "forks", Value: strconv.Itoa(*r.Forks)})
	}
	if r.Primary == nil {
		b.Status, b.Reason = perf.Fail, "no-statistics: it has no primaryMetric"
		return b, nil
	}
	m, err := jmhUnit(r.Primary.Unit, r.Mode)
	if err != nil {
		m = jmhSecondary("score", r.Primary.Unit, r.Mode)
	}
	if err := r.Primary.fill(&m); err != nil {
		return b, err
	}
	if len(m.Samples) == 0 && len(m.Reported) == 0 {
		b.Status, b.Reason = perf.Fail, "no-statistics: its score is no number"
		return b, nil
	}
	b.Metrics = []perf.Metric{m}
	for _, name := range slices.Sorted(maps.Keys(r.Secondary)) {
		second := r.Secondary[name]
		m := jmhSecondary(strings.TrimFunc(name, isJMHDot), second.Unit, r.Mode)
		if second.fill(&m) != nil || len(m.Samples) == 0 && len(m.Reported) == 0 {
			continue // without a number: a profiler had nothing to say
		}
		if b.Metric(m.Name) == nil {
			b.Metrics = append(b.Metrics, m)
		}
	}
	return b, nil
}

// fill reads a score with all that is known of it into a metric, whose unit is
// known. A negative score of the primary metric is an error.
func (j *jmhMetric) fill(m *perf.Metric) error {
	for fork, iterations := range j.Raw {
		for i, v := range iterations {
			if x, ok := v.Get(); ok {
				if x < 0 && !strings.HasPrefix(m.Name, customPrefix) {
					return errors.New("a score is negative")
				}
				sample(m, x, fork+1, i+1)
			}
		}
	}
	if x, ok := j.Score.Get(); ok {
		r := perf.Reported{Stat: "mean", Value: x * m.Source.Scale, N: int64(len(m.Samples))}
		if r.N == 0 {
			r.N = int64(j.Histogram)
		}
		if len(j.Confidence) == 2 {
			lo, okLo := j.Confidence[0].Get()
			hi, okHi := j.Confidence[1].Get()
			if okLo && okHi {
				r.CI = perf.Interval{Level: 0.999, Lo: perf.Some(lo * m.Source.Scale), Hi: perf.Some(hi * m.Source.Scale)}
			}
		} else if e, ok := j.Error.Get(); ok {
			r.CI = perf.Interval{Level: 0.999, Lo: perf.Some((x - e) * m.Source.Scale), Hi: perf.Some((x + e) * m.Source.Scale)}
		}
		m.Reported = append(m.Reported, r)
	}
	for _, key := range slices.SortedFunc(maps.Keys(j.Percentiles), byPercent) {
		if stat, ok := jmhStat(key); ok {
			reported(m, stat, j.Percentiles[key].Num, 0)
		}
	}
	return nil
}

// byPercent orders the keys of percentiles; those that are none come first.
func byPercent(a, b string) int {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
}
