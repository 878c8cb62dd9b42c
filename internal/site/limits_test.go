package site

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"perfband/internal/limits"
	"perfband/internal/perf"
)

// A run with very many results must not make a site that no server takes: what
// is left out is said where it is missing, and what documents cite stays.
func TestVeryManyResults(t *testing.T) {
	s := newSynthetic()
	r := s.run(perf.Bench, 0)
	for i := range limits.BenchPages + 2 {
		s.add(r, "m", fmt.Sprintf("B%05d", i), 0, measured(perf.Time, perf.Nanoseconds, []float64{1}))
	}
	r.Results[len(r.Results)-1].DocRef = "bench:m/last"
	files := render(t, s.finish())
	pages, last := 0, fmt.Sprintf("b%05d", limits.BenchPages+1)
	cited := false
	for p := range files {
		if strings.HasPrefix(p, "bench/") {
			pages++
			cited = cited || strings.Contains(p, last)
		}
	}
	if pages != limits.BenchPages || !cited {
		t.Errorf("%d pages of benchmarks, want %d; the cited one is there: %v", pages, limits.BenchPages, cited)
	}
	for p, data := range files {
		want := ""
		switch {
		case p == "index.html":
			want = "2 without a page of their own"
		case strings.HasPrefix(p, "run/"):
			want = "and 2 more: the raw files have them"
		}
		if !strings.Contains(string(data), want) {
			t.Errorf("%s does not say %q", p, want)
		}
	}
	var latest struct {
		Runs []struct {
			Results []json.RawMessage
			LeftOut int `json:"left_out"`
		}
	}
	if err := json.Unmarshal(files["data/v1/latest.json"], &latest); err != nil {
		t.Fatal(err)
	}
	if n := len(latest.Runs[0].Results); n != limits.ResultRows || latest.Runs[0].LeftOut != 2 {
		t.Errorf("latest.json has %d results and leaves out %d", n, latest.Runs[0].LeftOut)
	}
}
