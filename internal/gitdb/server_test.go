package gitdb_test

// What servers do wrong, or differently.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"perfband/internal/gitdb"
	"perfband/internal/gitdb/gittest"
)

const (
	uploadPost  = "/repo.git/git-upload-pack"
	receivePost = "/repo.git/git-receive-pack"
)

// noise is content which does not compress.
func noise(n int) string {
	b := make([]byte, n)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}

// TestThinRetry loses a race after the pack was sent: the next try sends only
// the folders on the way and the commit, unless the server has dropped the rest.
func TestThinRetry(t *testing.T) {
	for name, dropped := range map[string]bool{"kept": false, "dropped": true} {
		t.Run(name, func(t *testing.T) {
			var repo, theirs string
			var sizes []int64
			s := gittest.New(t, gittest.Options{Before: func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != receivePost {
					return false
				}
				sizes = append(sizes, r.ContentLength)
				if len(sizes) == 1 { // behind the back of the writer, whose pack is on the way
					gittest.Git(t, repo, "", "update-ref", "refs/heads/x", theirs)
				}
				if len(sizes) == 2 && dropped {
					gittest.Git(t, repo, "", "prune", "--expire=now")
				}
				return false
			}})
			repo = s.Repo
			b := open(t, gitdb.Remote{URL: s.URL}, "x")
			first := commit(t, open(t, gitdb.Remote{URL: repo}, "x"), "", change("runs/a", "a"))
			theirs = string(commit(t, open(t, gitdb.Remote{URL: repo}, "x"), first, change("runs/b", "b")))
			gittest.Git(t, repo, "", "update-ref", "refs/heads/x", string(first))

			payload := noise(200_000)
			tries := 0
			rev, err := gitdb.Update(context.Background(), b, gitdb.UpdateOptions{}, func(context.Context, gitdb.Rev, *gitdb.Tree) (gitdb.Change, error) {
				tries++
				return change("runs/c/big", payload), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if tries != 2 {
				t.Errorf("%d attempts, want 2", tries)
			}
			got := readRev(t, gitdb.Remote{URL: repo}, "x", rev)
			if got["runs/a"] != "a" || got["runs/b"] != "b" || got["runs/c/big"] != payload {
				t.Errorf("the branch holds %d files with other content", len(got))
			}
			if sizes[0] < 200_000 || sizes[1] > 2_000 {
				t.Errorf("requests of %v bytes, want a full one and then a thin one", sizes)
			}
			if want := map[bool]int{false: 2, true: 3}[dropped]; len(sizes) != want {
				t.Errorf("%d pushes of %v bytes, want %d", len(sizes), sizes, want)
			}
			fsck(t, repo)
		})
	}
}

// TestManyWritersSendOnce races writers of distinct content: each sends it once,
// however often it loses.
func TestManyWritersSendOnce(t *testing.T) {
	const writers, size = 8, 300_000
	s := gittest.New(t, gittest.Options{})
	all := noise(writers * size)
	want := map[string]string{}
	var group sync.WaitGroup
	var tries atomic.Int64
	for i := range writers {
		path, content := fmt.Sprintf("runs/%d/file", i), all[i*size:][:size]
		want[path] = content
		b := open(t, gitdb.Remote{URL: s.URL}, "x")
		group.Go(func() {
			_, err := gitdb.Update(context.Background(), b, gitdb.UpdateOptions{}, func(context.Context, gitdb.Rev, *gitdb.Tree) (gitdb.Change, error) {
				tries.Add(1)
				return change(path, content), nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if up := s.Up(); up > writers*size*11/10 {
		t.Errorf("%d bytes sent in %d tries, want each of %d once", up, tries.Load(), writers*size)
	}
	t.Logf("%d tries, %d bytes up", tries.Load(), s.Up())
	head, err := open(t, gitdb.Remote{URL: s.Repo}, "x").Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := readRev(t, gitdb.Remote{URL: s.Repo}, "x", head); !maps.Equal(got, want) {
		t.Errorf("%d files on the branch, want %d with their own content", len(got), len(want))
	}
	fsck(t, s.Repo)
}

func TestHookRefusal(t *testing.T) {
	pushes := 0
	s := gittest.New(t, gittest.Options{
		PreReceive: "echo 'only <robots> may push' >&2; exit 1",
		Before: func(_ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == receivePost {
				pushes++
			}
			return false
		},
	})
	_, err := gitdb.Update(context.Background(), open(t, gitdb.Remote{URL: s.URL}, "x"), gitdb.UpdateOptions{},
		func(context.Context, gitdb.Rev, *gitdb.Tree) (gitdb.Change, error) { return change("a", "1"), nil })
	if !errors.Is(err, gitdb.ErrRefused) || !strings.Contains(err.Error(), "only <robots> may push") {
		t.Errorf("got %v, want ErrRefused with the hook's text", err)
	}
	if pushes != 1 {
		t.Errorf("pushed %d times, want once", pushes)
	}
}

func TestAnswersOfServers(t *testing.T) {
	answer := func(code int, kind, text string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			io.WriteString(w, text)
			return true
		}
	}
	const advert = "application/x-git-upload-pack-advertisement"
	for _, c := range []struct {
		name   string
		o      gittest.Options
		token  string
		path   string
		want   error
		text   string
		visits int64 // requests, 1 unless it is said
	}{
		{name: "no token", o: gittest.Options{Token: "s"}, want: gitdb.ErrAuth, text: "wants a token"},
		{name: "wrong token", o: gittest.Options{Token: "s"}, token: "wrong", want: gitdb.ErrAuth, text: "does not accept"},
		{name: "no repository", path: "x", want: gitdb.ErrNotFound},
		{name: "forbidden", o: gittest.Options{Before: answer(403, "text/plain", "Write access not granted.")}, want: gitdb.ErrForbidden, text: "contents: write"},
		{name: "web page", o: gittest.Options{Before: answer(200, "text/html", "<html>")}, text: "not a git server"},
		{name: "down", o: gittest.Options{Before: answer(503, "text/plain", "sorry")}, text: "sorry", visits: 4},
		{name: "teapot", o: gittest.Options{Before: answer(418, "text/plain", "short and stout")}, text: "short and stout"},
		{name: "garbage", o: gittest.Options{Before: answer(200, advert, "garbage")}, text: "read refs"},
		{name: "empty", o: gittest.Options{Before: answer(200, advert, "")}, text: "read refs"},
		{name: "git's own error", o: gittest.Options{Before: answer(200, advert, "001e# service=git-upload-pack\n0000000cERR busy")}, text: "busy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := gittest.New(t, c.o)
			_, err := open(t, gitdb.Remote{URL: s.URL + c.path, Auth: gitdb.Auth{Token: c.token}}, "x").Head(context.Background())
			if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %v with %q", err, c.want, c.text)
			}
			if err != nil && c.token != "" && strings.Contains(err.Error(), c.token+"\n") {
				t.Errorf("the error shows the token: %v", err)
			}
			if want := max(c.visits, 1); s.Requests() != want {
				t.Errorf("%d requests, want %d", s.Requests(), want)
			}
		})
	}
}

func TestSHA256(t *testing.T) {
	gittest.RequireGit(t)
	repo := filepath.Join(t.TempDir(), "repo.git")
	gittest.Git(t, ".", "", "init", "--quiet", "--bare", "--object-format=sha256", repo)
	s := gittest.Serve(t, repo, gittest.Options{})
	if _, err := open(t, gitdb.Remote{URL: s.URL}, "x").Commit(context.Background(), "", change("a", "1")); err == nil || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("by http: %v", err)
	}
	if _, err := gitdb.Open(gitdb.Remote{URL: repo}, "x"); err == nil || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("by path: %v", err)
	}
}

// TestPassingFaults lets every kind of request go wrong once, in several ways.
func TestPassingFaults(t *testing.T) {
	faults := map[string]func(s *gittest.Server, w http.ResponseWriter, r *http.Request){
		"unavailable": func(_ *gittest.Server, w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "busy", http.StatusServiceUnavailable)
		},
		"broken off": func(*gittest.Server, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		// The server does what it is asked to, but only half of the answer arrives.
		"half an answer": func(s *gittest.Server, w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			s.Backend.ServeHTTP(rec, r)
			for k, v := range rec.Header() {
				w.Header()[k] = v
			}
			w.Header().Set("Content-Length", fmt.Sprint(rec.Body.Len()))
			w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
			panic(http.ErrAbortHandler)
		},
	}
	for name, fault := range faults {
		for _, at := range []string{"/repo.git/info/refs", uploadPost, receivePost} {
			t.Run(name+at, func(t *testing.T) {
				var s *gittest.Server
				var done atomic.Bool
				s = gittest.New(t, gittest.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != at || done.Swap(true) {
						return false
					}
					fault(s, w, r)
					return true
				}})
				first := commit(t, open(t, gitdb.Remote{URL: s.Repo}, "x"), "", change("a", "1"))
				b := open(t, gitdb.Remote{URL: s.URL}, "x")
				rev := commit(t, b, first, change("dir/b", noise(5000)))
				if !done.Load() {
					t.Fatal("the fault did not happen")
				}
				if n := strings.TrimSpace(gittest.Git(t, s.Repo, "", "rev-list", "--count", "x")); n != "2" {
					t.Errorf("%s commits on the branch, want 2", n)
				}
				if got := readRev(t, gitdb.Remote{URL: s.URL}, "x", rev); got["dir/b"] != noise(5000) || got["a"] != "1" {
					t.Error("the branch holds other content")
				}
			})
		}
	}
}

