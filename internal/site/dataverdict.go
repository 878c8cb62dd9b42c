package site

import (
	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/stats"
)

// claimCounts are the verdicts of a run by outcome. A benchmark counts once, by
// its worst metric.
type claimCounts struct {
	Slower       int     `json:"slower"`
	Faster       int     `json:"faster"`
	Unchanged    int     `json:"unchanged"`
	Inconclusive int     `json:"inconclusive"`
	Suspected    int     `json:"suspected"` // among the slower ones
	Confirmed    int     `json:"confirmed"` // among the slower ones
	Recovered    int     `json:"recovered"`
	Judged       int     `json:"judged"` // benchmarks with an interval
	Chance       float64 `json:"chance"` // claims expected over all metrics had nothing changed
}

func countsOf(c derive.Claims) *claimCounts {
	return &claimCounts{c.Slower, c.Faster, c.Unchanged, c.Inconclusive, c.Suspected, c.Confirmed, c.Recovered, c.Judged, perf.Round12(c.Chance)}
}

// shiftData is what most benchmarks of a module on one machine did together;
// ratio above 1 is worse, with a 95 % interval.
type shiftData struct {
	Module   string   `json:"module"`
	Metric   string   `json:"metric"`
	CPUModel string   `json:"cpu_model,omitempty"`
	Results  int      `json:"results"`
	Ratio    perf.Num `json:"ratio"`
	Lo       perf.Num `json:"lo"`
	Hi       perf.Num `json:"hi"`
}

func shiftsData(r *derive.Run) []shiftData {
	var out []shiftData
	for _, s := range r.Shifts {
		out = append(out, shiftData{s.Module, s.Metric, s.CPU, s.Results, s.Ratio, s.Lo, s.Hi})
	}
	return out
}

// seriesID names a series in lists of its own.
type seriesID struct {
	Kind      perf.Kind    `json:"kind"`
	Module    string       `json:"module"`
	Benchmark string       `json:"benchmark"`
	Params    []perf.Param `json:"params,omitempty"`
	Job       string       `json:"job,omitempty"`
	Metric    string       `json:"metric"` // "latency_p95" for a percentile
}

func seriesIDOf(k perf.Key, metric string) seriesID {
	return seriesID{k.Kind, k.Module, k.Name, k.Params, k.Job, metric}
}

// openData is a slowdown that is neither undone nor accepted.
type openData struct {
	seriesID
	State  perf.State `json:"state"` // suspected or confirmed
	Since  string     `json:"since"` // run ids
	Before string     `json:"before,omitempty"`
	Sure   string     `json:"confirmed,omitempty"`
	Ratio  perf.Num   `json:"ratio,omitzero"`
	Lo     perf.Num   `json:"lo,omitzero"` // absent for a suspicion, whose verdict has them
	Hi     perf.Num   `json:"hi,omitzero"`
}

func (s *site) openData() []openData {
	out := []openData{}
	for _, o := range s.d.Open {
		d := openData{seriesID: seriesIDOf(o.Key, o.Metric), State: perf.Suspected, Since: o.Since.ID, Ratio: o.Ratio, Lo: o.Lo, Hi: o.Hi}
		if o.Before != nil {
			d.Before = o.Before.ID
		}
		if o.Confirmed != nil {
			d.State, d.Sure = perf.Confirmed, o.Confirmed.ID
		}
		out = append(out, d)
	}
	return out
}

// stepData is a change of level across runs; it is no verdict.
type stepData struct {
	seriesID
	Before string   `json:"before"` // run ids
	After  string   `json:"after"`
	Ratio  perf.Num `json:"ratio,omitzero"` // above 1 is worse
	PValue perf.Num `json:"p_value,omitzero"`
}

// stepsData are the steps of all series, the first ones if there are very many.
func (s *site) stepsData() []stepData {
	out := []stepData{}
	for _, sr := range s.d.Series {
		for _, st := range sr.Steps {
			if len(out) == limits.ResultRows {
				return out
			}
			out = append(out, stepData{seriesIDOf(sr.Key, sr.Metric), st.Before.ID, st.After.ID, st.Ratio, st.PValue})
		}
	}
	return out
}

// anomaly is a reason to look at a result, never a verdict.
type anomaly struct {
	Metric string `json:"metric"`
	Reason string `json:"reason"`
}

// tailData is a judged percentile.
type tailData struct {
	Stat    string        `json:"stat"`
	Value   perf.Num      `json:"value"`
	Verdict *perf.Verdict `json:"verdict,omitempty"`
}

func tailsData(m *derive.Metric) []tailData {
	var out []tailData
	for i := range m.Tails {
		t := &m.Tails[i]
		out = append(out, tailData{t.Stat, t.Value, verdictData(&t.Verdict)})
	}
	return out
}

// labelData is what is odd about the samples of a metric.
type labelData struct {
	Outliers    int                  `json:"outliers,omitempty"`
	OutlierRule stats.OutlierRule    `json:"outlier_rule,omitempty"`
	Drift       stats.DriftKind      `json:"drift,omitempty"`
	Direction   stats.DriftDirection `json:"drift_direction,omitempty"`
	DriftRatio  perf.Num             `json:"drift_ratio,omitzero"` // last quarter to the first
}

func labelsData(l derive.Labels) *labelData {
	if l.Outliers == 0 && l.Drift == "" {
		return nil
	}
	return &labelData{l.Outliers, l.OutlierRule, l.Drift, l.DriftDirection, l.DriftRatio}
}

// verdictData is nil for what was not put before the judge.
func verdictData(v *perf.Verdict) *perf.Verdict {
	if v.Outcome == "" {
		return nil
	}
	return v
}
