package perf

// Unit is the base unit of a metric. Decoders convert to these; a custom
// metric keeps the file's own unit text.
type Unit string

// The base units. Time is nanoseconds, not seconds: the tools report
// nanoseconds, and a factor 1e-9 would print noise digits.
const (
	Nanoseconds    Unit = "ns"
	Bytes          Unit = "B"
	PerSecond      Unit = "1/s"
	BytesPerSecond Unit = "B/s"
	Count          Unit = "count"
	Ratio          Unit = "ratio" // 0 to 1
)

// Better is the direction in which a metric improves.
type Better string

// The directions. Unknown is never guessed into one of the others.
const (
	Lower         Better = "lower"
	Higher        Better = "higher"
	UnknownBetter Better = "unknown"
)

// Metric names with a fixed meaning. Others are "custom:NAME".
const (
	Time       = "time"        // duration of one operation
	RealTime   = "real_time"   // wall clock where the tool tells it from CPU time
	CPUTime    = "cpu_time"    // CPU time of one operation
	Latency    = "latency"     // duration of one request
	Throughput = "throughput"  // operations, requests or bytes per second
	AllocBytes = "alloc_bytes" // bytes allocated per operation
	Allocs     = "allocs"      // allocations per operation
	GC0        = "gc0"         // generation 0 collections while measuring
	GC1        = "gc1"         // generation 1 collections while measuring
	GC2        = "gc2"         // generation 2 collections while measuring
	ErrorRate  = "error_rate"  // failed / all requests, 0 to 1
	Requests   = "requests"    // requests sent
	Failed     = "failed"      // requests that failed
	CPU        = "cpu"         // share of the machine, 0 to 1
	RSS        = "rss"         // resident memory
)

// Metric is one measured quantity of a benchmark. Samples are what was
// measured; Reported is what the tool says about it. Statistics are computed
// from samples wherever there are any.
type Metric struct {
	Name     string
	Unit     Unit
	Better   Better
	Samples  []Sample
	Reported []Reported
	// Source is the unit as the file wrote it ("ns/op", "KB"), with the factor
	// that turns its values into Unit: value = file value x Scale.
	Source Source
	// Exact marks metrics that do not vary by chance (instruction counts).
	Exact bool
}

// Source tells how a metric stood in the file.
type Source struct {
	Unit  string
	Scale float64 // 1 when the file already used the base unit
}

// Sample is one value in the metric's unit per operation, in the order it was
// measured. Samples are never sorted in place.
type Sample struct {
	Value float64
	Ops   int64 // operations in the iteration; 0 unknown
	Stage Stage
	Block int32 // process launch or repeat the iteration belongs to, from 1; 0 unknown
	Iter  int32 // index within the block, from 1; 0 unknown
}

// Stage is the part of a measurement a sample was taken in. Only Measured
// samples count in statistics.
type Stage uint8

// The stages. The zero value is Measured.
const (
	Measured Stage = iota
	Pilot
	Warmup
	Overhead
	Profiled
)

// Reported is one statistic as the tool itself claimed it, in the metric's
// unit. Stat is mean, median, stddev, stderr, min, max, p50 ... p99, or "value".
type Reported struct {
	Stat  string
	Value float64
	N     int64    // requests or samples behind it; 0 unknown
	CI    Interval // interval of this statistic, absent when Level is 0
}

// Interval is a confidence interval. Level is in (0, 1); bounds may be absent.
type Interval struct {
	Level  float64
	Lo, Hi Num
}

// Values returns the measured samples' values, in order.
func (m *Metric) Values() []float64 {
	out := make([]float64, 0, len(m.Samples))
	for _, s := range m.Samples {
		if s.Stage == Measured {
			out = append(out, s.Value)
		}
	}
	return out
}

// Find returns the reported statistic of that name.
func (m *Metric) Find(stat string) (Reported, bool) {
	for _, r := range m.Reported {
		if r.Stat == stat {
			return r, true
		}
	}
	return Reported{}, false
}

// Status of a benchmark's result.
type Status string

// The statuses. A failed or skipped benchmark is a result of its own, so that
// it can never be mistaken for one that was not there.
const (
	OK      Status = "ok"
	Fail    Status = "failed"
	Skipped Status = "skipped"
)

// JobKind says how thoroughly a benchmark was run. Dry and short runs are kept
// but never become part of a trend.
type JobKind string

// The job kinds; anything else a tool names is Default.
const (
	Dry     JobKind = "dry"
	Short   JobKind = "short"
	Medium  JobKind = "medium"
	Default JobKind = "default"
)

// Benchmark is the result of one benchmark or scenario in one file.
type Benchmark struct {
	// Name identifies the benchmark within its module: package, class or group
	// belong to it.
	Name string
	// Label is the name exactly as the file has it, when that differs from Name.
	Label string
	// Identity holds the parts the tool names apart ("pkg", "Type", "scenario"),
	// for people and for decode; Name already contains what tells results apart.
	Identity []Param
	Params   []Param
	// Job is the tool's own job text without generated ids, "" if it has none.
	Job     string
	JobKind JobKind
	// Dims are named job and runtime characteristics: runtime, gc, aot, procs.
	Dims    []Param
	DocRef  string
	Rows    int // repeats merged into this result, at least 1
	Metrics []Metric
	Status  Status
	Reason  string // why it failed or was skipped
	// Side says that this describes the measuring process or host beside the
	// benchmarks (a load test's CPU log); it is kept but is no benchmark.
	Side bool
}

// DisplayName is the label, or the name when there is no label.
func (b *Benchmark) DisplayName() string {
	if b.Label != "" {
		return b.Label
	}
	return b.Name
}

// Metric returns the metric of that name, nil if there is none.
func (b *Benchmark) Metric(name string) *Metric {
	for i := range b.Metrics {
		if b.Metrics[i].Name == name {
			return &b.Metrics[i]
		}
	}
	return nil
}
