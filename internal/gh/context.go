package gh

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"perfband/internal/perf"
)

// Context is what the runner says about the workflow run we are a step of.
// Outside GitHub Actions nearly all of it is empty. Texts in it are foreign.
type Context struct {
	InActions bool // a GitHub runner started us
	Debug     bool // debug logging is on

	Repository  string // owner/name
	ServerURL   string // without a slash at the end
	APIURL      string
	Workspace   string // folder of the checkout
	TempDir     string // RUNNER_TEMP
	OutputFile  string
	SummaryFile string

	RunID    string // decimal digits
	Attempt  int    // from 1; 0 unknown
	Event    string // name of the event, e.g. "push"
	Action   string // what happened, e.g. "synchronize"
	Workflow string // display name
	// WorkflowFile is path@ref within the repository.
	WorkflowFile string
	Job          string
	// Inputs are those of a workflow_dispatch event.
	Inputs map[string]string

	// Ref is the ref that was measured: "refs/heads/main". It is "owner:branch"
	// for a pull request run that this run was triggered by, so that a fork's
	// "main" is never taken for ours.
	Ref           string
	DefaultBranch string // "" if the event does not say
	// Commit is the commit checked out and measured. Its SHA is empty when
	// nothing was measured or the event does not tell; a diagnostic says which.
	Commit perf.Commit
	// Base is the commit that the head was or will be merged into, "" unknown.
	Base        string
	Head        string // head commit of the pull request
	PullRequest int
	Fork        bool // the pull request comes from another repository

	Runner     perf.Runner
	RunnerOS   string // Linux, Windows, macOS
	RunnerArch string // X64, ARM64, ...

	// Trigger is the run that this one was started by, in workflow_run events.
	Trigger *Trigger

	actionRepository string
}

// Trigger is a workflow run whose completion started this one. What it
// uploaded is not to be trusted, what stands here comes from GitHub.
type Trigger struct {
	RunID            string
	Attempt          int
	Workflow         string // display name
	WorkflowFile     string // path within the repository
	Event            string // the event that started it
	Conclusion       string // success, failure, cancelled, ...
	HeadBranch       string
	HeadOwner        string // owner of the repository the head is in
	HeadRepositoryID int64  // 0 when that repository is gone
}

// ReadContext reads the environment and the event file. Diagnostics tell what
// could not be had; the context holds the rest.
func ReadContext(getenv func(string) string) (Context, []perf.Diagnostic) {
	c := Context{
		InActions:        getenv("GITHUB_ACTIONS") == "true",
		Debug:            getenv("RUNNER_DEBUG") == "1",
		Repository:       getenv("GITHUB_REPOSITORY"),
		ServerURL:        strings.TrimRight(getenv("GITHUB_SERVER_URL"), "/"),
		APIURL:           strings.TrimRight(getenv("GITHUB_API_URL"), "/"),
		Workspace:        getenv("GITHUB_WORKSPACE"),
		TempDir:          getenv("RUNNER_TEMP"),
		OutputFile:       getenv("GITHUB_OUTPUT"),
		SummaryFile:      getenv("GITHUB_STEP_SUMMARY"),
		RunID:            getenv("GITHUB_RUN_ID"),
		Attempt:          number(getenv("GITHUB_RUN_ATTEMPT")),
		Event:            getenv("GITHUB_EVENT_NAME"),
		Workflow:         getenv("GITHUB_WORKFLOW"),
		Job:              getenv("GITHUB_JOB"),
		Ref:              getenv("GITHUB_REF"),
		RunnerOS:         getenv("RUNNER_OS"),
		RunnerArch:       getenv("RUNNER_ARCH"),
		actionRepository: getenv("GITHUB_ACTION_REPOSITORY"),
	}
	c.WorkflowFile = strings.TrimPrefix(getenv("GITHUB_WORKFLOW_REF"), c.Repository+"/")
	c.Runner = perf.Runner{Name: getenv("RUNNER_NAME"), Image: getenv("ImageOS"), ImageVersion: getenv("ImageVersion")}
	switch getenv("RUNNER_ENVIRONMENT") {
	case "github-hosted":
		c.Runner.Hosted = new(true)
	case "self-hosted":
		c.Runner.Hosted = new(false)
	}
	var r contextReader
	c.RunID = r.digits("GITHUB_RUN_ID", c.RunID)
	c.Commit.SHA = r.sha("GITHUB_SHA", getenv("GITHUB_SHA"))
	if path := getenv("GITHUB_EVENT_PATH"); path != "" {
		e, err := readEvent(path)
		if err != nil {
			r.diagnostics = append(r.diagnostics, perf.Diagnostic{
				Severity: perf.Error, Code: "event", What: "the event of this workflow run could not be read",
				Where: perf.Where{File: path}, Why: err.Error(), Err: err,
				Do: "Re-run the job; GITHUB_EVENT_PATH must name the event file.",
			})
			return c, r.diagnostics
		}
		r.apply(&c, e)
	} else if c.InActions {
		r.note(perf.Error, "event", "the event of this workflow run is unknown",
			"GITHUB_EVENT_PATH is not set", "Pass the variables GITHUB_* on to the program.")
	}
	return c, r.diagnostics
}

