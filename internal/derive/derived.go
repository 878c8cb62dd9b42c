// Package derive is one pure function from what was archived to everything
// that is shown: [Build]. It takes no clock, randomness, environment or
// network, so the whole history can be derived again at any time and the same
// entries give the same bytes.
package derive

import (
	"time"

	"perfband/internal/perf"
)

// Formulas is the version of everything computed here. It rises with any
// change of output; a test hashes what a frozen archive derives to, so that
// the increment cannot be forgotten.
const Formulas = 2

// Derived is all that pages, badge, summary and exports are made from.
type Derived struct {
	Title string // site title, "" for the default
	// Level is the confidence level of every interval, e.g. 0.99.
	Level float64
	// Runs are all entries in canonical order, oldest first, copies included.
	Runs []*Run
	// Series are the histories, one per key and metric, in canonical order.
	Series []*Series
	// Open are the slowdowns nobody undid or accepted, confirmed ones first, then
	// the largest.
	Open  []Open
	Badge Badge
	// Repository is "owner/name" and ServerURL its host, "" when unknown.
	Repository string
	ServerURL  string

	basis   string       // what results rest on besides the archive
	entries []perf.Entry // all of the archive, by path
}

// Run is one archived run (all entries of one run id, newest attempt per
// shard) with its results.
type Run struct {
	ID         string
	Kind       perf.Kind
	Meta       perf.Metadata // of the run's first entry
	Started    time.Time
	EntryIDs   []string // of the entries it is made of
	OriginPath string   // folder on the raw branch
	// JobKind is the job kind of most results, dry, short, medium or default.
	JobKind perf.JobKind
	Counts  Counts
	CPUs    []CPUCount // most results first
	// DuplicateOf is the id of the run this one is a copy of, "" if none; a
	// copy's results are those of the original.
	DuplicateOf string
	// InTrend says whether its results can be points of a trend; Excluded says
	// why not: "copy", "dry", "short", "other branch".
	InTrend     bool
	Excluded    string
	Results     []*Result // canonical order; nil for runs out of reach
	Claims      Claims
	Shifts      []Shift
	Diagnostics []perf.Diagnostic
	Legacy      bool

	original *Run   // of a copy
	key      string // identifies what it was made from, "" if that is unknown
	samples  bool   // whether results still hold their raw samples
}

// Counts of one run.
type Counts struct {
	Modules            int // modules that reported at all
	Benchmarks         int // results with numbers
	Failed             int
	Skipped            int
	Stable             int
	Unstable           int
	ExpectedUnstable   int
	Carried            int // results taken over because sources were unchanged
	Missing            int // expected but not reported
	ModulesWithNumbers int
}

// CPUCount is the number of results measured on one CPU model ("" unknown).
type CPUCount struct {
	Model   string
	Results int
}

// Stability is the class of a result by the coefficient of variation.
type Stability string

// The stability classes; "" for metrics and results that are not classed.
const (
	Stable           Stability = "stable"
	Unstable         Stability = "unstable"
	ExpectedUnstable Stability = "expected-unstable" // unstable, and the manifest says why
)

// Result is one benchmark or scenario of one run.
type Result struct {
	Key     perf.Key
	Label   string // name as the file has it
	JobKind perf.JobKind
	Dims    []perf.Param
	DocRef  string
	Rows    int
	Status  perf.Status
	Reason  string
	File    string // report file, relative to the entry's raw folder
	Env     perf.Env
	Tool    string // e.g. "BenchmarkDotNet 0.15.8"
	Metrics []Metric
	// Stability classes the first time-like metric; "" when it cannot be.
	Stability       Stability
	StabilityReason string // "n < 3", "CV 12.3 % > 10 %", or the manifest's reason
	CarriedFrom     string // run id the result was carried forward from
	// Side results describe the measuring process or host; they are shown but
	// neither counted nor classed.
	Side    bool
	InTrend bool
	// Excluded says why the configuration leaves the result out, "" if it does not.
	Excluded  string
	Anomalies []Anomaly
	// Retired says why the configuration keeps the benchmark out of lists.
	Retired string

	origin *perf.Run // of the entry it stands in; nil once remembered
}

// Metric returns the result's metric of that name, nil if there is none.
func (r *Result) Metric(name string) *Metric {
	for i := range r.Metrics {
		if r.Metrics[i].Name == name {
			return &r.Metrics[i]
		}
	}
	return nil
}

// Headline is the metric a list shows: the first time-like one, else
// throughput, else the first. Nil for a result without numbers.
func (r *Result) Headline() *Metric {
	for _, name := range []string{perf.Time, perf.RealTime, perf.CPUTime, perf.Latency, perf.Throughput} {
		if m := r.Metric(name); m != nil {
			return m
		}
	}
	if len(r.Metrics) > 0 {
		return &r.Metrics[0]
	}
	return nil
}

