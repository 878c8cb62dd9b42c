package app

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"perfband/internal/archive"
	"perfband/internal/decode"
	"perfband/internal/gh"
	"perfband/internal/perf"
)

var fullSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)

// origin is what is known about the run apart from its results.
type origin struct {
	run    perf.Run
	commit perf.Commit
	runner perf.Runner
	env    perf.Env
}

// describe finds out which run is published: what the call says, else what the
// workflow says, else nothing.
func (s *session) describe(ctx context.Context, c *gh.Context) (origin, error) {
	o := origin{run: c.Run(), commit: c.Commit, runner: c.Runner}
	if id := s.opt.str("run-id"); id != "" {
		o.run.RunID, o.run.Attempt = id, 1
	}
	if a := s.opt.str("attempt"); a != "" {
		n, err := strconv.Atoi(a)
		if err != nil || n < 1 {
			return o, usagef("--attempt %s: must be a whole number from 1", a)
		}
		o.run.Attempt = n
	}
	if o.run.RunID == "" {
		return o, usagef("the run has no id: give --run-id, any text that is different for each run (in a workflow GITHUB_RUN_ID is used)")
	}
	if o.run.Attempt == 0 {
		o.run.Attempt = 1
	}
	o.run.Shard = s.opt.str("shard")
	if ref := s.opt.str("ref"); ref != "" {
		o.run.Ref = ref
	}
	if sha := s.opt.str("commit"); sha != "" {
		if !fullSHA.MatchString(sha) {
			return o, usagef("--commit %s: must be a full commit id, 40 hex digits", sha)
		}
		if sha != o.commit.SHA {
			o.commit = perf.Commit{SHA: sha}
		}
	}
	switch k := perf.JobKind(s.opt.str("job")); k {
	case "", perf.Dry, perf.Short, perf.Medium, perf.Default:
		o.run.JobKind = k
	default:
		return o, usagef("--job %s: must be dry, short, medium or default", k)
	}
	if t := s.opt.str("started"); t != "" {
		at, err := time.Parse(time.RFC3339, t)
		if err != nil {
			return o, usagef("--started %s: must be a time like 2026-04-19T01:56:06Z", t)
		}
		o.run.Started = at.UTC()
	}
	var err error
	if o.env, err = s.environment(); err != nil {
		return o, err
	}
	s.askServer(ctx, c, &o)
	return o, nil
}

// askServer fills in what only the server knows. It is optional: without a
// token, a repository or an answer the facts stay unknown.
func (s *session) askServer(ctx context.Context, c *gh.Context, o *origin) {
	if s.token() == "" || c.APIURL == "" || c.Repository == "" {
		return
	}
	client, err := gh.NewClient(c.APIURL, s.token(), nil)
	if err != nil {
		s.log.Debugf("no facts from the server: %v", err)
		return
	}
	if o.run.DefaultBranch == "" {
		if b, err := client.DefaultBranch(ctx, c.Repository); err == nil {
			o.run.DefaultBranch = b
		} else {
			s.log.Debugf("default branch of %s is unknown: %v", c.Repository, err)
		}
	}
	if o.commit.SHA != "" && len(o.commit.Parents) == 0 {
		if full, err := client.Commit(ctx, c.Repository, o.commit.SHA); err == nil {
			o.commit = full
		} else {
			s.log.Debugf("commit %s is unknown to the server: %v", o.commit.SHA, err)
		}
	}
}