// contextReader collects what is wrong with the values it checks.
type contextReader struct{ diagnostics []perf.Diagnostic }

func (r *contextReader) note(severity perf.Severity, code, what, why, do string) {
	r.diagnostics = append(r.diagnostics, perf.Diagnostic{Severity: severity, Code: code, What: what, Why: why, Do: do})
}

// apply adds what the event says.
func (r *contextReader) apply(c *Context, e event) {
	c.Action = e.Action
	c.DefaultBranch = e.Repository.DefaultBranch
	c.Inputs = inputs(e.Inputs)
	switch {
	case c.Event == "push" && e.Deleted:
		r.note(perf.Notice, "nothing-measured", fmt.Sprintf("nothing was measured: the push deleted %s", e.Ref), "", "")
		c.Commit = perf.Commit{}
		c.Ref = e.Ref
	case c.Event == "push":
		r.describe(&c.Commit, e.HeadCommit)
		for i := range e.Commits {
			r.describe(&c.Commit, &e.Commits[i])
		}
	case e.PullRequest != nil && strings.HasPrefix(c.Event, "pull_request"):
		c.PullRequest = e.PullRequest.Number
		c.Head = r.sha("pull_request.head.sha", e.PullRequest.Head.SHA)
		c.Base = r.sha("pull_request.base.sha", e.PullRequest.Base.SHA)
		c.Fork = e.PullRequest.isFork(e.Repository)
	case c.Event == "merge_group" && e.MergeGroup != nil:
		c.Commit.SHA = r.sha("merge_group.head_sha", e.MergeGroup.HeadSHA)
		c.Base = r.sha("merge_group.base_sha", e.MergeGroup.BaseSHA)
		r.describe(&c.Commit, e.MergeGroup.HeadCommit)
	case c.Event == "workflow_run" && e.WorkflowRun != nil:
		r.workflowRun(c, e)
	case c.Event == "workflow_run":
		c.Commit, c.Ref = perf.Commit{}, ""
		r.note(perf.Error, "event", "the event names no workflow run", "", "")
	case c.Event == "issue_comment":
		if e.Issue.PullRequest != nil {
			c.PullRequest = e.Issue.Number
		}
		c.Commit, c.Ref = perf.Commit{}, ""
		r.note(perf.Notice, "commit-unknown", "the event does not say which commit was measured",
			"a comment started the run", "Pass the measured commit and ref.")
	}
}

// workflowRun replaces the default branch, which GITHUB_SHA and GITHUB_REF
// name in such events, by what the triggering run measured.
func (r *contextReader) workflowRun(c *Context, e event) {
	run := e.WorkflowRun
	t := &Trigger{
		RunID: strconv.FormatInt(run.ID, 10), Attempt: run.Attempt, Workflow: run.Name, WorkflowFile: run.Path,
		Event: run.Event, Conclusion: run.Conclusion, HeadBranch: run.HeadBranch,
	}
	if run.HeadRepository != nil {
		t.HeadOwner, t.HeadRepositoryID = run.HeadRepository.Owner.Login, run.HeadRepository.ID
	}
	c.Trigger = t
	c.Commit = perf.Commit{SHA: r.sha("workflow_run.head_sha", run.HeadSHA)}
	r.describe(&c.Commit, run.HeadCommit)
	c.Fork = run.HeadRepository == nil || run.HeadRepository.ID != e.Repository.ID
	ofPullRequest := strings.HasPrefix(run.Event, "pull_request")
	if c.Fork || ofPullRequest {
		c.Ref = t.HeadOwner + ":" + run.HeadBranch
	} else {
		c.Ref = "refs/heads/" + run.HeadBranch
	}
	if ofPullRequest {
		c.Head = c.Commit.SHA
	}
	if len(run.PullRequests) == 1 {
		c.PullRequest = run.PullRequests[0].Number
	}
}

