package gitdb_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"perfband/internal/gitdb"
	"perfband/internal/gitdb/gittest"

	"github.com/google/go-cmp/cmp"
)

// remotes are the kinds of repository which must behave alike.
var remotes = []struct {
	name string
	open func(t *testing.T, repo string) gitdb.Remote
}{
	{"http", func(t *testing.T, repo string) gitdb.Remote {
		return gitdb.Remote{URL: gittest.Serve(t, repo, gittest.Options{}).URL}
	}},
	{"http with few filters", func(t *testing.T, repo string) gitdb.Remote {
		return gitdb.Remote{URL: gittest.Serve(t, repo, gittest.Options{ShallowCut: true}).URL}
	}},
	{"http without filters", func(t *testing.T, repo string) gitdb.Remote {
		return gitdb.Remote{URL: gittest.Serve(t, repo, gittest.Options{NoFilter: true}).URL}
	}},
	{"https with token", func(t *testing.T, repo string) gitdb.Remote {
		s := gittest.Serve(t, repo, gittest.Options{TLS: true, Token: "secret"})
		return gitdb.Remote{URL: s.URL, CAFile: s.CAFile, Auth: gitdb.Auth{Token: "secret"}}
	}},
	{"path", func(t *testing.T, repo string) gitdb.Remote {
		return gitdb.Remote{URL: repo}
	}},
}

// each runs a test against every kind of remote, each time with a new empty
// repository.
func each(t *testing.T, test func(t *testing.T, repo string, r gitdb.Remote)) {
	for _, kind := range remotes {
		t.Run(kind.name, func(t *testing.T) {
			repo := gittest.NewRepo(t)
			test(t, repo, kind.open(t, repo))
		})
	}
}

