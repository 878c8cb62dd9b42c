package decode

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

var dacapo = Format{
	Name:    "dacapo",
	Tool:    "DaCapo",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "what the DaCapo harness prints (`===== DaCapo 23.11-chopin avrora PASSED in 4212 msec =====`), of any version, with other output around it",
		Reads:  "the time of the measured iteration, those of the warm-up iterations as warm-up samples; of request-based benchmarks the tail latencies, the number of requests and the throughput of the measured iteration",
		Absent: "the size of the input, the machine but for its processors, the JVM, the start",
		Notes: []string{
			"The suite's version is a parameter: workloads differ between versions, so their times must not be compared.",
			"Warm-up iterations do not count in statistics. Several invocations in one file are repeats of one result.",
			"`simple` tail latency is `latency`; metered ones, which include the time a request had to wait, are custom metrics.",
			"A benchmark is failed if any iteration failed its validation, or if it started and never passed.",
		},
	},
	Sniff: func(_ string, head []byte) Confidence {
		for line := range bytes.Lines(head) {
			if body, ok := dacapoLine(line); ok {
				if _, ok := dacapoEventOf(body); ok {
					return Certain
				}
			}
		}
		return No
	},
	Decode: decodeDaCapo,
}

// dacapoMark begins the lines of the harness.
const dacapoMark = "===== DaCapo "

// dacapoLine returns what stands between the marks, wherever they stand in the
// line: a progress bar may be left before them. A line without its end is cut.
func dacapoLine(line []byte) (body string, ok bool) {
	if len(line) > limits.LineBytes || !bytes.Contains(line, []byte(dacapoMark)) {
		return "", false
	}
	_, body, _ = strings.Cut(stripANSI(string(line)), dacapoMark)
	body, _, ok = strings.Cut(body, " ===")
	return body, ok
}

// dacapoEvent is what a line tells about an iteration.
type dacapoEvent struct {
	suite, name string
	verb        string // starting, completed, passed or failed
	warmup      bool
	msec        int64 // of completed and passed
}

// dacapoEventOf reads "VERSION NAME VERB ..."; the first versions have no
// version in it.
func dacapoEventOf(body string) (e dacapoEvent, ok bool) {
	words := strings.Fields(body)
	at := slices.IndexFunc(words, func(w string) bool { _, ok := dacapoVerbs[strings.ToLower(w)]; return ok })
	if at < 1 || at > 3 {
		return e, false
	}
	e.verb = dacapoVerbs[strings.ToLower(words[at])]
	e.name, e.suite = words[at-1], strings.Join(words[:at-1], " ")
	rest := words[at+1:]
	e.warmup = len(rest) > 0 && strings.EqualFold(rest[0], "warmup")
	if e.verb != "completed" && e.verb != "passed" {
		return e, true
	}
	in := slices.Index(rest, "in")
	if in < 0 || len(rest) != in+3 || rest[in+2] != "msec" && rest[in+2] != "ms" {
		return e, false
	}
	n, err := strconv.ParseInt(rest[in+1], 10, 64)
	e.msec = n
	return e, err == nil && n >= 0 && n < 1<<53/1_000_000
}

// dacapoVerbs are the spellings of all versions.
var dacapoVerbs = map[string]string{"starting": "starting", "completed": "completed", "finished": "completed", "passed": "passed", "failed": "failed"}

// dacapoReader follows the invocations of a log.
type dacapoReader struct {
	s    perf.Suite
	told problems
	now  int  // index of the invocation under way or ended last, -1 before the first
	open bool // whether it is under way
	busy bool // whether one of its iterations is
	// warming says that the latest iteration is a warm-up: its latencies are
	// none of the result.
	warming bool
	line    int
}

func decodeDaCapo(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	r := dacapoReader{s: perf.Suite{Module: in.Module, Kind: in.Kind}, now: -1}
	for line := range bytes.Lines(in.Data) {
		r.line++
		body, ok := dacapoLine(line)
		switch {
		case !ok:
			r.other(line)
		case strings.HasPrefix(body, "processed ") || strings.Contains(body, "tail latency"):
			r.requests(body)
		default:
			if e, ok := dacapoEventOf(body); ok {
				r.event(e)
			} else {
				r.told.add(perf.Diagnostic{Severity: perf.Warning, Code: "ignored", Where: perf.Where{Line: r.line},
					What: "a line of DaCapo is not understood: " + quote(body), Do: "The other lines are read."})
			}
		}
		if len(r.s.Benchmarks) > limits.Benchmarks {
			return nil, r.told.all(), tooMany(r.line)
		}
	}
	r.end()
	return []perf.Suite{r.s}, r.told.all(), nil
}

// other takes a line that is not between the marks.
func (r *dacapoReader) other(line []byte) {
	if rest, ok := bytes.CutPrefix(line, []byte("Validation FAILED for ")); ok && r.now >= 0 {
		b := &r.s.Benchmarks[r.now]
		if name, _, _ := strings.Cut(string(bytes.TrimSpace(rest)), " "); name == b.Name {
			r.fail("failed: its output is not valid")
		}
		return
	}
	before, _, ok := bytes.Cut(line, []byte(" processors detected"))
	if words := bytes.Fields(before); ok && len(words) > 0 {
		if n, err := strconv.Atoi(string(words[len(words)-1])); err == nil && n > 0 && n < 1<<20 {
			r.s.Env.CPUCount = n
		}
	}
}

