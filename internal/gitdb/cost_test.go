package gitdb_test

// What reading and appending cost, measured from outside: a client process of
// its own, and a server which counts bytes. The bounds are promises; the other
// figures are logged (go test -v -run Cost).

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"perfband/internal/gitdb"
	"perfband/internal/gitdb/gittest"

	"github.com/klauspost/compress/zlib"
)

const (
	clientVar  = "PERFBAND_GITDB_CLIENT" // what the test program does as a client
	reportName = "-report-full-compressed.json"
	costBranch = "perf-raw"
)

func TestMain(m *testing.M) {
	if do := os.Getenv(clientVar); do != "" {
		if err := client(do, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// client is the measured process. It prints its peak of memory in KiB, or
// nothing where the system does not tell.
func client(do string, args []string) error {
	b, err := gitdb.Open(gitdb.Remote{URL: args[0]}, costBranch)
	if err != nil {
		return err
	}
	switch do {
	case "append":
		err = appendFolder(b, args[1], args[2])
	case "read":
		err = readReports(b)
	}
	status, _ := os.ReadFile("/proc/self/status")
	if _, after, ok := strings.Cut(string(status), "VmHWM:"); ok {
		fmt.Println(strings.Fields(after)[0])
	}
	return err
}

// appendFolder puts all files of a folder on disk into a folder of the branch.
func appendFolder(b gitdb.Branch, dir, to string) error {
	var c gitdb.Change
	c.Message, c.When = "append", time.Unix(1_700_000_000, 0)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		c.Put = append(c.Put, gitdb.File{Path: to + "/" + filepath.ToSlash(rel), Size: info.Size(),
			Open: func() (io.ReadCloser, error) { return os.Open(path) }})
		return err
	})
	if err != nil {
		return err
	}
	_, err = gitdb.Update(context.Background(), b, gitdb.UpdateOptions{},
		func(_ context.Context, _ gitdb.Rev, tree *gitdb.Tree) (gitdb.Change, error) {
			if _, err := tree.Stat(to); !errors.Is(err, fs.ErrNotExist) {
				return c, fmt.Errorf("%s is there already: %v", to, err)
			}
			return c, nil
		})
	return err
}

// readReports reads every distinct file which a recalculation needs.
func readReports(b gitdb.Branch) error {
	ctx := context.Background()
	tip, err := b.Head(ctx)
	if err != nil {
		return err
	}
	tree, err := b.Tree(ctx, tip)
	if err != nil {
		return err
	}
	if err := tree.Prefetch(ctx, []string{"."}); err != nil {
		return err
	}
	var paths []string
	seen := map[any]bool{}
	err = fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, reportName) {
			return err
		}
		info, err := d.Info()
		if err == nil && !seen[info.Sys()] {
			seen[info.Sys()] = true
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := tree.Prefetch(ctx, paths); err != nil {
		return err
	}
	for _, path := range paths {
		if _, err := tree.ReadFile(path); err != nil {
			return err
		}
	}
	return nil
}

// cost is what one client process took.
type cost struct {
	down, up, requests int64
	rss                int64 // bytes; 0 = unknown
	cpu, wall          time.Duration
}

func (c cost) String() string {
	return fmt.Sprintf("%d requests, %d bytes down, %d up, %d MiB RSS, %v CPU, %v wall",
		c.requests, c.down, c.up, c.rss>>20, c.cpu.Round(time.Millisecond), c.wall.Round(time.Millisecond))
}

// measure runs a client process; the server may be nil.
func measure(t testing.TB, s *gittest.Server, do string, args ...string) cost {
	t.Helper()
	if s != nil {
		s.Reset()
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), clientVar+"="+do)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("client: %v: %s", err, said.String())
	}
	c := cost{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if s != nil {
		c.down, c.up, c.requests = s.Down(), s.Up(), s.Requests()
	}
	kib, _ := strconv.ParseInt(strings.TrimSpace(out.String()), 10, 64)
	c.rss = kib << 10
	t.Logf("%s: %v", do, c)
	return c
}

// skipUnmeasurable skips tests whose figures would mean nothing.
func skipUnmeasurable(t testing.TB) {
	t.Helper()
	info, _ := debug.ReadBuildInfo()
	if info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector takes memory and time of its own")
	}
	if testing.Short() {
		t.Skip("takes many seconds")
	}
}

// bound fails the test when a client took more memory than is promised.
func (c cost) bound(t *testing.T, mib int64) {
	t.Helper()
	if c.rss > mib<<20 {
		t.Errorf("%d bytes of memory, want at most %d MiB", c.rss, mib)
	}
}

