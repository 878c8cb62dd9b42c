package perf

import "time"

// Suite is what one tool reported about one module in one file.
type Suite struct {
	Module         string
	Kind           Kind
	Tool           string
	ToolVersion    string
	Decoder        string
	DecoderVersion int
	File           string    // path of the report, slash separated
	Started        time.Time // start as the file states it; zero if it does not
	Commit         Commit    // commit measured as the file states it; zero if it does not
	Env            Env       // what the file itself says about the machine
	Benchmarks     []Benchmark
}

// Key returns the key of the suite's i-th benchmark.
func (s *Suite) Key(i int) Key {
	b := &s.Benchmarks[i]
	k := Key{Kind: s.Kind, Module: s.Module, Name: b.Name, Job: b.Job}
	k.Params = append(k.Params, b.Params...)
	k.Normalize()
	return k
}
