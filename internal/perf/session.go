package perf

import "time"

// Session is a co-run: several versions measured in interleaved blocks on one
// host in one time window. It is the content of session.json.
type Session struct {
	Schema   int            `json:"schema"`
	Kind     string         `json:"kind"` // "session"
	ID       string         `json:"id"`
	Started  time.Time      `json:"started,omitzero"`
	Finished time.Time      `json:"finished,omitzero"`
	Env      Env            `json:"env,omitzero"`
	Versions []Version      `json:"versions"`
	Seed     uint64         `json:"seed"`
	Exec     string         `json:"exec"`   // warm | cold
	Timing   string         `json:"timing"` // tool | process
	Blocks   []SessionBlock `json:"blocks"`
	Stop     Stop           `json:"stop,omitzero"`
	Profiles []ProfileRef   `json:"profiles,omitempty"`
}

// Version is a commit as measured.
type Version struct {
	Label  string `json:"label"`
	Commit Commit `json:"commit"`
	Role   string `json:"role"` // candidate | baseline | anchor
}

// SessionBlock is the consecutive iterations of one version in one round.
type SessionBlock struct {
	Round        int           `json:"round"`   // from 1
	Order        int           `json:"order"`   // position within the round, from 1
	Version      int           `json:"version"` // index into Versions
	Stage        string        `json:"stage"`   // warmup | measured | profiled
	Observations []Observation `json:"observations"`
}

// Observation is one archived raw sample of a session.
type Observation struct {
	Module    string  `json:"module,omitempty"`
	Benchmark string  `json:"benchmark"`
	Params    []Param `json:"params,omitempty"`
	Job       string  `json:"job,omitempty"`
	Metric    string  `json:"metric"`
	Unit      Unit    `json:"unit"`
	Better    Better  `json:"better"`
	Iteration int     `json:"iteration"` // from 1
	Ops       int64   `json:"ops,omitempty"`
	Value     float64 `json:"value"`
}

// Stop tells why a session ended.
type Stop struct {
	Rule     string `json:"rule,omitempty"`
	Decision string `json:"decision,omitempty"`
	Rounds   int    `json:"rounds,omitempty"`
}

// ProfileRef names a profile archived beside the session.
type ProfileRef struct {
	Version   int    `json:"version"`
	Benchmark string `json:"benchmark"`
	Path      string `json:"path"`
	Format    string `json:"format"`
}
