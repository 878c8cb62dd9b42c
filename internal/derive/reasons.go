package derive

import (
	"slices"

	"perfband/internal/history"
	"perfband/internal/perf"
)

// reasonWords says the codes of [perf.Verdict.Reasons] in words that stand alone
// in a cell or before a count.
var reasonWords = map[string]string{
	string(history.FewRuns):      "too few earlier runs",
	string(history.OtherMachine): "earlier runs were on other machines",
	string(history.Noisy):        "too noisy",
	string(history.TwoClusters):  "earlier runs lie in two clusters",
	string(history.Small):        "the change is smaller than the margin",
	string(history.Shifted):      "judged relative to a platform shift",
	string(history.StillOpen):    "at the level of an open slowdown",
	"accepted":                   "accepted",
	"carried":                    "carried forward, not measured",
	"no-ratio":                   "not a positive number",
	"not-judged":                 "describes the measurement",
	"unknown-direction":          "unknown whether more is better",
	"constant-rate":              "the load generator set this rate",
	"errors":                     "more than 1 % of the requests failed",
}

// ReasonWords says a reason code of a verdict in words. A code it does not know
// is returned as it is.
func ReasonWords(code string) string {
	if words, ok := reasonWords[code]; ok {
		return words
	}
	return code
}

// MainReason is the code that explains why a verdict makes no claim, "" if it
// has none. What only goes with a verdict (a platform shift that was taken out,
// an acceptance) explains nothing.
func MainReason(v *perf.Verdict) string {
	i := slices.IndexFunc(v.Reasons, func(code string) bool {
		return code != string(history.Shifted) && code != string(history.StillOpen) && code != "accepted"
	})
	if i < 0 {
		return ""
	}
	return v.Reasons[i]
}
