package decode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"perfband/internal/perf"
)

func FuzzGoogleBenchmark(f *testing.F) { fuzzFormat(f, "google-benchmark") }

// googleRows counts rows as the expected readings do, where every statistic is
// a row of its own.
func googleRows(results []*perf.Benchmark) (rows, distinct int) {
	for _, b := range results {
		if len(b.Metrics[0].Samples) > 0 {
			rows += b.Rows
			distinct++
		}
		stats, _ := paramOf(b.Identity, "statistics")
		n := len(strings.Fields(stats))
		rows += n
		distinct += n
	}
	return rows, distinct
}

// googleRowOf turns the expected reading of one row into that of the result it
// belongs to, and returns the results as that row tells them.
func googleRowOf(t *testing.T, results []*perf.Benchmark, s *expectedSample) []*perf.Benchmark {
	t.Helper()
	stat, isStat := s.Identity["aggregate"].(string)
	for _, key := range []string{"run_type", "aggregate", "repetition"} {
		delete(s.Identity, key)
	}
	if !isStat { // the row is a sample
		out := make([]*perf.Benchmark, len(results))
		for i, b := range results {
			c := *b
			c.Metrics = slices.Clone(b.Metrics)
			for k := range c.Metrics {
				c.Metrics[k].Reported = nil
			}
			out[i] = &c
		}
		return out
	}
	s.Name, _ = s.Identity["run_name"].(string)
	for i := range s.Metrics {
		s.Metrics[i].Stat = stat
	}
	if stat == "cv" { // follows from the two that are kept
		for _, m := range s.Metrics {
			for _, b := range results {
				if b.Name != s.Name {
					continue
				}
				mean, _ := b.Metric(m.Metric).Find("mean")
				sd, _ := b.Metric(m.Metric).Find("stddev")
				if !near(sd.Value/mean.Value, m.Value) {
					t.Errorf("%s %s: cv %v, want %v", s.Name, m.Metric, sd.Value/mean.Value, m.Value)
				}
			}
		}
		s.Metrics = nil
	}
	return results
}

// TestGeneratedGoogle reads the real output of Google Benchmark in its three
// shapes.
func TestGeneratedGoogle(t *testing.T) {
	dir := filepath.Join(corpusDir(t), "..", "corpus-generated", "google-benchmark")
	if _, err := os.Stat(dir); err != nil {
		missingPart(t, "corpus", "no generated output at "+dir)
	}
	for file, want := range map[string]struct {
		rows              int
		stats             bool
		real, cpu, rate   float64 // of BM_Sort/1024: the first sample or the mean
		iterations        int64
		threaded, skipped string
	}{
		"repetitions.json":     {3, true, 1.0379875834428907e+04, 4.1777116154873165e+03, 9.8044105888391113e+08, 6741, "2", "failed: bad thing"},
		"repetitions.csv":      {3, true, 5363.06, 4082.01, 1.00343e+09, 6773, "", "failed: bad thing"},
		"aggregates-only.json": {1, true, 4.0458872426750399e+03, 4.0437334604664811e+03, 1.0129334485341818e+09, 0, "2", "failed: bad thing"},
		"console.txt":          {1, false, 5314, 4128, 946.247 * (1 << 20), 6528, "", "failed: bad thing"},
	} {
		t.Run(file, func(t *testing.T) {
			suites, diagnostics, err := Files(os.DirFS(dir), []string{file}, Options{Explicit: true})
			if err != nil || len(suites) != 1 || len(suites[0].Benchmarks) != 4 {
				t.Fatal(err, suites, diagnostics)
			}
			for _, d := range diagnostics {
				if d.Severity != perf.Notice {
					t.Errorf("told %v", d)
				}
			}
			byName := map[string]*perf.Benchmark{}
			for i := range suites[0].Benchmarks {
				byName[suites[0].Benchmarks[i].Name] = &suites[0].Benchmarks[i]
			}
			b := byName["BM_Sort/1024"]
			for name, value := range map[string]float64{perf.RealTime: want.real, perf.CPUTime: want.cpu, perf.Throughput: want.rate} {
				m := b.Metric(name)
				got, _ := m.Find("mean")
				if want.iterations > 0 {
					got.Value = m.Samples[0].Value
				}
				if !near(got.Value, value) || want.iterations > 0 && m.Samples[0].Ops != want.iterations {
					t.Errorf("%s: %+v, want %v", name, m, value)
				}
			}
			if _, ok := b.Metric(perf.RealTime).Find("stddev"); b.Rows != want.rows || ok != want.stats {
				t.Errorf("%d rows, statistics %v", b.Rows, ok)
			}
			if threads, _ := paramOf(byName["BM_Sort/64/real_time/threads:2"].Identity, "threads"); threads != want.threaded {
				t.Errorf("threads %q", threads)
			}
			if s := byName["BM_Skip"]; s.Status != perf.Fail || s.Reason != want.skipped {
				t.Errorf("skipped: %+v", s)
			}
		})
	}
}

// TestGoogleBroken: a file of broken records is given up early, and says so;
// each try may read on for a while.
func TestGoogleBroken(t *testing.T) {
	doc := "{\n\"context\": {\"library_build_type\": \"release\"},\n\"benchmarks\": [\nx\n" +
		"{\"name\": \"A\", \"real_time\": 5, \"cpu_time\": 4, \"time_unit\": \"us\"}\n" + strings.Repeat("{\"a\": [\n", 100_000)
	suites, diagnostics, err := File("a.json", []byte(doc), Options{})
	if err != nil || len(suites) != 1 || len(suites[0].Benchmarks) != 1 || suites[0].Benchmarks[0].Metrics[0].Samples[0].Value != 5000 {
		t.Fatal(err, suites)
	}
	if !slices.ContainsFunc(diagnostics, func(d perf.Diagnostic) bool { return d.Code == "unreadable" && d.Where.Line == 106 }) {
		t.Errorf("told %v", diagnostics[len(diagnostics)-1])
	}
}
