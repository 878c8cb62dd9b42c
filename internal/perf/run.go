package perf

import (
	"io/fs"
	"time"
)

// MetadataSchema is the schema number this program writes into metadata.json.
// Readers accept every older one for ever.
const MetadataSchema = 1

// Metadata is metadata.json: everything known about one archived entry. It is
// written once by the measuring job and never rewritten.
type Metadata struct {
	Schema int    `json:"schema"`
	Kind   string `json:"kind"` // "run"
	Run    Run    `json:"run"`
	Commit Commit `json:"commit"`
	Env    Env    `json:"env,omitzero"`
	Runner Runner `json:"runner,omitzero"`
	Tool   Tool   `json:"tool"`
	// Modules names the module behind each folder below raw/.
	Modules []EntryModule `json:"modules,omitempty"`
	// Suites says what the decoders of the day read; the raw files decide.
	Suites       []SuiteInfo            `json:"suites,omitempty"`
	Fingerprints map[string]Fingerprint `json:"fingerprints,omitempty"` // by module
	Status       map[string]string      `json:"status,omitempty"`       // by module: measured | carried | failed
	Carried      []Carried              `json:"carried,omitempty"`
	Expected     []Expected             `json:"expected,omitempty"`
	Missing      []Expected             `json:"missing,omitempty"`
	Imported     *Imported              `json:"imported,omitempty"`
	// Accepted are the ids of the acceptances without a commit that the measured
	// checkout held; the first run that lists one is where it takes effect.
	Accepted    []string     `json:"accepted,omitempty"`
	Session     string       `json:"session,omitempty"` // path of session.json in a co-run entry
	Files       []FileInfo   `json:"files"`
	Excluded    []FileInfo   `json:"excluded,omitempty"` // left out, with Reason
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"`
	Unknown     []string     `json:"unknown,omitempty"` // fields that could not be had, e.g. "env.cpu_model"
	Digest      string       `json:"digest,omitempty"`  // sha256 of this document without digest
}

// Run says which execution of a workflow job produced the results.
type Run struct {
	ID      string `json:"id"` // "{run_id}.{attempt}[.{shard}][x{second call}]"; "{run_id}" where the attempt is unknown
	RunID   string `json:"run_id"`
	Attempt int    `json:"attempt,omitempty"` // from 1; absent: unknown
	Shard   string `json:"shard,omitempty"`
	// SecondCall sets these results apart from others of the same run, attempt
	// and shard: 8 hex digits of their content. The id ends in "x" and these.
	SecondCall    string            `json:"second_call,omitempty"`
	Kind          Kind              `json:"kind"`
	Repository    string            `json:"repository,omitempty"` // owner/name
	Ref           string            `json:"ref,omitempty"`
	DefaultBranch string            `json:"default_branch,omitempty"`
	Head          string            `json:"head,omitempty"` // pull request head; differs from the commit on a merge ref
	PullRequest   int               `json:"pull_request,omitempty"`
	Event         string            `json:"event,omitempty"`
	Workflow      string            `json:"workflow,omitempty"`      // display name
	WorkflowFile  string            `json:"workflow_file,omitempty"` // path@ref
	Job           string            `json:"job,omitempty"`           // workflow job id
	JobKind       JobKind           `json:"job_kind,omitempty"`      // only if the user said so
	Started       time.Time         `json:"started,omitzero"`
	Finished      time.Time         `json:"finished,omitzero"`
	Inputs        map[string]string `json:"inputs,omitempty"` // workflow inputs that shaped the run
}

