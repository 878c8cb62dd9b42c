package config

import (
	"strings"
	"testing"

	"perfband/internal/perf"
)

func TestAliases(t *testing.T) {
	c, err := Parse("perf.yml", []byte("aliases:\n  core/Old: core/New\n  a/b/Old: a/b/New\n  gone/Old: core/Moved\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ module, name, wantModule, wantName string }{
		{"core", "Old", "core", "New"},
		{"core", "New", "core", "New"},
		{"core", "Older", "core", "Older"},
		{"a/b", "Old", "a/b", "New"},
		{"gone", "Old", "core", "Moved"},
	} {
		k := perf.Key{Kind: perf.Bench, Module: tc.module, Name: tc.name, Job: "j", Params: []perf.Param{{Name: "n", Value: "1"}}}
		got := c.Renamed(k)
		if got.Module != tc.wantModule || got.Name != tc.wantName || got.Job != "j" || len(got.Params) != 1 {
			t.Errorf("%s/%s is %s", tc.module, tc.name, got)
		}
	}
	if with, without := c.Digest(), Default().Digest(); with == without {
		t.Error("aliases do not change the digest")
	}
	for doc, want := range map[string]string{
		"aliases: {core: core/New}\n":                 "module/benchmark",
		"aliases: {core/Old: New}\n":                  "module/benchmark",
		"aliases: {core/A: core/B, core/B: core/C}\n": "join every old name to the newest",
		"aliases: {core/A: core/A}\n":                 "itself an old name",
		"aliases: {core/A: core/B, core/A: core/C}\n": "already defined",
		"aliases: [core/A]\n":                         "aliases",
	} {
		if _, err := Parse("perf.yml", []byte(doc)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", doc, err, want)
		}
	}
}
