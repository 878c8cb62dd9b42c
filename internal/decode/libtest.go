package decode

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

var libtest = Format{
	Name:    "libtest",
	Aliases: []string{"cargo-bench"},
	Tool:    "cargo bench (libtest)",
	Version: 1,
	Kind:    perf.Bench,
	Doc: Doc{
		Files:  "the text that `cargo bench` prints with the unstable `#[bench]`, and what Criterion.rs prints with `--output-format bencher`, also with other output in between",
		Reads:  "time of every benchmark with the deviation printed beside it; throughput in MB/s where it is printed; other units per iteration as custom metrics",
		Absent: "samples, the crate, the machine, the start",
		Notes: []string{
			"The number after `+/-` is kept as `spread`: libtest prints the difference of the largest and the smallest, Criterion.rs a standard deviation.",
			"`ignored` benchmarks are skipped results, `FAILED` ones failed results; lines of ordinary tests are not read.",
			"A line whose unit is not per iteration is told and not read.",
		},
	},
	Sniff: func(_ string, head []byte) Confidence {
		for line := range bytes.Lines(head) {
			if _, rest, ok := libtestLine(stripANSI(string(line))); ok && strings.HasPrefix(rest, "bench:") && strings.Contains(rest, "(+/-") {
				return Certain
			}
		}
		return No
	},
	Decode: decodeLibtest,
}

// libtestLine splits "test NAME ... REST".
func libtestLine(line string) (name, rest string, ok bool) {
	line = strings.TrimSpace(line)
	rest, ok = strings.CutPrefix(line, "test ")
	if !ok {
		return "", "", false
	}
	name, rest, ok = strings.Cut(rest, " ... ")
	return strings.TrimSpace(name), strings.TrimSpace(rest), ok && strings.TrimSpace(name) != ""
}

func decodeLibtest(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	s := perf.Suite{Module: in.Module, Kind: in.Kind}
	var told problems
	n := 0
	for line := range strings.Lines(string(in.Data)) {
		n++
		name, rest, ok := libtestLine(stripANSI(line))
		if !ok {
			continue
		}
		b := perf.Benchmark{Name: name, Rows: 1, JobKind: perf.Default}
		switch {
		case strings.HasPrefix(rest, "bench:"):
			m, err := libtestBench(strings.TrimPrefix(rest, "bench:"))
			if err != nil {
				told.add(perf.Diagnostic{Severity: libtestSeverity(err), Code: "invalid", Where: perf.Where{Line: n}, What: quote(name) + " is not read",
					Why: err.Error(), Do: "The other results are kept."})
				continue
			}
			b.Status, b.Metrics = perf.OK, m
		case rest == "ignored" || strings.HasPrefix(rest, "ignored,"):
			b.Status, b.Reason = perf.Skipped, "ignored: "+rest
		case rest == "FAILED":
			b.Status, b.Reason = perf.Fail, "failed: the output above says why"
		default:
			continue // an ordinary test, or output in between
		}
		if s.Benchmarks = append(s.Benchmarks, b); len(s.Benchmarks) > limits.Benchmarks {
			return nil, told.all(), tooMany(n)
		}
	}
	return []perf.Suite{s}, told.all(), nil
}

// errNotPerIteration marks a line that measures something else.
var errNotPerIteration = errors.New("its unit is not per iteration")

func libtestSeverity(err error) perf.Severity {
	if errors.Is(err, errNotPerIteration) {
		return perf.Notice
	}
	return perf.Error
}

// libtestBench reads "1,234.5 ns/iter (+/- 56) = 18 MB/s".
func libtestBench(text string) ([]perf.Metric, error) {
	words := strings.Fields(text)
	if len(words) < 2 {
		return nil, errors.New("the line ends too early")
	}
	value, err := groupedNumber(words[0])
	if err != nil {
		return nil, err
	}
	unit, ok := strings.CutSuffix(words[1], "/iter")
	if !ok {
		return nil, fmt.Errorf("%w: %s", errNotPerIteration, quote(words[1]))
	}
	m := perf.Metric{Name: customPrefix + unit, Unit: perf.Unit(words[1]), Better: perf.Lower, Source: perf.Source{Unit: words[1], Scale: 1}}
	if f, ok := timeUnits[unit]; ok {
		m = perf.Metric{Name: perf.Time, Unit: perf.Nanoseconds, Better: perf.Lower, Source: perf.Source{Unit: words[1], Scale: f}}
	}
	if unit == "" || value < 0 {
		return nil, fmt.Errorf("%s is no time per iteration", quote(strings.Join(words[:2], " ")))
	}
	reported(&m, "mean", perf.Some(value), 0)
	_, rest, ok := strings.Cut(text, "(+/-")
	spread, rest, ok2 := strings.Cut(rest, ")")
	if ok && ok2 {
		v, err := groupedNumber(strings.TrimSpace(spread))
		if err != nil {
			return nil, err
		}
		reported(&m, "spread", perf.Some(v), 0)
	}
	out := []perf.Metric{m}
	if rate, ok := strings.CutPrefix(strings.TrimSpace(rest), "="); ok {
		if w := strings.Fields(rate); len(w) == 2 && w[1] == "MB/s" {
			v, err := groupedNumber(w[0])
			if err != nil {
				return nil, err
			}
			t := perf.Metric{Name: perf.Throughput, Unit: perf.BytesPerSecond, Better: perf.Higher, Source: perf.Source{Unit: "MB/s", Scale: 1e6}}
			reported(&t, "mean", perf.Some(v), 0)
			out = append(out, t)
		}
	}
	return out, nil
}

// groupedNumber reads a number with commas between groups of three digits.
func groupedNumber(text string) (float64, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	groups := strings.Split(whole, ",")
	for i, g := range groups {
		if i > 0 && len(g) != 3 || strings.Contains(fraction, ",") {
			return 0, fmt.Errorf("%s is not a number", quote(text))
		}
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if n := perf.Some(v); err != nil || n.IsZero() {
		return 0, fmt.Errorf("%s is not a number", quote(text))
	}
	return v, nil
}
