package gh

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"perfband/internal/limits"
)

// event is what we read of a webhook payload. Ids are int64: they may exceed
// what a float64 holds.
type event struct {
	Action      string                     `json:"action"`
	Ref         string                     `json:"ref"`
	Deleted     bool                       `json:"deleted"`
	Inputs      map[string]json.RawMessage `json:"inputs"`
	HeadCommit  *eventCommit               `json:"head_commit"`
	Commits     []eventCommit              `json:"commits"`
	Repository  eventRepository            `json:"repository"`
	PullRequest *eventPullRequest          `json:"pull_request"`
	WorkflowRun *eventWorkflowRun          `json:"workflow_run"`
	MergeGroup  *eventMergeGroup           `json:"merge_group"`
	Issue       eventIssue                 `json:"issue"`
}

type eventRepository struct {
	ID            int64      `json:"id"`
	FullName      string     `json:"full_name"`
	DefaultBranch string     `json:"default_branch"`
	Owner         eventOwner `json:"owner"`
}

type eventOwner struct {
	Login string `json:"login"`
}

type eventCommit struct {
	ID        string `json:"id"`
	Timestamp string `json:"timestamp"`
	Message   string `json:"message"`
	Author    struct {
		Name string `json:"name"`
	} `json:"author"`
}

type eventPullRequest struct {
	Number int     `json:"number"`
	Head   eventPR `json:"head"`
	Base   eventPR `json:"base"`
}

// eventPR is one side of a pull request. The head's repository is null once a
// fork was deleted.
type eventPR struct {
	SHA  string           `json:"sha"`
	Ref  string           `json:"ref"`
	Repo *eventRepository `json:"repo"`
}

type eventWorkflowRun struct {
	ID             int64            `json:"id"`
	Attempt        int              `json:"run_attempt"`
	Name           string           `json:"name"`
	Path           string           `json:"path"`
	Event          string           `json:"event"`
	Conclusion     string           `json:"conclusion"`
	HeadBranch     string           `json:"head_branch"`
	HeadSHA        string           `json:"head_sha"`
	HeadCommit     *eventCommit     `json:"head_commit"`
	HeadRepository *eventRepository `json:"head_repository"`
	PullRequests   []struct {
		Number int `json:"number"`
	} `json:"pull_requests"`
}

type eventMergeGroup struct {
	HeadSHA    string       `json:"head_sha"`
	BaseSHA    string       `json:"base_sha"`
	HeadCommit *eventCommit `json:"head_commit"`
}

type eventIssue struct {
	Number      int       `json:"number"`
	PullRequest *struct{} `json:"pull_request"`
}

// readEvent reads the event file.
func readEvent(path string) (event, error) {
	f, err := os.Open(path)
	if err != nil {
		return event{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limits.EventBytes+1))
	if err != nil {
		return event{}, err
	}
	if len(b) > limits.EventBytes {
		return event{}, fmt.Errorf("more than %d bytes", limits.EventBytes)
	}
	var e event
	if err := json.Unmarshal(b, &e); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return event{}, fmt.Errorf("%s is a %s", wrong.Field, wrong.Value)
		}
		return event{}, err
	}
	return e, nil
}

// time is the commit's time in UTC, zero if it is missing or not a time.
func (c *eventCommit) time() time.Time {
	t, err := time.Parse(time.RFC3339, c.Timestamp)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// isFork reports whether the pull request comes from another repository, or
// from one that is gone. Only ids tell: names change, and the base may itself
// be a fork.
func (p *eventPullRequest) isFork(repository eventRepository) bool {
	base := repository.ID
	if p.Base.Repo != nil {
		base = p.Base.Repo.ID
	}
	return p.Head.Repo == nil || p.Head.Repo.ID != base
}