// metadata describes one entry.
func (s *session) metadata(o origin, kind perf.Kind, staged *archive.Staged, suites []perf.Suite, diags []perf.Diagnostic) perf.Metadata {
	m := perf.Metadata{Schema: perf.MetadataSchema, Kind: "run", Run: o.run, Commit: o.commit, Env: o.env, Runner: o.runner,
		Tool: perf.Tool{Name: "perfband", Version: s.env.Version}, Modules: staged.Modules, Files: staged.Infos(), Excluded: staged.Excluded,
		Status: map[string]string{}}
	m.Run.Kind = kind
	if m.Run.Started.IsZero() {
		m.Run.Started = started(suites, staged.Files)
	}
	decoders := map[string]*perf.Suite{}
	for i := range suites {
		su := &suites[i]
		decoders["raw/"+su.File] = su
		info := perf.SuiteInfo{Module: su.Module, File: "raw/" + su.File, Tool: su.Tool, ToolVersion: su.ToolVersion,
			Decoder: su.Decoder, DecoderVersion: su.DecoderVersion, Env: su.Env}
		for _, b := range su.Benchmarks {
			switch b.Status {
			case perf.Fail:
				info.Failed++
			case perf.Skipped:
				info.Skipped++
			default:
				info.Benchmarks++
			}
		}
		m.Suites = append(m.Suites, info)
		if m.Status[su.Module] != "measured" {
			m.Status[su.Module] = "failed"
			if info.Benchmarks > 0 {
				m.Status[su.Module] = "measured"
			}
		}
	}
	for i := range m.Files {
		if su, ok := decoders[m.Files[i].Path]; ok {
			m.Files[i].Decoder, m.Files[i].DecoderVersion = su.Decoder, su.DecoderVersion
		}
	}
	for _, d := range diags {
		if d.Severity != perf.Notice {
			m.Diagnostics = append(m.Diagnostics, d)
		}
	}
	m.Unknown = unknown(&m)
	return m
}

// unknown lists what a reader would want to know and nobody could tell.
func unknown(m *perf.Metadata) []string {
	env := m.Env
	known := func(f func(perf.Env) bool) bool {
		return f(env) || len(m.Suites) > 0 && !slices.ContainsFunc(m.Suites, func(s perf.SuiteInfo) bool { return !f(s.Env) })
	}
	var out []string
	for _, field := range []struct {
		name  string
		known bool
	}{
		{"commit.sha", m.Commit.SHA != ""}, {"commit.parents", len(m.Commit.Parents) > 0}, {"commit.time", !m.Commit.Time.IsZero()},
		{"commit.subject", m.Commit.Subject != ""}, {"commit.author", m.Commit.Author != ""},
		{"run.ref", m.Run.Ref != ""}, {"run.default_branch", m.Run.DefaultBranch != ""}, {"run.event", m.Run.Event != ""},
		{"run.workflow_file", m.Run.WorkflowFile != ""}, {"run.finished", !m.Run.Finished.IsZero()},
		{"runner.name", m.Runner.Name != ""}, {"runner.label", m.Runner.Label != ""}, {"runner.image", m.Runner.Image != ""},
		{"runner.hosted", m.Runner.Hosted != nil},
		{"env.os", known(func(e perf.Env) bool { return e.OS != "" })},
		{"env.kernel", known(func(e perf.Env) bool { return e.Kernel != "" })},
		{"env.arch", known(func(e perf.Env) bool { return e.Arch != "" })},
		{"env.cpu_model", known(func(e perf.Env) bool { return e.CPUModel != "" })},
		{"env.cpu_count", known(func(e perf.Env) bool { return e.CPUCount > 0 })},
		{"env.memory_bytes", known(func(e perf.Env) bool { return e.MemoryBytes > 0 })},
		{"env.toolchain", known(func(e perf.Env) bool { return len(e.Toolchain) > 0 })},
	} {
		if !field.known {
			out = append(out, field.name)
		}
	}
	return out
}

// checkDecoder reports an unknown decoder name as wrong usage.
func checkDecoder(name string) error {
	if name == "auto" {
		return nil
	}
	if _, err := decode.ByName(name); err != nil {
		return usagef("--format: %v", err)
	}
	return nil
}

// describeCount is "12 results, 1 failed".
func describeCount(ok, failed int) string {
	text := fmt.Sprintf("%d results", ok)
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}
