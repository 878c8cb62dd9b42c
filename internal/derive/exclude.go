package derive

import (
	"perfband/internal/config"
	"perfband/internal/perf"
)

// excludeResults notes on every result why the configuration leaves it out.
func excludeResults(run *Run, list []config.Excluded) {
	for _, r := range run.Results {
		r.Excluded = excludedResult(run, r, list)
	}
}

// excludedResult says why the configuration leaves a result out, "" if it does
// not.
func excludedResult(run *Run, r *Result, list []config.Excluded) string {
	for _, e := range list {
		if !e.Retires() && e.Matches(asMeasured(run, *r.origin), r.Env.CPUModel, r.Key) {
			return e.Reason
		}
	}
	return ""
}

// excludedRun says why the configuration leaves a whole run out, every entry of
// it, "" if it does not.
func excludedRun(run *Run, entries []perf.Entry, list []config.Excluded) (why string) {
	for _, entry := range entries {
		out := false
		for _, e := range list {
			if e.Benchmark == "" && e.Machine == "" && e.Matches(asMeasured(run, entry.Meta.Run), "", perf.Key{}) {
				why, out = e.Reason, true
				break
			}
		}
		if !out {
			return ""
		}
	}
	return why
}

// asMeasured is the run of an entry with the start that counts, which older
// layouts do not record.
func asMeasured(run *Run, entry perf.Run) perf.Run {
	entry.Started = run.Started
	return entry
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
