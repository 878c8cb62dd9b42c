package site

import (
	"fmt"
	"time"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
)

// dataSchema is the schema number of the files under data/v1.
const dataSchema = 1

// indexFile is data/v1/index.json. Its presence marks the folder as a site of
// this program.
type indexFile struct {
	Schema   int         `json:"schema"`
	Kind     string      `json:"kind"` // "perfband"
	Formulas int         `json:"formulas"`
	Runs     []runHeader `json:"runs"` // canonical order, oldest first
}

// runHeader is one run in the index.
type runHeader struct {
	Run         string       `json:"run"`
	Kind        perf.Kind    `json:"kind"`
	Started     time.Time    `json:"started,omitzero"`
	Commit      string       `json:"commit,omitempty"`
	Untrusted   bool         `json:"untrusted,omitempty"` // the commit is not certain
	JobKind     perf.JobKind `json:"job_kind,omitempty"`
	OriginPath  string       `json:"origin_path"`
	Page        string       `json:"page,omitempty"`
	InTrend     bool         `json:"in_trend"`
	Excluded    string       `json:"excluded,omitempty"`
	DuplicateOf string       `json:"duplicate_of,omitempty"`
	Modules     int          `json:"modules"`
	Benchmarks  int          `json:"benchmarks"`
	Failed      int          `json:"failed"`
	Missing     int          `json:"missing"`
	Stable      int          `json:"stable"`
	Unstable    int          `json:"unstable"`
	Expected    int          `json:"expected_unstable"`
	Carried     int          `json:"carried"`
	CPUModels   []string     `json:"cpu_models,omitempty"`
	Claims      *claimCounts `json:"claims,omitempty"` // absent for a run that is in no trend or out of reach
}

// latestFile is data/v1/latest.json: the newest trend run of each kind.
type latestFile struct {
	Schema   int         `json:"schema"`
	Kind     string      `json:"kind"` // "latest"
	Formulas int         `json:"formulas"`
	Level    float64     `json:"level"` // of the intervals unless they say another
	Runs     []latestRun `json:"runs"`
	Open     []openData  `json:"open"`
	Steps    []stepData  `json:"steps"`
}

type latestRun struct {
	runHeader
	Shifts  []shiftData    `json:"shifts,omitempty"`
	Results []latestResult `json:"results"`
	LeftOut int            `json:"left_out,omitempty"` // results beyond the first
}

type latestResult struct {
	Module    string           `json:"module"`
	Benchmark string           `json:"benchmark"`
	Params    []perf.Param     `json:"params,omitempty"`
	Job       string           `json:"job,omitempty"`
	Page      string           `json:"page,omitempty"`
	DocRef    string           `json:"docref,omitempty"`
	Status    perf.Status      `json:"status"`
	Reason    string           `json:"reason,omitempty"`
	Stability derive.Stability `json:"stability,omitempty"`
	Why       string           `json:"stability_reason,omitempty"`
	CPUModel  string           `json:"cpu_model,omitempty"`
	Carried   string           `json:"carried_from,omitempty"`
	Metrics   []latestMetric   `json:"metrics,omitempty"`
	InTrend   bool             `json:"in_trend"`
	JobKind   perf.JobKind     `json:"job_kind,omitempty"`
	LeftOut   string           `json:"excluded,omitempty"` // the configuration's reason
	Retired   string           `json:"retired,omitempty"`  // the configuration's reason
	Anomalies []anomaly        `json:"anomalies,omitempty"`
}

// latestMetric holds a metric's statistics; what is unknown is left out.
type latestMetric struct {
	Metric   string      `json:"metric"`
	Unit     perf.Unit   `json:"unit"`
	Better   perf.Better `json:"better"`
	Exact    bool        `json:"exact,omitempty"`
	Reported bool        `json:"reported,omitempty"` // the tool's own statistics
	N        int         `json:"n,omitempty"`
	Mean     perf.Num    `json:"mean,omitzero"`
	Lo       perf.Num    `json:"ci_lo,omitzero"`
	Hi       perf.Num    `json:"ci_hi,omitzero"`
	Level    float64     `json:"ci_level,omitempty"`
	Median   perf.Num    `json:"median,omitzero"`
	StdDev   perf.Num    `json:"stddev,omitzero"`
	CV       perf.Num    `json:"cv,omitzero"`
	Min      perf.Num    `json:"min,omitzero"`
	Max      perf.Num    `json:"max,omitzero"`
	P95      perf.Num    `json:"p95,omitzero"`
	P99      perf.Num    `json:"p99,omitzero"`
	// Verdict is absent for a result that is in no trend.
	Verdict *perf.Verdict `json:"verdict,omitempty"`
	Tails   []tailData    `json:"tails,omitempty"`
	Labels  *labelData    `json:"labels,omitempty"`
}

