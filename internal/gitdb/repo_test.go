package gitdb_test

// Repositories as other programs leave them.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"perfband/internal/gitdb"
	"perfband/internal/gitdb/gittest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestHostileTrees reads a tree with every entry that must not be shown, and
// then commits beside them.
func TestHostileTrees(t *testing.T) {
	each(t, func(t *testing.T, repo string, r gitdb.Remote) {
		put := func(kind, content string) string {
			return strings.TrimSpace(gittest.Git(t, repo, content, "hash-object", "-t", kind, "--literally", "-w", "--stdin"))
		}
		raw := func(hex string) string {
			var b []byte
			fmt.Sscanf(hex, "%x", &b)
			return string(b)
		}
		blob := raw(put("blob", "content"))
		sub := raw(put("tree", "100644 inner\x00"+blob))
		long := strings.Repeat("n", 300)
		tree := "100644 .\x00" + blob +
			"100644 ..\x00" + blob +
			"40000 .GIT\x00" + sub +
			"100644 .git\x00" + blob +
			"40000 .g\u200cit\x00" + sub +
			"100644 GIT~1\x00" + blob +
			"100644 a/b\x00" + blob +
			"100644 bad\xff\x00" + blob +
			"100600 group\x00" + blob +
			"120000 link\x00" + blob +
			"160000 module\x00" + strings.Repeat("\x01", 20) +
			"100644 " + long + "\x00" + blob +
			"40000 ok\x00" + sub + "100755 run\x00" + blob +
			"100644 twice\x00" + blob + "40000 twice\x00" + sub +
			"100644 late\x00" + blob + "40000 later\x00" + sub +
			"100644 z\x00" + blob
		root := put("tree", tree)
		commitID := strings.TrimSpace(gittest.Git(t, repo, "", "commit-tree", "-m", "hostile", root))
		gittest.Git(t, repo, "", "update-ref", "refs/heads/x", commitID)

		ctx := context.Background()
		var notices []string
		r.Notice = func(text string) {
			if strings.HasPrefix(text, "branch x: ") {
				notices = append(notices, text)
			}
		}
		b := open(t, r, "x")
		view, err := b.Tree(ctx, gitdb.Rev(commitID))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"twice/inner": "content", "ok/inner": "content", "run": "content", "z": "content"}
		if diff := cmp.Diff(want, readAll(t, view)); diff != "" {
			t.Error(diff)
		}
		var skipped []string
		for _, s := range view.Skipped() {
			skipped = append(skipped, s.Path)
		}
		wantSkipped := []string{".", "..", ".GIT", ".git", ".g\u200cit", "GIT~1", "a/b", "bad\xff", "group", "late", "later", "link", "module", long, "twice"}
		if diff := cmp.Diff(wantSkipped, skipped); diff != "" {
			t.Error(diff)
		}
		for _, path := range []string{"link", ".git", "a/b", "module", "late", "later/inner"} {
			if _, err := view.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("ReadFile(%q): %v, want that it does not exist", path, err)
			}
		}
		for _, path := range []string{"late", "later/inner"} {
			if _, err := b.Commit(ctx, gitdb.Rev(commitID), change(path, "1")); err == nil || !strings.Contains(err.Error(), "out of git's order") {
				t.Errorf("commit to %s, which a view does not show: %v", path, err)
			}
		}
		rev := commit(t, b, gitdb.Rev(commitID), change("new/file", "1"))
		listing := gittest.Git(t, repo, "", "ls-tree", "-z", string(rev))
		listing = regexp.MustCompile(` (blob|tree|commit) [0-9a-f]+\t`).ReplaceAllString(listing, " ")
		kept := []string{"100644 bad\xff", "100644 late", "040000 later", "120000 link", "160000 module", "040000 new", "100644 " + long,
			"040000 ok", "100755 run", "040000 twice", "100644 z"}
		if diff := cmp.Diff(kept, strings.Split(strings.TrimSuffix(listing, "\x00"), "\x00")); diff != "" {
			t.Errorf("after a commit the branch has: %s", diff)
		}
		for _, name := range []string{`"."`, `".."`, `".GIT"`, `".git"`, `".g\u200cit"`, `"GIT~1"`, `"a/b"`, `"group"`, `"twice"`, `"late"`, `"later"`} {
			if all := strings.Join(notices, "\n"); len(notices) != 2 || !strings.Contains(all, name) {
				t.Errorf("the notices %q do not name %s", notices, name)
			}
		}
		if view, err = b.Tree(ctx, rev); err != nil {
			t.Fatal(err)
		}
		if data, err := view.ReadFile("later/inner"); err != nil || string(data) != "content" {
			t.Errorf("what came into order is read as %q, %v", data, err)
		}
	})
}

