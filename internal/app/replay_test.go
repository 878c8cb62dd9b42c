package app

import (
	"bytes"
	"cmp"

	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"perfband/internal/archive"
	"perfband/internal/config"
	"perfband/internal/derive"
	"perfband/internal/gitdb"
	"perfband/internal/gitdb/gittest"
	"perfband/internal/perf"
)

// arrival is one publish of a random history.
type arrival struct {
	run   perf.Run
	sha   string
	base  string // parent commit
	at    time.Time
	files map[string]string
}

// history makes up what repositories really do: pushes, pull requests, dry
// runs, matrix shards, re-run jobs, second calls, late and repeated entries,
// load tests, several modules, failures, commits out of clock order.
func history(rng *rand.Rand) []arrival {
	day := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	var out []arrival
	parent := ""
	for i := range 3 + rng.IntN(9) {
		a := arrival{at: day.Add(time.Duration(i*7+rng.IntN(12)) * time.Hour), files: map[string]string{}, base: parent}
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
		a.fill(rng, i)
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
				b.fill(rng, i)
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
		fmt.Fprintf(&b, "goos: linux\npkg: example.test/m%d\ncpu: %s\n", m, []string{"CPU 0", "CPU 1", "odd \xff\xfe CPU", "CPU 0 amd64"}[rng.IntN(4)])
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

// archiveAll archives an arrival as publish does.
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
		Commit: perf.Commit{SHA: a.sha, Time: a.at, Subject: "change " + a.run.RunID}}
	if a.base != "" {
		m.Commit.Parents = []string{a.base}
	}
	if _, err := archive.Append(t.Context(), raw, m, staged, a.at, gitdb.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// derived derives the raw branch's tip with or without a memo, and counts the
// entries that had to be read.
func derived(t *testing.T, raw gitdb.Branch, opt derive.Options, memo fstest.MapFS) (d *derive.Derived, read int) {
	t.Helper()
	if memo != nil {
		var err error
		if opt.Memo, err = derive.ReadMemo(memo, opt); err != nil {
			t.Fatal(err)
		}
	}
	rev, err := raw.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := raw.Tree(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	opt.Reread = func(folder string) (perf.Entry, error) {
		read++
		return archive.Entry(t.Context(), "perf-raw", tree, folder)
	}
	d, _, err = derive.Build(func(yield func(perf.Entry, error) bool) {
		for e, err := range archive.Entries(t.Context(), "perf-raw", tree, opt.Memo.Known()) {
			if !e.Stub {
				read++
			}
			if !yield(e, err) {
				return
			}
		}
	}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return d, read
}

// siteOf is every file of the site.
func siteOf(t *testing.T, d *derive.Derived) map[string][]byte {
	t.Helper()
	pages, _, err := wholeSite(d)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range pages {
		files[f.Path] = f.Data
	}
	return files
}

// memoOf is what is remembered.
func memoOf(t *testing.T, d *derive.Derived) fstest.MapFS {
	t.Helper()
	files, err := d.MemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	for _, f := range files {
		out[f.Path] = &fstest.MapFile{Data: f.Data}
	}
	return out
}

// foreign puts something that is no entry into a date folder.
func foreign(t *testing.T, raw gitdb.Branch, date time.Time) {
	t.Helper()
	rev, err := raw.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := gitdb.Change{Message: "foreign", When: date, Put: []gitdb.File{gitdb.Bytes("benchmarks/"+date.Format("2006-01-02")+"/foreign/metadata.json", []byte(`{"schema": 99}`))}}
	if _, err := raw.Commit(t.Context(), rev, c); err != nil {
		t.Fatal(err)
	}
}

func newRaw(t *testing.T) gitdb.Branch {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r.git")
	if err := gitdb.Init(dir); err != nil {
		t.Fatal(err)
	}
	raw, err := gitdb.Open(gitdb.Remote{URL: dir}, "perf-raw")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// differ names the files in which two sites differ.
func differ(a, b map[string][]byte) (out []string) {
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(sortedKeys(a), sortedKeys(b)...)))) {
		if !bytes.Equal(a[name], b[name]) || (a[name] == nil) != (b[name] == nil) {
			out = append(out, name)
		}
	}
	return out
}

// TestIncrementalEqualsRecalc publishes random histories run by run, each time
// from what the last site remembered, and compares every file with a derivation
// from nothing: in the end and now and then before. The reach is small, so that
// runs leave it.
func TestIncrementalEqualsRecalc(t *testing.T) {
	histories, saved := 200, 0
	if testing.Short() {
		histories = 20
	}
	for seed := range histories {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		opt := derive.Options{Config: config.Default(), Reach: derive.Reach{Trend: 1 + rng.IntN(4), Pages: 1 + rng.IntN(4), Samples: 1 + rng.IntN(3)}}
		raw := newRaw(t)
		memo := fstest.MapFS{}
		arrivals := history(rng)
		for i, a := range arrivals {
			a.archive(t, raw)
			last := i == len(arrivals)-1
			if rng.IntN(6) == 0 {
				foreign(t, raw, a.run.Started)
			}
			if !last && rng.IntN(4) == 0 {
				continue // this publisher archived only
			}
			d, read := derived(t, raw, opt, memo)
			memo = memoOf(t, d)
			if !last && rng.IntN(5) > 0 {
				continue
			}
			fresh, all := derived(t, raw, opt, nil)
			got, want := siteOf(t, d), siteOf(t, fresh)
			if names := differ(want, got); len(names) > 0 {
				name := names[0]
				t.Fatalf("history %d, arrival %d (%+v): %d files differ, first %s\nrecalculated:\n%.1500s\nincremental:\n%.1500s",
					seed, i, a.run, len(names), name, want[name], got[name])
			}
			saved += max(all-read, 0)
		}
	}
	if saved == 0 {
		t.Error("the memo never saved a single entry from being read")
	}
}

// A publish reads the new entry and nothing else.
func TestIncrementalReadsOnlyNew(t *testing.T) {
	raw := newRaw(t)
	opt := derive.Options{Config: config.Default(), Reach: derive.SiteReach}
	memo := fstest.MapFS{}
	for i := range 8 {
		a := arrival{at: time.Date(2026, 3, 1+i, 0, 0, 0, 0, time.UTC), files: map[string]string{"m/b.txt": fmt.Sprintf("pkg: p\nBenchmarkA 10 %d ns/op\n", 100+i)}}
		if i%3 == 1 {
			a.files["m/b.txt"] = "nothing was measured\n" // remembered all the same
		}
		a.run = perf.Run{RunID: fmt.Sprint(i + 1), Attempt: 1, Kind: perf.Bench, Started: a.at}
		a.archive(t, raw)
		d, read := derived(t, raw, opt, memo)
		if read != 1 {
			t.Errorf("publish %d read %d entries", i, read)
		}
		memo = memoOf(t, d)
	}
	// A memo that is damaged, of other options or of nothing is not used.
	opt2 := opt
	opt2.Config.Stats.StableCV = 0.2
	if _, read := derived(t, raw, opt2, memo); read != 8 {
		t.Errorf("with another configuration %d entries were read, want all 8", read)
	}
	site := func(memo fstest.MapFS) map[string][]byte {
		d, _ := derived(t, raw, opt, memo)
		return siteOf(t, d)
	}
	want := site(nil)
	for _, name := range sortedKeys(memo) {
		for _, data := range []string{"", "{", "[]", `{"schema":99}`} {
			broken := fstest.MapFS{}
			for n, f := range memo {
				broken[n] = f
			}
			broken[name] = &fstest.MapFile{Data: []byte(data)}
			if names := differ(want, site(broken)); len(names) > 0 {
				t.Errorf("memo with %s = %q gives another site: %v", name, data, names)
			}
		}
		gone := fstest.MapFS{}
		for n, f := range memo {
			if path.Base(n) != path.Base(name) {
				gone[n] = f
			}
		}
		if names := differ(want, site(gone)); len(names) > 0 {
			t.Errorf("memo without %s gives another site: %v", name, names)
		}
	}
}

func stageFor(sources []archive.Source) (*archive.Staged, []perf.Diagnostic, error) {
	return archive.Stage(sources, archive.StageOptions{})
}

// TestEncinaOneByOne lets the folders of a real archive arrive one after the
// other, out of order, and compares the last site with one recalculation.
func TestEncinaOneByOne(t *testing.T) {
	dir := cmp.Or(os.Getenv("PERFBAND_ENCINA"), "../../../shared/encina")
	bundle, err := filepath.Abs(filepath.Join(dir, "perf-raw.bundle"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bundle); err != nil {
		if req := os.Getenv("PERFBAND_REQUIRE"); req == "all" || slices.Contains(strings.Split(req, ","), "corpus") {
			t.Fatal(err)
		}
		t.Skipf("the shared archive is missing: %v", err)
	}
	gittest.RequireGit(t)
	repo := filepath.Join(t.TempDir(), "r.git")
	gittest.Git(t, t.TempDir(), "", "clone", "-q", "--bare", bundle, repo)
	var folders []string
	for _, kind := range []string{"benchmarks", "load-tests"} {
		out := gittest.Git(t, repo, "", "ls-tree", "-d", "-r", "--name-only", "perf-raw", kind+"/")
		for p := range strings.Lines(out) {
			if p = strings.TrimSpace(p); strings.Count(p, "/") == 2 {
				folders = append(folders, p)
			}
		}
	}
	if len(folders) != 27 {
		t.Fatalf("%d folders, want 27", len(folders))
	}
	rand.New(rand.NewPCG(11, 12)).Shuffle(len(folders), func(i, j int) { folders[i], folders[j] = folders[j], folders[i] })
	raw, err := gitdb.Open(gitdb.Remote{URL: repo}, "growing")
	if err != nil {
		t.Fatal(err)
	}
	opt := derive.Options{Config: config.Default(), Reach: derive.SiteReach}
	memo := fstest.MapFS{}
	var d *derive.Derived
	for i, folder := range folders {
		// An index of its own in the repository's folder collects what has arrived.
		gittest.Git(t, repo, "", "--work-tree", repo, "read-tree", "--prefix="+folder+"/", "perf-raw:"+folder)
		tree := strings.TrimSpace(gittest.Git(t, repo, "", "write-tree"))
		commit := strings.TrimSpace(gittest.Git(t, repo, "", "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "-m", folder, tree))
		gittest.Git(t, repo, "", "update-ref", "refs/heads/growing", commit)
		var read int
		if d, read = derived(t, raw, opt, memo); read > 3 {
			t.Errorf("%s, arrival %d: %d entries were read", folder, i, read)
		}
		memo = memoOf(t, d)
	}
	fresh, all := derived(t, raw, opt, nil)
	if names := differ(siteOf(t, fresh), siteOf(t, d)); len(names) > 0 || all != 27 {
		t.Errorf("%d files differ: %.300q", len(names), names)
	}
	size := 0
	for _, f := range memo {
		size += len(f.Data)
	}
	t.Logf("the memo of 27 folders has %d files, %d kB", len(memo), size/1000)
}