func open(t testing.TB, r gitdb.Remote, name string) gitdb.Branch {
	t.Helper()
	b, err := gitdb.Open(r, name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// change puts files given as path, content, path, content…
func change(files ...string) gitdb.Change {
	c := gitdb.Change{Message: "test", When: time.Unix(1_700_000_000, 0)}
	for i := 0; i < len(files); i += 2 {
		c.Put = append(c.Put, gitdb.Bytes(files[i], []byte(files[i+1])))
	}
	return c
}

func commit(t testing.TB, b gitdb.Branch, base gitdb.Rev, c gitdb.Change) gitdb.Rev {
	t.Helper()
	rev, err := b.Commit(context.Background(), base, c)
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

// readAll is every file of a view.
func readAll(t testing.TB, fsys fs.FS) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, path)
		got[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// readRev is every file of a revision, read by a client of its own.
func readRev(t testing.TB, r gitdb.Remote, name string, rev gitdb.Rev) map[string]string {
	t.Helper()
	tree, err := open(t, r, name).Tree(context.Background(), rev)
	if err != nil {
		t.Fatal(err)
	}
	return readAll(t, tree)
}

func fsck(t testing.TB, repo string) {
	t.Helper()
	gittest.Git(t, repo, "", "fsck", "--strict", "--full", "--no-dangling")
}

func TestCreateAndAppend(t *testing.T) {
	each(t, func(t *testing.T, repo string, r gitdb.Remote) {
		ctx := context.Background()
		b := open(t, r, "perf-raw")
		if rev, err := b.Head(ctx); rev != "" || err != nil {
			t.Fatalf("Head of an empty repository = %q, %v", rev, err)
		}
		tree, err := b.Tree(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := readAll(t, tree); len(got) != 0 {
			t.Fatalf("the empty tree holds %v", got)
		}
		first := commit(t, b, "", change("a/b/one", "1", "a/b.c", "2", "top", "3"))
		if head, err := b.Head(ctx); head != first || err != nil {
			t.Fatalf("Head = %q, %v, want %q", head, err, first)
		}
		second := commit(t, b, first, change("a/b/two", "22", "a/d/e", "", "top", "33"))
		third := commit(t, b, second, change("a/b/two", "22"))
		if third != second {
			t.Errorf("a change of nothing made commit %s on %s", third, second)
		}
		want := map[string]string{"a/b/one": "1", "a/b/two": "22", "a/b.c": "2", "a/d/e": "", "top": "33"}
		if diff := cmp.Diff(want, readRev(t, r, "perf-raw", second)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(map[string]string{"a/b/one": "1", "a/b.c": "2", "top": "3"}, readRev(t, r, "perf-raw", first)); diff != "" {
			t.Error(diff)
		}
		log := gittest.Git(t, repo, "", "log", "--format=%H %an <%ae> %at %s", "perf-raw")
		wantLog := fmt.Sprintf("%s perfband <perfband@localhost> 1700000000 test\n%s perfband <perfband@localhost> 1700000000 test\n", second, first)
		if log != wantLog {
			t.Errorf("log:\n%swant:\n%s", log, wantLog)
		}
		fsck(t, repo)
	})
}

func TestTreeIsAFileSystem(t *testing.T) {
	each(t, func(t *testing.T, repo string, r gitdb.Remote) {
		b := open(t, r, "x")
		rev := commit(t, b, "", change("a/b/one", "1", "a/b.c", "2", "top", "333"))
		tree, err := b.Tree(context.Background(), rev)
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(tree, "a/b/one", "a/b.c", "top"); err != nil {
			t.Error(err)
		}
		sub, err := tree.Sub("a")
		if err != nil {
			t.Fatal(err)
		}
		if err := fstest.TestFS(sub, "b/one", "b.c"); err != nil {
			t.Error(err)
		}
		info, err := tree.Stat("a/b")
		if err != nil {
			t.Fatal(err)
		}
		want := gitdb.ID(strings.TrimSpace(gittest.Git(t, repo, "", "rev-parse", "x:a/b")))
		if id, err := tree.ID("a/b"); id != want || err != nil || info.Sys() != want {
			t.Errorf("ID = %q, %v, Sys = %v, want %q", id, err, info.Sys(), want)
		}
		for path, wantErr := range map[string]error{"a/no": fs.ErrNotExist, "top/x": fs.ErrNotExist, "../a": fs.ErrInvalid} {
			if _, err := tree.ReadFile(path); !errors.Is(err, wantErr) {
				t.Errorf("ReadFile(%q): %v, want %v", path, err, wantErr)
			}
		}
		if _, err := tree.ReadFile("a"); err == nil {
			t.Error("ReadFile of a folder succeeds")
		}
	})
}

func TestReplaceKeepsForeignFiles(t *testing.T) {
	each(t, func(t *testing.T, repo string, r gitdb.Remote) {
		b := open(t, r, "gh-pages")
		base := commit(t, b, "", change("index.html", "theirs", "perf/old", "o", "perf/data/1", "one", "perf/data/2", "two", "perfx/a", "a"))
		c := change("perf/data/1", "one", "perf/new/deep", "n", "added", "x")
		c.Replace = "perf"
		rev := commit(t, b, base, c)
		want := map[string]string{"index.html": "theirs", "perf/data/1": "one", "perf/new/deep": "n", "perfx/a": "a", "added": "x"}
		if diff := cmp.Diff(want, readRev(t, r, "gh-pages", rev)); diff != "" {
			t.Error(diff)
		}
		if again := commit(t, b, rev, c); again != rev {
			t.Error("replacing a folder by itself made a commit")
		}
		gone := gitdb.Change{Message: "gone", Replace: "perf"}
		rev = commit(t, b, rev, gone)
		if diff := cmp.Diff(map[string]string{"index.html": "theirs", "perfx/a": "a", "added": "x"}, readRev(t, r, "gh-pages", rev)); diff != "" {
			t.Error(diff)
		}
		all := change("only", "this")
		all.Replace = "."
		rev = commit(t, b, rev, all)
		if diff := cmp.Diff(map[string]string{"only": "this"}, readRev(t, r, "gh-pages", rev)); diff != "" {
			t.Error(diff)
		}
		fsck(t, repo)
	})
}

func TestMovedTip(t *testing.T) {
	each(t, func(t *testing.T, repo string, r gitdb.Remote) {
		ctx := context.Background()
		mine, theirs := open(t, r, "x"), open(t, r, "x")
		first := commit(t, mine, "", change("a", "1"))
		if _, err := theirs.Commit(ctx, "", change("b", "1")); !errors.Is(err, gitdb.ErrMoved) {
			t.Errorf("creating a branch which is there: %v, want ErrMoved", err)
		}
		second := commit(t, theirs, first, change("b", "2"))
		if _, err := mine.Commit(ctx, first, change("c", "3")); !errors.Is(err, gitdb.ErrMoved) {
			t.Errorf("commit on an old tip: %v, want ErrMoved", err)
		}
		if head, _ := mine.Head(ctx); head != second {
			t.Errorf("the tip is %s, want %s", head, second)
		}
		fsck(t, repo)
	})
}

// TestManyWriters lets writers with clients of their own create and extend one
// branch at the same time.
func TestManyWriters(t *testing.T) {
	each(t, func(t *testing.T, repo string, r gitdb.Remote) {
		const writers = 8
		want := map[string]string{}
		var group sync.WaitGroup
		errs := make(chan error, writers)
		for i := range writers {
			path, content := fmt.Sprintf("runs/day/%d/file", i), strings.Repeat(fmt.Sprint(i), 1000)
			want[path] = content
			b := open(t, r, "perf-raw")
			group.Go(func() {
				_, err := gitdb.Update(context.Background(), b, gitdb.UpdateOptions{},
					func(context.Context, gitdb.Rev, *gitdb.Tree) (gitdb.Change, error) { return change(path, content), nil })
				errs <- err
			})
		}
		group.Wait()
		for range writers {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		head, err := open(t, r, "perf-raw").Head(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, readRev(t, r, "perf-raw", head)); diff != "" {
			t.Error(diff)
		}
		parents := gittest.Git(t, repo, "", "rev-list", "--parents", "perf-raw")
		lines := strings.Split(strings.TrimSpace(parents), "\n")
		if len(lines) != writers {
			t.Errorf("%d commits, want %d", len(lines), writers)
		}
		for i, line := range lines {
			if n := len(strings.Fields(line)); n != 2 && i < len(lines)-1 {
				t.Errorf("commit %q is not in a line", line)
			}
		}
		fsck(t, repo)
	})
}

func TestUpdateWithNothingToDo(t *testing.T) {
	each(t, func(t *testing.T, repo string, r gitdb.Remote) {
		b := open(t, r, "x")
		nothing := func(_ context.Context, _ gitdb.Rev, tree *gitdb.Tree) (gitdb.Change, error) {
			return gitdb.Change{}, fmt.Errorf("look: %w", gitdb.ErrNothing)
		}
		if rev, err := gitdb.Update(context.Background(), b, gitdb.UpdateOptions{}, nothing); rev != "" || err != nil {
			t.Errorf("on an empty branch: %q, %v", rev, err)
		}
		first := commit(t, b, "", change("a", "1"))
		if rev, err := gitdb.Update(context.Background(), b, gitdb.UpdateOptions{}, nothing); rev != first || err != nil {
			t.Errorf("on a branch: %q, %v, want %q", rev, err, first)
		}
	})
}

func TestPrefetch(t *testing.T) {
	each(t, func(t *testing.T, repo string, r gitdb.Remote) {
		var files []string
		want := map[string]string{}
		for i := range 500 {
			path := fmt.Sprintf("d%d/f%03d", i%7, i)
			files = append(files, path, strings.Repeat(fmt.Sprint("line ", i, "\n"), 50))
			want[path] = files[len(files)-1]
		}
		commit(t, open(t, r, "x"), "", change(files...))
		ctx := context.Background()
		b := open(t, r, "x")
		head, err := b.Head(ctx)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := b.Tree(ctx, head)
		if err != nil {
			t.Fatal(err)
		}
		if err := tree.Prefetch(ctx, []string{"."}); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for i := 0; i < len(files); i += 2 {
			paths = append(paths, files[i])
		}
		if err := tree.Prefetch(ctx, paths); err != nil {
			t.Fatal(err)
		}
		if err := tree.Prefetch(ctx, []string{"none"}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Prefetch of a missing path: %v", err)
		}
		var group sync.WaitGroup
		for w := range 2 {
			group.Go(func() {
				for i := w; i < len(paths); i += 2 {
					data, err := tree.ReadFile(paths[i])
					if err != nil || string(data) != want[paths[i]] {
						t.Errorf("ReadFile(%s): %d bytes, %v", paths[i], len(data), err)
						return
					}
				}
			})
		}
		group.Wait()
	})
}