// TestGarbage reads branches which hold no tree of files.
func TestGarbage(t *testing.T) {
	each(t, func(t *testing.T, repo string, r gitdb.Remote) {
		put := func(kind, content string) string {
			return strings.TrimSpace(gittest.Git(t, repo, content, "hash-object", "-t", kind, "--literally", "-w", "--stdin"))
		}
		who := "author a <a@b> 0 +0000\ncommitter a <a@b> 0 +0000\n\nx\n"
		blob := put("blob", "b")
		for name, id := range map[string]string{
			"a blob":                blob,
			"a commit of a blob":    put("commit", "tree "+blob+"\n"+who),
			"a commit of nothing":   put("commit", "tree "+strings.Repeat("1", 40)+"\n"+who),
			"a commit without tree": put("commit", who),
			"a tree of garbage":     put("commit", "tree "+put("tree", "garbage")+"\n"+who),
		} {
			path := filepath.Join(repo, "refs", "heads", "x")
			if err := os.WriteFile(path, []byte(id+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			view, err := open(t, r, "x").Tree(context.Background(), gitdb.Rev(id))
			if err == nil {
				_, err = view.ReadDir(".")
			}
			if err == nil {
				t.Errorf("%s is read without an error", name)
			}
			if _, err := open(t, r, "x").Commit(context.Background(), gitdb.Rev(id), change("a", "1")); err == nil {
				t.Errorf("%s is committed to without an error", name)
			}
		}
	})
}

// TestRepositoryOfGit reads what git's own housekeeping makes of a repository.
func TestRepositoryOfGit(t *testing.T) {
	repo := gittest.NewRepo(t)
	r := gitdb.Remote{URL: repo}
	b := open(t, r, "a/b")
	want := map[string]string{}
	var rev gitdb.Rev
	text := strings.Repeat("a line which others share\n", 400)
	for i := range 12 {
		path := fmt.Sprintf("runs/%02d/file", i)
		text += fmt.Sprintf("line %d\n", i)
		want[path] = text
		rev = commit(t, b, rev, change(path, text))
	}
	check := func(t *testing.T, b gitdb.Branch) {
		t.Helper()
		head, err := b.Head(context.Background())
		if head != rev || err != nil {
			t.Fatalf("Head = %q, %v, want %q", head, err, rev)
		}
		view, err := b.Tree(context.Background(), head)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, readAll(t, view)); diff != "" {
			t.Error(diff)
		}
	}
	t.Run("many packs", func(t *testing.T) { check(t, open(t, r, "a/b")) })
	t.Run("while git repacks", func(t *testing.T) {
		gittest.Git(t, repo, "", "gc", "--quiet", "--prune=now")
		check(t, b) // opened before
	})
	t.Run("deltas and packed refs", func(t *testing.T) {
		if _, err := os.Stat(filepath.Join(repo, "refs", "heads", "a", "b")); err == nil {
			t.Fatal("git did not pack the ref")
		}
		check(t, open(t, r, "a/b"))
	})
	t.Run("commit on a packed ref", func(t *testing.T) {
		want["new"] = "n"
		rev = commit(t, open(t, r, "a/b"), rev, change("new", "n"))
		check(t, open(t, r, "a/b"))
		fsck(t, repo)
	})
	t.Run("deltas by id", func(t *testing.T) {
		gittest.Git(t, repo, "", "-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq")
		check(t, open(t, r, "a/b"))
	})
	t.Run("loose objects", func(t *testing.T) {
		packs, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "*.pack"))
		if err != nil || len(packs) != 1 {
			t.Fatal(packs, err)
		}
		data, err := os.ReadFile(packs[0])
		if err != nil {
			t.Fatal(err)
		}
		other := gittest.NewRepo(t)
		gittest.Git(t, other, string(data), "unpack-objects", "-q")
		gittest.Git(t, other, "", "update-ref", "refs/heads/a/b", string(rev))
		check(t, open(t, gitdb.Remote{URL: other}, "a/b"))
	})
	t.Run("an object under another's name", func(t *testing.T) {
		other := gittest.NewRepo(t)
		b := open(t, gitdb.Remote{URL: other}, "x")
		put := func(text string) string {
			id := strings.TrimSpace(gittest.Git(t, other, text, "hash-object", "-w", "--stdin"))
			return filepath.Join(other, "objects", id[:2], id[2:])
		}
		a, z := put("a"), put("z")
		gittest.Git(t, other, "", "update-ref", "refs/heads/x", strings.TrimSpace(gittest.Git(t, other, "", "commit-tree", "-m", "x",
			strings.TrimSpace(gittest.Git(t, other, "100644 blob "+filepath.Base(filepath.Dir(a))+filepath.Base(a)+"\ta\n", "mktree")))))
		if err := os.Rename(z, a); err != nil {
			t.Fatal(err)
		}
		head, err := b.Head(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		view, err := b.Tree(context.Background(), head)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := view.ReadFile("a"); err == nil {
			t.Errorf("read %q, want an error", data)
		}
	})
	t.Run("alternates", func(t *testing.T) {
		other := filepath.Join(t.TempDir(), "clone.git")
		gittest.Git(t, ".", "", "clone", "--quiet", "--bare", "--shared", repo, other)
		check(t, open(t, gitdb.Remote{URL: "file://" + filepath.ToSlash(other)}, "a/b"))
	})
	t.Run("damaged pack", func(t *testing.T) {
		packs, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "*.pack"))
		if err != nil {
			t.Fatal(err)
		}
		damage(t, packs[0])
		view, err := open(t, r, "a/b").Tree(context.Background(), rev)
		if err == nil {
			err = fs.WalkDir(view, ".", func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					_, err = view.ReadFile(path)
				}
				return err
			})
		}
		if err == nil {
			t.Error("a damaged pack is read without an error")
		}
	})
}