// describe fills in the facts of the commit if they are of the commit measured.
func (r *contextReader) describe(c *perf.Commit, from *eventCommit) {
	if from == nil || from.ID != c.SHA || c.SHA == "" {
		return
	}
	c.Subject, _, _ = strings.Cut(from.Message, "\n")
	c.Subject = strings.TrimSuffix(c.Subject, "\r")
	c.Author = from.Author.Name
	c.Time = from.time()
	if c.Time.IsZero() && from.Timestamp != "" {
		r.note(perf.Warning, "commit-time", fmt.Sprintf("the time %q of commit %s was not understood", from.Timestamp, c.SHA), "", "")
	}
}

var (
	shaForm    = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	digitsForm = regexp.MustCompile(`^[0-9]{1,20}$`)
)

// sha returns a commit id, or "" with a diagnostic if it is not one. All zeros
// stand for no commit.
func (r *contextReader) sha(field, value string) string {
	if value == "" || shaForm.MatchString(value) && strings.Trim(value, "0") == "" {
		return ""
	}
	if !shaForm.MatchString(value) {
		r.note(perf.Warning, "commit-id", fmt.Sprintf("%s is not a commit id: %q", field, value), "", "")
		return ""
	}
	return value
}

// digits returns a decimal id, or "" with a diagnostic if it is not one.
func (r *contextReader) digits(field, value string) string {
	if value == "" || digitsForm.MatchString(value) {
		return value
	}
	r.note(perf.Warning, "run-id", fmt.Sprintf("%s is not a number: %q", field, value), "", "")
	return ""
}

// number reads a positive count, 0 if it is none.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// inputs turns the inputs of a dispatch event into texts; most are texts
// already, booleans and numbers keep their spelling, null is left out.
func inputs(raw map[string]json.RawMessage) map[string]string {
	if len(raw) == 0 {
		return nil
	}
	out := map[string]string{}
	for name, value := range raw {
		var s string
		switch {
		case string(value) == "null":
		case json.Unmarshal(value, &s) == nil:
			out[name] = s
		default:
			out[name] = string(value)
		}
	}
	return out
}

// Run is the part of an entry's metadata that the context knows: of the
// triggering run where there is one, since that one measured. ID, kind, shard
// and times are left to the caller.
func (c *Context) Run() perf.Run {
	r := perf.Run{
		RunID: c.RunID, Attempt: c.Attempt, Repository: c.Repository, Ref: c.Ref, DefaultBranch: c.DefaultBranch,
		Head: c.Head, PullRequest: c.PullRequest, Event: c.Event, Workflow: c.Workflow, WorkflowFile: c.WorkflowFile,
		Job: c.Job, Inputs: c.Inputs,
	}
	if t := c.Trigger; t != nil {
		r.RunID, r.Attempt, r.Event, r.Workflow, r.WorkflowFile = t.RunID, t.Attempt, t.Event, t.Workflow, t.WorkflowFile
		r.Job = ""
	}
	return r
}

// Refused returns why nothing is done for this event, nil if it is allowed:
// pull_request_target gives a write token to a run that measures foreign code.
func (c *Context) Refused() *perf.Diagnostic {
	const target = "pull_request_target"
	if c.Event != target && (c.Trigger == nil || c.Trigger.Event != target) {
		return nil
	}
	recipe := `the section "Pull requests from forks" of the README`
	if c.ServerURL != "" && c.actionRepository != "" {
		recipe += " (" + c.ServerURL + "/" + c.actionRepository + "#pull-requests-from-forks)"
	}
	return &perf.Diagnostic{
		Severity: perf.Error, Code: "pull-request-target",
		What: "the event pull_request_target is refused",
		Why:  "such a run has a write token while it handles code of a stranger",
		Do:   "Measure in a pull_request workflow and publish in a second one started by workflow_run: see " + recipe + ".",
	}
}
