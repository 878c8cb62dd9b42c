package decode

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"perfband/internal/perf"
)

// corpusFormats maps the corpus's names of formats, which are also its folders,
// to ours.
var corpusFormats = map[string]string{
	"renaissance":     "renaissance",
	"dacapo":          "dacapo",
	"benchmarkdotnet": "benchmarkdotnet",
	"nbomber":         "nbomber",
	"go":              "go",
	"custom":          "json",
	"gab-datajs":      "github-action-benchmark",

	"hyperfine":         "hyperfine",
	"pytest":            "pytest-benchmark",
	"jmh":               "jmh",
	"kotlinx-benchmark": "jmh",
	"cargo-bench":       "libtest",
	"benchmarkjs":       "benchmarkjs",
	"dart":              "dart",
	"tinybench":         "tinybench",
	"vitest-bench":      "vitest-bench",
	"googlebenchmark":   "google-benchmark",
	"catch2":            "catch2",
	"luau":              "luau",
	"julia":             "julia",
}

// corpusFormat is the format of a file in a folder of the corpus; "" for one
// that is not known yet.
func corpusFormat(named, file string) string {
	if named == "custom" && strings.HasPrefix(file, "bmf-") {
		return "bmf"
	}
	return corpusFormats[named]
}

// expected is the reading a file should get.
type expected struct {
	Kind, Format, Parse string
	Input               []string
	Count               *int
	Distinct            *int
	Samples             []expectedSample
	Errors              []expectedError
}

type expectedSample struct {
	Name     string
	Identity map[string]any
	Metrics  []struct {
		Metric, Stat, Unit, Better string
		Value                      float64
		Orig                       any
		OrigUnit                   *string `json:"orig_unit"`
	}
	N      *float64
	Spread []expectedSpread
}

type expectedSpread struct {
	Kind, Unit    string
	Value         any
	Level, Lo, Hi *float64
}

type expectedError struct {
	Name *string
	Kind string
}

// corpusDir is the folder with the shared corpus; the test is skipped without
// one unless it is required.
func corpusDir(t *testing.T) string {
	dir := os.Getenv("PERFBAND_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		missingPart(t, "corpus", "no decoder corpus at "+dir)
	}
	return dir
}

func missingPart(t *testing.T, part, why string) {
	for _, p := range strings.Split(os.Getenv("PERFBAND_REQUIRE"), ",") {
		if p == part || p == "all" {
			t.Fatalf("%s, but PERFBAND_REQUIRE asks for %s", why, part)
		}
	}
	t.Skip(why)
}

// errata lists expected readings that are proven wrong, by "folder/file".
func errata(t *testing.T) map[string]string {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "errata.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ File, Proof string }
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range list {
		out[e.File] = e.Proof
	}
	return out
}

