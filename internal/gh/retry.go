package gh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"perfband/internal/limits"
)

// transport sends requests to the API: it alone knows the token, gives it to
// no other host, repeats what may be repeated, and bounds waits and bodies.
type transport struct {
	base  http.RoundTripper
	api   *url.URL
	token string
	sleep func(context.Context, time.Duration) error
	now   func() time.Time

	mu     sync.Mutex
	waited time.Duration // of limits.APIWaitTotal
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != t.api.Scheme || req.URL.Host != t.api.Host {
		return nil, fmt.Errorf("send request to %s: not the API host %s", req.URL.Host, t.api.Host)
	}
	for try := 1; ; try++ {
		resp, err := t.once(req, try)
		wait, again := t.judge(req, resp, err, try)
		if again {
			wait, again = t.take(wait)
		}
		if !again {
			return t.finish(resp), err
		}
		if resp != nil {
			// Read to the end, so that the connection can be used again.
			io.Copy(io.Discard, io.LimitReader(resp.Body, limits.RemoteTextBytes))
			resp.Body.Close()
		}
		if err := t.sleep(req.Context(), wait); err != nil {
			return nil, fmt.Errorf("wait for %s: %w", t.api.Host, err)
		}
	}
}

// once sends the request, which must be answered within limits.StallTime.
func (t *transport) once(req *http.Request, try int) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), limits.StallTime)
	out := req.Clone(ctx)
	if try > 1 && req.GetBody != nil {
		again, err := req.GetBody()
		if err != nil {
			cancel()
			return nil, fmt.Errorf("repeat request: %w", err)
		}
		out.Body = again
	}
	if t.token != "" {
		out.Header.Set("Authorization", "Bearer "+t.token)
	}
	resp, err := t.base.RoundTrip(out)
	if err != nil {
		cancel()
		return nil, err
	}
	answer := resp.Body
	resp.Body = &body{answer, func() error { defer cancel(); return answer.Close() }}
	return resp, nil
}

// judge says whether a request is sent again, and after what pause. A refusal
// by a rate limit did nothing, so any request may be repeated; after other
// failures only one that can be done twice.
func (t *transport) judge(req *http.Request, resp *http.Response, err error, try int) (time.Duration, bool) {
	if try >= limits.ServerTries || req.Body != nil && req.GetBody == nil {
		return 0, false
	}
	backOff := time.Second << (try - 1)
	repeatable := req.Method == http.MethodGet || req.Method == http.MethodHead
	if err != nil {
		return backOff, repeatable && req.Context().Err() == nil
	}
	switch resp.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return backOff, repeatable
	case http.StatusTooManyRequests:
		return t.limitPause(resp), true
	case http.StatusForbidden:
		return t.limitPause(resp), isRateLimit(resp)
	}
	return 0, false
}

// limitPause is the pause a rate limit asks for. limits.APIWait bounds it, and
// stands for one that is missing or absurd. An hourly limit names the end of
// the hour instead, which is too far away more often than not: the pause is
// then longer than limits.APIWaitTotal.
func (t *transport) limitPause(resp *http.Response) time.Duration {
	after := resp.Header.Get("Retry-After")
	if after == "" && resp.Header.Get("X-RateLimit-Remaining") == "0" {
		if reset, err := strconv.ParseInt(resp.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil {
			return max(time.Second, time.Unix(reset, 0).Sub(t.now()))
		}
	}
	seconds, err := strconv.ParseInt(after, 10, 64)
	if err != nil || seconds < 0 || seconds > int64(limits.APIWait/time.Second) {
		return limits.APIWait
	}
	return time.Duration(seconds) * time.Second
}

// isRateLimit tells a refusal by a rate limit from one for want of permission.
func isRateLimit(resp *http.Response) bool {
	if resp.Header.Get("Retry-After") != "" || resp.Header.Get("X-RateLimit-Remaining") == "0" {
		return true
	}
	head, _ := io.ReadAll(io.LimitReader(resp.Body, limits.RemoteTextBytes))
	rest := resp.Body
	resp.Body = &body{io.MultiReader(bytes.NewReader(head), rest), rest.Close}
	return strings.Contains(strings.ToLower(string(head)), "rate limit")
}

// body is an answer's body whose reading and closing were changed.
type body struct {
	io.Reader
	close func() error
}

func (b *body) Close() error { return b.close() }

// take books a pause, shortened to what is left of limits.APIWaitTotal. It says
// no when nothing is left, or when the pause could never end within the total.
func (t *transport) take(wait time.Duration) (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := limits.APIWaitTotal - t.waited
	if left <= 0 || wait > limits.APIWaitTotal {
		return 0, false
	}
	wait = min(wait, left)
	t.waited += wait
	return wait, true
}

// finish bounds the body and removes the headers by which go-github would
// refuse later requests on its own: pauses are ours to make, and a server may
// name absurd ones.
func (t *transport) finish(resp *http.Response) *http.Response {
	if resp == nil {
		return nil
	}
	resp.Header.Del("Retry-After")
	resp.Header.Del("X-RateLimit-Reset")
	answer := resp.Body
	resp.Body = &body{&boundedReader{r: answer, left: limits.APIBodyBytes}, answer.Close}
	return resp
}

var errBodyTooLarge = errors.New("the answer is larger than allowed")

// boundedReader fails, rather than ends, after left bytes.
type boundedReader struct {
	r    io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errBodyTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n, errBodyTooLarge
	}
	return n, err
}

// sleep waits for d or until the context ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