// fail marks the invocation as failed; the first reason counts.
func (r *dacapoReader) fail(reason string) {
	if b := &r.s.Benchmarks[r.now]; b.Status == perf.OK {
		b.Status, b.Reason = perf.Fail, reason
	}
}

// end closes the invocation under way. What failed has no numbers to trust.
func (r *dacapoReader) end() {
	if r.now < 0 {
		return
	}
	if r.open {
		r.fail("no-result: it started, but never passed")
	}
	r.open = false
	if b := &r.s.Benchmarks[r.now]; b.Status != perf.OK {
		b.Metrics = nil
	}
}

// event takes a line about an iteration.
func (r *dacapoReader) event(e dacapoEvent) {
	same := r.open && r.s.Benchmarks[r.now].Name == e.name
	if !same || r.busy && e.verb == "starting" {
		r.end()
		r.begin(e)
	}
	b := &r.s.Benchmarks[r.now]
	r.warming, r.busy = e.warmup || e.verb == "completed", e.verb == "starting"
	switch e.verb {
	case "failed":
		if e.warmup {
			r.fail("failed: a warm-up iteration is not valid")
			return
		}
		r.fail("failed: the harness says FAILED")
		r.open = false
	case "completed", "passed":
		m := &b.Metrics[0]
		sample(m, float64(e.msec), 1, len(m.Samples)+1)
		if e.verb == "completed" {
			m.Samples[len(m.Samples)-1].Stage = perf.Warmup
			return
		}
		r.open = false
	}
}

// begin opens an invocation.
func (r *dacapoReader) begin(e dacapoEvent) {
	b := perf.Benchmark{Name: e.name, Rows: 1, Status: perf.OK, JobKind: perf.Default, Metrics: []perf.Metric{
		{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: "msec", Scale: 1e6}},
	}}
	if e.suite != "" {
		b.Identity = []perf.Param{{Name: "suite", Value: e.suite}}
		b.Params = b.Identity
		r.s.ToolVersion = e.suite
	}
	r.s.Benchmarks = append(r.s.Benchmarks, b)
	r.now, r.open = len(r.s.Benchmarks)-1, true
}

// requests takes a line about the requests of the latest iteration.
func (r *dacapoReader) requests(body string) {
	if r.now < 0 || r.warming {
		return
	}
	b := &r.s.Benchmarks[r.now]
	var metrics []perf.Metric
	ok := false
	if rest, is := strings.CutPrefix(body, "processed "); is {
		metrics, ok = dacapoProcessed(rest)
	} else {
		metrics, ok = dacapoLatency(body)
	}
	if !ok {
		r.told.add(perf.Diagnostic{Severity: perf.Warning, Code: "ignored", Where: perf.Where{Line: r.line},
			What: fmt.Sprintf("%s: a line about its requests is not understood: %s", quote(b.Name), quote(body)), Do: "Its time is kept."})
		return
	}
	for _, m := range metrics {
		if b.Metric(m.Name) == nil && len(b.Metrics) < limits.MetricsPerBenchmark {
			b.Metrics = append(b.Metrics, m)
		}
	}
}

// dacapoProcessed reads "N requests in N msec, N requests per second".
func dacapoProcessed(rest string) ([]perf.Metric, bool) {
	words := strings.Fields(rest)
	if len(words) < 6 || words[1] != "requests" || !strings.HasSuffix(rest, "requests per second") {
		return nil, false
	}
	n, err := strconv.ParseInt(words[0], 10, 53)
	rate, err2 := strconv.ParseInt(words[5], 10, 53)
	if err != nil || err2 != nil {
		return nil, false
	}
	return []perf.Metric{
		{Name: perf.Requests, Unit: perf.Count, Better: perf.UnknownBetter, Source: perf.Source{Unit: "requests", Scale: 1},
			Reported: []perf.Reported{{Stat: "value", Value: float64(n)}}},
		{Name: perf.Throughput, Unit: perf.PerSecond, Better: perf.Higher, Source: perf.Source{Unit: "requests per second", Scale: 1},
			Reported: []perf.Reported{{Stat: "mean", Value: float64(rate), N: n}}},
	}, true
}

// dacapoLatency reads "KIND tail latency: 50% N usec, ..., max N usec, measured
// over N events", or since 23.11 "tail latency, KIND: ...".
func dacapoLatency(body string) ([]perf.Metric, bool) {
	head, list, ok := strings.Cut(body, ": ")
	kind := strings.TrimSpace(strings.TrimPrefix(strings.TrimSuffix(head, "tail latency"), "tail latency,"))
	m := perf.Metric{Name: customPrefix + kind + " latency", Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: "usec", Scale: 1e3}}
	switch kind {
	case "simple", "":
		m.Name = perf.Latency
	}
	var events int64
	for _, part := range strings.Split(list, ", ") {
		words := strings.Fields(part)
		if len(words) == 4 && words[0] == "measured" && words[3] == "events" {
			events, _ = strconv.ParseInt(words[2], 10, 53)
			continue
		}
		if len(words) != 3 || words[2] != "usec" {
			return nil, false
		}
		v, err := strconv.ParseInt(words[1], 10, 43)
		if err != nil {
			return nil, false
		}
		stat := words[0]
		if p, ok := strings.CutSuffix(stat, "%"); ok && isStatName("p"+p) {
			stat = "p" + p
		} else if stat != "max" && stat != "min" {
			return nil, false
		}
		reported(&m, stat, perf.Some(float64(v)), 0)
	}
	for i := range m.Reported {
		m.Reported[i].N = max(events, 0)
	}
	return []perf.Metric{m}, ok && len(m.Reported) > 0
}
