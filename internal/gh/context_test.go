package gh

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"perfband/internal/perf"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// readTestContext reads a context from variables and an event file of payload.
func readTestContext(t *testing.T, env map[string]string, payload string) (Context, []perf.Diagnostic) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(path, []byte(payload), 0o644); err != nil {
		t.Fatal(err)
	}
	return ReadContext(func(name string) string {
		if name == "GITHUB_EVENT_PATH" {
			return path
		}
		return env[name]
	})
}

// codes are the diagnostics as "severity code".
func codes(diagnostics []perf.Diagnostic) []string {
	var out []string
	for _, d := range diagnostics {
		out = append(out, string(d.Severity)+" "+d.Code)
	}
	return out
}

func TestReadContext(t *testing.T) {
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "RUNNER_DEBUG": "1", "GITHUB_REPOSITORY": "org/repo",
		"GITHUB_SERVER_URL": "https://git.test/", "GITHUB_API_URL": "https://git.test/api/v3", "GITHUB_WORKSPACE": "/github/workspace",
		"RUNNER_TEMP": "/t", "GITHUB_OUTPUT": "/o", "GITHUB_STEP_SUMMARY": "/s",
		"GITHUB_RUN_ID": "9007199254740993", "GITHUB_RUN_ATTEMPT": "2", "GITHUB_EVENT_NAME": "push", "GITHUB_WORKFLOW": "perf",
		"GITHUB_WORKFLOW_REF": "org/repo/.github/workflows/perf.yml@refs/heads/main", "GITHUB_JOB": "bench",
		"GITHUB_REF": "refs/heads/main", "GITHUB_SHA": shaA, "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "RUNNER_NAME": "r1",
		"RUNNER_ENVIRONMENT": "github-hosted", "ImageOS": "ubuntu24", "ImageVersion": "20260101.1",
	}
	got, diagnostics := readTestContext(t, env, `{
		"ref": "refs/heads/main", "before": "`+shaB+`", "after": "`+shaA+`", "deleted": false,
		"repository": {"id": 9007199254740993, "default_branch": "main"},
		"commits": [{"id": "`+shaB+`", "message": "other", "timestamp": "2025-01-01T00:00:00Z"}],
		"head_commit": {"id": "`+shaA+`", "message": "Faster\r\n\r\nbody", "timestamp": "2026-01-02T03:04:05+01:00", "author": {"name": "Ada"}},
		"inputs": null
	}`)
	want := Context{
		InActions: true, Debug: true, Repository: "org/repo", ServerURL: "https://git.test", APIURL: "https://git.test/api/v3",
		Workspace: "/github/workspace", TempDir: "/t", OutputFile: "/o", SummaryFile: "/s",
		RunID: "9007199254740993", Attempt: 2, Event: "push", Workflow: "perf",
		WorkflowFile: ".github/workflows/perf.yml@refs/heads/main", Job: "bench", Ref: "refs/heads/main", DefaultBranch: "main",
		Commit: perf.Commit{SHA: shaA, Subject: "Faster", Author: "Ada", Time: time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC)},
		Runner: perf.Runner{Name: "r1", Image: "ubuntu24", ImageVersion: "20260101.1", Hosted: new(true)}, RunnerOS: "Linux", RunnerArch: "X64",
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Context{})); diff != "" || len(diagnostics) != 0 {
		t.Error(diff, diagnostics)
	}
	wantRun := perf.Run{
		RunID: "9007199254740993", Attempt: 2, Repository: "org/repo", Ref: "refs/heads/main", DefaultBranch: "main",
		Event: "push", Workflow: "perf", WorkflowFile: ".github/workflows/perf.yml@refs/heads/main", Job: "bench",
	}
	if diff := cmp.Diff(wantRun, got.Run()); diff != "" {
		t.Error(diff)
	}
}

func TestReadContextOutsideActions(t *testing.T) {
	got, diagnostics := ReadContext(func(string) string { return "" })
	if diff := cmp.Diff(Context{}, got, cmpopts.IgnoreUnexported(Context{})); diff != "" || len(diagnostics) != 0 {
		t.Error(diff, diagnostics)
	}
}

