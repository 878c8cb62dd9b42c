package derive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/perf"
)

// outcomes are the verdicts of a metric over all runs, in short.
func outcomes(d *Derived, metric string) []string {
	var out []string
	for _, s := range d.Series {
		if s.Metric != metric {
			continue
		}
		for _, p := range s.Points {
			v := p.Metric.Verdict
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", v.Outcome, v.State, strings.Join(v.Reasons, ";"))))
		}
	}
	return out
}

// history makes one run a day of one benchmark.
func runsOf(values ...string) []perf.Entry {
	var out []perf.Entry
	for i, v := range values {
		out = append(out, entry(fmt.Sprintf("%d.1", i+1), day.AddDate(0, 0, i), "A "+v))
	}
	return out
}

// A slowdown is suspected, then confirmed, stays open while it lasts, and is
// recovered when it is gone.
func TestVerdictStates(t *testing.T) {
	d := build(t, runsOf("100 101 102", "101 102 101", "100 102 101", "300 301 303", "301 302 300", "300 299 301", "101 101 100")...)
	want := []string{"inconclusive  few-runs", "inconclusive  few-runs", "inconclusive  noisy", "slower suspected", "slower confirmed", "inconclusive  open;noisy", "inconclusive recovered noisy"}
	if diff := cmp.Diff(want, outcomes(d, perf.Time)); diff != "" {
		t.Error(diff)
	}
	if len(d.Open) != 0 {
		t.Errorf("open after recovery: %+v", d.Open)
	}
}
