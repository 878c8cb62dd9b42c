package perf

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

const golden = "../../testdata/archive"

func when(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// fullMetadata has a value in every field.
func fullMetadata() Metadata {
	yes := true
	return Metadata{
		Schema: MetadataSchema, Kind: "run",
		Run: Run{ID: "4711.2.linuxx0a1b2c3d", RunID: "4711", Attempt: 2, Shard: "linux", SecondCall: "0a1b2c3d", Kind: Bench, Repository: "owner/repo",
			Ref: "refs/heads/main", DefaultBranch: "main", Head: strings.Repeat("b", 40), PullRequest: 7, Event: "push",
			Workflow: "Benchmarks", WorkflowFile: ".github/workflows/perf.yml@refs/heads/main", Job: "measure", JobKind: Medium,
			Started: when("2026-04-19T01:56:06Z"), Finished: when("2026-04-19T02:50:00Z"), Inputs: map[string]string{"job_type": "medium", "filter": "*"}},
		Commit: Commit{SHA: strings.Repeat("a", 40), Parents: []string{strings.Repeat("c", 40)}, Time: when("2026-04-18T22:00:00Z"),
			Subject: "Send fewer bytes", Author: "A. Developer", Untrusted: true},
		Env: Env{OS: "linux", OSVersion: "Ubuntu 24.04.4 LTS", Kernel: "6.11.0", Arch: "amd64", CPUModel: "AMD EPYC 7763", CPUCount: 4,
			MemoryBytes: 16 << 30, Toolchain: map[string]string{"go": "1.26.8", "dotnet-sdk": "10.0.202"}},
		Runner: Runner{Name: "Hosted Agent", Label: "ubuntu-latest", Image: "ubuntu24", ImageVersion: "20260413.1", Hosted: &yes},
		Tool:   Tool{Name: "perfband", Version: "0.1.0"},
		Modules: []EntryModule{{Folder: "core", Module: "core", Format: "go",
			Params: []Param{{Name: "feature", Value: "outbox"}, {Name: "provider", Value: "redis"}}}},
		Suites: []SuiteInfo{{Module: "core", File: "raw/core/bench.txt", Tool: "go test", ToolVersion: "1.26.8", Decoder: "go", DecoderVersion: 1,
			Env: Env{CPUModel: "AMD EPYC 9V74"}, Benchmarks: 12, Failed: 1, Skipped: 2}},
		Fingerprints: map[string]Fingerprint{"core": {Format: 1, Combined: "c0", Source: "50", Packages: "9a", Config: "cf", Env: "e0",
			State: "known", Provider: "go", Files: 10, Units: 3}},
		Status:      map[string]string{"core": "measured", "extra": "carried"},
		Carried:     []Carried{{Module: "extra", Run: "4710.1", Path: "benchmarks/2026-04-18/4710.1", Digest: "d1"}},
		Expected:    []Expected{{Module: "core", Benchmark: "BenchmarkSend"}},
		Missing:     []Expected{{Module: "core", Benchmark: "BenchmarkGone", Params: []Param{{Name: "n", Value: "1"}}, Job: "default", Reason: "not reported"}},
		Imported:    &Imported{Format: "github-action-benchmark", Source: "gh-pages:dev/bench/data.js", Note: "means only"},
		Accepted:    []string{"0123456789abcdef"},
		Session:     "session.json",
		Files:       []FileInfo{{Path: "raw/core/bench.txt", SHA256: strings.Repeat("1", 64), Bytes: 1234, Decoder: "go", DecoderVersion: 1, Redacted: 2}},
		Excluded:    []FileInfo{{Path: "raw/core/trace.bin", SHA256: strings.Repeat("2", 64), Bytes: 99, Reason: "archive.exclude"}},
		Diagnostics: []Diagnostic{{Severity: Warning, Code: "no-statistics", What: "w", Where: Where{File: "f", Line: 1, Col: 2, Ref: "r"}, Why: "y", Do: "d"}},
		Unknown:     []string{"runner.label"},
		Digest:      strings.Repeat("3", 64),
	}
}

func fullSession() Session {
	return Session{
		Schema: 1, Kind: "session", ID: "4711.2", Started: when("2026-04-19T01:56:06Z"), Finished: when("2026-04-19T02:00:00Z"),
		Env: Env{OS: "linux"}, Seed: 42, Exec: "warm", Timing: "tool",
		Versions: []Version{{Label: "head", Commit: Commit{SHA: strings.Repeat("a", 40)}, Role: "candidate"}},
		Blocks: []SessionBlock{{Round: 1, Order: 2, Version: 0, Stage: "measured", Observations: []Observation{{Module: "core", Benchmark: "B",
			Params: []Param{{Name: "n", Value: "1"}}, Job: "j", Metric: Time, Unit: Nanoseconds, Better: Lower, Iteration: 1, Ops: 100, Value: 12.5}}}},
		Stop:     Stop{Rule: "confidence-sequence", Decision: "slower", Rounds: 12},
		Profiles: []ProfileRef{{Version: 0, Benchmark: "B", Path: "profiles/b.folded", Format: "folded"}},
	}
}

// TestSchemaIsFrozen compares what is written with what was written before.
// Adding a field adds a line; a changed or vanished line would make old entries
// unreadable.
func TestSchemaIsFrozen(t *testing.T) {
	for name, doc := range map[string]any{"metadata": fullMetadata(), "session": fullSession()} {
		t.Run(name, func(t *testing.T) {
			if zero := zeroFields(reflect.ValueOf(doc), name); len(zero) > 0 {
				t.Errorf("the example leaves fields empty, so their keys are not frozen: %s", strings.Join(zero, ", "))
			}
			b, err := CanonicalJSON(doc)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(golden, name+".json")
			if *update {
				if err := os.WriteFile(file, b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(b)); d != "" {
				t.Errorf("the archive's schema changed (-frozen +now):\n%s", d)
			}
			back := reflect.New(reflect.TypeOf(doc))
			if err := json.Unmarshal(want, back.Interface()); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(doc, back.Elem().Interface()); d != "" {
				t.Errorf("reading what was written loses something:\n%s", d)
			}
		})
	}
}

// zeroFields names the fields of v that hold nothing.
func zeroFields(v reflect.Value, at string) []string {
	var out []string
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return nil
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name := at + "." + f.Name
			optionalInt := name == "session.Blocks[0].Version" || name == "session.Profiles[0].Version" // index 0 is a value
			if f.Tag.Get("json") == "-" || optionalInt {
				continue
			}
			if v.Field(i).IsZero() {
				if strings.Contains(at, ".Env") || strings.Contains(at, "Versions[0].Commit") || strings.Contains(at, "Expected[0]") ||
					strings.Contains(at, "Files[0]") || strings.Contains(at, "Excluded[0]") {
					continue // the same type is complete elsewhere in the example
				}
				out = append(out, name)
				continue
			}
			out = append(out, zeroFields(v.Field(i), name)...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, zeroFields(v.Index(i), fmt.Sprintf("%s[%d]", at, i))...)
		}
	case reflect.Pointer:
		return zeroFields(v.Elem(), at)
	}
	slices.Sort(out)
	return out
}

func TestAbsentNumbersAreNotZero(t *testing.T) {
	type doc struct {
		A Num `json:"a,omitzero"`
		B Num `json:"b,omitzero"`
	}
	b, err := json.Marshal(doc{B: Some(0)})
	if err != nil || string(b) != `{"b":0}` {
		t.Errorf("marshal = %s, %v; want the measured zero kept and the absent number left out", b, err)
	}
	var back doc
	if err := json.Unmarshal([]byte(`{"a":null,"b":0}`), &back); err != nil {
		t.Fatal(err)
	}
	if _, ok := back.A.Get(); ok {
		t.Error("null became a number")
	}
	if v, ok := back.B.Get(); !ok || v != 0 {
		t.Error("0 became absent")
	}
}

func TestRound12(t *testing.T) {
	for in, want := range map[float64]float64{
		0: 0, 1: 1, 1.0 / 3: 0.333333333333, 2.0 / 3: 0.666666666667, 123456789012345: 123456789012000, -1e-300 / 7: -1.42857142857e-301,
	} {
		if got := Round12(in); got != want {
			t.Errorf("Round12(%v) = %v, want %v", in, got, want)
		}
	}
}
