package derive

import (
	"cmp"
	"container/heap"
	"slices"
	"strconv"
	"strings"
	"time"

	"perfband/internal/perf"
)

// runGroup is the entries that make up one run.
type runGroup struct {
	id         string
	entries    []perf.Entry // by path
	copies     []perf.Entry // entries that repeat one of the run's entries
	superseded []perf.Entry // entries of earlier attempts
}

// group joins entries of one run id over all date folders.
func group(entries []perf.Entry) []runGroup {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b perf.Entry) int { return strings.Compare(a.Path, b.Path) })
	type runKey struct {
		kind perf.Kind
		id   string
	}
	byRun := map[runKey][]perf.Entry{}
	var keys []runKey
	for _, e := range entries {
		k := runKey{e.Meta.Run.Kind, e.Meta.Run.RunID}
		if _, ok := byRun[k]; !ok {
			keys = append(keys, k)
		}
		byRun[k] = append(byRun[k], e)
	}
	out := make([]runGroup, 0, len(keys))
	for _, k := range keys {
		out = append(out, sift(k.id, byRun[k]))
	}
	return out
}

// sift decides which entries of a run count. Of each shard it is those of the
// newest attempt, since a re-run of failed jobs replaces only its shards; a
// call's results published again, in another date folder, are a copy.
func sift(runID string, entries []perf.Entry) runGroup {
	newest := map[string]int{}
	highest := 0
	for _, e := range entries {
		r := e.Meta.Run
		newest[r.Shard] = max(newest[r.Shard], r.Attempt)
		highest = max(highest, r.Attempt)
	}
	g := runGroup{id: runID}
	if highest > 0 {
		g.id += "." + strconv.Itoa(highest)
	}
	type content struct{ shard, content string }
	seen := map[content]bool{}
	for _, e := range entries {
		c := content{e.Meta.Run.Shard, e.Content}
		switch {
		case e.Meta.Run.Attempt < newest[e.Meta.Run.Shard]:
			g.superseded = append(g.superseded, e)
		case e.Content != "" && seen[c]:
			g.copies = append(g.copies, e)
		default:
			seen[c] = true
			g.entries = append(g.entries, e)
		}
	}
	return g
}

// when is a run's place in time: its commit's time where that is known and
// trusted, else its start.
func (r *Run) when() time.Time {
	if c := r.Meta.Commit; !c.Untrusted && !c.Time.IsZero() {
		return c.Time
	}
	return r.Started
}

func compareRuns(a, b *Run) int {
	return cmp.Or(a.when().Compare(b.when()), a.Started.Compare(b.Started),
		strings.Compare(a.ID, b.ID), strings.Compare(a.OriginPath, b.OriginPath))
}

// order sorts runs by ancestry where it is known, else by time. A run whose
// commit names another run's commit as its parent comes after it whatever the
// clocks said.
func order(runs []*Run) []*Run {
	slices.SortFunc(runs, compareRuns)
	bySHA := map[string][]int{}
	for i, r := range runs {
		if c := r.Meta.Commit; c.SHA != "" && !c.Untrusted {
			bySHA[c.SHA] = append(bySHA[c.SHA], i)
		}
	}
	waits := make([]int, len(runs))
	children := make([][]int, len(runs))
	for i, r := range runs {
		if r.Meta.Commit.Untrusted {
			continue
		}
		for _, p := range r.Meta.Commit.Parents {
			for _, j := range bySHA[p] {
				if j != i {
					children[j] = append(children[j], i)
					waits[i]++
				}
			}
		}
	}
	ready := &intHeap{}
	for i, w := range waits {
		if w == 0 {
			heap.Push(ready, i)
		}
	}
	out := make([]*Run, 0, len(runs))
	done := make([]bool, len(runs))
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		out, done[i] = append(out, runs[i]), true
		for _, c := range children[i] {
			if waits[c]--; waits[c] == 0 {
				heap.Push(ready, c)
			}
		}
	}
	for i, r := range runs {
		if !done[i] { // a forged cycle of parents: time order has to do
			out = append(out, r)
		}
	}
	return out
}

// intHeap pops the smallest index first, that is the earliest run.
type intHeap []int

func (h intHeap) Len() int           { return len(h) }
func (h intHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h intHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *intHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *intHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
