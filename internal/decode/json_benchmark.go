package decode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// benchmark reads one element of "benchmarks". Its first fault refuses it.
func (r *jsonReader) benchmark(index int) {
	d := r.d
	d.Kind() // moves past blanks, to where the record begins
	offset := d.Offset()
	module := r.in.Module
	b := perf.Benchmark{Rows: 1, Status: perf.OK, JobKind: perf.Default}
	why := ""
	fault := func(key, what string) {
		if what != "" && why == "" {
			why = key + " " + what
		}
	}
	if d.Kind() != strictjson.Object {
		why = "it is not an object"
	}
	for key := range fields(d) {
		k, what := string(key), ""
		switch k {
		case "module":
			module, what = readJSONString(d)
		case "name":
			b.Name, what = readJSONString(d)
		case "job":
			b.Job, what = readJSONString(d)
		case "docref":
			b.DocRef, what = readJSONString(d)
		case "reason":
			b.Reason, what = readJSONString(d)
		case "job_kind":
			b.JobKind, what = readJSONWord(d, perf.Dry, perf.Short, perf.Medium, perf.Default)
		case "status":
			b.Status, what = readJSONWord(d, perf.OK, perf.Fail, perf.Skipped)
		case "params":
			b.Params, what = readJSONParams(d)
		case "dims":
			b.Dims, what = readJSONParams(d)
		case "metrics":
			b.Metrics, what = r.metrics()
		default:
			r.skipUnknown(k, benchmarkKeys)
		}
		fault(k, what)
	}
	if p := d.Problem(); p != nil {
		why, offset = p.Msg, p.Offset
	}
	switch {
	case d.Err() != nil:
		return // told by the caller
	case why != "":
	case b.Name == "":
		why = "it has no name"
	case b.Status == perf.OK && len(b.Metrics) == 0:
		why = `it has no metric; give "status": "failed" or "skipped" with a "reason" if there was none`
	}
	if why != "" {
		r.refuse(index, b.Name, offset, why)
		return
	}
	if b.Status != perf.OK && b.Reason == "" {
		b.Reason = string(b.Status) + ": the file gives no reason"
	}
	r.add(module, b)
}

// metrics reads the list of metrics; what tells the first fault.
func (r *jsonReader) metrics() (out []perf.Metric, what string) {
	if k := r.d.Kind(); k != strictjson.Array {
		r.d.Skip()
		return nil, "is " + k.String() + ", not an array"
	}
	for ok := r.d.Array(); ok && r.d.More(); {
		m, fault := r.metric()
		if fault == "" && slices.ContainsFunc(out, func(o perf.Metric) bool { return o.Name == m.Name }) {
			fault = "occurs twice"
		}
		if fault != "" && what == "" {
			what = quote(m.Name) + ": " + fault
		}
		out = append(out, m)
	}
	return out, what
}

// metric reads one metric with all its statistics.
func (r *jsonReader) metric() (m perf.Metric, why string) {
	d := r.d
	fault := func(key, what string) {
		if what != "" && why == "" {
			why = key + " " + what
		}
	}
	var ops, n int64
	var ci perf.Interval
	for key := range fields(d) {
		k, what := string(key), ""
		switch {
		case k == "name":
			m.Name, what = readJSONString(d)
		case k == "unit":
			m.Source.Unit, what = readJSONString(d)
		case k == "better":
			m.Better, what = readJSONWord(d, perf.Lower, perf.Higher, perf.UnknownBetter)
		case k == "exact":
			m.Exact, _ = d.Bool()
		case k == "ops":
			ops, what = readJSONCount(d)
		case k == "n":
			n, what = readJSONCount(d)
		case k == "samples":
			m.Samples, what = readJSONSamples(d)
		case k == "ci":
			ci, what = r.interval()
		case isStatName(k):
			var v perf.Num
			if v, what = readJSONNumber(d); what == "" {
				m.Reported = append(m.Reported, perf.Reported{Stat: k, Value: v.Or(0)})
			}
		default:
			r.skipUnknown(k, metricKeys)
		}
		fault(k, what)
	}
	if why == "" {
		why = settleMetric(&m, ops, n, ci)
	}
	return m, why
}

// isStatName accepts the statistics of [perf.Reported].
func isStatName(k string) bool {
	if slices.Contains([]string{"value", "mean", "median", "stddev", "stderr", "min", "max"}, k) {
		return true
	}
	digits, ok := strings.CutPrefix(k, "p")
	if !ok || digits == "" {
		return false
	}
	v, err := strconv.ParseFloat(digits, 64)
	return err == nil && v > 0 && v < 100 && digits[0] >= '0' && digits[0] <= '9'
}

