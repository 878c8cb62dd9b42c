package app_test

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"perfband/internal/archive"
	"perfband/internal/gitdb/gittest"
)

// TestInterrupted: Ctrl-C, or a job that is cancelled, ends publish although the
// server does not answer. What is not archived by then is kept on disk.
func TestInterrupted(t *testing.T) {
	needGit(t)
	t.Parallel()
	g, codes := newRig(t), map[int]int{}
	undo := g.withRun(t)
	for n := 1; ; n += 3 {
		id, dir := strconv.Itoa(100+n), t.TempDir()
		v := newVictim(t, dir, g.URL, id)
		hit := g.run(t, v, n, anyRequest, func(r *http.Request, _ http.Handler) {
			v.Process.Signal(os.Interrupt)
			select {
			case <-r.Context().Done(): // the client is gone
			case <-time.After(time.Minute):
				t.Error("still waiting a minute after the interrupt")
				v.Process.Kill()
			}
		})
		reached(t, g.Repo, id, v)
		if !hit {
			break
		}
		want := 3
		if checkEntries(t, g.Repo)[id] == 1 {
			want = 1
		}
		kept := filepath.Join(dir, "perfband-out", "raw", "benchmarks", "2026-04-01", id+".1", "raw", "core", "bench2.txt")
		_, err := os.Stat(kept)
		if code := v.ProcessState.ExitCode(); code != want || (err == nil) != (want == 3) {
			t.Errorf("interrupted at request %d: exit %d, want %d; kept: %v\n%s", n, code, want, err, v.said.String())
		}
		codes[want]++
		next(t, dir, g.URL, g.Repo, id, 2)
		undo()
	}
	if codes[1] == 0 || codes[3] == 0 {
		t.Errorf("exit codes: %v", codes)
	}
	t.Logf("exit codes: %v", codes)
}

// TestInterruptedTwice: what does not heed the first Ctrl-C, here reading a
// branch on a disk that does not answer, is ended by the next one.
func TestInterruptedTwice(t *testing.T) {
	needGit(t)
	t.Parallel()
	repo := gittest.NewRepo(t)
	v := newVictim(t, t.TempDir(), repo, "1")
	ref := filepath.Join(repo, "refs", "heads", archive.DefaultBranch)
	if out, err := exec.Command("mkfifo", ref).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := v.Start(); err != nil {
		t.Fatal(err)
	}
	timeout := time.AfterFunc(time.Minute, func() {
		v.Process.Kill()
		os.OpenFile(ref, os.O_RDWR, 0) // or the test would wait for a reader
	})
	defer timeout.Stop()
	disk, err := os.OpenFile(ref, os.O_WRONLY, 0) // waits for the program to read
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = v.Wait()
	}()
	// Two at once may be taken for one, so there is time between them; a second
	// one that comes too early is followed by another.
	sent := 0
	for running := true; running; sent++ {
		v.Process.Signal(os.Interrupt)
		select {
		case <-ended:
			running = false
		case <-time.After(200 * time.Millisecond):
		}
	}
	if how := v.ProcessState.String(); how != "signal: interrupt" || sent < 2 {
		t.Errorf("after %d interrupts: %s\n%s", sent, how, v.said.String())
	}
}
