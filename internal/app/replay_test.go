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
	var claimed, accepted, excluded int
	if testing.Short() {
		histories = 40
	}
	for seed := range histories {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		opt := derive.Options{Config: config.Default(), Reach: derive.Reach{Trend: 1 + rng.IntN(7), Pages: 1 + rng.IntN(4), Samples: 1 + rng.IntN(3)}}
		raw := newRaw(t)
		memo := fstest.MapFS{}
		arrivals := history(rng)
		opt.Config.Accepted, opt.Config.Excluded = lists(rng, arrivals)
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
			verdicts, _ := fresh.Export("verdicts", "")
			for _, row := range verdicts.Rows {
				for _, c := range row {
					switch {
					case c.Text == string(perf.Slower):
						claimed++
					case strings.Contains(c.Text, "accepted"):
						accepted++
					}
				}
			}
			for _, run := range fresh.Runs {
				for _, r := range run.Results {
					if r.Excluded != "" {
						excluded++
					}
				}
			}
		}
	}
	if saved == 0 {
		t.Error("the memo never saved a single entry from being read")
	}
	if claimed == 0 || accepted == 0 || excluded == 0 {
		t.Errorf("%d claims, %d accepted, %d results left out: the histories show too little", claimed, accepted, excluded)
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