func TestCorpus(t *testing.T) {
	dir := corpusDir(t)
	wrong := errata(t)
	cases := 0
	for _, folder := range append(slices.Sorted(maps.Keys(corpusFormats)), "bugs") {
		wants, err := filepath.Glob(filepath.Join(dir, folder, "*.expected.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			data, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			var e expected
			if err := json.Unmarshal(data, &e); err != nil {
				t.Fatalf("%s: %v", want, err)
			}
			file := strings.TrimSuffix(filepath.Base(want), ".expected.json")
			format := corpusFormat(e.Format, file)
			if format == "" || e.Kind != "" && e.Kind != "parse" {
				continue
			}
			cases++
			t.Run(folder+"/"+file, func(t *testing.T) {
				if proof, ok := wrong[folder+"/"+file]; ok {
					t.Skipf("the expected reading is wrong: %s", proof)
				}
				checkCorpusFile(t, filepath.Join(dir, folder), file, format, &e)
			})
		}
	}
	if cases == 0 {
		t.Errorf("no case of these formats in %s", dir)
	}
}

func checkCorpusFile(t *testing.T, dir, file, format string, e *expected) {
	suites, diagnostics, err := Files(os.DirFS(dir), []string{file}, Options{Explicit: true, Histories: true, Module: "m"})
	if err != nil {
		t.Fatal(err)
	}
	named, _, err := Files(os.DirFS(dir), []string{file}, Options{Explicit: true, Histories: true, Module: "m", Format: format})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := lines(t, named), lines(t, suites); got != want {
		t.Errorf("the format by name reads differently from detection:\n%s\nwant\n%s", got, want)
	}
	var results []*perf.Benchmark
	rows, keys := 0, map[string]bool{}
	var lost []*perf.Benchmark
	for i := range suites {
		for k := range suites[i].Benchmarks {
			b := &suites[i].Benchmarks[k]
			if b.Status != perf.OK {
				lost = append(lost, b)
				continue
			}
			results = append(results, b)
			rows += b.Rows
			keys[suites[i].Key(k).ID()] = true
		}
	}
	distinct := len(keys)
	if format == googleBenchmark.Name {
		rows, distinct = googleRows(results)
	}
	if e.Count != nil && rows != *e.Count {
		t.Errorf("count = %d, want %d", rows, *e.Count)
	}
	if e.Distinct != nil && distinct != *e.Distinct {
		t.Errorf("distinct = %d, want %d", distinct, *e.Distinct)
	}
	refused := slices.ContainsFunc(diagnostics, func(d perf.Diagnostic) bool { return d.Severity == perf.Error })
	switch e.Parse {
	case "ok", "partial":
		if len(results) == 0 {
			t.Errorf("no result, want parse %s", e.Parse)
		}
	case "reject":
		if len(results) > 0 || !refused {
			t.Errorf("%d results, refused %v; want the file refused", len(results), refused)
		}
	case "no-result", "empty", "aux":
		if len(results) > 0 {
			t.Errorf("%d results, want none", len(results))
		}
	default:
		t.Errorf("unknown parse %q", e.Parse)
	}
	for i := range e.Samples {
		among := results
		if format == googleBenchmark.Name {
			among = googleRowOf(t, results, &e.Samples[i])
		}
		checkSample(t, among, filepath.Join(dir, file), &e.Samples[i])
	}
	checkErrors(t, e.Errors, lost, diagnostics)
}

func lines(t *testing.T, suites []perf.Suite) string {
	var b strings.Builder
	if err := JSONLines(&b, suites); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkSample finds the one result with the sample's name and identity and
// compares every number.
func checkSample(t *testing.T, results []*perf.Benchmark, file string, s *expectedSample) {
	t.Helper()
	var found []*perf.Benchmark
	for _, b := range results {
		if b.DisplayName() == s.Name && identityFits(b, s.Identity) {
			found = append(found, b)
		}
	}
	if len(found) != 1 {
		t.Errorf("%d results named %q with identity %v, want 1", len(found), s.Name, s.Identity)
		return
	}
	b := found[0]
	for _, m := range s.Metrics {
		name := m.Metric
		if name == "value" {
			name = customPrefix + name
		}
		got := b.Metric(name)
		if got == nil {
			t.Errorf("%s: no metric %s", s.Name, name)
			continue
		}
		unit, scale := corpusUnit(m.Unit)
		if m.Unit == "custom" {
			unit = ""
			if m.OrigUnit != nil {
				unit = perf.Unit(*m.OrigUnit)
			}
		}
		if m.Better == "from-measure" { // what the tool documents for the measure
			documented := bmfMetric(m.Metric)
			unit, m.Better = documented.Unit, string(documented.Better)
		}
		if got.Unit != unit {
			t.Errorf("%s %s: unit %s, want %s", s.Name, name, got.Unit, unit)
		}
		if m.Better == "from-config" {
			checkDirections(t, file, s.Name)
		} else if string(got.Better) != m.Better {
			t.Errorf("%s %s: better %s, want %s", s.Name, name, got.Better, m.Better)
		}
		if m.OrigUnit != nil && got.Source.Unit != *m.OrigUnit {
			t.Errorf("%s %s: unit in the file %q, want %q", s.Name, name, got.Source.Unit, *m.OrigUnit)
		}
		values := statOf(got, m.Stat, s.N)
		if !slices.ContainsFunc(values, func(v float64) bool { return near(v, m.Value*scale) }) {
			t.Errorf("%s %s %s = %v, want %v", s.Name, name, m.Stat, values, m.Value*scale)
		}
		if orig, ok := origNumber(m.Orig); ok && !slices.ContainsFunc(values, func(v float64) bool { return near(v/got.Source.Scale, orig) }) {
			t.Errorf("%s %s %s in the file's unit = %v, want %v", s.Name, name, m.Stat, values, orig)
		}
	}
	if s.N != nil && !countFits(b, int64(*s.N)) {
		t.Errorf("%s: n is not %v", s.Name, *s.N)
	}
	for _, sp := range s.Spread {
		checkSpread(t, b, s.Name, sp)
	}
}

// identityFits compares the parts that the expected reading names. Where the
// file has null we have nothing.
func identityFits(b *perf.Benchmark, want map[string]any) bool {
	for key, v := range want {
		switch key {
		case "params", "parameters":
			if v == nil {
				continue
			}
			for name, value := range v.(map[string]any) {
				if p, _ := paramOf(b.Params, name); p != fmt.Sprint(value) {
					return false
				}
			}
			continue
		case "Job":
			raw, ok := paramOf(b.Identity, "Job")
			if !ok {
				raw = b.Job
			}
			if raw != v {
				return false
			}
			continue
		case "procs_suffix":
			key = "procs"
		}
		if parts, ok := v.([]any); ok {
			var path []string
			for _, part := range parts {
				path = append(path, fmt.Sprint(part))
			}
			v = strings.Join(path, "/")
		}
		got, ok := paramOf(b.Identity, key)
		if v == nil && ok || v != nil && got != fmt.Sprint(v) {
			return false
		}
	}
	return true
}

func paramOf(params []perf.Param, name string) (string, bool) {
	for _, p := range params {
		if p.Name == name {
			return p.Value, true
		}
	}
	return "", false
}

// corpusUnit maps the corpus's base units to ours.
func corpusUnit(unit string) (perf.Unit, float64) {
	switch unit {
	case "s":
		return perf.Nanoseconds, 1e9
	case "bytes":
		return perf.Bytes, 1
	case "bytes/s":
		return perf.BytesPerSecond, 1
	case "percent":
		return perf.Ratio, 0.01
	}
	return perf.Unit(unit), 1
}

// statOf lists the values that may be meant: the reported statistic, else the
// samples of as many operations, else the mean of all.
func statOf(m *perf.Metric, stat string, n *float64) []float64 {
	switch stat {
	case "avg":
		stat = "mean"
	case "med":
		stat = "median"
	case "estimate", "real": // the only one there is
		stat = "mean"
	}
	stat = strings.NewReplacer("p(", "p", ")", "").Replace(stat)
	if r, ok := m.Find(stat); ok {
		return []float64{r.Value}
	}
	values := m.Values()
	switch {
	case stat == "last" && len(values) > 0:
		return values[len(values)-1:]
	case stat == "mean_all":
		stat = "mean"
	}
	if stat != "mean" {
		return nil
	}
	if r, ok := m.Find("value"); ok {
		return []float64{r.Value}
	}
	var out []float64
	for _, s := range m.Samples {
		if n != nil && s.Stage == perf.Measured && s.Ops == int64(*n) {
			out = append(out, s.Value)
		}
	}
	if len(out) == 0 && len(m.Values()) > 0 {
		mean, _ := meanStdDev(m.Values())
		out = []float64{mean}
	}
	return out
}

func near(got, want float64) bool {
	return got == want || math.Abs(got-want) <= 1e-6*math.Abs(want)
}

// origNumber reads the value as printed in the file; ok is false when that is
// no plain number.
func origNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		number, _ := splitUnit(v)
		f, err := strconv.ParseFloat(number, 64)
		return f, err == nil
	}
	return 0, false
}

