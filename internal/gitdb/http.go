package gitdb

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"perfband/internal/limits"
)

// passing marks an error which another try may not meet again.
type passing struct{ error }

func (p passing) Unwrap() error { return p.error }

// errRedirect says that a redirect was not followed.
var errRedirect = errors.New("bad redirect")

// errStalled ends a request in which nothing moved for too long.
var errStalled = errors.New("the connection stalled")

// httpClient speaks HTTP to one server.
type httpClient struct {
	client *http.Client
	auth   Auth
	host   string        // scheme and host which may see the token
	stall  time.Duration // how long nothing may move
}

func newHTTPClient(r Remote, u *url.URL) (*httpClient, error) {
	roots, err := certificates(r.CAFile)
	if err != nil {
		return nil, err
	}
	c := &httpClient{auth: r.Auth, host: origin(u), stall: limits.StallTime}
	c.client = &http.Client{
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
			TLSClientConfig:       &tls.Config{RootCAs: roots},
			TLSHandshakeTimeout:   30 * time.Second,
			ExpectContinueTimeout: time.Second,
			IdleConnTimeout:       90 * time.Second,
			ForceAttemptHTTP2:     true,
		},
		CheckRedirect: c.redirect,
	}
	return c, nil
}

// certificates is the system's pool with those of a file, nil for the system's.
func certificates(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read certificates: %s holds none in PEM form", file)
	}
	return pool, nil
}

// origin is what must be equal for two URLs to share a token.
func origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// redirect follows a few redirects of reads, as a renamed repository gives; the
// token stays with the server that it was meant for.
func (c *httpClient) redirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet {
		return http.ErrUseLastResponse
	}
	if len(via) > limits.Redirects {
		return fmt.Errorf("%w: more than %d in a row", errRedirect, limits.Redirects)
	}
	if first.URL.Scheme == "https" && req.URL.Scheme != "https" {
		return fmt.Errorf("%w: from https to %s", errRedirect, req.URL.Scheme)
	}
	if origin(req.URL) != c.host {
		req.Header.Del("Authorization")
	}
	return nil
}

// request is one request; body, if not nil, makes the content afresh.
type request struct {
	url         string
	accept      string // the content type that the reply must have
	contentType string
	body        func() io.Reader
	size        int64
}

// reply is the body of a good answer and the URL that gave it.
type reply struct {
	io.Reader
	url   *url.URL
	close func()
}

// do sends a request. The reply must be closed.
func (c *httpClient) do(ctx context.Context, r request) (*reply, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := &watchdog{stall: c.stall}
	watch.timer = time.AfterFunc(c.stall, func() { cancel(errStalled) })
	done := func() {
		watch.timer.Stop()
		cancel(nil)
	}
	resp, err := c.send(ctx, watch, r)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		done()
		return nil, transportError(err)
	}
	if err := c.check(resp, r); err != nil {
		resp.Body.Close()
		done()
		return nil, err
	}
	return &reply{
		Reader: watch.reader(ctx, resp.Body),
		url:    resp.Request.URL,
		close:  func() { resp.Body.Close(); done() },
	}, nil
}

// drain reads the little that follows the part which was of use: a reply read
// to its end leaves a connection that can be used again.
func (r *reply) drain() { io.CopyN(io.Discard, r, 4096) }

func (c *httpClient) send(ctx context.Context, watch *watchdog, r request) (*http.Response, error) {
	method := http.MethodGet
	if r.body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, r.url, nil)
	if err != nil {
		return nil, err
	}
	if r.body != nil {
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(watch.reader(ctx, r.body())), nil }
		req.Body, _ = req.GetBody()
		req.ContentLength = r.size
		req.Header.Set("Content-Type", r.contentType)
	}
	req.Header.Set("Accept", r.accept)
	req.Header.Set("User-Agent", "git/perfband") // some servers answer git only
	if c.auth.Token != "" && origin(req.URL) == c.host {
		req.SetBasicAuth("x-access-token", c.auth.Token)
	}
	return c.client.Do(req)
}

// transportError sorts the errors of a connection: all but a wrong certificate
// and our own end may pass.
func transportError(err error) error {
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errRedirect):
		return err
	case errors.As(err, &cert):
		return fmt.Errorf("%w: if the server has a private certificate authority, name its file (ca-file)", err)
	}
	return passing{err}
}

// check turns every answer but a git server's good one into an error.
func (c *httpClient) check(resp *http.Response, r request) error {
	text := func() string {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, limits.RemoteTextBytes))
		if s := strings.TrimSpace(string(b)); s != "" && !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			return ": " + s
		}
		return ""
	}
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		got, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
		if strings.TrimSpace(got) != r.accept {
			return fmt.Errorf("not a git server: it answers %q, not %q; check the URL", cmp.Or(got, "nothing"), r.accept)
		}
		return nil
	case code == http.StatusUnauthorized && c.auth.Token == "":
		return fmt.Errorf("%w: the server wants a token", ErrAuth)
	case code == http.StatusUnauthorized && origin(resp.Request.URL) != c.host:
		return fmt.Errorf("%w: %s sends us to %s, which does not get the token: give its URL", ErrAuth, c.host, origin(resp.Request.URL))
	case code == http.StatusUnauthorized:
		return fmt.Errorf("%w: the server does not accept the token (wrong, expired, or not for this repository)", ErrAuth)
	case code == http.StatusForbidden:
		return fmt.Errorf("%w: the token lacks a permission (to write it needs \"contents: write\")%s", ErrForbidden, text())
	case code == http.StatusNotFound:
		return fmt.Errorf("%w, or the token may not see it: check the URL and the token", ErrNotFound)
	case code == http.StatusRequestEntityTooLarge:
		return fmt.Errorf("the server takes no request of %d bytes%s", r.size, text())
	case code >= 500 || code == http.StatusTooManyRequests || code == http.StatusRequestTimeout:
		return passing{fmt.Errorf("the server answers %q%s", resp.Status, text())}
	default:
		return fmt.Errorf("the server answers %q%s", resp.Status, text())
	}
}

// watchdog ends a request when its timer is not put back for too long.
type watchdog struct {
	timer *time.Timer
	stall time.Duration
}

func (w *watchdog) reader(ctx context.Context, r io.Reader) io.Reader {
	return watched{ctx, w, r}
}

type watched struct {
	ctx   context.Context
	watch *watchdog
	r     io.Reader
}

func (r watched) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.watch.timer.Reset(r.watch.stall)
	}
	if err != nil && err != io.EOF {
		if cause := context.Cause(r.ctx); cause != nil {
			err = cause
		}
		err = transportError(err)
	}
	return n, err
}

// retry calls f again, after a pause, while its error is a passing one.
func retry(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		if p := (passing{}); !errors.As(err, &p) || try == limits.ServerTries {
			return err
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}
