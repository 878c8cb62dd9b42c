package decode

import (
	"strings"

	"perfband/internal/perf"
)

// goMetric is the metric that a unit stands for.
func goMetric(unit string) perf.Metric {
	m := perf.Metric{Source: perf.Source{Unit: unit, Scale: 1}}
	fixed := func(name string, u perf.Unit, better perf.Better, scale float64) perf.Metric {
		m.Name, m.Unit, m.Better, m.Source.Scale = name, u, better, scale
		return m
	}
	switch unit {
	case "ns/op":
		return fixed(perf.Time, perf.Nanoseconds, perf.Lower, 1)
	case "sec/op":
		return fixed(perf.Time, perf.Nanoseconds, perf.Lower, 1e9)
	case "B/op":
		return fixed(perf.AllocBytes, perf.Bytes, perf.Lower, 1)
	case "allocs/op":
		return fixed(perf.Allocs, perf.Count, perf.Lower, 1)
	case "MB/s":
		return fixed(perf.Throughput, perf.BytesPerSecond, perf.Higher, 1e6)
	case "B/s":
		return fixed(perf.Throughput, perf.BytesPerSecond, perf.Higher, 1)
	}
	if strings.HasSuffix(unit, "-ns") || strings.HasPrefix(unit, "ns/") {
		return fixed(customPrefix+unit, perf.Nanoseconds, perf.Lower, 1)
	}
	return fixed(customPrefix+unit, perf.Unit(unit), perf.UnknownBetter, 1)
}

// procsSuffix is the "-N" at the end of a name, "" if there is none.
func procsSuffix(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 0 || i == len(name)-1 || len(name)-i > 6 || strings.Trim(name[i+1:], "0123456789") != "" || name[i+1] == '0' {
		return ""
	}
	return name[i:]
}

// goBenchmark names a benchmark; suffix is the one common to the file.
func goBenchmark(pkg, name, suffix string) perf.Benchmark {
	base := name
	if suffix != "" {
		base = strings.TrimSuffix(name, suffix)
	}
	b := perf.Benchmark{Name: base, Label: name, Params: goParams(base), JobKind: perf.Default}
	if pkg != "" {
		b.Name = pkg + "." + base
		b.Identity = append(b.Identity, perf.Param{Name: "pkg", Value: pkg})
	}
	if procs := procsSuffix(name); procs != "" {
		b.Identity = append(b.Identity, perf.Param{Name: "procs", Value: procs[1:]})
		if suffix != "" {
			b.Dims = []perf.Param{{Name: "procs", Value: procs[1:]}}
		}
	}
	return b
}

// goParams reads key=value parts of a sub-benchmark name: "/n=1/kind=x" and
// "/n=1,k=2". A comma not followed by a key belongs to the value.
func goParams(name string) []perf.Param {
	var out []perf.Param
	_, sub, _ := strings.Cut(name, "/")
	for _, part := range strings.Split(sub, "/") {
		open := false
		for _, piece := range strings.Split(part, ",") {
			key, value, ok := strings.Cut(piece, "=")
			switch {
			case ok && key != "":
				out = append(out, perf.Param{Name: key, Value: value})
				open = true
			case open:
				out[len(out)-1].Value += "," + piece
			}
		}
	}
	return out
}
