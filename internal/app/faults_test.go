package app_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"perfband/internal/archive"
	"perfband/internal/gitdb/gittest"
	"perfband/internal/perf"
)

// program is the binary as users run it, signals included.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "perfband-faults-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "perfband")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", bin, root).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

// victim is a publish of one run as a process of its own.
type victim struct {
	*exec.Cmd
	said bytes.Buffer
}

// newVictim makes the process for run id. The results are the same whenever it
// is made again for the same folder and id.
func newVictim(t *testing.T, dir, url, id string) *victim {
	t.Helper()
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	n, _ := strconv.Atoi(id)
	for module := range 3 {
		var b strings.Builder
		fmt.Fprintf(&b, "pkg: example.test/m%d\n", module)
		for row := range 60 {
			fmt.Fprintf(&b, "BenchmarkB\t100\t%d ns/op\n", 1000+10*n+row)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("bench%d.txt", module)), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v := &victim{Cmd: exec.Command(bin, "publish", "--remote", url, "--run-id", id, "--results", "*.txt", "--module", "core",
		"--started", "2026-04-01T10:00:00Z")}
	v.Dir, v.Stdout, v.Stderr = dir, &v.said, &v.said
	// Not the rest of the test's environment: it may be that of a workflow.
	v.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	return v
}

// killed reports whether the process was ended by a signal.
func (v *victim) killed() bool { return v.ProcessState.ExitCode() == -1 }

// files are the files of a branch by path, nothing when there is no such branch.
func files(t *testing.T, repo, branch string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	if gittest.Git(t, repo, "", "for-each-ref", "refs/heads/"+branch) == "" {
		return out
	}
	// One command reads one tip, whatever moves meanwhile.
	for r := tar.NewReader(strings.NewReader(gittest.Git(t, repo, "", "archive", branch))); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if out[h.Name], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func checkObjects(t *testing.T, repo string) {
	t.Helper()
	if out, err := gittest.TryGit(repo, "", "fsck", "--strict", "--no-dangling", "--no-progress"); err != nil || out != "" {
		t.Errorf("git fsck: %s %v", out, err)
	}
}

// checkEntries checks every entry of the archive and counts the entries of each
// run.
func checkEntries(t *testing.T, repo string) map[string]int {
	t.Helper()
	raw := files(t, repo, archive.DefaultBranch)
	runs := map[string]int{}
	for name, data := range raw {
		if path.Base(name) == "metadata.json" {
			runs[checkEntry(t, raw, path.Dir(name), data)]++
		}
	}
	return runs
}

// reached checks what a publish of run id left behind, which must hold at any
// time (sound objects, whole entries, a site derived from the archive), and says
// how far it came.
func reached(t *testing.T, repo, id string, v *victim) string {
	t.Helper()
	checkObjects(t, repo)
	archived := checkEntries(t, repo)[id] == 1
	head, err := gittest.TryGit(repo, "", "log", "-1", "--format=%B", "gh-pages")
	var index struct {
		Kind string
		Runs []struct{ Run string }
	}
	if err == nil {
		if err := json.Unmarshal([]byte(gittest.Git(t, repo, "", "show", "gh-pages:perf/data/v1/index.json")), &index); err != nil || index.Kind != "perfband" {
			t.Errorf("the site's index: %+v %v", index, err)
		}
		_, rev, _ := strings.Cut(head, "Perfband-Raw: ")
		if _, err := gittest.TryGit(repo, "", "merge-base", "--is-ancestor", strings.TrimSpace(rev), archive.DefaultBranch); err != nil {
			t.Errorf("the site is derived from %q, which is not on the archive: %v", rev, err)
		}
	}
	for _, r := range index.Runs {
		if r.Run != id+".1" {
			continue
		}
		if !archived {
			t.Errorf("run %s is on the site and not on the archive", id)
		}
		if v.killed() {
			return "site written"
		}
	}
	switch {
	case !v.killed():
		return "ended"
	case archived:
		return "archived"
	}
	return "nothing written"
}

// checkEntry checks one entry against its metadata and returns its run id.
func checkEntry(t *testing.T, raw map[string][]byte, dir string, data []byte) string {
	t.Helper()
	var m perf.Metadata
	if err := json.Unmarshal(data, &m); err != nil {
		t.Errorf("%s: %v", dir, err)
		return ""
	}
	if digest, err := archive.Digest(m); err != nil || digest != m.Digest {
		t.Errorf("%s: digest %s, want %s (%v)", dir, m.Digest, digest, err)
	}
	if len(m.Files) != 3 {
		t.Errorf("%s: %d files", dir, len(m.Files))
	}
	for _, f := range m.Files {
		sum := sha256.Sum256(raw[path.Join(dir, f.Path)])
		if hex.EncodeToString(sum[:]) != f.SHA256 {
			t.Errorf("%s: %s does not hold what was archived", dir, f.Path)
		}
	}
	return m.Run.RunID
}

// next publishes run id again, which must complete, and checks that nothing is
// there twice and that the site is what a recalculation gives.
func next(t *testing.T, dir, url, repo, id string, runs int) {
	t.Helper()
	v := newVictim(t, dir, url, id)
	if err := v.Run(); err != nil {
		t.Fatalf("run %s again: %v\n%s", id, err, v.said.String())
	}
	archived := checkEntries(t, repo)
	for run, n := range archived {
		if n != 1 {
			t.Errorf("run %s is archived %d times", run, n)
		}
	}
	if len(archived) != runs || archived[id] != 1 {
		t.Errorf("after run %s %d runs are archived, want %d", id, len(archived), runs)
	}
	for branch, most := range map[string]int{archive.DefaultBranch: runs, "gh-pages": 2 * runs} {
		if n, _ := strconv.Atoi(strings.TrimSpace(gittest.Git(t, repo, "", "rev-list", "--count", branch))); n == 0 || n > most {
			t.Errorf("%d commits on %s, want 1 to %d", n, branch, most)
		}
	}
	before := gittest.Git(t, repo, "", "rev-parse", "gh-pages^{tree}")
	mustCall(t, "recalc", "--remote", repo)
	if after := gittest.Git(t, repo, "", "rev-parse", "gh-pages^{tree}"); after != before {
		t.Errorf("run %s: the site differs from a recalculation", id)
	}
}

// rig is a git server that can be disturbed.
type rig struct {
	*gittest.Server
	busy sync.RWMutex // held for reading while a request is answered
	// watch sees every request before git does. It may panic to break off.
	watch atomic.Pointer[func(r *http.Request, git http.Handler)]
}

func newRig(t *testing.T) *rig {
	t.Helper()
	g := &rig{}
	var git atomic.Pointer[cgi.Handler]
	g.Server = gittest.New(t, gittest.Options{Before: func(w http.ResponseWriter, r *http.Request) bool {
		g.busy.RLock()
		defer g.busy.RUnlock()
		body, err := io.ReadAll(r.Body) // git's own server waits for ever when a client breaks off
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if watch := g.watch.Load(); watch != nil {
			(*watch)(r, git.Load())
		}
		git.Load().ServeHTTP(w, r)
		return true
	}})
	backend := *g.Backend.(*cgi.Handler)
	backend.Logger = log.New(io.Discard, "", 0) // clients are meant to break off
	git.Store(&backend)
	return g
}

// settle waits until no request is being answered.
func (g *rig) settle() {
	g.busy.Lock()
	defer g.busy.Unlock()
}

// run runs a process to its end, and waits for the server to be done with it.
// The nth request for which match holds is given to do, and nobody answers it;
// hit is false when there were fewer.
func (g *rig) run(t *testing.T, v *victim, nth int, match func(*http.Request) bool, do func(r *http.Request, git http.Handler)) (hit bool) {
	t.Helper()
	var seen atomic.Int64
	started := make(chan struct{})
	watch := func(r *http.Request, git http.Handler) {
		<-started
		if match(r) && seen.Add(1) == int64(nth) {
			do(r, git)
			panic(http.ErrAbortHandler)
		}
	}
	g.watch.Store(&watch)
	if err := v.Start(); err != nil {
		t.Fatal(err)
	}
	close(started)
	_ = v.Wait()
	g.settle()
	g.watch.Store(nil)
	return seen.Load() >= int64(nth)
}

func anyRequest(*http.Request) bool { return true }
func isPush(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack")
}

// withRun archives run 100 and returns what undoes all that comes after it.
func (g *rig) withRun(t *testing.T) (undo func()) {
	t.Helper()
	v := newVictim(t, t.TempDir(), g.Repo, "100")
	if err := v.Run(); err != nil {
		t.Fatalf("%v\n%s", err, v.said.String())
	}
	var refs strings.Builder
	for _, branch := range []string{archive.DefaultBranch, "gh-pages"} {
		ref := "refs/heads/" + branch
		refs.WriteString("update " + ref + " " + gittest.Git(t, g.Repo, "", "rev-parse", ref))
	}
	return func() { gittest.Git(t, g.Repo, refs.String(), "update-ref", "--stdin") }
}

// TestKilledAtRandom kills publish at points spread at random over the time it
// takes: whatever it was doing, the branches are valid and the next try
// completes.
func TestKilledAtRandom(t *testing.T) {
	needGit(t)
	t.Parallel()
	for kind, kills := range map[string]int{"http": 20, "local": 30} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newRig(t)
			url := s.URL
			if kind == "local" {
				url = s.Repo
			}
			dir := t.TempDir()
			v := newVictim(t, dir, url, "100")
			started := time.Now()
			if err := v.Run(); err != nil {
				t.Fatalf("%v\n%s", err, v.said.String())
			}
			whole := time.Since(started)
			rng := rand.New(rand.NewPCG(1, 2))
			states := map[string]int{}
			for i, slot := range rng.Perm(kills) {
				id := strconv.Itoa(101 + i)
				v := newVictim(t, dir, url, id)
				if err := v.Start(); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration((float64(slot) + rng.Float64()) / float64(kills) * float64(whole)))
				v.Process.Kill()
				_ = v.Wait() // killed, or done before
				s.settle()
				states[reached(t, s.Repo, id, v)]++
				next(t, dir, url, s.Repo, id, i+2)
			}
			if states["ended"] > kills/2 {
				t.Errorf("most had ended before they were killed: %v", states)
			}
			t.Logf("in %v: %v", whole, states)
		})
	}
}