// TestEvents holds what each kind of event makes of the context.
func TestEvents(t *testing.T) {
	const repository = `"repository": {"id": 1000, "default_branch": "main"}`
	type facts struct {
		SHA, Subject, Ref, Head, Base string
		PullRequest                   int
		Fork, Refused                 bool
		Codes                         []string
	}
	for _, c := range []struct {
		name, event, ref, payload string
		want                      facts
	}{
		{"commit among commits", "push", "refs/heads/main", `{"head_commit": null, "commits": [{"id": "` + shaB + `", "message": "b"}, {"id": "` + shaA + `", "message": "a"}]}`,
			facts{SHA: shaA, Subject: "a", Ref: "refs/heads/main"}},
		{"other head commit", "push", "refs/tags/v1", `{"head_commit": {"id": "` + shaB + `", "message": "b"}}`,
			facts{SHA: shaA, Ref: "refs/tags/v1"}},
		{"bad time", "push", "refs/heads/main", `{"head_commit": {"id": "` + shaA + `", "message": "a", "timestamp": "yesterday"}}`,
			facts{SHA: shaA, Subject: "a", Ref: "refs/heads/main", Codes: []string{"warning commit-time"}}},
		{"deleted branch", "push", "refs/heads/main", `{"ref": "refs/heads/old", "deleted": true, "head_commit": null}`,
			facts{Ref: "refs/heads/old", Codes: []string{"notice nothing-measured"}}},
		{"pull request", "pull_request", "refs/pull/7/merge", `{` + repository + `, "pull_request": {"number": 7,
			"head": {"sha": "` + shaB + `", "repo": {"id": 1000}}, "base": {"sha": "` + shaC + `", "repo": {"id": 1000}}}}`,
			facts{SHA: shaA, Ref: "refs/pull/7/merge", Head: shaB, Base: shaC, PullRequest: 7}},
		{"large ids differ", "pull_request", "refs/pull/7/merge", `{"pull_request": {"number": 7,
			"head": {"sha": "` + shaB + `", "repo": {"id": 9007199254740993}}, "base": {"sha": "` + shaC + `", "repo": {"id": 9007199254740992}}}}`,
			facts{SHA: shaA, Ref: "refs/pull/7/merge", Head: shaB, Base: shaC, PullRequest: 7, Fork: true}},
		{"head is not an id", "pull_request", "refs/pull/7/merge", `{` + repository + `, "pull_request": {"number": 7,
			"head": {"sha": "main", "repo": {"id": 1000}}, "base": {"sha": "", "repo": null}}}`,
			facts{SHA: shaA, Ref: "refs/pull/7/merge", PullRequest: 7, Codes: []string{"warning commit-id"}}},
		{"run of a push", "workflow_run", "refs/heads/main", `{` + repository + `, "workflow_run": {"id": 5, "event": "push", "head_sha": "` + shaB + `",
			"head_branch": "next", "head_repository": {"id": 1000, "owner": {"login": "org"}}, "head_commit": {"id": "` + shaB + `", "message": "b"}}}`,
			facts{SHA: shaB, Subject: "b", Ref: "refs/heads/next"}},
		{"run of a fork's main", "workflow_run", "refs/heads/main", `{` + repository + `, "workflow_run": {"id": 5, "event": "pull_request", "head_sha": "` + shaB + `",
			"head_branch": "main", "head_repository": {"id": 2000, "owner": {"login": "mallory"}}, "pull_requests": []}}`,
			facts{SHA: shaB, Ref: "mallory:main", Head: shaB, Fork: true}},
		{"run of another repository's push", "workflow_run", "refs/heads/main", `{` + repository + `, "workflow_run": {"id": 5, "event": "push", "head_sha": "` + shaB + `",
			"head_branch": "main", "head_repository": {"id": 2000, "owner": {"login": "mallory"}}}}`,
			facts{SHA: shaB, Ref: "mallory:main", Fork: true}},
		{"run of a deleted fork", "workflow_run", "refs/heads/main", `{` + repository + `, "workflow_run": {"id": 5, "event": "pull_request", "head_sha": "` + shaB + `",
			"head_branch": "main", "head_repository": null, "pull_requests": []}}`,
			facts{SHA: shaB, Ref: ":main", Head: shaB, Fork: true}},
		{"run of our pull request", "workflow_run", "refs/heads/main", `{` + repository + `, "workflow_run": {"id": 5, "event": "pull_request", "head_sha": "` + shaB + `",
			"head_branch": "main", "head_repository": {"id": 1000, "owner": {"login": "org"}}, "pull_requests": [{"number": 9}]}}`,
			facts{SHA: shaB, Ref: "org:main", Head: shaB, PullRequest: 9}},
		{"run of pull_request_target", "workflow_run", "refs/heads/main", `{` + repository + `, "workflow_run": {"id": 5, "event": "pull_request_target",
			"head_sha": "` + shaB + `", "head_branch": "x", "head_repository": {"id": 1000}}}`,
			facts{SHA: shaB, Ref: ":x", Head: shaB, Refused: true}},
		{"no run in it", "workflow_run", "refs/heads/main", `{}`, facts{Codes: []string{"error event"}}},
		{"comment on a pull request", "issue_comment", "refs/heads/main", `{"issue": {"number": 7, "pull_request": {"url": "x"}}}`,
			facts{PullRequest: 7, Codes: []string{"notice commit-unknown"}}},
		{"comment on an issue", "issue_comment", "refs/heads/main", `{"issue": {"number": 7}}`,
			facts{Codes: []string{"notice commit-unknown"}}},
		{"release", "release", "refs/tags/v1", `{"action": "published", "release": {}}`, facts{SHA: shaA, Ref: "refs/tags/v1"}},
		{"not JSON", "push", "refs/heads/main", `{"deleted": tru`, facts{SHA: shaA, Ref: "refs/heads/main", Codes: []string{"error event"}}},
		{"wrong type", "push", "refs/heads/main", `{"deleted": "no"}`, facts{SHA: shaA, Ref: "refs/heads/main", Codes: []string{"error event"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, diagnostics := readTestContext(t, map[string]string{
				"GITHUB_EVENT_NAME": c.event, "GITHUB_SHA": shaA, "GITHUB_REF": c.ref}, c.payload)
			have := facts{got.Commit.SHA, got.Commit.Subject, got.Ref, got.Head, got.Base, got.PullRequest, got.Fork,
				got.Refused() != nil, codes(diagnostics)}
			if diff := cmp.Diff(c.want, have); diff != "" {
				t.Errorf("%s\n%v", diff, diagnostics)
			}
		})
	}
}

func TestReadContextBadValues(t *testing.T) {
	got, diagnostics := ReadContext(func(name string) string {
		return map[string]string{
			"GITHUB_ACTIONS": "true", "GITHUB_RUN_ID": "../7", "GITHUB_RUN_ATTEMPT": "-1",
			"GITHUB_SHA": strings.Repeat("g", 40), "RUNNER_ENVIRONMENT": "elsewhere",
		}[name]
	})
	if got.RunID != "" || got.Attempt != 0 || got.Commit.SHA != "" || got.Runner.Hosted != nil {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]string{"warning run-id", "warning commit-id", "error event"}, codes(diagnostics)); diff != "" {
		t.Error(diff)
	}
	got, diagnostics = ReadContext(func(name string) string {
		return map[string]string{"GITHUB_EVENT_PATH": filepath.Join(t.TempDir(), "none.json"), "GITHUB_SHA": strings.Repeat("0", 40)}[name]
	})
	if got.Commit.SHA != "" || len(diagnostics) != 1 || !strings.Contains(diagnostics[0].Error(), "none.json: the event of this workflow run could not be read") {
		t.Errorf("%v", diagnostics)
	}
}

