package derive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"perfband/internal/perf"
)

// memoHeader is what is remembered of every run, whatever its age. Its metadata
// is that of its first entry.
type memoHeader struct {
	Key        string       `json:"key"`
	OriginPath string       `json:"origin_path"`
	ID         string       `json:"id"`
	EntryIDs   []string     `json:"entry_ids"`
	Started    time.Time    `json:"started"`
	JobKind    perf.JobKind `json:"job_kind"`
	Counts     Counts       `json:"counts"`
	CPUs       []CPUCount   `json:"cpus,omitempty"`
	InTrend    bool         `json:"in_trend,omitempty"`
	Excluded   string       `json:"excluded,omitempty"`
	Legacy     bool         `json:"legacy,omitempty"`
}

func headerOf(r *Run) memoHeader {
	return memoHeader{r.key, r.OriginPath, r.ID, r.EntryIDs, r.Started, r.JobKind, r.Counts, r.CPUs, r.InTrend, r.Excluded, r.Legacy}
}

func (h memoHeader) run() *Run {
	return &Run{key: h.Key, OriginPath: h.OriginPath, ID: h.ID, EntryIDs: h.EntryIDs, Started: h.Started, JobKind: h.JobKind,
		Counts: h.Counts, CPUs: h.CPUs, InTrend: h.InTrend, Excluded: h.Excluded, Legacy: h.Legacy}
}

// memoResultsFile is the results of one run. Machines and tools, which many
// results share, stand once.
type memoResultsFile struct {
	Schema      int               `json:"schema"`
	Kind        string            `json:"kind"` // "memo-run"
	Key         string            `json:"key"`
	Samples     bool              `json:"samples"` // whether the raw samples are among it
	Envs        []perf.Env        `json:"envs"`
	Tools       []string          `json:"tools"`
	Results     []memoResult      `json:"results"`
	Diagnostics []perf.Diagnostic `json:"diagnostics,omitempty"`
}

type memoResult struct {
	Key             perf.Key     `json:"key"`
	Label           string       `json:"label,omitempty"`
	JobKind         perf.JobKind `json:"job_kind"`
	Dims            []perf.Param `json:"dims,omitempty"`
	DocRef          string       `json:"docref,omitempty"`
	Rows            int          `json:"rows"`
	Status          perf.Status  `json:"status"`
	Reason          string       `json:"reason,omitempty"`
	File            string       `json:"file"`
	Env             int          `json:"env"`
	Tool            int          `json:"tool"`
	Stability       Stability    `json:"stability,omitempty"`
	StabilityReason string       `json:"stability_reason,omitempty"`
	CarriedFrom     string       `json:"carried_from,omitempty"`
	Side            bool         `json:"side,omitempty"`
	InTrend         bool         `json:"in_trend,omitempty"`
	Excluded        string       `json:"left_out,omitempty"`
	Metrics         []memoMetric `json:"metrics,omitempty"`
}

// runJSON is the file of a run's results. They are written one by one: as memo
// results all at once they take more memory than the run itself.
func runJSON(r *Run) ([]byte, error) {
	f := memoResultsFile{Schema: memoSchema, Kind: "memo-run", Key: r.key, Samples: r.samples, Envs: []perf.Env{}, Tools: []string{},
		Results: []memoResult{}, Diagnostics: r.Diagnostics}
	env, tool := make([]int, len(r.Results)), make([]int, len(r.Results))
	envs, tools := map[string]int{}, map[string]int{}
	for i, res := range r.Results {
		text := fmt.Sprintf("%#v", res.Env) // quotes every field and sorts the toolchain
		if _, ok := envs[text]; !ok {
			envs[text] = len(f.Envs)
			f.Envs = append(f.Envs, res.Env)
		}
		if _, ok := tools[res.Tool]; !ok {
			tools[res.Tool] = len(f.Tools)
			f.Tools = append(f.Tools, res.Tool)
		}
		env[i], tool[i] = envs[text], tools[res.Tool]
	}
	frame, err := compactJSON(f)
	if err != nil {
		return nil, err
	}
	const list = `"results":[` // within a string its quotes would be escaped
	at := bytes.Index(frame, []byte(list)) + len(list)
	out := slices.Clone(frame[:at])
	for i, res := range r.Results {
		b, err := compactJSON(memoResultOf(res, env[i], tool[i]))
		if err != nil {
			return nil, err
		}
		if cap(out)-len(out) <= len(b) {
			// What the others will take if they are like those before, and at
			// most as much again: a file that is copied often costs memory too.
			rest := (len(out) - at) / max(i, 1) * (len(r.Results) - i)
			out = slices.Grow(out, max(len(b)+1, min(rest, len(out))))
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, bytes.TrimSuffix(b, []byte("\n"))...)
	}
	return append(out, frame[at:]...), nil
}

// memoResultOf is a result as remembered, of the machine and tool that stand in
// these places.
func memoResultOf(res *Result, env, tool int) memoResult {
	m := memoResult{Key: res.Key, JobKind: res.JobKind, Dims: res.Dims, DocRef: res.DocRef, Rows: res.Rows, Status: res.Status,
		Reason: res.Reason, File: res.File, Env: env, Tool: tool, Stability: res.Stability, StabilityReason: res.StabilityReason,
		CarriedFrom: res.CarriedFrom, Side: res.Side, InTrend: res.InTrend, Excluded: res.Excluded}
	if res.Label != res.Key.Name {
		m.Label = res.Label
	}
	for i := range res.Metrics {
		m.Metrics = append(m.Metrics, memoMetric(res.Metrics[i]))
	}
	return m
}

