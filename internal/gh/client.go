package gh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/text"

	"github.com/google/go-github/v62/github"
)

// ErrForbidden says that the token lacks a permission, or that the repository
// is private and there is no token. GitHub answers 404 for both as well.
var ErrForbidden = errors.New("not permitted, or not there")

// Client talks to the REST API. Everything it offers works without a token on
// public repositories.
type Client struct {
	api *github.Client
}

// Option changes how a [Client] works.
type Option func(*transport)

// WithSleep replaces the waiting between tries, for tests.
func WithSleep(sleep func(context.Context, time.Duration) error) Option {
	return func(t *transport) { t.sleep = sleep }
}

// NewClient makes a client of the API at apiURL, the value of GITHUB_API_URL:
// "https://api.github.com", or "https://HOST/api/v3" on a server of one's own.
// An empty token sends none. A nil base is [http.DefaultTransport]. The token
// is refused for plain http, but for servers on this machine.
func NewClient(apiURL, token string, base http.RoundTripper, options ...Option) (*Client, error) {
	u, err := url.Parse(apiURL)
	if err != nil {
		return nil, fmt.Errorf("read the API URL %q: %w", apiURL, err)
	}
	if u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return nil, fmt.Errorf("read the API URL %q: it must be https://HOST[/PATH]", apiURL)
	}
	if token != "" && u.Scheme != "https" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("use the API URL %q: a token is sent over https only", apiURL)
	}
	if base == nil {
		base = http.DefaultTransport
	}
	t := &transport{base: base, api: u, token: token, sleep: sleep, now: time.Now}
	for _, o := range options {
		o(t)
	}
	api := github.NewClient(&http.Client{
		Transport: t,
		CheckRedirect: func(_ *http.Request, via []*http.Request) error {
			if len(via) > limits.Redirects {
				return fmt.Errorf("more than %d redirects", limits.Redirects)
			}
			return nil
		},
	})
	root := *u
	root.Path = strings.TrimRight(u.Path, "/") + "/"
	api.BaseURL = &root
	api.UserAgent = "perfband"
	return &Client{api: api}, nil
}

// loopback reports whether host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// DefaultBranch asks for the default branch of a repository, "owner/name".
func (c *Client) DefaultBranch(ctx context.Context, repository string) (string, error) {
	owner, name, err := splitRepository(repository)
	if err != nil {
		return "", err
	}
	r, _, err := c.api.Repositories.Get(ctx, owner, name)
	if err != nil {
		return "", explain("read repository "+repository, err)
	}
	return r.GetDefaultBranch(), nil
}

// Commit asks for a commit: its parents in order, the committer's time in UTC,
// the first line of its message and the author's name.
func (c *Client) Commit(ctx context.Context, repository, sha string) (perf.Commit, error) {
	owner, name, err := splitRepository(repository)
	if err != nil {
		return perf.Commit{}, err
	}
	if !shaForm.MatchString(sha) {
		return perf.Commit{}, fmt.Errorf("read commit %q: not a full commit id", sha)
	}
	rc, _, err := c.api.Repositories.GetCommit(ctx, owner, name, sha, nil)
	if err != nil {
		return perf.Commit{}, explain("read commit "+sha+" of "+repository, err)
	}
	if rc.GetSHA() != sha {
		return perf.Commit{}, fmt.Errorf("read commit %s of %s: the server sent %q", sha, repository, rc.GetSHA())
	}
	out := perf.Commit{SHA: sha, Author: rc.GetCommit().GetAuthor().GetName()}
	out.Subject, _, _ = strings.Cut(rc.GetCommit().GetMessage(), "\n")
	if t := rc.GetCommit().GetCommitter().GetDate().Time; !t.IsZero() {
		out.Time = t.UTC()
	}
	for _, p := range rc.Parents {
		if !shaForm.MatchString(p.GetSHA()) {
			return perf.Commit{}, fmt.Errorf("read commit %s of %s: %q is not a parent's id", sha, repository, p.GetSHA())
		}
		out.Parents = append(out.Parents, p.GetSHA())
	}
	return out, nil
}

var repositoryPart = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// splitRepository reads "owner/name". Both go into the path of a URL.
func splitRepository(repository string) (owner, name string, err error) {
	owner, name, ok := strings.Cut(repository, "/")
	if !ok || !repositoryPart.MatchString(owner) || !repositoryPart.MatchString(name) ||
		strings.Trim(owner, ".") == "" || strings.Trim(name, ".") == "" {
		return "", "", fmt.Errorf("read repository %q: it must be OWNER/NAME", repository)
	}
	return owner, name, nil
}

// explain turns an error of the API into one line that names cause and cure.
func explain(doing string, err error) error {
	var (
		rate   *github.RateLimitError
		abuse  *github.AbuseRateLimitError
		answer *github.ErrorResponse
	)
	const later = "the API asked to slow down: %s; re-run the job later"
	switch {
	case errors.As(err, &rate):
		return fmt.Errorf("%s: "+later, doing, rate.Message)
	case errors.As(err, &abuse):
		return fmt.Errorf("%s: "+later, doing, abuse.Message)
	case !errors.As(err, &answer):
		return fmt.Errorf("%s: %w", doing, err)
	}
	what := text.Cut(strings.TrimSpace(answer.Response.Status+" "+answer.Message), limits.RemoteTextBytes)
	switch answer.Response.StatusCode {
	case http.StatusTooManyRequests:
		return fmt.Errorf("%s: "+later, doing, what)
	case http.StatusUnauthorized:
		return fmt.Errorf("%s: the token is not valid (%s)", doing, what)
	case http.StatusForbidden, http.StatusNotFound:
		return fmt.Errorf("%s: %w (%s); the job needs \"permissions: contents: read\"", doing, ErrForbidden, what)
	}
	return fmt.Errorf("%s: the server answered %s", doing, what)
}
