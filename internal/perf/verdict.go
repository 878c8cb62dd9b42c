package perf

// Outcome is the claim a verdict makes.
type Outcome string

// The outcomes. Unchanged is a positive claim (the interval lies inside the
// margin); Inconclusive means no claim can be made; None means not judged.
const (
	Slower       Outcome = "slower"
	Faster       Outcome = "faster"
	Unchanged    Outcome = "unchanged"
	Inconclusive Outcome = "inconclusive"
	None         Outcome = "none"
)

// Basis says what kind of comparison a verdict rests on.
type Basis string

// The bases. Only a co-run compares two versions on one machine at one time.
const (
	BasisCorun   Basis = "corun"
	BasisHistory Basis = "history"
)

// State says how far a claim has come.
type State string

// The states. One run makes a claim suspected, its persistence confirmed; a
// slowdown that is gone again is recovered. NoState goes with no claim.
const (
	NoState   State = ""
	Suspected State = "suspected"
	Confirmed State = "confirmed"
	Recovered State = "recovered"
)

// Verdict is a judgement of one metric of one run against its baseline.
// Ratio is cost(run)/cost(baseline): above 1 is worse whatever the direction
// of the metric. Lo and Hi are present when the result was judged, except
// against a baseline of 0; Level tells without exception.
type Verdict struct {
	Outcome  Outcome `json:"outcome"`
	State    State   `json:"state,omitempty"`
	Basis    Basis   `json:"basis"`
	Baseline string  `json:"baseline,omitempty"` // run id
	Ratio    Num     `json:"ratio,omitzero"`
	Lo       Num     `json:"lo,omitzero"`
	Hi       Num     `json:"hi,omitzero"`
	Level    Num     `json:"level,omitzero"`
	Margin   Num     `json:"margin,omitzero"`
	PValue   Num     `json:"p_value,omitzero"`
	// PAdjusted is PValue among all the results of the run with the metric, by
	// Benjamini and Hochberg.
	PAdjusted Num `json:"p_adjusted,omitzero"`
	// Detectable is the change, as a ratio less 1, that would be claimed after
	// one run in four of five cases.
	Detectable Num      `json:"detectable,omitzero"`
	Reasons    []string `json:"reasons,omitempty"`
	// LegacyCI99 is the ADR's one-condition rule as a recorded signal: the
	// median lies outside the baseline's 99 % interval. Never a verdict.
	LegacyCI99 bool `json:"legacy_ci99,omitempty"`
}
