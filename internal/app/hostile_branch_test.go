package app_test

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/gitdb/gittest"
	"perfband/internal/text"
)

// evilTree stores a raw tree object, unchecked, and returns its id.
func evilTree(t *testing.T, repo string, entries [][3]string) string {
	t.Helper()
	empty := map[string]string{
		"E": gittest.Git(t, repo, "", "hash-object", "-w", "--stdin"),
		"T": gittest.Git(t, repo, "", "hash-object", "-w", "-t", "tree", "--stdin"),
	}
	const cycle = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
	var tree bytes.Buffer
	claimed := false
	for _, e := range entries {
		id, ok := empty[e[2]]
		if !ok {
			if id = e[2]; len(id) != 40 {
				id, claimed = cycle, true
			}
		}
		raw, err := hex.DecodeString(strings.TrimSpace(id))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&tree, "%s %s\x00%s", e[0], e[1], raw)
	}
	if !claimed {
		return strings.TrimSpace(gittest.Git(t, repo, tree.String(), "hash-object", "-w", "-t", "tree", "--literally", "--stdin"))
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	fmt.Fprintf(z, "tree %d\x00%s", tree.Len(), tree.Bytes())
	z.Close()
	dir := filepath.Join(repo, "objects", cycle[:2])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, cycle[2:]), packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return cycle
}

// TestHostileTrees has branches whose trees git itself would never make.
func TestHostileTrees(t *testing.T) {
	needGit(t)
	var doc struct {
		Trees []struct {
			Case    string
			Entries [][3]string
		}
	}
	if err := json.Unmarshal(hostile(t, "branches/T72-evil-tree-entries.json"), &doc); err != nil {
		t.Fatal(err)
	}
	for _, tc := range doc.Trees {
		for _, branch := range []string{"perf-raw", "gh-pages"} {
			for _, mode := range []string{"publish", "recalc"} {
				if branch == "gh-pages" && mode == "recalc" {
					continue // there is nothing to recalculate
				}
				t.Run(tc.Case+" on "+branch+" "+mode, func(t *testing.T) {
					t.Parallel()
					hostileTree(t, tc.Entries, branch, mode)
				})
			}
		}
	}
}

// hostileTree calls perfband on a branch whose tip is an evil tree, then again:
// the first call names what is wrong with it and writes no such tree.
func hostileTree(t *testing.T, entries [][3]string, branch, mode string) {
	repo := gittest.NewRepo(t)
	tree := evilTree(t, repo, entries)
	commit := fmt.Sprintf("tree %s\nauthor A <a@b.test> 1767323045 +0000\ncommitter A <a@b.test> 1767323045 +0000\n\nx\n", tree)
	tip := gittest.Git(t, repo, commit, "hash-object", "-w", "-t", "commit", "--literally", "--stdin")
	if err := os.WriteFile(filepath.Join(repo, "refs", "heads", branch), []byte(tip), 0o644); err != nil {
		t.Fatal(err)
	}
	// Of two entries that do not go together the last is in the wrong place.
	name := entries[len(entries)-1][1]
	place := strings.TrimSuffix("perf-raw:"+text.LogLine(name), ":")
	named := regexp.MustCompile(`(?m)^warning: ` + regexp.QuoteMeta(place) + `: skipped: an? |` +
		`^branch ` + branch + `: folder "\." had entries .*: ` + regexp.QuoteMeta(fmt.Sprintf("%q", name)) + `|object ` + tree)
	for i, args := range [][]string{{mode, "--remote", repo}, publishArgs(repo, "1"), {"recalc", "--remote", repo}} {
		if i == 0 && mode == "publish" {
			continue
		}
		dir := workspace(t, 1000)
		_, errs, code := call(t, dir, args...)
		refused := code == 3 && strings.Contains(errs, entries[0][1]+": the branch holds something else than an archive")
		if first := i == 0 || i == 1 && mode == "publish"; first && !named.MatchString(errs) && !refused {
			t.Errorf("%s does not name %q: exit %d\n%s", args[0], name, code, errs)
		}
		if strings.Contains(errs, "crashed") || code == 2 || code != 0 && !strings.Contains(errs, tree) && !refused {
			t.Errorf("%s: exit %d\n%s", args[0], code, errs)
		}
		if head := gittest.Git(t, repo, "", "rev-parse", branch); code == 0 && head != tip {
			checkTree(t, gittest.Git(t, repo, "", "ls-tree", "-z", strings.TrimSpace(head)))
		}
		if _, err := os.Stat(filepath.Join(dir, "perfband-out", "raw")); (err == nil) != (code == 3) {
			t.Errorf("exit %d; results kept: %v", code, err)
		}
	}
}

