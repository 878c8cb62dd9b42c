package app

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"perfband/internal/archive"
	"perfband/internal/config"
	"perfband/internal/gitdb"
	"perfband/internal/perf"
)

// arrival is one publish of a random history.
type arrival struct {
	run   perf.Run
	sha   string
	base  string // parent commit
	at    time.Time
	files map[string]string
	cpus  []string // of which each module gets one
	slow  bool     // measured after what made all slower
	// accepted are the ids of the acceptances its checkout holds.
	accepted []string
}

// history makes up what repositories really do: pushes, pull requests, dry
// runs, matrix shards, re-run jobs, second calls, late and repeated entries,
// load tests, several modules, failures, commits out of clock order.
func history(rng *rand.Rand) []arrival {
	day := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	var out []arrival
	parent := ""
	slower := rng.IntN(12) // from here on
	cpus := []string{"CPU 0", "CPU 1", "odd \xff\xfe CPU", "CPU 0 amd64"}[:1+3*rng.IntN(2)]
	for i := range 3 + rng.IntN(9) {
		a := arrival{at: day.Add(time.Duration(i*7+rng.IntN(12)) * time.Hour), files: map[string]string{}, base: parent, cpus: cpus}
		a.run = perf.Run{RunID: fmt.Sprint(100 + i), Attempt: 1, Kind: perf.Bench, Ref: "refs/heads/main", DefaultBranch: "main", Started: a.at.Add(time.Minute)}
		a.sha = fmt.Sprintf("%040x", 1000+i)
		switch rng.IntN(8) {
		case 0:
			a.run.Ref = "refs/pull/7/merge"
		case 1:
			a.run.JobKind = perf.Dry
		case 2:
			a.run.Kind = perf.Load
		default:
			parent = a.sha
		}
		level := i
		if i >= slower {
			level += 1000
			a.slow = true
		}
		a.fill(rng, level)
		out = append(out, a)
		for rng.IntN(3) == 0 {
			b := a
			b.files = map[string]string{}
			switch rng.IntN(4) {
			case 0:
				b.run.Shard = fmt.Sprintf("s%d", rng.IntN(2))
			case 1:
				b.run.Attempt = 2
				if rng.IntN(2) == 0 { // takes the run out of the trend again
					b.run.JobKind = perf.Dry
				}
			case 2:
				b.run.Started = b.run.Started.Add(24 * time.Hour)
				b.files = a.files // the same results under another date
			}
			if len(b.files) == 0 {
				b.fill(rng, level)
			}
			out = append(out, b)
		}
	}
	rng.Shuffle(len(out), func(i, j int) {
		if rng.IntN(3) == 0 { // mostly in order, some late
			out[i], out[j] = out[j], out[i]
		}
	})
	return out
}

func (a *arrival) fill(rng *rand.Rand, i int) {
	if a.run.Kind == perf.Load {
		a.files["load/nbomber-report.csv"] = fmt.Sprintf("test_suite,test_name,scenario,duration,step_name,request_count,ok,failed,ok_rps,ok_min,ok_mean,ok_max,"+
			"ok_50_percent,ok_75_percent,ok_95_percent,ok_99_percent,ok_std_dev\nShop,t,buy,00:01:00,global information,1200,%d,0,18.3,5.1,%d.5,300.2,15.2,25.1,60.3,150.9,18.2\n", 1100+i, 20+rng.IntN(9))
		return
	}
	for m := range 1 + rng.IntN(2) {
		var b strings.Builder
		fmt.Fprintf(&b, "goos: linux\npkg: example.test/m%d\ncpu: %s\n", m, a.cpus[rng.IntN(len(a.cpus))])
		if rng.IntN(10) == 0 {
			a.files[fmt.Sprintf("m%d/bench.txt", m)] = "nothing was measured\n"
			continue
		}
		for n := range 1 + rng.IntN(3) {
			if rng.IntN(12) == 0 {
				fmt.Fprintf(&b, "--- FAIL: Benchmark%c\n    x_test.go:1: bad \xff byte\n", 'A'+n)
				continue
			}
			for range 1 + rng.IntN(4) {
				fmt.Fprintf(&b, "Benchmark%c/k=v 100 %d.%d ns/op 16 B/op\n", 'A'+n, 1000+i+rng.IntN(50), rng.IntN(10))
			}
		}
		a.files[fmt.Sprintf("m%d/bench.txt", m)] = b.String()
	}
}

// lists makes up acceptances, which later checkouts hold, and exclusions.
func lists(rng *rand.Rand, arrivals []arrival) (accepted []config.Accepted, excluded []config.Excluded) {
	sha := func() string { return arrivals[rng.IntN(len(arrivals))].sha[:40-rng.IntN(3)] }
	held := config.Accepted{Benchmark: []string{"*", "m0/*", "load/*"}[rng.IntN(3)], Reason: "held"}
	from := arrivals[rng.IntN(len(arrivals))].at
	for i := range arrivals {
		if !arrivals[i].at.Before(from) {
			arrivals[i].accepted = []string{held.ID()}
		}
	}
	accepted = []config.Accepted{held, {Benchmark: "m0/*", Metric: perf.Time, Commit: sha(), Reason: "one"}, {Benchmark: "*", Commit: sha(), Reason: "two"}}
	for i, a := range arrivals {
		if a.slow && rng.IntN(2) == 0 { // often the commit that made all slower, or one soon after
			accepted[2].Commit = arrivals[i].sha
			break
		}
	}
	run := arrivals[rng.IntN(len(arrivals))].run
	switch rng.IntN(4) {
	case 0:
		excluded = []config.Excluded{{Machine: "CPU 1", Reason: "bad machine"}}
	case 1:
		excluded = []config.Excluded{{Run: run.RunID + ".1", Reason: "bad attempt"}, {Benchmark: "m1/*", Reason: "retired"}}
	case 2:
		excluded = []config.Excluded{{From: run.Started, To: run.Started.Add(20 * time.Hour), Benchmark: "m0/*", Reason: "bad day"}}
	}
	return accepted, excluded
}

// archive archives an arrival as publish does.
func (a arrival) archive(t *testing.T, raw gitdb.Branch) {
	t.Helper()
	fsys := fstest.MapFS{}
	byModule := map[string][]string{}
	for name, data := range a.files {
		fsys[name] = &fstest.MapFile{Data: []byte(data), ModTime: a.at}
		module, _, _ := strings.Cut(name, "/")
		byModule[module] = append(byModule[module], name)
	}
	var sources []archive.Source
	for _, module := range sortedKeys(byModule) {
		sources = append(sources, archive.Source{Module: module, FS: fsys, Results: byModule[module]})
	}
	staged, diags, err := stageFor(sources)
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	m := perf.Metadata{Schema: perf.MetadataSchema, Kind: "run", Run: a.run, Modules: staged.Modules, Files: staged.Infos(), Tool: perf.Tool{Name: "perfband", Version: "test"},
		Commit: perf.Commit{SHA: a.sha, Time: a.at, Subject: "change " + a.run.RunID}, Accepted: a.accepted}
	if a.base != "" {
		m.Commit.Parents = []string{a.base}
	}
	if _, err := archive.Append(t.Context(), raw, m, staged, a.at, gitdb.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}
