package manifest

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"perfband/internal/perf"
)

func TestLoad(t *testing.T) {
	set, err := Load(fstest.MapFS{
		"m/core.json": {Data: []byte(`{"schema": 1, "module": "core", "benchmarks": [
			{"id": "pkg.BenchmarkA", "docref": "bench:core/a", "expect_unstable": {"reason": "waits for the disk"}},
			{"id": "pkg.BenchmarkA", "job": "long", "docref": "bench:core/a-long"}]}`)},
		"m/readme.md": {Data: []byte("not a manifest")},
	}, "m")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		key  perf.Key
		want string
	}{
		{perf.Key{Module: "core", Name: "pkg.BenchmarkA"}, "bench:core/a"},
		{perf.Key{Module: "core", Name: "pkg.BenchmarkA", Job: "short"}, "bench:core/a"},
		{perf.Key{Module: "core", Name: "pkg.BenchmarkA", Job: "long"}, "bench:core/a-long"},
		{perf.Key{Module: "other", Name: "pkg.BenchmarkA"}, ""},
	} {
		if got, ok := set.Find(tc.key); got.DocRef != tc.want || ok != (tc.want != "") {
			t.Errorf("%v: %q, %v, want %q", tc.key, got.DocRef, ok, tc.want)
		}
	}
}

func TestLoadNothing(t *testing.T) {
	set, err := Load(fstest.MapFS{}, "missing")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := set.Find(perf.Key{Name: "x"}); ok {
		t.Error("an empty set knows x")
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, tc := range []struct{ doc, want string }{
		{`{`, "m/a.json"},
		{`{"schema": 2, "module": "a"}`, "schema 2"},
		{`{"schema": 1}`, `"module" is missing`},
		{`{"schema": 1, "module": "a", "benchmark": []}`, "benchmark"},
		{`{"schema": 1, "module": "a", "benchmarks": [{}]}`, `benchmarks[0]: "id" is missing`},
		{`{"schema": 1, "module": "a", "benchmarks": [{"id": "b", "expect_unstable": {}}]}`, `needs a "reason"`},
		{`{"schema": 1, "module": "a", "benchmarks": [{"id": "b"}, {"id": "b"}]}`, "listed twice"},
		{`{"schema": 1, "module": "a", "module": "b"}`, "module"},
	} {
		_, err := Load(fstest.MapFS{"m/a.json": {Data: []byte(tc.doc)}}, "m")
		var d *perf.Diagnostic
		if !errors.As(err, &d) || d.Where.File != "m/a.json" || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v lacks %q", tc.doc, err, tc.want)
		}
	}
}