// Commit is the commit as checked out and measured.
type Commit struct {
	SHA     string    `json:"sha,omitempty"`
	Parents []string  `json:"parents,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	Subject string    `json:"subject,omitempty"`
	Author  string    `json:"author,omitempty"`
	// Untrusted marks a sha that is known not to be what was measured (the
	// older layouts recorded the branch head at publishing time).
	Untrusted bool `json:"untrusted,omitempty"`
}

// Tool names the program that wrote the entry.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// SuiteInfo summarises one decoded suite.
type SuiteInfo struct {
	Module         string `json:"module"`
	File           string `json:"file"`
	Tool           string `json:"tool,omitempty"`
	ToolVersion    string `json:"tool_version,omitempty"`
	Decoder        string `json:"decoder"`
	DecoderVersion int    `json:"decoder_version"`
	Env            Env    `json:"env,omitzero"`
	Benchmarks     int    `json:"benchmarks"` // results with numbers
	Failed         int    `json:"failed,omitempty"`
	Skipped        int    `json:"skipped,omitempty"`
}

// Fingerprint identifies everything that can change a module's result. All
// hashes are hex.
type Fingerprint struct {
	Format   int    `json:"format"`
	Combined string `json:"combined"`
	Source   string `json:"source,omitempty"`
	Packages string `json:"packages,omitempty"`
	Config   string `json:"config,omitempty"`
	Env      string `json:"env,omitempty"`
	State    string `json:"state,omitempty"`
	Provider string `json:"provider,omitempty"`
	Files    int    `json:"files,omitempty"`
	Units    int    `json:"units,omitempty"`
}

// Carried names the entry whose results stand in for a module that was not
// measured because its fingerprint was equal.
type Carried struct {
	Module string `json:"module"`
	Run    string `json:"run"`
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Expected is a benchmark that a listing or manifest says should exist.
type Expected struct {
	Module    string  `json:"module"`
	Benchmark string  `json:"benchmark"`
	Params    []Param `json:"params,omitempty"`
	Job       string  `json:"job,omitempty"`
	Reason    string  `json:"reason,omitempty"`
}

// Imported tells where an entry that perfband did not measure came from.
type Imported struct {
	Format string `json:"format"`
	Source string `json:"source"`
	Note   string `json:"note,omitempty"`
}

// FileInfo is one file of an entry, path relative to the entry's folder.
type FileInfo struct {
	Path           string `json:"path"`
	SHA256         string `json:"sha256"`
	Bytes          int64  `json:"bytes"`
	Decoder        string `json:"decoder,omitempty"`
	DecoderVersion int    `json:"decoder_version,omitempty"`
	Reason         string `json:"reason,omitempty"` // why it was left out
	// Redacted is how many secrets were replaced; SHA256 and Bytes are of what
	// is archived.
	Redacted int `json:"redacted,omitempty"`
}

// Entry is a run as archived.
type Entry struct {
	Path string // folder on the raw branch
	Meta Metadata
	// Raw holds the tool's files, one folder per module at the top, under the
	// names the archive has; reading is lazy.
	Raw fs.FS
	// Modules maps each top folder of Raw to the module it belongs to and the
	// parameters the layout itself implies (older load-test layouts).
	Modules []EntryModule
	// Content identifies the raw files' bytes and paths: equal for copies of
	// one run. Empty when it could not be had.
	Content string
	Legacy  bool // an older layout, upgraded while reading
	// ID and DateID name the content of the entry's folder and of the date
	// folder above it: equal for equal content, "" when unknown.
	ID, DateID string
	// Stub says that this is what was remembered of the entry: Meta lacks the
	// lists that only decoding needs, and there is no Raw.
	Stub bool
}

// KnownDate is a date folder of the archive as it was read before.
type KnownDate struct {
	ID      string
	Entries []Entry // stubs, by path
}

// EntryModule is one module folder of an entry.
type EntryModule struct {
	Folder string  `json:"folder"`
	Module string  `json:"module"`
	Format string  `json:"format,omitempty"` // decoder asked for; absent: found by content
	Params []Param `json:"params,omitempty"` // added to every key of the module
}

// CanonicalJSON is the one encoding of everything written: fixed key order,
// two-space indent, LF, final newline, no HTML escaping.
func CanonicalJSON(v any) ([]byte, error) { return canonicalJSON(v) }
