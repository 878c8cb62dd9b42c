// Package gittest serves a bare git repository to tests: git's own
// http-backend behind basic auth on the loopback interface.
package gittest

import (
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// Options of a server; the zero value is a server like GitHub's without a token.
type Options struct {
	Token      string // the password wanted from everybody; "" lets all in
	NoFilter   bool   // the server cannot send parts of a branch
	ShallowCut bool   // of the filters only blob:none and tree:0 are allowed
	TLS        bool   // https, with a certificate of its own in Server.CAFile
	PreReceive string // a shell script run before a push is accepted
	// Before, if set, sees every request first and may answer it: then it returns
	// true.
	Before func(w http.ResponseWriter, r *http.Request) bool
}

// Server is a running git server.
type Server struct {
	URL     string       // of the repository
	Repo    string       // path of the same repository, which is bare
	CAFile  string       // with TLS: the certificate to trust
	Backend http.Handler // git itself, for handlers which alter its answers

	up, down, requests atomic.Int64
}

// Up is how many bytes of request bodies came in.
func (s *Server) Up() int64 { return s.up.Load() }

// Down is how many bytes of reply bodies went out.
func (s *Server) Down() int64 { return s.down.Load() }

// Requests is how many requests came in.
func (s *Server) Requests() int64 { return s.requests.Load() }

// Reset sets the counters to zero.
func (s *Server) Reset() {
	s.up.Store(0)
	s.down.Store(0)
	s.requests.Store(0)
}

// RequireGit skips a test when there is no git program, and fails it when the
// environment asks for git.
func RequireGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		require := strings.Split(os.Getenv("PERFBAND_REQUIRE"), ",")
		if slices.Contains(require, "git") || slices.Contains(require, "all") {
			t.Fatal("the git program is missing")
		}
		t.Skip("the git program is missing")
	}
}

// New makes an empty bare repository and serves it until the test ends.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	repo := NewRepo(t)
	return Serve(t, repo, o)
}

// NewRepo makes an empty bare repository.
func NewRepo(t testing.TB) string {
	t.Helper()
	RequireGit(t)
	repo := filepath.Join(t.TempDir(), "repo.git")
	Git(t, ".", "", "init", "--quiet", "--bare", repo)
	return repo
}

// Serve serves a bare repository, whose configuration it changes.
func Serve(t testing.TB, repo string, o Options) *Server {
	t.Helper()
	RequireGit(t)
	set := func(key, value string) { Git(t, repo, "", "config", key, value) }
	set("http.receivepack", "true")
	set("receive.denyNonFastForwards", "true")
	set("uploadpack.allowFilter", map[bool]string{true: "false", false: "true"}[o.NoFilter])
	if o.ShallowCut {
		set("uploadpackfilter.allow", "false")
		set("uploadpackfilter.blob:none.allow", "true")
		set("uploadpackfilter.tree.allow", "true")
		set("uploadpackfilter.tree.maxDepth", "0")
	}
	if o.PreReceive != "" {
		hook := filepath.Join(repo, "hooks", "pre-receive")
		if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(hook, []byte("#!/bin/sh\n"+o.PreReceive+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := &Server{Repo: repo}
	s.Backend = &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(Git(t, repo, "", "--exec-path")), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(repo), "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=tester",
			"GIT_CONFIG_NOSYSTEM=1", "HOME=" + t.TempDir()},
		Stderr: io.Discard,
	}
	srv := httptest.NewUnstartedServer(s.handler(o))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // clients are meant to break off
	if o.TLS {
		srv.StartTLS()
		s.CAFile = filepath.Join(t.TempDir(), "ca.pem")
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
		if err := os.WriteFile(s.CAFile, text, 0o644); err != nil {
			t.Fatal(err)
		}
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	s.URL = srv.URL + "/" + filepath.Base(repo)
	return s
}

func (s *Server) handler(o Options) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		r.Body = countingBody{r.Body, &s.up}
		w = countingWriter{w, &s.down}
		if o.Before != nil && o.Before(w, r) {
			return
		}
		if _, password, _ := r.BasicAuth(); o.Token != "" && password != o.Token {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "authentication required", http.StatusUnauthorized)
			return
		}
		s.Backend.ServeHTTP(w, r)
	})
}

type countingBody struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c countingBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

type countingWriter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c countingWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n.Add(int64(n))
	return n, err
}

// Git runs the git program in a folder, untouched by the user's configuration,
// and returns what it prints.
func Git(t testing.TB, dir, stdin string, args ...string) string {
	t.Helper()
	out, err := TryGit(dir, stdin, args...)
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// TryGit is Git for commands which may fail. The error holds what git says.
func TryGit(dir, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
		"GIT_AUTHOR_NAME=tester", "GIT_AUTHOR_EMAIL=tester@localhost",
		"GIT_COMMITTER_NAME=tester", "GIT_COMMITTER_EMAIL=tester@localhost")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = &gitError{err, said.String()}
	}
	return string(out), err
}

type gitError struct {
	err  error
	said string
}

func (e *gitError) Error() string { return e.err.Error() + ": " + strings.TrimSpace(e.said) }
func (e *gitError) Unwrap() error { return e.err }
