package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"perfband/internal/archive"
	"perfband/internal/config"
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
	// accepted are the ids of the acceptances the checkout holds that name no
	// commit: they take effect with the first run that lists them.
	accepted []string
}

// describe finds out which run is published: what the call says, else what the
// workflow says, else nothing.
func (s *session) describe(ctx context.Context, c *gh.Context) (origin, error) {
	o := origin{run: c.Run(), commit: c.Commit, runner: c.Runner}
	if id := s.opt.str("run-id"); id != "" {
		o.run.RunID = id
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
	if err := checkNames(s.scanner(), map[string]string{"--shard": o.run.Shard, "--run-id": o.run.RunID}); err != nil {
		return o, err
	}
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
	machine, err := s.environment()
	if err != nil {
		return o, err
	}
	o.env = machine.Env
	if o.runner == (perf.Runner{}) {
		o.runner = machine.Runner
	}
	s.askServer(ctx, c, &o)
	return o, nil
}

// pendingAcceptances are the ids of the acceptances that name no commit, in the
// order of the file.
func pendingAcceptances(list []config.Accepted) []string {
	var out []string
	for _, a := range list {
		if a.Commit == "" {
			out = append(out, a.ID())
		}
	}
	return out
}

// askServer fills in what only the server knows. It is optional: without a
// token, a repository or an answer the facts stay unknown.
func (s *session) askServer(ctx context.Context, c *gh.Context, o *origin) {
	if s.token() == "" || c.APIURL == "" || c.Repository == "" {
		return
	}
	transport, err := transportFor(s.opt.str("ca-file"), s.abs)
	if err != nil {
		s.log.Debugf("no facts from the server: %v", err)
		return
	}
	client, err := gh.NewClient(c.APIURL, s.token(), transport)
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

// transportFor trusts the certificates of a file besides the system's; nil is
// the default transport.
func transportFor(caFile string, abs func(string) string) (http.RoundTripper, error) {
	if caFile == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(abs(caFile))
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", caFile)
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// metadata describes the entry of one kind.
func (s *session) metadata(o origin, kind perf.Kind, staged *archive.Staged, r *results) perf.Metadata {
	m := perf.Metadata{Schema: perf.MetadataSchema, Kind: "run", Run: o.run, Commit: o.commit, Env: o.env, Runner: o.runner,
		Tool: perf.Tool{Name: "perfband", Version: s.env.Version}, Modules: staged.Modules, Files: staged.Infos(), Excluded: staged.Excluded,
		Accepted: o.accepted, Status: map[string]string{}}
	m.Run.Kind = kind
	suites := r.ofKind(kind)
	decoders := map[string]*perf.Suite{}
	for i := range suites {
		su := &suites[i]
		decoders["raw/"+su.File] = su
		info := r.suiteInfo(su)
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
	if len(r.machines) == 1 && m.Runner == (perf.Runner{}) {
		for _, f := range r.machines {
			m.Runner = f.Runner
		}
	}
	m.Diagnostics = r.diagnosticsOf(staged)
	m.Unknown = unknown(&m)
	if m.Run.Started.IsZero() {
		var told bool
		if m.Run.Started, told = started(suites, staged.Files); !told {
			m.Unknown = append(m.Unknown, "run.started") // the time is that of the oldest file
		}
	}
	m, diags := redactMetadata(m, s.scanner())
	s.tell(diags)
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