// TestKilledAtRequest kills publish at each of its requests in turn, when the
// server has done what was asked but nobody heard, and in the middle of each
// push.
func TestKilledAtRequest(t *testing.T) {
	needGit(t)
	t.Parallel()
	g, dir, run, states := newRig(t), t.TempDir(), 100, map[string]int{}
	undo := g.withRun(t)
	for name, match := range map[string]func(*http.Request) bool{"answered": anyRequest, "half a push": isPush} {
		for n, hit := 1, true; hit; n++ {
			run++
			id := strconv.Itoa(run)
			v := newVictim(t, dir, g.URL, id)
			hit = g.run(t, v, n, match, func(r *http.Request, git http.Handler) {
				if name == "half a push" {
					r.ContentLength /= 2
					r.Body = io.NopCloser(io.LimitReader(r.Body, r.ContentLength))
				}
				git.ServeHTTP(httptest.NewRecorder(), r)
				v.Process.Kill()
			})
			states[reached(t, g.Repo, id, v)]++
			next(t, dir, g.URL, g.Repo, id, 2)
			undo()
		}
	}
	if states["nothing written"] == 0 || states["archived"] == 0 || states["site written"] == 0 {
		t.Errorf("not every state was met: %v", states)
	}
	t.Logf("%v", states)
}
