package derive

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"perfband/internal/perf"
)

// loadRun is a load test: throughput, latency and error rate.
func loadRun(i int, rps, p50, errors float64) *Run {
	lat := made(perf.Latency, perf.Lower, p50)
	lat.P95, lat.P99 = perf.Some(3*p50+1), perf.Some(5*p50+1)
	return runWith(i, scenario("s", made(perf.Throughput, perf.Higher, rps), lat, made(perf.ErrorRate, perf.Lower, errors)))
}

func TestLoadTests(t *testing.T) {
	jitter := []float64{0.3, 1.4, 2.9, 4.1, 0.8, 3.7}
	past := func() (runs []*Run) {
		for i, x := range jitter {
			runs = append(runs, loadRun(i, 731+x, 20+x/10, 0))
		}
		return runs
	}
	for name, tc := range map[string]struct {
		rps, p50, errors float64
		want             map[string]string // "" is: no claim
	}{
		"nothing new": {733.3, 20.2, 0, map[string]string{perf.Throughput: "", perf.Latency: "", "latency_p95": "", "latency_p99": "", perf.ErrorRate: ""}},
		"slower":      {400.7, 33, 0, map[string]string{perf.Throughput: "slower", perf.Latency: "slower", "latency_p95": "slower", "latency_p99": "slower"}},
		"faster":      {1431.3, 11, 0, map[string]string{perf.Throughput: "faster", perf.Latency: "faster", "latency_p95": "faster", "latency_p99": "faster"}},
		"few errors":  {733.3, 33, 0.009, map[string]string{perf.Latency: "slower", perf.ErrorRate: "slower"}},
		"many errors": {733.3, 2, 0.011, map[string]string{perf.Latency: "none errors", perf.ErrorRate: "slower"}},
		"P50 of zero": {733.3, 0, 0, map[string]string{perf.Latency: "none no-ratio"}},
	} {
		d := judgedRuns(append(past(), loadRun(6, tc.rps, tc.p50, tc.errors)), nil)
		for metric, want := range tc.want {
			got := newestOf(d, "s", metric)
			claim := strings.HasPrefix(got, "slower") || strings.HasPrefix(got, "faster")
			if want == "" && claim || want != "" && !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q, want %q", name, metric, got, want)
			}
		}
		table, _ := d.Export("verdicts", "6.1")
		for _, row := range table.Rows {
			for _, c := range row {
				if strings.Contains(c.Text, "NaN") || strings.Contains(c.Text, "Inf") {
					t.Errorf("%s: %v", name, row)
				}
			}
		}
		if want := 5; name != "many errors" && len(table.Rows) != want {
			t.Errorf("%s: %d verdicts exported, want %d", name, len(table.Rows), want)
		}
		if name == "many errors" && len(table.Rows) != 3 {
			t.Errorf("%s: %d verdicts exported, want no percentiles", name, len(table.Rows))
		}
	}
}

// A rate that people chose says nothing of the system.
func TestConstantRate(t *testing.T) {
	verdict := func(rates ...[]float64) string {
		var runs []*Run
		for i, at := range rates {
			var rs []*Result
			for k, v := range at {
				rs = append(rs, scenario(fmt.Sprint("s", k), made(perf.Throughput, perf.Higher, v)))
			}
			runs = append(runs, runWith(i, rs...))
		}
		return newestOf(judgedRuns(runs, nil), "s0", perf.Throughput)
	}
	for name, tc := range map[string]struct {
		constant bool
		rates    [][]float64
	}{
		"measured":                       {false, [][]float64{{731.3}, {735.1}, {729.8}}},
		"as in the run before":           {true, [][]float64{{731.3}, {735.1}, {735.1}}},
		"nearly as in the run before":    {true, [][]float64{{731.3}, {735.1}, {735.11}}},
		"another than in the run before": {false, [][]float64{{731.3}, {735.1}, {735.6}}},
		"as another scenario":            {true, [][]float64{{731.3, 1}, {733.7, 2}, {735.1, 735.1}}},
		"unlike another scenario":        {false, [][]float64{{731.3, 1}, {733.7, 2}, {735.1, 812.1}}},
		"round":                          {true, [][]float64{{731.3}, {735.1}, {500}}},
		"nearly round":                   {true, [][]float64{{731.3}, {735.1}, {500.01}}},
		"round and small":                {false, [][]float64{{18.31}, {18.97}, {18}}},
		"zero":                           {false, [][]float64{{731.3}, {735.1}, {0}}},
	} {
		if got := verdict(tc.rates...); (got == "none constant-rate") != tc.constant {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestSignificant(t *testing.T) {
	for _, tc := range []struct {
		v    float64
		n    int
		want float64
	}{{1234.6, 4, 1235}, {0.0012346, 4, 0.001235}, {99996, 4, 100000}, {500.01, 2, 500}, {0, 4, 0}, {-5, 4, 0}} {
		if got := significant(tc.v, tc.n); math.Abs(got-tc.want) > 1e-12*tc.want {
			t.Errorf("significant(%v, %d) = %v", tc.v, tc.n, got)
		}
	}
}