// TestPushWithoutReport has the server do the push but say nothing about it: the
// branch itself tells that it landed.
func TestPushWithoutReport(t *testing.T) {
	for _, answer := range []string{"0000", "0017\x01000eunpack ok\n00000000"} {
		var s *gittest.Server
		s = gittest.New(t, gittest.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != receivePost {
				return false
			}
			s.Backend.ServeHTTP(httptest.NewRecorder(), r)
			w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
			io.WriteString(w, answer)
			return true
		}})
		b := open(t, gitdb.Remote{URL: s.URL}, "x")
		rev := commit(t, b, "", change("a", "1"))
		if head, err := b.Head(context.Background()); head != rev || err != nil {
			t.Errorf("after %q: Head = %q, %v, want %q", answer, head, err, rev)
		}
	}
}

// TestRedirects checks that a renamed repository works, that the token does not
// go to another host, and that a push is not sent elsewhere.
func TestRedirects(t *testing.T) {
	var there *gittest.Server
	var leaked atomic.Bool
	there = gittest.New(t, gittest.Options{Before: func(_ http.ResponseWriter, r *http.Request) bool {
		leaked.CompareAndSwap(false, r.Header.Get("Authorization") != "")
		return false
	}})
	rev := commit(t, open(t, gitdb.Remote{URL: there.Repo}, "x"), "", change("a", "1"))
	ctx := context.Background()

	t.Run("renamed", func(t *testing.T) {
		s := gittest.New(t, gittest.Options{Token: "secret", Before: func(w http.ResponseWriter, r *http.Request) bool {
			at, old := strings.CutPrefix(r.URL.RequestURI(), "/old.git")
			if old {
				http.Redirect(w, r, "/repo.git"+at, http.StatusMovedPermanently)
			}
			return old
		}})
		url := strings.Replace(s.URL, "repo.git", "old.git", 1)
		b := open(t, gitdb.Remote{URL: url, Auth: gitdb.Auth{Token: "secret"}}, "x")
		first := commit(t, b, "", change("a", "1"))
		commit(t, b, first, change("b", "2"))
	})
	t.Run("other host", func(t *testing.T) {
		here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, there.URL+strings.TrimPrefix(r.URL.RequestURI(), "/old.git"), http.StatusMovedPermanently)
		}))
		defer here.Close()
		// Another port is another host to us, though not to net/http.
		b := open(t, gitdb.Remote{URL: here.URL + "/old.git", Auth: gitdb.Auth{Token: "secret"}}, "x")
		if head, err := b.Head(ctx); head != rev || err != nil {
			t.Fatalf("Head = %q, %v", head, err)
		}
		tree, err := b.Tree(ctx, rev)
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, tree); got["a"] != "1" {
			t.Errorf("read %v", got)
		}
		if leaked.Load() {
			t.Error("the token was sent to another host")
		}
	})
	t.Run("other host which wants a token", func(t *testing.T) {
		private := gittest.New(t, gittest.Options{Token: "secret"})
		here := httptest.NewServer(http.RedirectHandler(private.URL+"/info/refs?service=git-upload-pack", http.StatusFound))
		defer here.Close()
		_, err := open(t, gitdb.Remote{URL: here.URL, Auth: gitdb.Auth{Token: "secret"}}, "x").Head(ctx)
		if !errors.Is(err, gitdb.ErrAuth) || !strings.Contains(err.Error(), "does not get the token") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("for ever", func(t *testing.T) {
		here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.RequestURI()+"x", http.StatusFound)
		}))
		defer here.Close()
		if _, err := open(t, gitdb.Remote{URL: here.URL}, "x").Head(ctx); err == nil || !strings.Contains(err.Error(), "redirect") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("of a post", func(t *testing.T) {
		s := gittest.New(t, gittest.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				http.Redirect(w, r, there.URL, http.StatusTemporaryRedirect)
			}
			return r.Method == http.MethodPost
		}})
		if _, err := open(t, gitdb.Remote{URL: s.URL}, "x").Commit(ctx, "", change("a", "1")); err == nil || !strings.Contains(err.Error(), "307") {
			t.Errorf("got %v, want the redirect's status", err)
		}
	})
	t.Run("plain http", func(t *testing.T) {
		s := gittest.New(t, gittest.Options{TLS: true, Before: func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, there.URL, http.StatusFound)
			return true
		}})
		if _, err := open(t, gitdb.Remote{URL: s.URL, CAFile: s.CAFile}, "x").Head(ctx); err == nil || !strings.Contains(err.Error(), "from https to http") {
			t.Errorf("got %v", err)
		}
	})
}