// Metric is the summary of one metric of one result, every number rounded to
// 12 significant digits, in Unit.
type Metric struct {
	Name   string
	Unit   perf.Unit
	Better perf.Better
	// Exact metrics do not vary by chance.
	Exact bool
	// N is the number of samples (0: only reported statistics are known).
	N      int
	Mean   perf.Num
	Median perf.Num
	StdDev perf.Num
	Min    perf.Num
	Max    perf.Num
	Q1     perf.Num
	Q3     perf.Num
	P95    perf.Num
	P99    perf.Num
	CV     perf.Num
	// CI is the Student t interval of the mean at the configured level, CI95
	// the same at 95 %. Absent for fewer than two samples.
	CI   perf.Interval
	CI95 perf.Interval
	// TailUndersampled says that P95 (or P99) rests on fewer than five values
	// beyond it.
	P95Undersampled bool
	P99Undersampled bool
	// Reported is true when the statistics are the tool's own claims because
	// the file has no samples.
	Reported bool
	// OpsPerSec is 1e9/mean for a time per operation in ns, absent otherwise.
	OpsPerSec perf.Num
	// Samples are the measured values in order, kept for the newest runs only.
	Samples []float64
	// Verdict on this metric against the series' baseline.
	Verdict perf.Verdict
	Labels  Labels
	// Tails are the percentiles of a load test that are judged besides the centre.
	Tails []Tail

	ci99  perf.Interval // for the recorded signal, whatever level is configured
	level float64       // ln of the cost with a platform shift taken out
	class int           // class of machine within the metric; -1: not judged at all
}

// Tail is a judged percentile.
type Tail struct {
	Stat    string // p95, p99
	Value   perf.Num
	Verdict perf.Verdict
}

// Claims counts the verdicts of a run. A benchmark counts once, by its worst
// metric; Inconclusive includes those without an interval.
type Claims struct {
	Slower, Faster, Unchanged, Inconclusive int
	Suspected, Confirmed, Recovered         int // among Slower and, for the last, all
	Judged                                  int // benchmarks with an interval
	// Chance is how many claims the run would make, over all metrics, if nothing
	// had changed.
	Chance float64
}

// Shift is a platform shift: what most benchmarks of a module measured on one
// machine did together.
type Shift struct {
	Module, Metric, CPU string
	Ratio, Lo, Hi       perf.Num // above 1 is slower; 95 % interval
	Results             int
}

// Open is a slowdown that is neither undone nor accepted.
type Open struct {
	Key       perf.Key
	Label     string
	Metric    string // "latency_p95" for a percentile
	Since     *Run   // first run that showed it
	Before    *Run   // last run before it, nil if unknown
	Confirmed *Run   // nil: suspected only
	Ratio     perf.Num
	Lo, Hi    perf.Num // absent for a suspicion's
	// PAdjusted is that of the newest verdict, absent for exact metrics.
	PAdjusted perf.Num
	// Gone says that later runs of its module do not have the benchmark any more.
	Gone bool
}

// Beyond reports that chance is no explanation: the slowdown is confirmed, or
// its suspicion stands out among all results of its run. On a large suite some
// suspicions are always there; they are listed, and do not colour the badge.
func (o Open) Beyond() bool {
	const falseDiscoveries = 0.05 // share of them among what is called so
	p, ok := o.PAdjusted.Get()
	return o.Confirmed != nil || !ok || p <= falseDiscoveries
}

// Center is the statistic shown for the metric, the one the interval belongs
// to: the mean, else the median, else whatever the tool gave.
func (m *Metric) Center() perf.Num {
	if _, ok := m.Mean.Get(); ok {
		return m.Mean
	}
	if _, ok := m.Median.Get(); ok {
		return m.Median
	}
	return m.P95
}

// Series is the history of one metric of one benchmark.
type Series struct {
	Key    perf.Key
	Label  string
	Metric string
	Unit   perf.Unit
	Better perf.Better
	Points []Point // trend members only, oldest first
	Steps  []Step
	// Retired says why the series is kept out of lists, "" if it is not.
	Retired string
}

// Step is a change of level across runs. It is no verdict.
type Step struct {
	Before, After *Run // it happened after the first and not after the second
	Ratio         perf.Num
	PValue        perf.Num
}

// Newest returns the newest point, nil if there is none.
func (s *Series) Newest() *Point {
	if len(s.Points) == 0 {
		return nil
	}
	return &s.Points[len(s.Points)-1]
}

// Point refers to a metric of a run's result.
type Point struct {
	Run    *Run
	Result *Result
	Metric *Metric
}

// Badge is the state shown in README badges.
type Badge struct {
	State   string // green, amber, red, grey
	Message string // "727 measured, not judged"
	Symbol  string // "?", "✓", "▲", "▲▲"
	Count   int    // benchmarks in the newest run
}
