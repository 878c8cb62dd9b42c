package decode

import (
	"fmt"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// problems collects the diagnostics of one file. Of each kind only the first
// limits.DiagnosticsPerCode are kept, so that a broken file of millions of rows
// fills neither memory nor log; the rest is counted.
type problems struct {
	list  []perf.Diagnostic
	count map[string]int
}

func (p *problems) add(d perf.Diagnostic) {
	if p.count == nil {
		p.count = map[string]int{}
	}
	p.count[d.Code]++
	if p.count[d.Code] <= limits.DiagnosticsPerCode {
		p.list = append(p.list, d)
	}
}

// full reports that further problems of a kind are only counted.
func (p *problems) full(code string) bool { return p.count[code] >= limits.DiagnosticsPerCode }

// all returns the diagnostics in order; the last of a kind that was cut says
// how many are missing.
func (p *problems) all() []perf.Diagnostic {
	for i := len(p.list) - 1; i >= 0; i-- {
		d := &p.list[i]
		if more := p.count[d.Code] - limits.DiagnosticsPerCode; more > 0 {
			d.Why += fmt.Sprintf(" (and %d more problems of this kind in the file)", more)
			p.count[d.Code] = 0
		}
	}
	return p.list
}

// tooMany refuses a file with more results than one run may have.
func tooMany(line int) error {
	return &perf.Diagnostic{Severity: perf.Error, Code: "too-many-results", Where: perf.Where{Line: line},
		What: fmt.Sprintf("more than %d results in one file", limits.Benchmarks),
		Do:   "Run fewer benchmarks at a time, or split the file."}
}
