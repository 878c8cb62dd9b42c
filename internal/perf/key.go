package perf

import (
	"cmp"
	"slices"
	"strings"
)

// Kind says what was measured. Its archive folder is [Kind.Folder].
type Kind string

// The kinds of run.
const (
	Bench Kind = "bench" // micro-benchmarks: time or resources per operation
	Load  Kind = "load"  // load tests: throughput, latency and errors per scenario
	Corun Kind = "corun" // versions measured side by side on one host
)

// Kinds lists every kind in archive order.
var Kinds = []Kind{Bench, Load, Corun}

// Folder is the archive folder of the kind on the raw branch, "" if unknown.
func (k Kind) Folder() string {
	switch k {
	case Bench:
		return "benchmarks"
	case Load:
		return "load-tests"
	case Corun:
		return "co-runs"
	}
	return ""
}

// KindOfFolder is the inverse of [Kind.Folder].
func KindOfFolder(folder string) (Kind, bool) {
	for _, k := range Kinds {
		if k.Folder() == folder {
			return k, true
		}
	}
	return "", false
}

// Param is one named value: a benchmark parameter or a dimension such as
// runtime=net9.0.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Key identifies one benchmark or scenario over all runs. Two results belong
// to one series exactly when their keys are equal. Params are sorted by name.
type Key struct {
	Kind   Kind    `json:"kind"`
	Module string  `json:"module"`
	Name   string  `json:"name"`
	Params []Param `json:"params,omitempty"`
	Job    string  `json:"job,omitempty"`
}

// Normalize sorts the parameters, as every comparison expects.
func (k *Key) Normalize() {
	slices.SortStableFunc(k.Params, func(a, b Param) int { return cmp.Compare(a.Name, b.Name) })
}

// Benchmark names the benchmark within its module: the name and those
// parameters the name does not already spell out (BenchmarkDotNet writes
// "(n: 1)" and Go "/n=1" into the name itself).
func (k Key) Benchmark() string {
	var b strings.Builder
	b.WriteString(k.Name)
	open := false
	for _, p := range k.Params {
		if strings.Contains(k.Name, p.Name+"="+p.Value) || strings.Contains(k.Name, p.Name+": "+p.Value) {
			continue
		}
		if open {
			b.WriteByte(',')
		} else {
			b.WriteByte('{')
			open = true
		}
		b.WriteString(p.Name + "=" + p.Value)
	}
	if open {
		b.WriteByte('}')
	}
	return b.String()
}

// String is "module/benchmark" with " [job]" when there is a job.
func (k Key) String() string {
	s := k.Module + "/" + k.Benchmark()
	if k.Job != "" {
		s += " [" + k.Job + "]"
	}
	return s
}

// ID is a string equal exactly for equal keys, for use as a map key. It is not
// for people: fields are joined by control characters that names cannot hold
// after [Key.Normalize] (decoders refuse them).
func (k Key) ID() string {
	var b strings.Builder
	for _, s := range []string{string(k.Kind), k.Module, k.Name, k.Job} {
		b.WriteString(s)
		b.WriteByte(0)
	}
	for _, p := range k.Params {
		b.WriteString(p.Name)
		b.WriteByte(1)
		b.WriteString(p.Value)
		b.WriteByte(0)
	}
	return b.String()
}

// Compare orders keys by kind, module, name, parameters, job.
func (k Key) Compare(o Key) int {
	if c := cmp.Compare(k.Kind, o.Kind); c != 0 {
		return c
	}
	if c := cmp.Compare(k.Module, o.Module); c != 0 {
		return c
	}
	if c := cmp.Compare(k.Name, o.Name); c != 0 {
		return c
	}
	c := slices.CompareFunc(k.Params, o.Params, func(a, b Param) int {
		if c := cmp.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return cmp.Compare(a.Value, b.Value)
	})
	if c != 0 {
		return c
	}
	return cmp.Compare(k.Job, o.Job)
}