// countFits accepts n as the samples, the operations of a sample, or the
// requests.
func countFits(b *perf.Benchmark, n int64) bool {
	for i := range b.Metrics {
		m := &b.Metrics[i]
		if len(m.Values()) == int(n) || m.Name == perf.Requests && m.Reported[0].Value == float64(n) {
			return true
		}
		for _, s := range m.Samples {
			if s.Stage == perf.Measured && s.Ops == n {
				return true
			}
		}
		for _, r := range m.Reported {
			if r.N == n {
				return true
			}
		}
	}
	return false
}

func checkSpread(t *testing.T, b *perf.Benchmark, name string, want expectedSpread) {
	t.Helper()
	if want.Kind == "range-as-text" {
		if got, _ := paramOf(b.Identity, "range"); got != want.Value {
			t.Errorf("%s: range %q, want %q", name, got, want.Value)
		}
		return
	}
	metric := b.Metric(perf.Time)
	if want.Unit == "custom" {
		metric = &b.Metrics[0]
	}
	for _, other := range []string{perf.Latency, perf.Throughput} {
		if metric == nil {
			metric = b.Metric(other)
		}
	}
	if metric == nil {
		t.Errorf("%s: no time, latency or throughput for the spread", name)
		return
	}
	_, scale := corpusUnit(want.Unit)
	if want.Kind == "error_half_width_99.9" || want.Kind == "error" {
		ci := metric.Reported[0].CI
		lo, okLo := ci.Lo.Get()
		hi, okHi := ci.Hi.Get()
		v, isNumber := want.Value.(float64)
		if okLo != isNumber || okHi != isNumber || isNumber && (ci.Level != 0.999 || math.Abs((hi-lo)/2-v*scale) > 1e-5*v*scale) {
			t.Errorf("%s: interval %+v, want half a width of %v", name, ci, want.Value)
		}
		return
	}
	if want.Kind == "rme_percent" {
		r := metric.Reported[0]
		lo, _ := r.CI.Lo.Get()
		hi, _ := r.CI.Hi.Get()
		if v, _ := want.Value.(float64); r.CI.Level != 0.95 || !near((hi-lo)/2/r.Value, v*scale) {
			t.Errorf("%s: interval %+v, want a relative margin of %v %%", name, r.CI, want.Value)
		}
		return
	}
	if strings.HasPrefix(want.Kind, "max-min") { // the file does not say which
		want.Kind = "spread"
	}
	if want.Kind == "stddev_percent" { // the column's name; it holds half an interval
		r := metric.Reported[0]
		lo, _ := r.CI.Lo.Get()
		hi, _ := r.CI.Hi.Get()
		if v, _ := want.Value.(float64); !near((hi-lo)/2/r.Value, v*scale) {
			t.Errorf("%s: interval %+v, want a half width of %v %%", name, r.CI, want.Value)
		}
		return
	}
	if want.Kind == "ci_mean" {
		want.Kind = "ci"
	}
	if want.Kind != "ci" {
		r, ok := metric.Find(want.Kind)
		if v, isNumber := want.Value.(float64); ok != isNumber || ok && !near(r.Value, v*scale) {
			t.Errorf("%s: %s %v (there: %v), want %v", name, want.Kind, r.Value, ok, want.Value)
		}
		return
	}
	ci := metric.Reported[0].CI
	if want.Level != nil {
		level := *want.Level
		if level == 12 { // the tool's number for 99.9 %
			level = 0.999
		}
		if ci.Level != level {
			t.Errorf("%s: ci level %v, want %v", name, ci.Level, level)
		}
	}
	for _, bound := range []struct {
		got  perf.Num
		want *float64
	}{{ci.Lo, want.Lo}, {ci.Hi, want.Hi}} {
		v, ok := bound.got.Get()
		if ok != (bound.want != nil) || ok && !near(v, *bound.want*scale) {
			t.Errorf("%s: ci bound %v, want %v", name, bound.got, bound.want)
		}
	}
}

