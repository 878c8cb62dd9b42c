// Package bench measures perfband as a whole program: a process of its own on
// real data, with its CPU seconds, peak memory and the bytes it sends and gets.
//
//	go test -run '^$' -bench . -benchtime 1x ./bench
//
// README.md here holds the last figures and what they are compared with.
package bench

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"perfband/internal/gitdb/gittest"
)

// program builds perfband once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "perfband-bench-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "perfband")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", bin, "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

// cost is what one run of the program took.
type cost struct {
	wall   time.Duration
	cpu    time.Duration
	rss    int64 // bytes
	stdout int64
}

// measure runs perfband once.
func measure(b *testing.B, dir string, args ...string) cost {
	b.Helper()
	bin, err := program()
	if err != nil {
		b.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(bin, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	peak := make(chan int64)
	done := make(chan struct{})
	go func() { peak <- watchPeak(cmd.Process.Pid, done) }()
	err = cmd.Wait()
	close(done)
	c := cost{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), stdout: int64(out.Len()), rss: <-peak}
	if err != nil {
		b.Fatalf("perfband %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return c
}

// watchPeak reads a process's peak of resident memory, in bytes, until done.
// The accounting of a finished process will not do: on Linux its maximum
// includes what the parent held when it started the process.
func watchPeak(pid int, done <-chan struct{}) (peak int64) {
	for {
		if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)); err == nil {
			if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
				var kb int64
				if _, err := fmt.Sscan(rest, &kb); err == nil && strings.Contains(string(status), "Name:\tperfband") {
					peak = max(peak, kb<<10)
				}
			}
		}
		select {
		case <-done:
			return peak
		case <-time.After(2 * time.Millisecond):
		}
	}
}

func (c cost) report(b *testing.B) {
	b.ReportMetric(c.wall.Seconds(), "wall-s/op")
	b.ReportMetric(c.cpu.Seconds(), "cpu-s/op")
	b.ReportMetric(float64(c.rss)/1e6, "rss-MB")
}

// encina clones the shared archive: 27 runs, 10,047 files, 395 MB.
func encina(b *testing.B) string {
	b.Helper()
	dir := os.Getenv("PERFBAND_ENCINA")
	if dir == "" {
		dir = "../../shared/encina"
	}
	bundle, err := filepath.Abs(filepath.Join(dir, "perf-raw.bundle"))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(bundle); err != nil {
		b.Skipf("the shared archive is missing: %v", err)
	}
	repo := filepath.Join(b.TempDir(), "repo.git")
	gittest.Git(b, b.TempDir(), "", "clone", "-q", "--bare", bundle, repo)
	return repo
}

// BenchmarkRecalcEncina derives everything from the archive and writes the site.
func BenchmarkRecalcEncina(b *testing.B) {
	repo := encina(b)
	var c cost
	for b.Loop() {
		gittest.TryGit(repo, "", "update-ref", "-d", "refs/heads/gh-pages")
		c = measure(b, b.TempDir(), "recalc", "--remote", repo)
	}
	c.report(b)
}

// BenchmarkRecalcEncinaHTTP is the same with the repository behind a server.
func BenchmarkRecalcEncinaHTTP(b *testing.B) {
	repo := encina(b)
	s := gittest.Serve(b, repo, gittest.Options{})
	var c cost
	for b.Loop() {
		gittest.TryGit(repo, "", "update-ref", "-d", "refs/heads/gh-pages")
		s.Reset()
		c = measure(b, b.TempDir(), "recalc", "--remote", s.URL)
	}
	c.report(b)
	b.ReportMetric(float64(s.Down())/1e6, "down-MB")
	b.ReportMetric(float64(s.Up())/1e6, "up-MB")
	b.ReportMetric(float64(s.Requests()), "requests")
}

// BenchmarkExportEncina prints every statistic of the archive.
func BenchmarkExportEncina(b *testing.B) {
	repo := encina(b)
	var c cost
	for b.Loop() {
		c = measure(b, b.TempDir(), "export", "--remote", repo, "--what", "stats")
	}
	c.report(b)
	b.ReportMetric(float64(c.stdout)/1e6, "out-MB")
}

