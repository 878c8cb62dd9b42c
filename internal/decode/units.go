package decode

import (
	"strings"

	"perfband/internal/perf"
)

// timeUnits are the spellings of time units, in nanoseconds. The second micro
// sign is the Greek letter, which .NET writes.
var timeUnits = map[string]float64{
	"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9, "min": 60e9, "h": 3600e9,
}

// sizeUnits are the spellings of sizes, in bytes, of formats that say what they
// mean: SI prefixes are powers of 1000.
var sizeUnits = map[string]float64{
	"B": 1, "byte": 1, "bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// baseUnit converts a unit text to a base unit and the factor to it; ok is
// false for a unit that is none of the known ones.
func baseUnit(text string) (unit perf.Unit, scale float64, ok bool) {
	text = strings.TrimSpace(text)
	if f, ok := timeUnits[text]; ok {
		return perf.Nanoseconds, f, true
	}
	if f, ok := sizeUnits[text]; ok {
		return perf.Bytes, f, true
	}
	if size, ok := strings.CutSuffix(text, "/s"); ok {
		if f, ok := sizeUnits[size]; ok {
			return perf.BytesPerSecond, f, true
		}
	}
	switch text {
	case "1/s", "ops/s", "op/s", "req/s", "rps", "RPS":
		return perf.PerSecond, 1, true
	case "count", "1", "":
		return perf.Count, 1, true
	case "ratio":
		return perf.Ratio, 1, true
	case "%", "percent":
		return perf.Ratio, 0.01, true
	}
	return "", 0, false
}
