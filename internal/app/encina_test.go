package app_test

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"perfband/internal/app"
	"perfband/internal/archive"
	"perfband/internal/config"
	"perfband/internal/derive"
	"perfband/internal/gitdb"
	"perfband/internal/perf"
	"perfband/internal/site"
)

// encina is a bare clone of a real archive in an older layout: 27 folders,
// 24 of them benchmark runs, 3 of them load tests.
var encina = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "perfband-encina-")
	if err != nil {
		return "", err
	}
	repo := filepath.Join(dir, "perf-raw.git")
	out, err := exec.Command("git", "clone", "-q", "--bare", filepath.Join(encinaDir(), "perf-raw.bundle"), repo).CombinedOutput()
	if err != nil {
		return "", &exec.Error{Name: string(out), Err: err}
	}
	return repo, nil
})

func encinaDir() string {
	if d := os.Getenv("PERFBAND_ENCINA"); d != "" {
		return d
	}
	return root + "/../shared/encina"
}

// encinaRepo is the clone, or a skip.
func encinaRepo(t *testing.T) string {
	t.Helper()
	needGit(t)
	_, err := os.Stat(filepath.Join(encinaDir(), "perf-raw.bundle"))
	need(t, "corpus", err == nil)
	repo, err := encina()
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

// call runs the program in this process.
func call(t *testing.T, dir string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	code = app.Main(context.Background(), app.Env{Args: args, Dir: dir, Stdout: &out, Stderr: &errs, Random: crand.Reader, Version: "test",
		Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) },
		Demo: os.DirFS(root)})
	return out.String(), errs.String(), code
}

func mustCall(t *testing.T, args ...string) string {
	t.Helper()
	out, errs, code := call(t, t.TempDir(), args...)
	if code != 0 {
		t.Fatalf("perfband %s: exit %d\n%s", strings.Join(args, " "), code, errs)
	}
	return out
}

// table reads an exported CSV as one map a row.
func table(t *testing.T, text string) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, r := range rows[1:] {
		m := map[string]string{}
		for i, c := range rows[0] {
			m[c] = r[i]
		}
		out = append(out, m)
	}
	return out
}

