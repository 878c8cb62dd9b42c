package derive

import (
	"perfband/internal/config"
	"perfband/internal/perf"
)

// excludedResult says why the configuration leaves a result out, "" if it does
// not.
func excludedResult(run *Run, r *Result, list []config.Excluded) string {
	for _, e := range list {
		if !e.Retires() && e.Matches(asMeasured(run), r.Env.CPUModel, r.Key) {
			return e.Reason
		}
	}
	return ""
}

// excludedRun says why the configuration leaves a whole run out, "" if it does
// not.
func excludedRun(run *Run, list []config.Excluded) string {
	for _, e := range list {
		if e.Benchmark == "" && e.Machine == "" && e.Matches(asMeasured(run), "", perf.Key{}) {
			return e.Reason
		}
	}
	return ""
}

// asMeasured is the run with the start that counts, which older layouts do not
// record.
func asMeasured(run *Run) perf.Run {
	r := run.Meta.Run
	r.Started = run.Started
	return r
}

// retired says why a series is kept out of lists, "" if it is not.
func retired(key perf.Key, list []config.Excluded) string {
	for _, e := range list {
		if e.Retires() && e.Matches(perf.Run{}, "", key) {
			return e.Reason
		}
	}
	return ""
}