// encina makes a bare repository of the shared archive of a real project.
func encina(t testing.TB) string {
	t.Helper()
	gittest.RequireGit(t)
	skipUnmeasurable(t)
	dir := os.Getenv("PERFBAND_ENCINA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "encina")
	}
	bundle := filepath.Join(dir, "perf-raw.bundle")
	if _, err := os.Stat(bundle); err != nil {
		require := strings.Split(os.Getenv("PERFBAND_REQUIRE"), ",")
		if slices.Contains(require, "corpus") || slices.Contains(require, "all") {
			t.Fatalf("the shared archive is missing: %v", err)
		}
		t.Skipf("the shared archive is missing: %v", err)
	}
	repo := filepath.Join(t.TempDir(), "encina.git")
	gittest.Git(t, ".", "", "clone", "--quiet", "--bare", bundle, repo)
	return repo
}

// jitter writes a run of the archive to a folder with most digits changed, so
// that no file is on the branch yet. It returns the files' size packed by zlib.
func jitter(t testing.TB, repo, run, dir string) (files int, packed int64) {
	t.Helper()
	ctx := context.Background()
	b := open(t, gitdb.Remote{URL: repo}, costBranch)
	tip, err := b.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := b.Tree(ctx, tip)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := tree.Sub(run)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var sink countWriter
	zip, _ := zlib.NewWriterLevel(&sink, 6)
	all := readAll(t, sub)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		data := []byte(all[path])
		for i, c := range data {
			if c >= '0' && c <= '9' && random.IntN(4) == 0 {
				data[i] = '0' + byte(random.IntN(10))
			}
		}
		zip.Reset(&sink)
		zip.Write(data)
		zip.Close()
		full := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, data, 0o644); err != nil {
			t.Fatal(err)
		}
		files++
	}
	return files, int64(sink)
}

type countWriter int64

func (c *countWriter) Write(p []byte) (int, error) {
	*c += countWriter(len(p))
	return len(p), nil
}

// TestCostOfAppend adds a run of 576 files to the real archive.
func TestCostOfAppend(t *testing.T) {
	repo := encina(t)
	dir := t.TempDir()
	files, packed := jitter(t, repo, "benchmarks/2026-04-19/24618369617", dir)
	s := gittest.Serve(t, repo, gittest.Options{})
	const to = "benchmarks/2026-05-01/1.1"
	c := measure(t, s, "append", s.URL, dir, to)
	t.Logf("%d files, %d bytes by zlib", files, packed)
	if c.down > 10_000 {
		t.Errorf("%d bytes down, want at most 10,000", c.down)
	}
	if float64(c.up) > 1.1*float64(packed) {
		t.Errorf("%d bytes up for %d bytes by zlib, want at most 1.1 times that", c.up, packed)
	}
	c.bound(t, 64)
	listed := strings.Count(gittest.Git(t, repo, "", "ls-tree", "-r", "--name-only", costBranch, to), "\n")
	if listed != files {
		t.Errorf("%d files on the branch, want %d", listed, files)
	}
	fsck(t, repo)
	measure(t, nil, "append", repo, dir, "benchmarks/2026-05-01/2.1").bound(t, 64)
	fsck(t, repo)
}

// TestCostOfReading reads what a recalculation of the real archive needs: 1,802
// files, 184 MB.
func TestCostOfReading(t *testing.T) {
	repo := encina(t)
	measure(t, nil, "read", repo).bound(t, 100)
	s := gittest.Serve(t, repo, gittest.Options{})
	c := measure(t, s, "read", s.URL)
	c.bound(t, 100)
	if c.requests > 20 {
		t.Errorf("%d requests, want at most 20", c.requests)
	}
	s = gittest.Serve(t, repo, gittest.Options{NoFilter: true})
	measure(t, s, "read", s.URL).bound(t, 100)
}

// TestCostOfGrowth appends to a branch of 3,000 runs on 1,000 days: what is
// downloaded is the widest folder on the way, not the branch.
func TestCostOfGrowth(t *testing.T) {
	skipUnmeasurable(t)
	repo := gittest.NewRepo(t)
	var feed strings.Builder
	feed.WriteString("commit refs/heads/" + costBranch + "\ncommitter t <t@localhost> 0 +0000\ndata 1\nx\n")
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for run := range 3000 {
		for file := range 5 {
			text := fmt.Sprint(run, file)
			fmt.Fprintf(&feed, "M 100644 inline benchmarks/%s/2000000%04d.1/raw/%d.json\ndata %d\n%s\n",
				day.AddDate(0, 0, run/3).Format(time.DateOnly), run, file, len(text), text)
		}
	}
	gittest.Git(t, repo, feed.String(), "fast-import", "--quiet")
	gittest.Git(t, repo, "", "repack", "-adq")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	widest := len(gittest.Git(t, repo, "", "cat-file", "tree", costBranch+":benchmarks"))
	s := gittest.Serve(t, repo, gittest.Options{})
	c := measure(t, s, "append", s.URL, dir, "benchmarks/2026-05-01/1.1")
	t.Logf("the widest folder is %d bytes", widest)
	if c.down > int64(widest)+5_000 {
		t.Errorf("%d bytes down, want the widest folder (%d bytes) and little more", c.down, widest)
	}
	if c.up > int64(widest)+5_000 {
		t.Errorf("%d bytes up, want the widest folder (%d bytes) and little more", c.up, widest)
	}
}
