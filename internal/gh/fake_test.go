package gh

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// step is one request a fake server expects, and its answer.
type step struct {
	on     string // "GET /path?query"
	status int
	header map[string]string
	body   string
	check  func(*http.Request) error
}

// fakeAPI serves exactly these requests in this order. Any other request, and
// one that is never made, fails the test.
func fakeAPI(t *testing.T, steps ...step) *httptest.Server {
	t.Helper()
	var mu sync.Mutex
	next := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got := r.Method + " " + r.URL.RequestURI()
		if next >= len(steps) || steps[next].on != got {
			t.Errorf("unexpected request %d: %s", next+1, got)
			w.WriteHeader(http.StatusTeapot)
			return
		}
		s := steps[next]
		next++
		if s.check != nil {
			if err := s.check(r); err != nil {
				t.Errorf("request %d: %v", next, err)
			}
		}
		for k, v := range s.header {
			w.Header().Set(k, v)
		}
		if s.status != 0 {
			w.WriteHeader(s.status)
		}
		io.WriteString(w, s.body)
	}))
	t.Cleanup(func() {
		server.Close()
		if next != len(steps) {
			t.Errorf("%d of %d expected requests were made", next, len(steps))
		}
	})
	return server
}

// authorization checks the header of a request; "" means none.
func authorization(want string) func(*http.Request) error {
	return func(r *http.Request) error {
		if got := r.Header.Get("Authorization"); got != want {
			return fmt.Errorf("Authorization %q, want %q", got, want)
		}
		return nil
	}
}

// hostileFiles are the paths of hostile inputs, or the test is skipped.
func hostileFiles(t *testing.T, pattern string) []string {
	t.Helper()
	corpus := os.Getenv("PERFBAND_CORPUS")
	if corpus == "" {
		corpus = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	files, err := filepath.Glob(filepath.Join(corpus, "hostile", filepath.FromSlash(pattern)))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		require := "," + os.Getenv("PERFBAND_REQUIRE") + ","
		if strings.Contains(require, ",corpus,") || strings.Contains(require, ",all,") {
			t.Fatalf("no hostile inputs %s in %s", pattern, corpus)
		}
		t.Skipf("no shared corpus in %s", corpus)
	}
	return files
}