// BenchmarkPublishEncina archives a run of 576 files over HTTP; every file is
// new to the branch.
func BenchmarkPublishEncina(b *testing.B) {
	repo := encina(b)
	dir := b.TempDir()
	packed := jitteredRun(b, repo, dir)
	s := gittest.Serve(b, repo, gittest.Options{})
	publishInto(b, s, dir, packed)
	gittest.Git(b, repo, "", "fsck", "--strict")
}

// BenchmarkPublishLongHistory archives the same kind of run onto a branch of
// 3,000 runs of 30 files in 1,000 date folders.
func BenchmarkPublishLongHistory(b *testing.B) {
	repo := gittest.NewRepo(b)
	gittest.Git(b, repo, longHistory(3000, 30), "fast-import", "--quiet")
	dir := b.TempDir()
	packed := jitteredRun(b, encina(b), dir)
	s := gittest.Serve(b, repo, gittest.Options{})
	publishInto(b, s, dir, packed)
}

// publishInto archives the results in dir and reports bytes each way; up is
// also given relative to the run's own compressed size.
func publishInto(b *testing.B, s *gittest.Server, dir string, packed int64) {
	b.Helper()
	base := strings.TrimSpace(gittest.Git(b, s.Repo, "", "rev-parse", "perf-raw"))
	var c cost
	for b.Loop() {
		gittest.Git(b, s.Repo, "", "update-ref", "refs/heads/perf-raw", base)
		gittest.Git(b, s.Repo, "", "-c", "gc.reflogExpire=now", "prune", "--expire=now")
		s.Reset()
		c = measure(b, dir, "publish", "--remote", s.URL, "--results", "run", "--module", "all", "--run-id", "1", "--started", "2026-05-01T00:00:00Z", "--site=false")
	}
	c.report(b)
	b.ReportMetric(float64(s.Down())/1e3, "down-kB")
	b.ReportMetric(float64(s.Up())/1e6, "up-MB")
	b.ReportMetric(float64(s.Up())/float64(packed), "up/zlib")
	b.ReportMetric(float64(s.Requests()), "requests")
}

// jitteredRun writes a real run with changed digits to dir/run and returns the
// sum of its files' zlib sizes.
func jitteredRun(b *testing.B, repo, dir string) (packed int64) {
	b.Helper()
	const run = "benchmarks/2026-04-19/24618369617"
	tar := filepath.Join(dir, "run.tar")
	gittest.Git(b, repo, "", "archive", "-o", tar, "perf-raw:"+run)
	root := filepath.Join(dir, "run")
	if err := os.Mkdir(root, 0o755); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("tar", "-xf", tar, "-C", root).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	files := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for i, c := range data {
			switch { // 0 stays, so that no number gets a leading zero
			case '1' <= c && c <= '8':
				data[i] = c + 1
			case c == '9':
				data[i] = '1'
			}
		}
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		if _, err := w.Write(data); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		packed += int64(z.Len())
		files++
		return os.WriteFile(p, data, 0o644)
	})
	if err != nil {
		b.Fatal(err)
	}
	if files != 576 {
		b.Fatalf("%d files, want 576", files)
	}
	return packed
}

// longHistory is a stream for git fast-import: runs with the given number of
// small files each, three a day, one commit each.
func longHistory(runs, files int) string {
	var s strings.Builder
	day := time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	for r := range runs {
		at := day.AddDate(0, 0, r/3)
		fmt.Fprintf(&s, "commit refs/heads/perf-raw\ncommitter x <x@x> %d +0000\ndata 1\nx\n", at.Unix()+int64(r))
		for f := range files {
			text := fmt.Sprintf("run %d file %d value %d\n", r, f, r*7919+f)
			fmt.Fprintf(&s, "M 100644 inline benchmarks/%s/%d.1/raw/m/f%d.txt\ndata %d\n%s\n", at.Format("2006-01-02"), 100000+r, f, len(text), text)
		}
	}
	io.WriteString(&s, "done\n")
	return s.String()
}
