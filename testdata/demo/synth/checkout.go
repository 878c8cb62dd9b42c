package main

import (
	"math"
	"strings"
)

// A step is one step of the made-up load test of checkout.
type step struct {
	scenario, name string
	requests       int     // sent in one minute
	median         float64 // of the latency in milliseconds
	kilobytes      float64 // mean answer
}

var steps = []step{
	{"browse_catalogue", "global information", 6_000, 11.8, 14.2},
	{"place_order", "global information", 1_500, 46.5, 3.1},
	{"place_order", "add_to_basket", 1_500, 12.4, 1.2},
	{"place_order", "pay", 1_500, 33.9, 1.9},
}

// failingRun is the run in which 0.4 % of the payments were refused.
const failingRun = 12

var loadEnv = object{
	"schema", 1, "kind", "env",
	"env", object{
		"os", "linux", "os_version", "Ubuntu 24.04.3 LTS", "arch", "amd64", "cpu_model", "AMD EPYC 7763 64-Core Processor",
		"cpu_count", 4, "toolchain", object{"dotnet", "10.0.6"},
	},
}

// loadReport returns nbomber-report.csv: its 34 columns, no final newline.
func loadReport(run int) string {
	columns := "test_suite,test_name,scenario,duration,step_name,request_count,ok,failed," +
		latencyColumns("ok_") + "," + transferColumns("") + "," + latencyColumns("fail_") + "," + transferColumns("fail_")
	rows := []string{columns}
	for _, s := range steps {
		rows = append(rows, loadRow(run, s))
	}
	return strings.Join(rows, "\n")
}

func latencyColumns(prefix string) string {
	return prefix + strings.Join([]string{"rps", "min", "mean", "max", "50_percent", "75_percent", "95_percent", "99_percent", "std_dev"}, ","+prefix)
}

func transferColumns(prefix string) string {
	prefix += "data_transfer_"
	return prefix + strings.Join([]string{"min_kb", "mean_kb", "max_kb", "all_mb"}, ","+prefix)
}

func loadRow(run int, s step) string {
	random := source(run, s.scenario+s.name)
	failed := 0
	if run == failingRun && s.scenario == "place_order" && s.name != "add_to_basket" {
		failed = s.requests * 4 / 1000
	}
	ok := s.requests - failed
	cells := []any{"checkout", "weekly", s.scenario, "00:01:00", s.name, s.requests, ok, failed}
	cells = append(cells, latency(float64(ok)/60, s.median*math.Exp(0.03*random.NormFloat64()), 0.35)...)
	cells = append(cells, round(s.kilobytes*0.7, 3), s.kilobytes, round(s.kilobytes*1.6, 3), round(s.kilobytes*float64(ok)/1024, 3))
	if failed > 0 {
		cells = append(cells, latency(float64(failed)/60, 2_010, 0.01)...)
	} else {
		cells = append(cells, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	cells = append(cells, 0, 0, 0, 0)
	return joinRow(cells)
}

// latency returns rate, min, mean, max, four percentiles and the standard
// deviation of a log-normal latency with the given median (ms) and spread.
func latency(rate, median, spread float64) []any {
	at := func(z float64) float64 { return round(median*math.Exp(spread*z), 2) }
	mean := median * math.Exp(spread*spread/2)
	deviation := mean * math.Sqrt(math.Exp(spread*spread)-1)
	return []any{round(rate, 1), at(-3), round(mean, 2), at(3.6), at(0), at(0.6745), at(1.6449), at(2.3263), round(deviation, 2)}
}
