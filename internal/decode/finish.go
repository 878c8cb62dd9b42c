package decode

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// finish does for every format what belongs to none: it labels the suites,
// refuses results that no series could hold, and merges repeats.
func finish(f *Format, file string, suites []perf.Suite) ([]perf.Suite, []perf.Diagnostic) {
	var told problems
	kept := suites[:0]
	for _, s := range suites {
		s.Decoder, s.DecoderVersion, s.File = f.Name, f.Version, file
		if s.Tool == "" {
			s.Tool = f.Tool
		}
		if s.Kind == "" {
			s.Kind = f.Kind
		}
		good := s.Benchmarks[:0]
		for _, b := range s.Benchmarks {
			if b.Status == perf.OK && len(b.Metrics) == 0 {
				b.Status, b.Reason = perf.Fail, "no-statistics: the file has no numbers for it"
			}
			if keepable(&b, &told) {
				good = append(good, b)
			}
		}
		s.Benchmarks = mergeRepeats(&s, good, &told)
		if len(s.Benchmarks) > 0 {
			lookAlikes(s.Benchmarks, &told)
			kept = append(kept, s)
		}
	}
	return kept, told.all()
}

// keepable checks one result. A metric with impossible numbers is left out; the
// result itself is refused when nothing is left or no series could hold it.
func keepable(b *perf.Benchmark, told *problems) bool {
	refuse := func(format string, args ...any) bool {
		told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid", What: fmt.Sprintf(format, args...), Do: "The other results are kept."})
		return false
	}
	switch {
	case strings.TrimSpace(b.Name) == "":
		return refuse("a result without a name is refused")
	case len(b.Metrics) > limits.MetricsPerBenchmark:
		return refuse("%s: %d metrics, more than the limit of %d", quote(b.Name), len(b.Metrics), limits.MetricsPerBenchmark)
	}
	texts := []string{b.Name, b.Label, b.Job}
	for _, p := range b.Params {
		texts = append(texts, p.Name, p.Value)
	}
	for i := range b.Metrics {
		texts = append(texts, b.Metrics[i].Name, string(b.Metrics[i].Unit))
	}
	for _, t := range texts {
		switch {
		case len(t) > limits.NameBytes:
			return refuse("%s: the name has %d bytes, more than the limit of %d", quote(t), len(t), limits.NameBytes)
		case !utf8.ValidString(t):
			return refuse("%s: the name is not valid UTF-8", quote(t))
		case strings.ContainsAny(t, "\x00\x01"): // keys are joined with these
			return refuse("%s: the name holds a NUL or SOH character", quote(t))
		}
	}
	had := len(b.Metrics)
	b.Metrics = slices.DeleteFunc(b.Metrics, func(m perf.Metric) bool {
		why := badNumbers(&m)
		if why != "" {
			refuse("%s: metric %s %s and is left out", quote(b.Name), m.Name, why)
		}
		return why != ""
	})
	return len(b.Metrics) > 0 || had == 0
}

// badNumbers tells what is wrong with a metric's numbers, "" when nothing is.
func badNumbers(m *perf.Metric) string {
	// Durations, sizes, rates and counts of the fixed metrics cannot be negative;
	// only a custom metric without such a unit may be.
	signed := strings.HasPrefix(m.Name, customPrefix) && m.Unit != perf.Nanoseconds && timeUnits[string(m.Unit)] == 0
	bad := func(v float64) string {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return "is not finite"
		case v < 0 && !signed:
			return fmt.Sprintf("is negative (%v %s)", v, m.Unit)
		}
		return ""
	}
	for i := range m.Samples {
		if why := bad(m.Samples[i].Value); why != "" {
			return why
		}
	}
	for _, r := range m.Reported {
		if why := bad(r.Value); why != "" {
			return why
		}
	}
	return ""
}

const customPrefix = "custom:"

// quote shows foreign text in a message: escaped and cut.
func quote(s string) string {
	const shown = 120
	if len(s) > shown {
		s = s[:shown] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// mergeRepeats makes one result of those with equal keys: repeats of one
// benchmark within one file.
func mergeRepeats(s *perf.Suite, in []perf.Benchmark, told *problems) []perf.Benchmark {
	s.Benchmarks = in
	seen := make(map[string]int, len(in))
	out := in[:0]
	for i := range in {
		id := s.Key(i).ID()
		at, dup := seen[id]
		if !dup {
			seen[id] = len(out)
			out = append(out, in[i])
			continue
		}
		into, b := &out[at], in[i]
		switch {
		case into.Status == b.Status:
			mergeInto(into, &b, told)
		case into.Status == perf.OK || b.Status == perf.OK:
			// What was measured stays, but that a repeat failed must be said.
			lost := b
			if b.Status == perf.OK {
				lost, *into = *into, b
			}
			told.add(perf.Diagnostic{
				Severity: perf.Warning, Code: string(lost.Status),
				What: fmt.Sprintf("%s: a repeat has no numbers; the others are kept", quote(b.Name)), Why: lost.Reason,
			})
		}
	}
	return out
}

// mergeInto adds the samples of a repeat, as blocks of their own. Statistics which the tool reported
// hold for one repeat only: where there are no samples the central one becomes
// a sample, and the others are dropped.
func mergeInto(a, b *perf.Benchmark, told *problems) {
	a.Rows += b.Rows
	for i := range b.Metrics {
		from := &b.Metrics[i]
		to := a.Metric(from.Name)
		if to != nil && to.Unit != from.Unit {
			// Another quantity under one name.
			from.Name += " (" + string(from.Unit) + ")"
			to = a.Metric(from.Name)
		}
		if to == nil && len(a.Metrics) >= limits.MetricsPerBenchmark {
			told.add(perf.Diagnostic{Severity: perf.Error, Code: "invalid",
				What: fmt.Sprintf("%s: more than %d metrics in its repeats; %s is left out", quote(a.Name), limits.MetricsPerBenchmark, quote(from.Name))})
			continue
		}
		if to == nil {
			a.Metrics = append(a.Metrics, *from)
			continue
		}
		if !hasCentral(to) || !hasCentral(from) {
			told.add(perf.Diagnostic{Severity: perf.Warning, Code: "ignored",
				What: fmt.Sprintf("%s: %s is reported more than once without samples or a mean; the first report counts", quote(a.Name), quote(to.Name))})
			continue
		}
		centralToSample(to)
		centralToSample(from)
		last := int32(1)
		for i := range to.Samples {
			to.Samples[i].Block = max(to.Samples[i].Block, 1)
			last = max(last, to.Samples[i].Block)
		}
		for _, s := range from.Samples {
			s.Block = last + max(s.Block, 1)
			to.Samples = append(to.Samples, s)
		}
	}
}

// central are the statistics that can stand for a repeat, best first.
var central = []string{"mean", "value", "median", "p50"}

func hasCentral(m *perf.Metric) bool {
	return len(m.Samples) > 0 || slices.ContainsFunc(central, func(stat string) bool { _, ok := m.Find(stat); return ok })
}

// centralToSample makes one sample of what a repeat reports. The repeats then
// tell more about the spread than each one's own claims, which are dropped.
func centralToSample(m *perf.Metric) {
	if len(m.Samples) == 0 {
		for _, stat := range central {
			if r, ok := m.Find(stat); ok {
				m.Samples = []perf.Sample{{Value: r.Value, Block: 1}}
				break
			}
		}
	}
	m.Reported = nil
}