// into gives the results to a run; false if they do not fit together.
func (f memoResultsFile) into(r *Run) bool {
	results := make([]*Result, 0, len(f.Results))
	for _, m := range f.Results {
		if m.Env < 0 || m.Env >= len(f.Envs) || m.Tool < 0 || m.Tool >= len(f.Tools) {
			return false
		}
		res := &Result{Key: m.Key, Label: cmp.Or(m.Label, m.Key.Name), JobKind: m.JobKind, Dims: m.Dims, DocRef: m.DocRef, Rows: m.Rows, Status: m.Status,
			Reason: m.Reason, File: m.File, Env: f.Envs[m.Env], Tool: f.Tools[m.Tool], Stability: m.Stability, StabilityReason: m.StabilityReason,
			CarriedFrom: m.CarriedFrom, Side: m.Side, InTrend: m.InTrend, Excluded: m.Excluded}
		for _, metric := range m.Metrics {
			res.Metrics = append(res.Metrics, Metric(metric))
		}
		results = append(results, res)
	}
	r.Results, r.Diagnostics = results, f.Diagnostics
	return true
}

// memoMetric is a Metric as a JSON array: a run has thousands of them, and the
// names of their fields would be most of the memo.
type memoMetric Metric

// numbers are the fields of a metric that may be absent, in the memo's order.
func (m *memoMetric) numbers() []*perf.Num {
	return []*perf.Num{&m.Mean, &m.Median, &m.StdDev, &m.Min, &m.Max, &m.Q1, &m.Q3, &m.P95, &m.P99, &m.CV,
		&m.CI.Lo, &m.CI.Hi, &m.CI95.Lo, &m.CI95.Hi, &m.ci99.Lo, &m.ci99.Hi, &m.OpsPerSec}
}

// flags are the fields of a metric that are true or false.
func (m *memoMetric) flags() []*bool {
	return []*bool{&m.Exact, &m.P95Undersampled, &m.P99Undersampled, &m.Reported}
}

// single reports that one value is all there is: most metrics of most runs are
// counts like that.
func (m *memoMetric) single() bool {
	same := Metric{Name: m.Name, Unit: m.Unit, Better: m.Better, Exact: m.Exact, Samples: m.Samples, Verdict: m.Verdict}
	same.one(m.Mean)
	a, b := memoMetric(same), *m
	for i, n := range a.numbers() {
		if *n != *b.numbers()[i] {
			return false
		}
	}
	return m.N == 1 && m.P95Undersampled && m.P99Undersampled && !m.Reported && m.CI == (perf.Interval{}) && m.CI95 == (perf.Interval{}) && m.ci99 == (perf.Interval{})
}

// one fills the summary of a single value.
func (m *Metric) one(v perf.Num) {
	m.N, m.P95Undersampled, m.P99Undersampled = 1, true, true
	m.Mean, m.Median, m.Min, m.Max, m.Q1, m.Q3, m.P95, m.P99 = v, v, v, v, v, v, v, v
	m.rate()
}

// MarshalJSON writes [name, unit, better, flags, n, levels, numbers, samples,
// labels], of a single value [name, unit, better, flags, value, samples, labels].
func (m memoMetric) MarshalJSON() ([]byte, error) {
	bits := 0
	for i, f := range m.flags() {
		if *f {
			bits |= 1 << i
		}
	}
	if m.single() {
		return json.Marshal([]any{m.Name, m.Unit, m.Better, bits, m.Mean, m.Samples, m.Labels})
	}
	numbers := make([]perf.Num, 0, 17)
	for _, n := range m.numbers() {
		numbers = append(numbers, *n)
	}
	return json.Marshal([]any{m.Name, m.Unit, m.Better, bits, m.N, []float64{m.CI.Level, m.CI95.Level, m.ci99.Level}, numbers, m.Samples, m.Labels})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *memoMetric) UnmarshalJSON(b []byte) error {
	var bits int
	var levels []float64
	var numbers []perf.Num
	fields := []any{&m.Name, &m.Unit, &m.Better, &bits, &m.N, &levels, &numbers, &m.Samples, &m.Labels}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	var value perf.Num
	single := []any{&m.Name, &m.Unit, &m.Better, &bits, &value, &m.Samples, &m.Labels}
	if len(raw) == len(single) {
		fields = single
	}
	if len(raw) != len(fields) {
		return fmt.Errorf("a metric has %d fields, not %d", len(fields), len(raw))
	}
	for i, f := range fields {
		if err := json.Unmarshal(raw[i], f); err != nil {
			return err
		}
	}
	for i, f := range m.flags() {
		*f = bits&(1<<i) != 0
	}
	if len(raw) == len(single) {
		(*Metric)(m).one(value)
		return nil
	}
	to := m.numbers()
	if len(levels) != 3 || len(numbers) != len(to) {
		return fmt.Errorf("a metric has %d levels and %d numbers", len(levels), len(numbers))
	}
	m.CI.Level, m.CI95.Level, m.ci99.Level = levels[0], levels[1], levels[2]
	for i, n := range to {
		*n = numbers[i]
	}
	return nil
}
