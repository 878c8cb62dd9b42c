// Package limits is the one table of limits: what perfband refuses, cuts or
// warns at, each with its unit and reason. Nothing else holds such a number.
package limits

// Reading results.
const (
	// FileBytes is the largest file archived; GitHub refuses larger blobs.
	FileBytes = 100 << 20
	// FileWarnBytes is where a warning starts, as GitHub's own does.
	FileWarnBytes = 50 << 20
	// DecodeBytes is the most a decoder reads of one file, unpacked.
	DecodeBytes = 256 << 20
	// LineBytes is the longest line a text decoder reads; longer ones are skipped.
	LineBytes = 1 << 20
	// JSONDepth is the deepest nesting accepted in a JSON document.
	JSONDepth = 200
	// Benchmarks is the most results accepted from one run.
	Benchmarks = 200_000
	// MetricsPerBenchmark caps the metrics of one result.
	MetricsPerBenchmark = 64
	// NameBytes is the longest benchmark, module or metric name kept; longer
	// names are refused, not cut, since a cut name could equal another.
	NameBytes = 4096
	// Files is the most files of one entry.
	Files = 50_000
)

// Writing to GitHub.
const (
	// SummaryBytes keeps the job summary under GitHub's 1,024 KiB, above which
	// the whole summary is dropped.
	SummaryBytes = 900_000
	// OutputBytes caps one action output; all outputs of a job share 1 MB.
	OutputBytes = 64 << 10
	// LogLineBytes is where a foreign log line is cut.
	LogLineBytes = 2000
	// AnnotationsPerKind is how many annotations of one severity GitHub shows.
	AnnotationsPerKind = 10
	// BadgeRunes is the longest badge message.
	BadgeRunes = 60
)

// Talking to servers.
const (
	// PushTries bounds the retries when a branch keeps moving.
	PushTries = 10
	// RemoteTextBytes bounds the text of a server shown in an error.
	RemoteTextBytes = 4096
	// RefBytes bounds a ref advertisement.
	RefBytes = 64 << 20
	// TreeBytes bounds one tree object read from a branch.
	TreeBytes = 64 << 20
)