func (s *site) dataFiles() error {
	index := indexFile{Schema: dataSchema, Kind: "perfband", Formulas: derive.Formulas, Runs: []runHeader{}}
	for _, r := range s.d.Runs {
		index.Runs = append(index.Runs, s.header(r))
	}
	if err := s.addJSON("data/v1/index.json", index); err != nil {
		return err
	}
	latest := latestFile{Schema: dataSchema, Kind: "latest", Formulas: derive.Formulas, Level: s.d.Level, Runs: []latestRun{}}
	for _, k := range perf.Kinds {
		if r := s.newest(k, true); r != nil {
			latest.Runs = append(latest.Runs, latestRun{s.header(r), shiftsData(r), s.latestResults(r), max(len(r.Results)-limits.ResultRows, 0)})
		}
	}
	latest.Open, latest.Steps = s.openData(), s.stepsData()
	return s.addJSON("data/v1/latest.json", latest)
}

func (s *site) addJSON(path string, v any) error {
	data, err := perf.CanonicalJSON(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	s.add(path, data)
	return nil
}

func (s *site) header(r *derive.Run) runHeader {
	c := r.Counts
	h := runHeader{Run: r.ID, Kind: r.Kind, Started: r.Started.UTC(), Commit: r.Meta.Commit.SHA, Untrusted: r.Meta.Commit.Untrusted,
		JobKind: r.JobKind, OriginPath: r.OriginPath, InTrend: r.InTrend, Excluded: r.Excluded, DuplicateOf: r.DuplicateOf,
		Modules: c.Modules, Benchmarks: c.Benchmarks, Failed: c.Failed, Missing: c.Missing,
		Stable: c.Stable, Unstable: c.Unstable, Expected: c.ExpectedUnstable, Carried: c.Carried}
	if s.hasPage[r] {
		h.Page = "run/" + runSlug(r) + "/index.html"
	}
	for _, cpu := range r.CPUs {
		if cpu.Model != "" {
			h.CPUModels = append(h.CPUModels, cpu.Model)
		}
	}
	if r.InTrend && r.DuplicateOf == "" && r.Results != nil {
		h.Claims = countsOf(r.Claims)
	}
	return h
}

func (s *site) latestResults(run *derive.Run) []latestResult {
	out := []latestResult{}
	for _, r := range run.Results[:min(len(run.Results), limits.ResultRows)] {
		l := latestResult{Module: r.Key.Module, Benchmark: r.Key.Name, Params: r.Key.Params, Job: r.Key.Job, DocRef: r.DocRef,
			Status: r.Status, Reason: r.Reason, Stability: r.Stability, Why: r.StabilityReason, CPUModel: r.Env.CPUModel,
			Carried: r.CarriedFrom, InTrend: r.InTrend, JobKind: r.JobKind, LeftOut: r.Excluded, Retired: s.retired[r.Key.ID()]}
		for _, a := range r.Anomalies {
			l.Anomalies = append(l.Anomalies, anomaly{a.Metric, a.Reason})
		}
		if b := s.byKey[r.Key.ID()]; b != nil {
			l.Page = "bench/" + b.slug + "/index.html"
		}
		for i := range r.Metrics {
			m := &r.Metrics[i]
			l.Metrics = append(l.Metrics, latestMetric{Metric: m.Name, Unit: m.Unit, Better: m.Better, Exact: m.Exact, Reported: m.Reported,
				N: m.N, Mean: m.Mean, Lo: m.CI.Lo, Hi: m.CI.Hi, Level: m.CI.Level, Median: m.Median, StdDev: m.StdDev, CV: m.CV,
				Min: m.Min, Max: m.Max, P95: m.P95, P99: m.P99, Verdict: verdictData(&m.Verdict), Tails: tailsData(m), Labels: labelsData(m.Labels)})
		}
		out = append(out, l)
	}
	return out
}
