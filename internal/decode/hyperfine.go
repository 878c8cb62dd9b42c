package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

var hyperfine = Format{
	Name:    "hyperfine",
	Tool:    "hyperfine",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "what `hyperfine --export-json FILE` writes",
		Reads:  "the wall-clock time of every run as samples, mean user and system CPU time, memory of every run where hyperfine measured it",
		Absent: "the machine, the start, warm-up runs",
		Notes: []string{
			"The command is the name; parameters of a scan (`--parameter-scan`, `--parameter-list`) are parameters.",
			"A run that did not exit with 0 is told; its time counts, since `--ignore-failure` was asked for.",
		},
	},
	Sniff: func(_ string, head []byte) Confidence {
		if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) && bytes.Contains(head, []byte(`"results"`)) &&
			bytes.Contains(head, []byte(`"command"`)) && bytes.Contains(head, []byte(`"times"`)) {
			return Certain
		}
		return No
	},
	Decode: decodeHyperfine,
}

type hyperfineResult struct {
	Command    string            `json:"command"`
	Mean       looseNum          `json:"mean"`
	StdDev     looseNum          `json:"stddev"`
	Median     looseNum          `json:"median"`
	User       looseNum          `json:"user"`
	System     looseNum          `json:"system"`
	Min        looseNum          `json:"min"`
	Max        looseNum          `json:"max"`
	Times      []float64         `json:"times"`
	Memory     []float64         `json:"memory_usage_byte"`
	ExitCodes  []*int            `json:"exit_codes"`
	Parameters map[string]string `json:"parameters"`
}

func decodeHyperfine(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	d := strictjson.NewDecoder(in.Data, strictjson.Options{KeepGoing: true})
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	var told problems
	if d.Kind() != strictjson.Object {
		return nil, nil, d.At(d.Offset(), "the document is %s, not an object with results", d.Kind())
	}
	found := false
	for key := range fields(d) {
		if string(key) != "results" || d.Kind() != strictjson.Array {
			d.Skip()
			continue
		}
		found = true
		err := records(d, &told, func(raw []byte) (string, error) {
			var r hyperfineResult
			if err := json.Unmarshal(raw, &r); err != nil {
				return r.Command, err
			}
			b, err := r.benchmark(&told)
			if err == nil {
				s.Benchmarks = append(s.Benchmarks, b)
			}
			return r.Command, err
		})
		if err != nil {
			return nil, told.all(), err
		}
	}
	if err := d.End(); err != nil {
		return nil, told.all(), err
	}
	if p := d.Problem(); p != nil {
		return nil, told.all(), p
	}
	if !found {
		return nil, nil, errors.New(`the document has no list "results"`)
	}
	return []perf.Suite{s}, told.all(), nil
}

// benchmark turns a result of the file into ours.
func (r *hyperfineResult) benchmark(told *problems) (perf.Benchmark, error) {
	b := perf.Benchmark{Name: r.Command, Rows: 1, Status: perf.OK, JobKind: perf.Default}
	if strings.TrimSpace(r.Command) == "" {
		return b, errors.New("it has no command")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		b.Params = append(b.Params, perf.Param{Name: name, Value: r.Parameters[name]})
	}
	seconds := perf.Source{Unit: "s", Scale: 1e9}
	t := perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: seconds}
	for i, v := range r.Times {
		if why := badTime(v); why != "" {
			return b, errors.New(why)
		}
		sample(&t, v, 0, i+1)
	}
	for _, stat := range []struct {
		name  string
		value looseNum
	}{{"mean", r.Mean}, {"stddev", r.StdDev}, {"median", r.Median}, {"min", r.Min}, {"max", r.Max}} {
		reported(&t, stat.name, stat.value.Num, int64(len(r.Times)))
	}
	if len(t.Samples) == 0 && len(t.Reported) == 0 {
		return b, errors.New("it has no time")
	}
	b.Metrics = append(b.Metrics, t)
	for _, cpu := range []struct {
		name  string
		value looseNum
	}{{"cpu_user", r.User}, {"cpu_system", r.System}} {
		m := perf.Metric{Name: cpu.name, Unit: perf.Nanoseconds, Better: perf.Lower, Source: seconds}
		if reported(&m, "mean", cpu.value.Num, int64(len(r.Times))); len(m.Reported) > 0 {
			b.Metrics = append(b.Metrics, m)
		}
	}
	if len(r.Memory) > 0 {
		m := perf.Metric{Name: perf.RSS, Unit: perf.Bytes, Better: perf.Lower, Source: perf.Source{Unit: "B", Scale: 1}}
		for i, v := range r.Memory {
			sample(&m, v, 0, i+1)
		}
		b.Metrics = append(b.Metrics, m)
	}
	bad := 0
	for _, code := range r.ExitCodes {
		if code == nil || *code != 0 {
			bad++
		}
	}
	if bad > 0 {
		told.add(perf.Diagnostic{Severity: perf.Warning, Code: "nonzero-exit", What: fmt.Sprintf("%s: %d of %d runs did not exit with 0", r.Command, bad, len(r.ExitCodes)),
			Why: "the command failed or was ended by a signal", Do: "Look at the command: a failing one may be fast."})
	}
	return b, nil
}