func readGolden(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(encinaDir(), "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func TestEncina(t *testing.T) {
	repo := encinaRepo(t)
	runs := table(t, mustCall(t, "export", "--remote", repo, "--what", "runs"))
	stats := table(t, mustCall(t, "export", "--remote", repo, "--what", "stats"))
	t.Run("runs", func(t *testing.T) { encinaRuns(t, runs) })
	t.Run("sample", func(t *testing.T) { encinaSample(t, stats) })
	t.Run("copies", func(t *testing.T) { encinaCopies(t, runs, stats) })
	t.Run("load", func(t *testing.T) { encinaLoad(t, runs, stats) })
	t.Run("recalc twice", func(t *testing.T) { encinaTwice(t, repo) })
	t.Run("shuffled", func(t *testing.T) { encinaShuffled(t, repo) })
}

// encinaShuffled derives from the folders in several orders: the site must not
// differ by a byte.
func encinaShuffled(t *testing.T, repo string) {
	b, err := gitdb.Open(gitdb.Remote{URL: repo}, archive.DefaultBranch)
	if err != nil {
		t.Fatal(err)
	}
	rev, err := b.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := b.Tree(t.Context(), rev)
	if err != nil {
		t.Fatal(err)
	}
	var entries []perf.Entry
	for e, err := range archive.Entries(t.Context(), archive.DefaultBranch, tree, nil) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	hash := func() string {
		d, _, err := derive.Build(func(yield func(perf.Entry, error) bool) {
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}, derive.Options{Config: config.Default(), Reach: derive.SiteReach})
		if err != nil {
			t.Fatal(err)
		}
		files, err := site.Render(d)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		for _, f := range files {
			fmt.Fprintf(h, "%s\x00%d\x00", f.Path, len(f.Data))
			h.Write(f.Data)
		}
		return hex.EncodeToString(h.Sum(nil))
	}
	want := hash()
	slices.Reverse(entries)
	if hash() != want {
		t.Error("folders in reverse order give another site")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	if hash() != want {
		t.Error("shuffled folders give another site")
	}
}

// encinaRuns compares the counts of every benchmark run.
func encinaRuns(t *testing.T, runs []map[string]string) {
	var golden []struct {
		Path                                                  string
		ModuleDirs, ModulesWithStats, Entries, NullStatistics int
		Methods                                               int
		RuleV2                                                struct{ Stable, Unstable int }
		EntriesByCPU                                          map[string]int `json:"entriesByCpu"`
	}
	readGolden(t, "runs.json", &golden)
	byPath := map[string]map[string]string{}
	for _, r := range runs {
		byPath[r["origin_path"]] = r
	}
	for _, g := range golden {
		r := byPath[g.Path]
		for name, want := range map[string]int{"modules": g.ModuleDirs, "benchmarks": g.Methods, "failed": g.NullStatistics,
			"stable": g.RuleV2.Stable, "unstable": g.RuleV2.Unstable, "expected_unstable": 0} {
			if r[name] != strconv.Itoa(want) {
				t.Errorf("%s: %s = %s, want %d", g.Path, name, r[name], want)
			}
		}
		if g.Entries != g.Methods+g.NullStatistics {
			t.Errorf("%s: the golden numbers contradict themselves", g.Path)
		}
		cpus := strings.Split(r["cpu_models"], ";")
		if len(cpus) != len(g.EntriesByCPU) {
			t.Errorf("%s: machines %s, want %v", g.Path, r["cpu_models"], g.EntriesByCPU)
		}
		for _, c := range cpus {
			model, n, _ := strings.Cut(c, "=")
			if strconv.Itoa(g.EntriesByCPU[model]) != n {
				t.Errorf("%s: %s on %s, want %d", g.Path, n, model, g.EntriesByCPU[model])
			}
		}
	}
	if len(golden) != 24 || len(runs) != 27 {
		t.Errorf("%d golden runs, %d runs", len(golden), len(runs))
	}
}

// encinaSample compares benchmarks recomputed from raw iterations by another
// program: n exactly, statistics to 1e-11.
func encinaSample(t *testing.T, stats []map[string]string) {
	var golden []struct {
		File, DisplayInfo, FullName, CPU string
		N                                int
		Mean, Median, StdDev, Min, Max   float64
		Q1, Q3, P95                      float64
		CI99StudentLower                 float64  `json:"ci99StudentLower"`
		CI99StudentUpper                 float64  `json:"ci99StudentUpper"`
		AllocatedBytesPerOp              *float64 `json:"allocatedBytesPerOp"`
	}
	readGolden(t, "sample-24618369617.json", &golden)
	compared := 0
	for _, g := range golden {
		module := strings.Split(g.File, "/")[3]
		job, _, _ := strings.Cut(g.DisplayInfo[strings.LastIndex(g.DisplayInfo, ": ")+2:], " [")
		if i := strings.Index(g.DisplayInfo, "': "); i >= 0 {
			job, _, _ = strings.Cut(g.DisplayInfo[i+3:], " [")
		}
		var time, alloc map[string]string
		for _, r := range stats {
			if r["run"] != "24618369617" || r["module"] != module || r["benchmark"] != g.FullName || !sameJob(r["job"], job) {
				continue
			}
			switch r["metric"] {
			case "time":
				if time != nil {
					t.Errorf("%s [%s] is there twice", g.FullName, job)
				}
				time = r
			case "alloc_bytes":
				alloc = r
			}
		}
		if time == nil {
			t.Errorf("%s %s [%s] is missing", module, g.FullName, job)
			continue
		}
		compared++
		if time["n"] != strconv.Itoa(g.N) || time["cpu_model"] != g.CPU || time["unit"] != "ns" || time["ci_level"] != "0.99" {
			t.Errorf("%s: n %s on %s in %s at %s, want %d on %s", g.FullName, time["n"], time["cpu_model"], time["unit"], time["ci_level"], g.N, g.CPU)
		}
		for name, want := range map[string]float64{"mean": g.Mean, "median": g.Median, "stddev": g.StdDev, "min": g.Min, "max": g.Max,
			"q1": g.Q1, "q3": g.Q3, "p95": g.P95, "ci_lo": g.CI99StudentLower, "ci_hi": g.CI99StudentUpper} {
			close11(t, g.FullName+" "+name, time[name], want)
		}
		if g.AllocatedBytesPerOp != nil {
			close11(t, g.FullName+" alloc", alloc["mean"], *g.AllocatedBytesPerOp)
		}
	}
	if compared != 73 {
		t.Errorf("%d benchmarks compared, want 73", compared)
	}
}

// sameJob compares a job's text with one that may hold a generated id.
func sameJob(job, raw string) bool {
	if strings.HasPrefix(raw, "Job-") {
		_, chars, _ := strings.Cut(raw, "(")
		raw = "Job(" + chars
	}
	return job == strings.TrimSpace(raw)
}

func close11(t *testing.T, what, got string, want float64) {
	t.Helper()
	v, err := strconv.ParseFloat(got, 64)
	if err != nil || math.Abs(v-want) > 1e-11*math.Abs(want) {
		t.Errorf("%s = %s, want %v", what, got, want)
	}
}

// encinaCopies looks at the run that was archived three times.
func encinaCopies(t *testing.T, runs, stats []map[string]string) {
	const id = "24098337578"
	var paths []string
	for _, r := range runs {
		if r["run"] == id {
			paths = append(paths, r["origin_path"]+" "+r["duplicate_of"])
		}
	}
	want := []string{"benchmarks/2026-04-07/" + id + " ", "benchmarks/2026-04-08/" + id + " " + id, "benchmarks/2026-04-09/" + id + " " + id}
	if strings.Join(paths, "\n") != strings.Join(want, "\n") {
		t.Errorf("copies: %q", paths)
	}
	seen := map[string]bool{}
	for _, r := range stats {
		if r["run"] != id {
			continue
		}
		k := r["module"] + r["benchmark"] + r["job"] + r["metric"]
		if seen[k] {
			t.Fatalf("%s is counted twice", k)
		}
		seen[k] = true
	}
	if len(seen) == 0 {
		t.Error("no row of the run")
	}
}

// encinaLoad checks the load tests: 23 reports are 22 measurements, since one
// was uploaded under two names; zeros are kept and divide nothing.
func encinaLoad(t *testing.T, runs, stats []map[string]string) {
	for _, r := range runs {
		if r["run"] == "24187942613" && r["benchmarks"] != "22" {
			t.Errorf("%s scenarios, want 22", r["benchmarks"])
		}
	}
	rows := 0
	for _, r := range stats {
		if r["run"] != "24187942613" || r["metric"] != "latency" {
			continue
		}
		rows++
		if r["median"] != "0" || r["cv"] == "" || strings.Contains(r["cv"], "Inf") {
			t.Errorf("%s: median %s, cv %s", r["benchmark"], r["median"], r["cv"])
		}
		if r["ci_lo"] != "" {
			t.Errorf("%s has an interval nobody measured", r["benchmark"])
		}
	}
	if rows != 22 {
		t.Errorf("%d latency rows, want 22", rows)
	}
	for metric, want := range map[string]string{"throughput": "240000", "error_rate": "0", "failed": "0"} {
		n := 0
		for _, r := range stats {
			if r["run"] == "24187942613" && r["metric"] == metric {
				n++
				if r["mean"] != want {
					t.Errorf("%s: %s = %s, want %s", r["benchmark"], metric, r["mean"], want)
				}
			}
		}
		if n != 22 {
			t.Errorf("%d rows of %s, want 22", n, metric)
		}
	}
}

// encinaTwice recalculates twice: the second commit must change no byte.
func encinaTwice(t *testing.T, repo string) {
	tree := func() string {
		mustCall(t, "recalc", "--remote", repo)
		out, err := exec.Command("git", "--git-dir", repo, "rev-parse", "gh-pages^{tree}").Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if a, b := tree(), tree(); a != b {
		t.Errorf("two recalculations differ: %s %s", a, b)
	}
}
