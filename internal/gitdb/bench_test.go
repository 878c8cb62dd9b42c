package gitdb_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"perfband/internal/gitdb"
	"perfband/internal/gitdb/gittest"
)

// lines is text that looks like a result file: much of it repeats.
func lines(seed, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"Namespace":"Some.Benchmarks","Method":"Case%d","Ns":%d}`+"\n", i%50, (seed*7919+i*104729)%1_000_003)
	}
	return b.String()
}

// BenchmarkCommit puts 100 new files of 100 kB on a local branch.
func BenchmarkCommit(b *testing.B) {
	branch := open(b, gitdb.Remote{URL: gittest.NewRepo(b)}, "x")
	var rev gitdb.Rev
	seed := 0
	for b.Loop() {
		b.StopTimer()
		c := change()
		var size int64
		for i := range 100 {
			seed++
			f := gitdb.Bytes(fmt.Sprintf("runs/%d/%d", seed/100, i), []byte(lines(seed, 1700)))
			size += f.Size
			c.Put = append(c.Put, f)
		}
		b.SetBytes(size)
		b.StartTimer()
		rev = commit(b, branch, rev, c)
	}
}

// BenchmarkReadFile reads files that git has packed as differences.
func BenchmarkReadFile(b *testing.B) {
	repo := gittest.NewRepo(b)
	c := change()
	for i := range 100 {
		c.Put = append(c.Put, gitdb.Bytes(fmt.Sprintf("%03d", i), []byte(lines(i, 1700))))
	}
	rev := commit(b, open(b, gitdb.Remote{URL: repo}, "x"), "", c)
	gittest.Git(b, repo, "", "gc", "--quiet", "--prune=now")
	for b.Loop() {
		tree, err := open(b, gitdb.Remote{URL: repo}, "x").Tree(context.Background(), rev)
		if err != nil {
			b.Fatal(err)
		}
		var size int64
		err = fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := tree.ReadFile(path)
			size += int64(len(data))
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(size)
	}
}
