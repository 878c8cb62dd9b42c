package gh

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"perfband/internal/limits"
	"perfband/internal/perf"

	"github.com/google/go-cmp/cmp"
)

const (
	shaA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	shaB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	shaC = "cccccccccccccccccccccccccccccccccccccccc"
	shaD = "dddddddddddddddddddddddddddddddddddddddd"

	getCommit = "GET /api/v3/repos/org/repo/commits/" + shaA
	getRepo   = "GET /api/v3/repos/org/repo"
)

// newTestClient talks to server and notes every pause instead of making it.
func newTestClient(t *testing.T, server *httptest.Server, token string) (*Client, *[]time.Duration) {
	t.Helper()
	var pauses []time.Duration
	c, err := NewClient(server.URL+"/api/v3", token, nil, WithSleep(func(ctx context.Context, d time.Duration) error {
		pauses = append(pauses, d)
		return ctx.Err()
	}))
	if err != nil {
		t.Fatal(err)
	}
	return c, &pauses
}

func TestClientCommit(t *testing.T) {
	server := fakeAPI(t, step{on: getCommit, check: authorization("Bearer t0p-secret"), body: `{
		"sha": "` + shaA + `",
		"commit": {
			"author": {"name": "Ada | x", "date": "2020-01-01T00:00:00Z"},
			"committer": {"date": "2026-01-02T03:04:05+14:00"},
			"message": "Faster <b>\n\nbody"
		},
		"parents": [{"sha": "` + shaB + `"}, {"sha": "` + shaC + `"}]
	}`})
	c, pauses := newTestClient(t, server, "t0p-secret")
	got, err := c.Commit(t.Context(), "org/repo", shaA)
	if err != nil {
		t.Fatal(err)
	}
	want := perf.Commit{
		SHA: shaA, Parents: []string{shaB, shaC}, Subject: "Faster <b>", Author: "Ada | x",
		Time: time.Date(2026, 1, 1, 13, 4, 5, 0, time.UTC),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if len(*pauses) != 0 {
		t.Errorf("paused %v", *pauses)
	}
}

// TestClientWithoutFacts: what the server does not say stays unknown.
func TestClientWithoutFacts(t *testing.T) {
	server := fakeAPI(t, step{on: getCommit, check: authorization(""), body: `{"sha": "` + shaA + `"}`})
	c, _ := newTestClient(t, server, "")
	got, err := c.Commit(t.Context(), "org/repo", shaA)
	if diff := cmp.Diff(perf.Commit{SHA: shaA}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestClientDefaultBranch(t *testing.T) {
	server := fakeAPI(t, step{on: getRepo, body: `{"default_branch": "trunk"}`})
	c, _ := newTestClient(t, server, "")
	if got, err := c.DefaultBranch(t.Context(), "org/repo"); err != nil || got != "trunk" {
		t.Error(got, err)
	}
}

func TestClientRefusesArguments(t *testing.T) {
	c, _ := newTestClient(t, fakeAPI(t), "")
	for _, repository := range []string{"", "repo", "a/b/c", "../x", "a/..", "a/b?x", "a b/c"} {
		if _, err := c.DefaultBranch(t.Context(), repository); err == nil || !strings.Contains(err.Error(), "OWNER/NAME") {
			t.Errorf("repository %q: %v", repository, err)
		}
	}
	if _, err := c.Commit(t.Context(), "org/repo", "HEAD"); err == nil {
		t.Error("a ref was taken for a commit id")
	}
	for _, u := range []string{"", "api.github.com", "ftp://x.test", "https://u:p@x.test", "http://x.test"} {
		if _, err := NewClient(u, "t0p-secret", nil); err == nil || strings.Contains(err.Error(), "t0p-secret") {
			t.Errorf("API URL %q: %v", u, err)
		}
	}
}

func TestClientErrors(t *testing.T) {
	for _, c := range []struct {
		name      string
		answer    step
		want      string
		forbidden bool
	}{
		{"forbidden", step{status: 403, body: `{"message": "Resource not accessible by integration"}`}, "contents: read", true},
		{"private", step{status: 404, body: `{"message": "Not Found"}`}, "404", true},
		{"bad token", step{status: 401, body: `{"message": "Bad credentials"}`}, "not valid", false},
		{"html", step{status: 200, body: `<html>`}, "invalid character", false},
		{"unprocessable", step{status: 422, body: `{"message": "No commit found"}`}, "No commit found", false},
		{"other commit", step{status: 200, body: `{"sha": "` + shaB + `"}`}, "the server sent", false},
		{"other parent", step{status: 200, body: `{"sha": "` + shaA + `", "parents": [{"sha": "x"}]}`}, "not a parent's id", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.answer.on = getCommit
			client, pauses := newTestClient(t, fakeAPI(t, c.answer), "t0p-secret")
			_, err := client.Commit(t.Context(), "org/repo", shaA)
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrForbidden) != c.forbidden {
				t.Errorf("error %v", err)
			}
			if len(*pauses) != 0 {
				t.Errorf("paused %v", *pauses)
			}
		})
	}
}

func TestClientRetries(t *testing.T) {
	ok := step{on: getRepo, body: `{"default_branch": "main"}`}
	answer := func(status int, body string, header ...string) step {
		s := step{on: getRepo, status: status, body: body, header: map[string]string{}}
		for i := 0; i < len(header); i += 2 {
			s.header[header[i]] = header[i+1]
		}
		return s
	}
	const secondary = `{"message": "You have exceeded a secondary rate limit", "documentation_url": "https://x.test/#secondary-rate-limits"}`
	for _, c := range []struct {
		name   string
		steps  []step
		pauses []time.Duration
		fails  string
	}{
		{"bad gateway", []step{answer(502, "upstream"), answer(503, ""), ok}, []time.Duration{time.Second, 2 * time.Second}, ""},
		{"always bad", []step{answer(504, ""), answer(504, ""), answer(504, ""), answer(504, "")},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "504"},
		{"asked to wait", []step{answer(429, "", "Retry-After", "7"), ok}, []time.Duration{7 * time.Second}, ""},
		{"absurd waits", []step{answer(403, secondary, "Retry-After", "99999999"), answer(429, "<html>::error::x", "Retry-After", "-5"), ok},
			[]time.Duration{time.Minute, time.Minute}, ""},
		{"budget spent", []step{answer(429, "", "Retry-After", "60"), answer(429, "", "Retry-After", "60"), answer(429, "", "Retry-After", "60")},
			[]time.Duration{time.Minute, time.Minute}, "slow down"},
		{"secondary without header", []step{answer(403, secondary), ok}, []time.Duration{time.Minute}, ""},
		{"hour's end soon", []step{answer(403, "{}", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1030"), ok}, []time.Duration{30 * time.Second}, ""},
		{"hour's end far", []step{answer(403, "{}", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "99999999999999")}, nil, "slow down"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, pauses := newTestClient(t, fakeAPI(t, c.steps...), "")
			client.api.Client().Transport.(*transport).now = func() time.Time { return time.Unix(1000, 0) }
			branch, err := client.DefaultBranch(t.Context(), "org/repo")
			if diff := cmp.Diff(c.pauses, *pauses); diff != "" {
				t.Errorf("pauses: %s", diff)
			}
			switch {
			case c.fails == "" && (err != nil || branch != "main"):
				t.Errorf("%q, %v", branch, err)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("error %v, want %q", err, c.fails)
			}
		})
	}
}

// TestClientIgnoresUsedUpLimit: a used-up limit whose end is absurd must not
// keep the client from the next request.
func TestClientIgnoresUsedUpLimit(t *testing.T) {
	used := step{on: getRepo, body: `{"default_branch": "main"}`,
		header: map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}}
	c, _ := newTestClient(t, fakeAPI(t, used, used), "")
	for range 2 {
		if _, err := c.DefaultBranch(t.Context(), "org/repo"); err != nil {
			t.Error(err)
		}
	}
}

// TestTransportRepeatsOnlyWhatItMay: after a failed POST nobody knows whether
// it was done; after a refusal by a rate limit it was not.
func TestTransportRepeatsOnlyWhatItMay(t *testing.T) {
	const post = "POST /api/v3/x"
	server := fakeAPI(t, step{on: post, status: 429, header: map[string]string{"Retry-After": "1"}}, step{on: post, status: 502})
	c, pauses := newTestClient(t, server, "")
	resp, err := c.api.Client().Post(server.URL+"/api/v3/x", "text/plain", strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 502 || len(*pauses) != 1 {
		t.Errorf("status %d after pauses %v", resp.StatusCode, *pauses)
	}
}

func TestClientConnectionErrors(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	c, pauses := newTestClient(t, server, "t0p-secret")
	server.Close()
	_, err := c.DefaultBranch(t.Context(), "org/repo")
	if err == nil || strings.Contains(err.Error(), "t0p-secret") || len(*pauses) != limits.ServerTries-1 {
		t.Errorf("error %v after pauses %v", err, *pauses)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.DefaultBranch(ctx, "org/repo"); !errors.Is(err, context.Canceled) || len(*pauses) != limits.ServerTries-1 {
		t.Errorf("error %v after pauses %v", err, *pauses)
	}
}

func TestClientRedirects(t *testing.T) {
	other := fakeAPI(t) // must see nothing
	away := step{on: getRepo, status: 302, header: map[string]string{"Location": other.URL + "/x"}}
	c, _ := newTestClient(t, fakeAPI(t, away), "t0p-secret")
	if _, err := c.DefaultBranch(t.Context(), "org/repo"); err == nil || !strings.Contains(err.Error(), "not the API host") {
		t.Errorf("redirect to another host: %v", err)
	}

	renamed := step{on: getRepo, status: 301, header: map[string]string{"Location": "/api/v3/repositories/1"}}
	there := step{on: "GET /api/v3/repositories/1", check: authorization("Bearer t0p-secret"), body: `{"default_branch": "main"}`}
	c, _ = newTestClient(t, fakeAPI(t, renamed, there), "t0p-secret")
	if branch, err := c.DefaultBranch(t.Context(), "org/repo"); err != nil || branch != "main" {
		t.Errorf("renamed repository: %q, %v", branch, err)
	}

	loop := step{on: getRepo, status: 302, header: map[string]string{"Location": "/api/v3/repos/org/repo"}}
	steps := make([]step, limits.Redirects+1)
	for i := range steps {
		steps[i] = loop
	}
	c, _ = newTestClient(t, fakeAPI(t, steps...), "")
	if _, err := c.DefaultBranch(t.Context(), "org/repo"); err == nil || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("endless redirect: %v", err)
	}
}

func TestBoundedReader(t *testing.T) {
	for _, c := range []struct {
		left int64
		want error
	}{{3, errBodyTooLarge}, {4, nil}, {5, nil}} {
		r := &boundedReader{r: strings.NewReader("abcd"), left: c.left}
		var err error
		n := 0
		for buf := make([]byte, 3); err == nil; {
			var k int
			k, err = r.Read(buf)
			n += k
		}
		if c.want != nil && !errors.Is(err, c.want) || c.want == nil && (err.Error() != "EOF" || n != 4) {
			t.Errorf("limit %d: %d bytes, %v", c.left, n, err)
		}
	}
}