func TestInputs(t *testing.T) {
	got, diagnostics := readTestContext(t, map[string]string{"GITHUB_EVENT_NAME": "workflow_dispatch"},
		`{"inputs": {"text": "a\nb", "flag": true, "count": 9007199254740993, "none": null}}`)
	want := map[string]string{"text": "a\nb", "flag": "true", "count": "9007199254740993"}
	if diff := cmp.Diff(want, got.Inputs); diff != "" || len(diagnostics) != 0 {
		t.Error(diff, diagnostics)
	}
}

// TestRunOfTrigger: the run that measured is the one recorded.
func TestRunOfTrigger(t *testing.T) {
	got, _ := readTestContext(t, map[string]string{"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_RUN_ID": "1", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_JOB": "publish", "GITHUB_WORKFLOW": "publish"},
		`{"workflow_run": {"id": 9007199254740993, "run_attempt": 3, "name": "perf", "path": ".github/workflows/perf.yml", "event": "push",
		"head_sha": "`+shaB+`", "head_branch": "main", "head_repository": {"id": 0}}}`)
	want := perf.Run{RunID: "9007199254740993", Attempt: 3, Event: "push", Workflow: "perf", WorkflowFile: ".github/workflows/perf.yml", Ref: "refs/heads/main"}
	if diff := cmp.Diff(want, got.Run()); diff != "" {
		t.Error(diff)
	}
}

func TestRefusedLinksTheRecipe(t *testing.T) {
	c, _ := readTestContext(t, map[string]string{"GITHUB_EVENT_NAME": "pull_request_target",
		"GITHUB_SERVER_URL": "https://git.test", "GITHUB_ACTION_REPOSITORY": "o/perfband"}, `{}`)
	d := c.Refused()
	if d == nil || d.Severity != perf.Error || !strings.Contains(d.Error(), "https://git.test/o/perfband#pull-requests-from-forks") {
		t.Errorf("%v", d)
	}
}

// TestHostileEvents runs the shared events with their environments.
func TestHostileEvents(t *testing.T) {
	type facts struct {
		SHA, Head, Base      string
		PullRequest          int
		Fork, Refused, Trend bool // Trend: the ref is the default branch
		Subject              string
		Time                 string
		Codes                []string
	}
	want := map[string]facts{
		"E50": {SHA: shaC, Head: shaA, Base: shaB, PullRequest: 7, Fork: true},
		"E51": {SHA: shaC, Head: shaA, Base: shaB, PullRequest: 8, Fork: true},
		"E52": {SHA: shaA, Head: shaA, Fork: true},
		"E56": {SHA: shaA, Trend: true},
		"E57": {SHA: shaA, Trend: true, Subject: "feat: x | `y` <script>alert(1)</script>", Time: "2026-01-01T13:04:05Z"},
		"E58": {Codes: []string{"notice nothing-measured"}},
		"E59": {PullRequest: 7, Codes: []string{"notice commit-unknown"}},
		"E62": {Codes: []string{"notice commit-unknown"}},
		"E63": {SHA: shaA, Base: shaB, Subject: "Merge pull request #7", Time: "2026-01-02T03:04:05Z"},
		"E64": {SHA: shaD},
		"E65": {SHA: shaD, Trend: true},
		"E66": {SHA: shaC, Head: shaA, Base: shaB, PullRequest: 9},
		"E69": {SHA: shaD, Head: shaA, Base: shaB, PullRequest: 7, Fork: true, Refused: true, Trend: true},
	}
	for _, file := range hostileFiles(t, "events/*.json") {
		id, _, _ := strings.Cut(filepath.Base(file), "-")
		t.Run(id, func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var doc struct {
				Env     map[string]string
				Payload json.RawMessage
			}
			if err := json.Unmarshal(b, &doc); err != nil {
				t.Fatal(err)
			}
			expected, ok := want[id]
			if !ok {
				// Another event of the same kind: it must be read without complaint.
				if _, diagnostics := readTestContext(t, doc.Env, string(doc.Payload)); len(diagnostics) > 0 && diagnostics[0].Severity == perf.Error {
					t.Error(diagnostics)
				}
				return
			}
			c, diagnostics := readTestContext(t, doc.Env, string(doc.Payload))
			have := facts{SHA: c.Commit.SHA, Head: c.Head, Base: c.Base, PullRequest: c.PullRequest, Fork: c.Fork,
				Refused: c.Refused() != nil, Trend: c.Ref == "refs/heads/"+c.DefaultBranch,
				Subject: c.Commit.Subject, Codes: codes(diagnostics)}
			if !c.Commit.Time.IsZero() {
				have.Time = c.Commit.Time.Format(time.RFC3339)
			}
			if diff := cmp.Diff(expected, have); diff != "" {
				t.Error(diff)
			}
		})
	}
}
