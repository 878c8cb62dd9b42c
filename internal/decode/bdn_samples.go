package decode

import (
	"slices"

	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// dotnetScratch is memory reused from entry to entry.
type dotnetScratch struct {
	rows   []dotnetRow
	values []float64
}

// dotnetRow is one element of Measurements.
type dotnetRow struct {
	role   dotnetRole
	sample perf.Sample
}

// dotnetRole is what an iteration was for.
type dotnetRole uint8

// The roles. Result rows are the actual rows with the overhead subtracted and
// outliers removed, so of these two only one may be counted.
const (
	roleOther dotnetRole = iota
	roleResult
	roleActual
	rolePilot
	roleWarmup
	roleOverhead
)

// roleOf knows the names since version 0.11 (mode and stage) and before (mode
// alone).
func roleOf(mode, stage string) dotnetRole {
	switch mode {
	case "Overhead", "IdleTarget", "IdleWarmup":
		return roleOverhead
	case "Result":
		return roleResult
	case "MainTarget":
		return roleActual
	case "MainWarmup":
		return roleWarmup
	case "Pilot":
		return rolePilot
	}
	switch stage {
	case "Result":
		return roleResult
	case "Actual":
		return roleActual
	case "Pilot":
		return rolePilot
	case "Warmup", "Jitting":
		return roleWarmup
	}
	return roleOther
}

// dotnetWords are the mode and stage names, so that reading one allocates
// nothing.
var dotnetWords = func() map[string]string {
	m := map[string]string{}
	for _, w := range []string{"Overhead", "Workload", "IdleTarget", "IdleWarmup", "Result", "MainTarget", "MainWarmup",
		"Pilot", "Actual", "Warmup", "Jitting", "Unknown"} {
		m[w] = w
	}
	return m
}()

// readDotNetMeasurements returns the samples in the order measured. Where there
// are no result rows, actual rows stand for them.
func readDotNetMeasurements(d *strictjson.Decoder, scratch *dotnetScratch) (samples []perf.Sample, resultRows bool) {
	rows := scratch.rows[:0]
	results := 0
	for ok := d.Array(); ok && d.More(); {
		row, ok := readDotNetRow(d)
		if !ok {
			continue
		}
		if row.role == roleResult {
			results++
		}
		rows = append(rows, row)
	}
	scratch.rows = rows
	counts := func(r dotnetRow) bool { return r.role != roleOther && (r.role != roleActual || results == 0) }
	n := 0
	for _, r := range rows {
		if counts(r) {
			n++
		}
	}
	if n == 0 {
		return nil, false
	}
	samples = make([]perf.Sample, 0, n)
	for _, r := range rows {
		if !counts(r) {
			continue
		}
		switch r.role {
		case rolePilot:
			r.sample.Stage = perf.Pilot
		case roleWarmup:
			r.sample.Stage = perf.Warmup
		case roleOverhead:
			r.sample.Stage = perf.Overhead
		}
		samples = append(samples, r.sample)
	}
	return samples, results > 0
}

// readDotNetRow reads one measurement; ok is false when it gives no value.
func readDotNetRow(d *strictjson.Decoder) (row dotnetRow, ok bool) {
	var mode, stage string
	var ns float64
	var timed bool
	if !d.Object() {
		return row, false
	}
	for {
		key, more := d.Key()
		if !more {
			break
		}
		switch string(key) {
		case "IterationMode":
			w, _ := d.Text()
			mode = dotnetWords[string(w)]
		case "IterationStage":
			w, _ := d.Text()
			stage = dotnetWords[string(w)]
		case "LaunchIndex":
			row.sample.Block = readIndex(d)
		case "IterationIndex":
			row.sample.Iter = readIndex(d)
		case "Operations":
			row.sample.Ops, _ = d.Int()
		case "Nanoseconds":
			ns, timed = d.Float()
		default:
			d.Skip()
		}
	}
	if !timed || row.sample.Ops <= 0 {
		return row, false
	}
	row.role = roleOf(mode, stage)
	row.sample.Value = ns / float64(row.sample.Ops)
	return row, true
}

// readIndex reads a small positive number, 0 for anything else.
func readIndex(d *strictjson.Decoder) int32 {
	if v, ok := d.Int(); ok && v > 0 && v <= 1<<30 {
		return int32(v)
	}
	return 0
}

// dotnetStats is what the tool computed, in nanoseconds.
type dotnetStats struct {
	n                                                int64
	mean, median, sd, se, min, max, q1, q3           perf.Num
	p67, p80, p85, p90, p95, level, ciLower, ciUpper perf.Num
}

func readDotNetStats(d *strictjson.Decoder, scratch *dotnetScratch) (s dotnetStats, original []float64) {
	for key := range fields(d) {
		switch string(key) {
		case "OriginalValues":
			values := scratch.values[:0]
			for ok := d.Array(); ok && d.More(); {
				if v, ok := d.Float(); ok {
					values = append(values, v)
				}
			}
			scratch.values = values
			original = slices.Clone(values)
		case "N":
			s.n, _ = d.Int()
		case "Mean":
			s.mean = readNum(d)
		case "Median":
			s.median = readNum(d)
		case "StandardDeviation":
			s.sd = readNum(d)
		case "StandardError":
			s.se = readNum(d)
		case "Min":
			s.min = readNum(d)
		case "Max":
			s.max = readNum(d)
		case "Q1":
			s.q1 = readNum(d)
		case "Q3":
			s.q3 = readNum(d)
		case "ConfidenceInterval":
			s.readInterval(d)
		case "Percentiles":
			s.readPercentiles(d)
		default:
			d.Skip()
		}
	}
	return s, original
}

func (s *dotnetStats) readInterval(d *strictjson.Decoder) {
	for key := range fields(d) {
		switch string(key) {
		case "Level":
			s.level = readNum(d)
		case "Lower":
			s.ciLower = readNum(d)
		case "Upper":
			s.ciUpper = readNum(d)
		default:
			d.Skip()
		}
	}
}

func (s *dotnetStats) readPercentiles(d *strictjson.Decoder) {
	for key := range fields(d) {
		switch string(key) {
		case "P67":
			s.p67 = readNum(d)
		case "P80":
			s.p80 = readNum(d)
		case "P85":
			s.p85 = readNum(d)
		case "P90":
			s.p90 = readNum(d)
		case "P95":
			s.p95 = readNum(d)
		default:
			d.Skip()
		}
	}
}

// dotnetLevels are the confidence levels in the order of the tool's enumeration,
// whose number the JSON holds; 12, which is 99.9 %, is its default.
var dotnetLevels = []float64{0.5, 0.7, 0.75, 0.8, 0.85, 0.9, 0.92, 0.95, 0.96, 0.97, 0.98, 0.99, 0.999}

// reported lists the statistics that are there.
func (s *dotnetStats) reported() []perf.Reported {
	out := make([]perf.Reported, 0, 13)
	for _, r := range []struct {
		stat  string
		value perf.Num
	}{
		{"mean", s.mean}, {"median", s.median}, {"stddev", s.sd}, {"stderr", s.se}, {"min", s.min}, {"max", s.max},
		{"p25", s.q1}, {"p67", s.p67}, {"p75", s.q3}, {"p80", s.p80}, {"p85", s.p85}, {"p90", s.p90}, {"p95", s.p95},
	} {
		if v, ok := r.value.Get(); ok {
			out = append(out, perf.Reported{Stat: r.stat, Value: v, N: max(s.n, 0)})
		}
	}
	if level, ok := s.level.Get(); ok && len(out) > 0 && out[0].Stat == "mean" {
		if level >= 1 && int(level) < len(dotnetLevels) {
			level = dotnetLevels[int(level)]
		}
		if level > 0 && level < 1 {
			out[0].CI = perf.Interval{Level: level, Lo: s.ciLower, Hi: s.ciUpper}
		}
	}
	return out
}