func TestCertificates(t *testing.T) {
	s := gittest.New(t, gittest.Options{TLS: true})
	_, err := open(t, gitdb.Remote{URL: s.URL}, "x").Head(context.Background())
	if err == nil || !strings.Contains(err.Error(), "ca-file") {
		t.Errorf("an unknown certificate: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none")
	for _, prepare := range []func(){func() {}, func() { os.WriteFile(none, []byte("x"), 0o600) }} {
		prepare()
		if _, err := gitdb.Open(gitdb.Remote{URL: s.URL, CAFile: none}, "x"); err == nil {
			t.Error("a bad certificate file is taken")
		}
	}
}

// TestReadingOwnCommit counts what it takes to read what was just committed.
func TestReadingOwnCommit(t *testing.T) {
	s := gittest.New(t, gittest.Options{})
	b := open(t, gitdb.Remote{URL: s.URL}, "x")
	rev := commit(t, b, "", change("a/b", "1", "c", "2"))
	s.Reset()
	tree, err := b.Tree(context.Background(), rev)
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, tree); len(got) != 2 || s.Requests() != 0 {
		t.Errorf("%d files in %d requests, want 2 in none", len(got), s.Requests())
	}
}

// TestWrongObjects has a server answer with another object than was asked for.
func TestWrongObjects(t *testing.T) {
	var wanted, other string
	s := gittest.New(t, gittest.Options{Before: func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == uploadPost {
			body, _ := io.ReadAll(r.Body)
			body = bytes.Replace(body, []byte(wanted), []byte(other), 1)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		return false
	}})
	rev := commit(t, open(t, gitdb.Remote{URL: s.Repo}, "x"), "", change("a", "1", "b", "2"))
	wanted = strings.TrimSpace(gittest.Git(t, s.Repo, "", "rev-parse", "x:a"))
	other = strings.TrimSpace(gittest.Git(t, s.Repo, "", "rev-parse", "x:b"))
	tree, err := open(t, gitdb.Remote{URL: s.URL}, "x").Tree(context.Background(), rev)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := tree.ReadFile("a"); err == nil || !strings.Contains(err.Error(), "did not send it") {
		t.Errorf("ReadFile = %q, %v, want an error", data, err)
	}
}