// checkDirections reads the file under the two names that give a direction.
func checkDirections(t *testing.T, file, name string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for alias, want := range map[string]perf.Better{aliasSmaller: perf.Lower, aliasBigger: perf.Higher, "json": perf.UnknownBetter} {
		suites, _, err := File(filepath.Base(file), data, Options{Format: alias})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range suites[0].Benchmarks {
			if b.Name == name && b.Metrics[0].Better != want {
				t.Errorf("%s as %s: better %s, want %s", name, alias, b.Metrics[0].Better, want)
			}
		}
	}
}

// checkErrors demands that every expected error is told, and no other failure
// or problem.
func checkErrors(t *testing.T, want []expectedError, lost []*perf.Benchmark, diagnostics []perf.Diagnostic) {
	t.Helper()
	usedLost, usedDiag := map[int]bool{}, map[int]bool{}
	for _, e := range want {
		ok := false
		for i, b := range lost {
			if strings.HasPrefix(b.Reason, e.Kind+":") && (e.Name == nil || b.DisplayName() == *e.Name || b.Name == *e.Name) {
				ok, usedLost[i] = true, true
			}
		}
		for i, d := range diagnostics {
			if d.Code == e.Kind && (e.Name == nil || strings.Contains(d.What, *e.Name)) {
				ok, usedDiag[i] = true, true
			}
		}
		if !ok {
			name := "<any>"
			if e.Name != nil {
				name = *e.Name
			}
			t.Errorf("error %s of %s is not told; failed: %d, diagnostics: %v", e.Kind, name, len(lost), diagnostics)
		}
	}
	for i, b := range lost {
		if !usedLost[i] {
			t.Errorf("unexpected failed result %s: %s", b.Name, b.Reason)
		}
	}
	for i := range diagnostics {
		if d := &diagnostics[i]; !usedDiag[i] && d.Severity != perf.Notice {
			t.Errorf("unexpected diagnostic: %v", d)
		}
	}
}
