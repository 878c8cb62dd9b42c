package decode

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// finish does for every format what belongs to none: it labels the suites,
// refuses results that no series could hold, and merges repeats.
func finish(f *Format, file string, suites []perf.Suite) ([]perf.Suite, []perf.Diagnostic) {
	var diagnostics []perf.Diagnostic
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
			if b.Rows == 0 {
				b.Rows = 1
			}
			if d, ok := refuseResult(&b); !ok {
				diagnostics = append(diagnostics, d)
				continue
			}
			good = append(good, b)
		}
		var more []perf.Diagnostic
		s.Benchmarks, more = mergeRepeats(&s, good)
		diagnostics = append(diagnostics, more...)
		if len(s.Benchmarks) > 0 {
			diagnostics = append(diagnostics, lookAlikes(s.Benchmarks)...)
			kept = append(kept, s)
		}
	}
	return kept, diagnostics
}

// refuseResult checks one result and trims its metrics to what can be kept; ok
// is false when the result itself cannot.
func refuseResult(b *perf.Benchmark) (d perf.Diagnostic, ok bool) {
	refused := perf.Diagnostic{Severity: perf.Error, Code: "invalid", Do: "The other results are kept."}
	texts := []string{b.Name, b.Label, b.Job}
	for _, p := range b.Params {
		texts = append(texts, p.Name, p.Value)
	}
	switch {
	case strings.TrimSpace(b.Name) == "":
		refused.What = "a result without a name is refused"
		return refused, false
	case len(b.Metrics) > limits.MetricsPerBenchmark:
		refused.What = fmt.Sprintf("%s: %d metrics, more than the limit of %d", quote(b.Name), len(b.Metrics), limits.MetricsPerBenchmark)
		return refused, false
	}
	for _, t := range texts {
		if len(t) > limits.NameBytes {
			refused.What = fmt.Sprintf("%s: the name has %d bytes, more than the limit of %d", quote(t), len(t), limits.NameBytes)
			return refused, false
		}
		if !utf8.ValidString(t) {
			refused.What = fmt.Sprintf("%s: the name is not valid UTF-8", quote(t))
			return refused, false
		}
		// Keys are joined with these two.
		if strings.ContainsAny(t, "\x00\x01") {
			refused.What = fmt.Sprintf("%s: the name holds a NUL or SOH character", quote(t))
			return refused, false
		}
	}
	for i := range b.Metrics {
		if why := badNumbers(&b.Metrics[i]); why != "" {
			refused.What = fmt.Sprintf("%s: metric %s %s", quote(b.Name), b.Metrics[i].Name, why)
			return refused, false
		}
	}
	return perf.Diagnostic{}, true
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
func mergeRepeats(s *perf.Suite, in []perf.Benchmark) ([]perf.Benchmark, []perf.Diagnostic) {
	var diagnostics []perf.Diagnostic
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
			mergeInto(into, &b)
		case into.Status == perf.OK || b.Status == perf.OK:
			// What was measured stays, but that a repeat failed must be said.
			lost := b
			if b.Status == perf.OK {
				lost, *into = *into, b
			}
			diagnostics = append(diagnostics, perf.Diagnostic{
				Severity: perf.Warning, Code: string(lost.Status),
				What: fmt.Sprintf("%s: a repeat has no numbers; the others are kept", quote(b.Name)), Why: lost.Reason,
			})
		}
	}
	return out, diagnostics
}

// mergeInto adds the samples of a repeat, as blocks of their own. Statistics which the tool reported
// hold for one repeat only: where there are no samples the central one becomes
// a sample, and the others are dropped.
func mergeInto(a, b *perf.Benchmark) {
	a.Rows += b.Rows
	for i := range b.Metrics {
		from := &b.Metrics[i]
		to := a.Metric(from.Name)
		if to != nil && to.Unit != from.Unit {
			// Another quantity under one name.
			from.Name += " (" + string(from.Unit) + ")"
			to = a.Metric(from.Name)
		}
		if to == nil {
			a.Metrics = append(a.Metrics, *from)
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

func centralToSample(m *perf.Metric) {
	if len(m.Samples) == 0 {
		for _, stat := range []string{"mean", "value", "median"} {
			if r, ok := m.Find(stat); ok {
				m.Samples = []perf.Sample{{Value: r.Value, Block: 1}}
				break
			}
		}
	}
	m.Reported = nil
}
