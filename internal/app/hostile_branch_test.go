package app_test

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perfband/internal/gitdb/gittest"
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
			t.Run(tc.Case+" on "+branch, func(t *testing.T) {
				t.Parallel()
				repo := gittest.NewRepo(t)
				tree := evilTree(t, repo, tc.Entries)
				commit := fmt.Sprintf("tree %s\nauthor A <a@b.test> 1767323045 +0000\ncommitter A <a@b.test> 1767323045 +0000\n\nx\n", tree)
				tip := gittest.Git(t, repo, commit, "hash-object", "-w", "-t", "commit", "--literally", "--stdin")
				if err := os.WriteFile(filepath.Join(repo, "refs", "heads", branch), []byte(tip), 0o644); err != nil {
					t.Fatal(err)
				}
				for _, args := range [][]string{publishArgs(repo, "1"), {"recalc", "--remote", repo}} {
					dir := workspace(t, 1000)
					_, errs, code := call(t, dir, args...)
					if strings.Contains(errs, "crashed") || code == 2 || code != 0 && !strings.Contains(errs, tree) && !strings.Contains(errs, tc.Entries[0][1]) {
						t.Errorf("%s: exit %d\n%s", args[0], code, errs)
					}
					if _, err := os.Stat(filepath.Join(dir, "perfband-out", "raw")); (err == nil) != (code == 3) {
						t.Errorf("exit %d; results kept: %v", code, err)
					}
				}
			})
		}
	}
}