// checkTree checks the listing of a tree that we wrote.
func checkTree(t *testing.T, listing string) {
	t.Helper()
	before := ""
	for line := range strings.SplitSeq(strings.TrimSuffix(listing, "\x00"), "\x00") {
		kind, name, _ := strings.Cut(line, "\t")
		if strings.Contains(kind, " tree ") {
			name += "/" // which is how git sorts it
		}
		if name <= before {
			t.Errorf("a tree was written with %q after %q", name, before)
		}
		before = name
		if !regexp.MustCompile(`^(100644 blob|100755 blob|040000 tree) [0-9a-f]{40}\t[A-Za-z0-9][A-Za-z0-9._-]*$|\t\.nojekyll$`).MatchString(line) || strings.Contains(line, strings.Repeat("0", 40)) ||
			strings.Contains(line, "~") {
			t.Errorf("a tree was written with the entry %q", line)
		}
	}
}

// garbage fills the raw branch of a repository with the shared stream.
func garbage(t *testing.T, stream []byte) string {
	t.Helper()
	repo := gittest.NewRepo(t)
	gittest.Git(t, repo, string(stream), "fast-import", "--quiet")
	return repo
}

// TestHostileBranch has a raw branch to which people pushed all kinds of things.
func TestHostileBranch(t *testing.T) {
	needGit(t)
	stream := hostile(t, "branches/T70-perf-raw-garbage.fi")
	repo := garbage(t, stream)
	// The branch before anybody pushed things: its first commit.
	clean := garbage(t, stream[:bytes.Index(stream, []byte("commit refs/heads/perf-raw\nmark :21"))])
	before := gittest.Git(t, repo, "", "ls-tree", "-r", "perf-raw")

	_, errs, code := call(t, t.TempDir(), "recalc", "--remote", repo)
	if code != 0 || !strings.Contains(errs, "1 runs derived") {
		t.Errorf("recalc: exit %d\n%s", code, errs)
	}
	for path, why := range map[string]string{
		"100.1/run.sh":        "no part of the run",
		"101.1/metadata.json": "not valid JSON", "102.1/metadata.json": `the metadata of run "999.9"`, "103.1/metadata.json": "written by a newer perfband",
		"104.1": "no metadata.json", "105.1": "a symbolic link", "106.1/metadata.json": "not a run's metadata", "107.1": "a submodule",
		"benchmarks/2026-13-45": "", "benchmarks/not-a-date": "", "load-tests": "a symbolic link", "coruns": "", "notes.txt": "", ".gitmodules": "",
	} {
		if lines := regexp.MustCompile(`(?m)^.*`+regexp.QuoteMeta(path)+`\b.*$`).FindAllString(errs, -1); len(lines) == 0 || !strings.Contains(strings.Join(lines, ""), why) {
			t.Errorf("%s: told %q, want one with %q", path, lines, why)
		}
	}
	if n := strings.Count(errs, "100.1/run.sh"); n != 1 {
		t.Errorf("100.1/run.sh is named %d times", n)
	}
	mustCall(t, "recalc", "--remote", clean)
	// The memo names folders by their git ids, which foreign files change.
	site := func(repo string) map[string]string {
		out := map[string]string{}
		for name, data := range files(t, repo, "gh-pages") {
			if !strings.HasPrefix(name, "perf/data/v1/memo/") {
				out[name] = string(data)
			}
		}
		return out
	}
	if d := cmp.Diff(site(clean), site(repo)); d != "" {
		t.Errorf("the site differs from that of the clean branch:\n%s", d)
	}
	if _, errs, code := call(t, workspace(t, 1000), publishArgs(repo, "7")...); code != 0 {
		t.Errorf("publish: exit %d\n%s", code, errs)
	}
	after := gittest.Git(t, repo, "", "ls-tree", "-r", "perf-raw")
	var kept []string
	for line := range strings.Lines(after) {
		if !strings.Contains(line, "2026-04-01/7.1/") {
			kept = append(kept, line)
		}
	}
	if strings.Join(kept, "") != before || len(kept) == strings.Count(after, "\n") {
		t.Errorf("the branch holds\n%s\nnot what was there and run 7.1", after)
	}
}
