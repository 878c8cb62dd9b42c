// Package perf holds the words of the domain: runs, suites, benchmarks,
// metrics, samples, environments, sessions, verdicts and diagnostics.
//
// It is opinionated about four things. A missing number is absent ([Num] with
// no value), never zero. Unit and direction belong to the metric, not to the
// tool. Identity is structured ([Key]), never a concatenated string that has to
// be parsed again. Time comes from the data: nothing here reads a clock.
//
// The JSON forms of [Metadata] and [Session] are the archive's schema. They are
// frozen by a golden test: fields may be added, never renamed or removed.
package perf