// settleMetric checks a metric that was read and converts it to base units.
func settleMetric(m *perf.Metric, ops, n int64, ci perf.Interval) (why string) {
	switch {
	case m.Name == "":
		return "it has no name"
	case len(m.Samples) == 0 && len(m.Reported) == 0:
		return "it has neither samples nor a value"
	}
	scale, why := settleUnit(m)
	if why != "" {
		return why
	}
	m.Source.Scale = scale
	for i := range m.Samples {
		m.Samples[i].Value *= scale
		m.Samples[i].Ops = ops
	}
	// The interval is that of the mean, or of the only number there is.
	slices.SortStableFunc(m.Reported, func(a, b perf.Reported) int { return statOrder(a.Stat) - statOrder(b.Stat) })
	for i := range m.Reported {
		m.Reported[i].Value *= scale
		m.Reported[i].N = n
	}
	if ci.Level > 0 && len(m.Reported) > 0 {
		scaled := func(v perf.Num) perf.Num {
			if x, ok := v.Get(); ok {
				return perf.Some(x * scale)
			}
			return v
		}
		m.Reported[0].CI = perf.Interval{Level: ci.Level, Lo: scaled(ci.Lo), Hi: scaled(ci.Hi)}
	}
	return ""
}

func statOrder(stat string) int {
	if i := slices.Index([]string{"mean", "value", "median", "stddev", "stderr", "min", "max"}, stat); i >= 0 {
		return i
	}
	return 100
}

// fixedMetric says which units a metric with a fixed meaning takes and which
// direction is better.
type fixedMetric struct {
	units  []perf.Unit
	better perf.Better
}

var fixedMetrics = map[string]fixedMetric{
	perf.Time:       {[]perf.Unit{perf.Nanoseconds}, perf.Lower},
	perf.RealTime:   {[]perf.Unit{perf.Nanoseconds}, perf.Lower},
	perf.CPUTime:    {[]perf.Unit{perf.Nanoseconds}, perf.Lower},
	perf.Latency:    {[]perf.Unit{perf.Nanoseconds}, perf.Lower},
	perf.Throughput: {[]perf.Unit{perf.PerSecond, perf.BytesPerSecond}, perf.Higher},
	perf.AllocBytes: {[]perf.Unit{perf.Bytes}, perf.Lower},
	perf.Allocs:     {[]perf.Unit{perf.Count}, perf.Lower},
	perf.GC0:        {[]perf.Unit{perf.Count}, perf.Lower},
	perf.GC1:        {[]perf.Unit{perf.Count}, perf.Lower},
	perf.GC2:        {[]perf.Unit{perf.Count}, perf.Lower},
	perf.ErrorRate:  {[]perf.Unit{perf.Ratio}, perf.Lower},
	perf.Requests:   {[]perf.Unit{perf.Count}, perf.UnknownBetter},
	perf.Failed:     {[]perf.Unit{perf.Count}, perf.Lower},
	perf.CPU:        {[]perf.Unit{perf.Ratio}, perf.Lower},
	perf.RSS:        {[]perf.Unit{perf.Bytes}, perf.Lower},
}

// settleUnit sets name, unit and direction, and returns the factor to the unit.
func settleUnit(m *perf.Metric) (scale float64, why string) {
	fixed, ok := fixedMetrics[m.Name]
	if !ok {
		m.Name = customPrefix + strings.TrimPrefix(m.Name, customPrefix)
		m.Unit = perf.Unit(m.Source.Unit)
		if m.Better == "" {
			m.Better = perf.UnknownBetter
		}
		return 1, ""
	}
	unit, scale, known := baseUnit(m.Source.Unit)
	if !known || !slices.Contains(fixed.units, unit) {
		return 0, fmt.Sprintf("unit %s is not one of %v or a multiple", quote(m.Source.Unit), fixed.units)
	}
	m.Unit = unit
	if m.Better == "" {
		m.Better = fixed.better
	}
	return scale, ""
}

// interval reads {"level": 0.99, "lo": 1, "hi": 2}.
func (r *jsonReader) interval() (ci perf.Interval, why string) {
	for key := range fields(r.d) {
		k, what := string(key), ""
		var v perf.Num
		switch k {
		case "level":
			v, what = readJSONNumber(r.d)
			ci.Level = v.Or(0)
		case "lo":
			ci.Lo, what = readJSONNumber(r.d)
		case "hi":
			ci.Hi, what = readJSONNumber(r.d)
		default:
			r.skipUnknown(k, []string{"level", "lo", "hi"})
		}
		if what != "" && why == "" {
			why = k + " " + what
		}
	}
	if why == "" && (ci.Level <= 0 || ci.Level >= 1) {
		why = fmt.Sprintf("level %v is not between 0 and 1", ci.Level)
	}
	return ci, why
}
