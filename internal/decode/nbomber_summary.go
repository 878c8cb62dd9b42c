package decode

import (
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// decodeNBomberSummary reads the summary that a harness writes beside NBomber's
// own reports: one object per operation, and a list of errors.
func decodeNBomberSummary(in Input) ([]perf.Suite, []perf.Diagnostic, error) {
	d := strictjson.NewDecoder(in.Data, strictjson.Options{KeepGoing: true})
	suite := nbomberSuite(in)
	var told problems
	for key := range fields(d) {
		name := string(key)
		switch {
		case name == "Errors":
			for ok := d.Array(); ok && d.More(); {
				if s, ok := d.Str(); ok {
					told.add(perf.Diagnostic{Severity: perf.Warning, Code: "request-errors",
						What: "the load test reports an error", Why: s})
				}
			}
		case d.Kind() == strictjson.Object:
			r := nbomberRow{scenario: name, rateUnit: "ops/s"}
			readNBomberSummary(d, &r)
			if p := d.Problem(); p != nil {
				told.add(refusedRecord(name, p))
				continue
			}
			if b := r.benchmark(&told); len(b.Metrics) > 0 {
				suite.Benchmarks = append(suite.Benchmarks, b)
			}
		default:
			d.Skip()
		}
	}
	if err := d.End(); err != nil {
		return nil, nil, err
	}
	if p := d.Problem(); p != nil {
		return nil, nil, p
	}
	return []perf.Suite{suite}, told.all(), nil
}

func readNBomberSummary(d *strictjson.Decoder, r *nbomberRow) {
	ms := func(stat string) {
		if v, ok := d.Float(); ok {
			r.latency = append(r.latency, nbomberStat{stat, perf.Some(v * 1e6)})
		}
	}
	for key := range fields(d) {
		switch string(key) {
		case "MeanOpsPerSecond":
			r.rps = readNum(d)
		case "MeanLatencyMs":
			ms("mean")
		case "P50LatencyMs":
			ms("p50")
		case "P95LatencyMs":
			ms("p95")
		case "P99LatencyMs":
			ms("p99")
		default:
			d.Skip()
		}
	}
}