// TestNoFilterNotice counts what a server without filters is asked for.
func TestNoFilterNotice(t *testing.T) {
	s := gittest.New(t, gittest.Options{NoFilter: true})
	commit(t, open(t, gitdb.Remote{URL: s.Repo}, "x"), "", change("a/b", "1", "a/c/d", "2"))
	var notices []string
	b := open(t, gitdb.Remote{URL: s.URL, Notice: func(text string) { notices = append(notices, text) }}, "x")
	ctx := context.Background()
	head, err := b.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s.Reset()
	tree, err := b.Tree(ctx, head)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Prefetch(ctx, []string{"."}); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, tree); len(got) != 2 {
		t.Errorf("read %v", got)
	}
	if s.Requests() != 1 || len(notices) != 1 {
		t.Errorf("%d requests and notices %q, want one of each", s.Requests(), notices)
	}
}

func TestCanceled(t *testing.T) {
	each(t, func(t *testing.T, repo string, r gitdb.Remote) {
		ctx, cancel := context.WithCancel(context.Background())
		b := open(t, r, "x")
		_, err := gitdb.Update(ctx, b, gitdb.UpdateOptions{}, func(context.Context, gitdb.Rev, *gitdb.Tree) (gitdb.Change, error) {
			cancel()
			return change("a", "1"), nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if head, _ := open(t, r, "x").Head(context.Background()); head != "" {
			t.Error("the commit landed")
		}
	})
}