// damage overwrites every 50th byte of the middle of a file.
func damage(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 12; i < len(data)-20; i += 50 {
		data[i] ^= 0x55
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestInit has git read a repository that was made and filled without it.
func TestInit(t *testing.T) {
	repo := filepath.Join(t.TempDir(), "new", "repo.git")
	if err := gitdb.Init(repo); err != nil {
		t.Fatal(err)
	}
	if err := gitdb.Init(repo); err == nil {
		t.Error("a repository is made on top of another")
	}
	commit(t, open(t, gitdb.Remote{URL: repo}, "x"), "", change("a/b", "text"))
	gittest.RequireGit(t)
	if got := gittest.Git(t, repo, "", "show", "x:a/b"); got != "text" {
		t.Errorf("git reads %q", got)
	}
	fsck(t, repo)
}

func TestLockOfAnotherProcess(t *testing.T) {
	repo := gittest.NewRepo(t)
	b := open(t, gitdb.Remote{URL: repo}, "x")
	lock := filepath.Join(repo, "refs", "heads", "x.lock")
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.Commit(ctx, "", change("a", "1")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("commit under a lock: %v", err)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("the lock of another process is gone: %v", err)
	}
	time.AfterFunc(30*time.Millisecond, func() { os.Remove(lock) })
	commit(t, b, "", change("a", "1"))
	if _, err := os.Stat(lock); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("our own lock is left behind: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	work := t.TempDir()
	if err := os.MkdirAll(filepath.Join(work, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ url, branch, text string }{
		{"", "x", "no remote"},
		{work, "x", filepath.Join(work, ".git")},
		{t.TempDir(), "x", "git init --bare"},
		{filepath.Join(work, "none"), "x", "git init --bare"},
		{"git@github.com:o/r.git", "x", "http(s)"},
		{"ssh://github.com/o/r.git", "x", "http(s)"},
		{"https://user:hunter2@github.com/o/r.git", "x", "give the token apart"},
		{"https://", "x", "valid URL"},
		{"https://github.com/o/r", "", "branch name"},
		{"https://github.com/o/r", "a..b", "branch name"},
		{"https://github.com/o/r", "a b", "branch name"},
		{"https://github.com/o/r", "../x", "branch name"},
	} {
		_, err := gitdb.Open(gitdb.Remote{URL: c.url}, c.branch)
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("Open(%q, %q): %v, want %q", c.url, c.branch, err, c.text)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error shows a password: %v", err)
		}
	}
	if s := fmt.Sprintf("%v %+v %#v", gitdb.Auth{Token: "hunter2"}, gitdb.Remote{Auth: gitdb.Auth{Token: "hunter2"}}, gitdb.Auth{Token: "hunter2"}); strings.Contains(s, "hunter2") {
		t.Errorf("a token is printed: %s", s)
	}
}

func TestCommitRefuses(t *testing.T) {
	b := open(t, gitdb.Remote{URL: gittest.NewRepo(t)}, "x")
	ctx := context.Background()
	short := gitdb.Bytes("a", []byte("12"))
	short.Size = 3
	long := gitdb.Bytes("a", []byte("12"))
	long.Size = 1
	huge := gitdb.Bytes("a", nil)
	huge.Size = 1 << 40
	missing := gitdb.File{Path: "a", Open: func() (io.ReadCloser, error) { return nil, fs.ErrNotExist }}
	for name, c := range map[string]gitdb.Change{
		"a path outside":   change("../a", ""),
		"an absolute path": change("/a", ""),
		"git's own folder": change("x/.Git/config", ""),
		"a path twice":     change("a", "1", "a", "2"),
		"a file as folder": change("a", "1", "a/b", "2"),
		"a folder as file": change("a/b", "1", "a", "2"),
		"a bad replace":    {Replace: "../x"},
		"a file cut short": {Put: []gitdb.File{short}},
		"a file grown":     {Put: []gitdb.File{long}},
		"a file too large": {Put: []gitdb.File{huge}},
		"a file not there": {Put: []gitdb.File{missing}},
	} {
		if _, err := b.Commit(ctx, "", c); err == nil {
			t.Errorf("%s is committed", name)
		}
	}
	if _, err := b.Commit(ctx, "main", change("a", "1")); err == nil {
		t.Error("a base which is no commit id is taken")
	}
	if head, err := b.Head(ctx); head != "" || err != nil {
		t.Errorf("the branch is there: %q, %v", head, err)
	}
}

// TestCommitsAsAModel compares random changes with a map of files, and lets git
// check the packs.
func TestCommitsAsAModel(t *testing.T) {
	gittest.RequireGit(t)
	rapid.Check(t, func(rt *rapid.T) {
		repo := gittest.NewRepo(t)
		r := gitdb.Remote{URL: repo}
		b := open(t, r, "x")
		model := map[string]string{}
		var rev gitdb.Rev
		name := rapid.SampledFrom([]string{"a", "b", "a.b", "a-b", "ab", "Z", "ä"})
		path := rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(rapid.SliceOfN(name, 1, 3).Draw(rt, "parts"), "/")
		})
		content := rapid.OneOf(rapid.Just(""), rapid.Just("same"), rapid.StringN(0, 2000, -1))
		for range rapid.IntRange(1, 4).Draw(rt, "commits") {
			c := gitdb.Change{Message: rapid.String().Draw(rt, "message"), When: time.Unix(rapid.Int64Range(-10, 1<<33).Draw(rt, "when"), 0),
				Author: rapid.String().Draw(rt, "author")}
			c.Replace = rapid.OneOf(rapid.Just(""), rapid.Just("."), path).Draw(rt, "replace")
			if c.Replace != "" {
				drop(model, c.Replace)
			}
			for p, text := range rapid.MapOfN(path, content, 0, 6).Draw(rt, "files") {
				if clashes(c, p) {
					continue
				}
				drop(model, p)
				for i, letter := range p {
					if letter == '/' {
						delete(model, p[:i])
					}
				}
				model[p] = text
				c.Put = append(c.Put, gitdb.Bytes(p, []byte(text)))
			}
			if c.Replace != "" {
				for i, letter := range c.Replace {
					if letter == '/' {
						delete(model, c.Replace[:i])
					}
				}
			}
			rev = commit(t, b, rev, c)
			if diff := cmp.Diff(model, readRev(t, r, "x", rev)); diff != "" {
				rt.Fatal(diff)
			}
		}
		if _, err := gittest.TryGit(repo, "", "fsck", "--strict", "--full"); err != nil {
			rt.Fatal(err)
		}
	})
}

// drop removes a path and all below it.
func drop(model map[string]string, path string) {
	for p := range model {
		if path == "." || p == path || strings.HasPrefix(p, path+"/") {
			delete(model, p)
		}
	}
}

// clashes says that a change would put a file where it has a folder, or the
// other way round.
func clashes(c gitdb.Change, path string) bool {
	taken := func(a, b string) bool { return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/") }
	for _, f := range c.Put {
		if taken(f.Path, path) {
			return true
		}
	}
	return c.Replace != "" && c.Replace != "." && (path == c.Replace || strings.HasPrefix(c.Replace, path+"/"))
}
