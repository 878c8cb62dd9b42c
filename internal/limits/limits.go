// Package limits is the one table of limits: what perfband refuses, cuts or
// warns at, each with its unit and reason. Nothing else holds such a number.
package limits

import "time"

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
	// JSONKeys is the most keys accepted in one JSON object, about 60 bytes each
	// while the object is read.
	JSONKeys = 1_000_000
	// TableColumns is the most columns of a CSV or Markdown table.
	TableColumns = 1000
	// DiagnosticsPerCode caps the problems of one kind told about one file; more
	// are counted.
	DiagnosticsPerCode = 100
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
	// EventBytes bounds the event file; GitHub's payloads end at 25 MB.
	EventBytes = 25_000_000
	// APIBodyBytes bounds one answer of the REST API.
	APIBodyBytes = 20_000_000
	// APIWait bounds one pause the REST API asks for; APIWaitTotal all of them
	// in one run of the program.
	APIWait      = time.Minute
	APIWaitTotal = 2 * time.Minute
	// PushSpread is the longest pause before the first try of a job in a
	// workflow, so that jobs ending together do not all meet.
	PushSpread = 2 * time.Second
	// PushTries bounds the retries when a branch keeps moving.
	PushTries = 10
	// RemoteTextBytes bounds the text of a server shown in an error.
	RemoteTextBytes = 4096
	// RefBytes bounds a ref advertisement.
	RefBytes = 64 << 20
	// TreeBytes bounds one tree object read from a branch.
	TreeBytes = 64 << 20
)

// Branches as stores.
const (
	// PathBytes is the longest path read from or put on a branch; it is what
	// Linux opens.
	PathBytes = 4096
	// NamePartBytes is the longest name of one file or folder, as on disk.
	NamePartBytes = 255
	// CachedEntries is how many folder entries a view of a branch keeps parsed,
	// about 100 bytes each.
	CachedEntries = 100_000
	// BatchObjects is how many files one request to a server asks for.
	BatchObjects = 500
	// DeltaCacheBytes is what a reader of packs keeps of files that others are
	// stored as differences to.
	DeltaCacheBytes = 16 << 20
	// DeltaChain is the longest chain of differences followed; git makes 50 and
	// allows 4095.
	DeltaChain = 4095
	// SpoolBytes bounds what a server's replies may take on disk, unpacked.
	SpoolBytes = 8 << 30
	// ReportBytes bounds a server's answer to a push.
	ReportBytes = 1 << 20
	// ServerTries bounds the tries of one request which failed for a passing
	// reason.
	ServerTries = 4
	// Redirects bounds how often a server may send us elsewhere.
	Redirects = 5
	// RetryPause bounds the random pause before the second try; it doubles with
	// each further one, up to RetryPauseMax.
	RetryPause    = 250 * time.Millisecond
	RetryPauseMax = 8 * time.Second
	// StallTime is how long a server may stay silent, in either direction.
	StallTime = 2 * time.Minute
	// LockTime is how long to wait for another process to finish writing the
	// branch of a repository on this machine.
	LockTime = 10 * time.Second
)

// Pages and summaries. Every cut is said where it is made.
const (
	// NameRunes is where a foreign name is cut in a list; its own page has it whole.
	NameRunes = 160
	// SentenceRunes is where foreign sentences, such as reasons, are cut.
	SentenceRunes = 600
	// OverviewRows is the most results on the overview; the run's page has all.
	OverviewRows = 50
	// RunPages is how many of the newest runs of each kind have a page: each
	// lists all its results, so more would make the site grow with history.
	RunPages = 30
	// HistoryRuns is how many of the newest trend runs of each kind the pages
	// draw and the memo remembers; the archive and exports have all.
	HistoryRuns = 64
	// MemoFiles is the most files of a kind read of a memo; one with more is
	// ignored.
	MemoFiles = 2000
	// RunListRows is the most runs in the list of runs.
	RunListRows = 500
	// RecentRuns decides which benchmarks have a page: those with a result in
	// this many newest trend runs of their kind, or in its newest run. All of
	// these pages are written every time.
	RecentRuns = 20
	// BenchPages is the most benchmarks with a page, those cited by documents
	// first; a page has about 7 kB, and GitHub serves sites up to 1 GB.
	BenchPages = 5000
	// ResultRows is the most results in a table or data file of one run.
	ResultRows = 5000
	// PointRows is the most points in the table of a benchmark's page.
	PointRows = 60
	// SmallCharts is the most charts of further metrics on a benchmark's page.
	SmallCharts = 6
	// LoadCharts is the most scenarios drawn on the page of load tests; the
	// others are drawn on their own pages.
	LoadCharts = 12
	// OverviewProblems is how many problems of a kind the overview lists.
	OverviewProblems = 5
	// RunProblems is how many problems of a kind a run's own page lists.
	RunProblems = 200
	// ProblemRows is how many problems of a kind a job summary lists.
	ProblemRows = 20
	// MachineRows is the most machines of one run that are named.
	MachineRows = 20
	// TrendImages is the most trend images written for READMEs: drawing one
	// costs as much as thirty pages.
	TrendImages = 12
	// ImageRuns is the most runs in a trend image: the newest.
	ImageRuns = 100
	// SummaryRows is the most results in a job summary.
	SummaryRows = 200
)
