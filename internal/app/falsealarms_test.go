package app_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perfband/internal/history"
	"perfband/internal/replay"
)

// The runs of the shared archive with real measurements, and the last ones of
// them, between which the code hardly changed. One class of benchmarks did.
var (
	mediumRuns = []string{"24033468884", "24074432288", "24098337578", "24278920724", "24289398778", "24296106993", "24302647964"}
	unchanged  = mediumRuns[4:]
)

const changed = "DelegateInvocationBenchmarks"

func unchangedHistory(t *testing.T) *replay.History {
	t.Helper()
	h, err := replay.FromStats(strings.NewReader(mustCall(t, "export", "--remote", encinaRepo(t), "--what", "stats")), mediumRuns, changed)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// sevenYears is a history of tiny benchmarks measured on hosted runners.
func sevenYears(t *testing.T) []*replay.History {
	t.Helper()
	file := root + "/../shared/fixtures/history/github-action-benchmark-data.js"
	_, err := os.Stat(file)
	need(t, "corpus", err == nil)
	file, err = filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	hs, err := replay.FromDecoded(strings.NewReader(mustCall(t, "decode", file)))
	if err != nil {
		t.Fatal(err)
	}
	return hs
}

// TestFalseAlarmsKnownMachines: of unchanged code on known machines hardly
// anything is claimed, and of planted changes most are found.
func TestFalseAlarmsKnownMachines(t *testing.T) {
	t.Parallel()
	a := replay.KnownMachines(unchangedHistory(t), history.DefaultSettings(), len(mediumRuns)-len(unchanged))
	share := func(k, n int) float64 { return 100 * float64(k) / float64(n) }
	t.Logf("%+v", a)
	if a.Rates.Judged < 1150 {
		t.Errorf("only %d results judged", a.Rates.Judged)
	}
	if s := share(a.Rates.Claimed, a.Rates.Judged); s > 1.2 {
		t.Errorf("%.2f %% of unchanged results claimed", s)
	}
	if s := share(a.Rates.Confirmed, a.Rates.Judged); s > 0.1 {
		t.Errorf("%.2f %% of unchanged results confirmed", s)
	}
	if a.Factor[2] != 1.2 || a.Once[2].Planted < 1000 || a.Twice[2].Planted < 400 {
		t.Fatalf("planted %+v %+v", a.Once, a.Twice)
	}
	if s := 100 * a.Once[2].Share(); s < 92 {
		t.Errorf("%.1f %% of changes of 20 %% found", s)
	}
	if s := 100 * a.Twice[2].Share(); s < 90 {
		t.Errorf("%.1f %% of changes of 20 %% in two runs confirmed", s)
	}
}

// TestVerdictsOfUnchangedCode is the same without planting, through everything a
// user sees, all metrics. On a machine without a history nothing is claimed.
func TestVerdictsOfUnchangedCode(t *testing.T) {
	t.Parallel()
	repo := encinaRepo(t)
	cpu := map[string]map[string]bool{} // by key, over all runs so far
	model := map[string]string{}
	for _, r := range table(t, mustCall(t, "export", "--remote", repo, "--what", "stats")) {
		model[r["run"]+"|"+r["module"]+"|"+r["benchmark"]+"|"+r["job"]] = r["cpu_model"]
	}
	judged, claimed, confirmed := map[string]int{}, map[string]int{}, map[string]int{}
	for _, id := range mediumRuns {
		for _, r := range table(t, mustCall(t, "export", "--remote", repo, "--what", "verdicts", "--run", id)) {
			if strings.Contains(r["benchmark"], changed) {
				continue
			}
			key := r["module"] + "|" + r["benchmark"] + "|" + r["job"]
			m := model[id+"|"+key]
			claim := r["outcome"] == "slower" || r["outcome"] == "faster"
			if r["metric"] == "time" && !cpu[key][m] && (claim || r["lo"] != "" || r["outcome"] == "unchanged") {
				t.Errorf("run %s: %s is %s on %s, of which there is no earlier result", id, key, r["outcome"], m)
			}
			if cpu[key] == nil {
				cpu[key] = map[string]bool{}
			}
			if r["metric"] == "time" {
				cpu[key][m] = true
			}
			if r["lo"] != "" && r["level"] == "" {
				t.Errorf("run %s: %s has an interval of no level", id, key)
			}
			for _, u := range unchanged {
				if u == id && r["lo"] != "" {
					judged[r["metric"]]++
					if claim {
						claimed[r["metric"]]++
					}
					if r["state"] == "confirmed" {
						confirmed[r["metric"]]++
					}
				}
			}
		}
	}
	t.Logf("judged %v, claimed %v, confirmed %v", judged, claimed, confirmed)
	for _, metric := range []string{"time", "alloc_bytes"} {
		if judged[metric] < 1150 || float64(claimed[metric]) > 0.012*float64(judged[metric]) || float64(confirmed[metric]) > 0.001*float64(judged[metric]) {
			t.Errorf("%s: of %d judged %d claimed, %d confirmed", metric, judged[metric], claimed[metric], confirmed[metric])
		}
	}
}

// TestADRRule: taken literally, the rule of two runs in a row calls 24 % of
// unchanged benchmarks slower. That is why it is not the default.
func TestADRRule(t *testing.T) {
	t.Parallel()
	repo := encinaRepo(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "perf.yml"), []byte("verdict:\n  rule: adr\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	results := map[string]map[string]string{} // by key: state in each run
	runs := mediumRuns[3:]
	for _, id := range runs {
		for _, r := range table(t, mustCall(t, "export", "--remote", repo, "--what", "verdicts", "--run", id, "--config", filepath.Join(dir, "perf.yml"))) {
			if key := r["module"] + "|" + r["benchmark"] + "|" + r["job"]; r["metric"] == "time" && !strings.Contains(key, changed) {
				if results[key] == nil {
					results[key] = map[string]string{}
				}
				results[key][id] = r["outcome"] + " " + r["state"]
			}
		}
	}
	n, confirmed := 0, 0
	for _, states := range results {
		for i := 2; i < len(runs); i++ {
			if states[runs[i-2]] != "" && states[runs[i-1]] != "" && states[runs[i]] != "" {
				n++
				if states[runs[i]] == "slower confirmed" {
					confirmed++
				}
			}
		}
	}
	share := 100 * float64(confirmed) / float64(n)
	t.Logf("%d of %d confirmed: %.2f %%", confirmed, n, share)
	if n < 1400 || share < 23 || share > 25 {
		t.Errorf("%d of %d confirmed: %.2f %%, expected 24 %% within 1", confirmed, n, share)
	}
}

// TestFalseAlarmsUnknownMachines: seven years of hosted runners.
func TestFalseAlarmsUnknownMachines(t *testing.T) {
	t.Parallel()
	set := history.DefaultSettings()
	name, rule := replay.Judge(set, set.AlphaUnknown)
	p := replay.UnknownMachines(sevenYears(t), name, rule)
	n := float64(p.Rates.Results)
	t.Logf("%+v", p)
	if n < 4000 || p.Steps.Planted < 1900 {
		t.Errorf("%v results, %d planted steps", n, p.Steps.Planted)
	}
	if s := 100 * float64(p.Rates.Slower) / n; s > 0.64 {
		t.Errorf("%.2f %% suspected slower", s)
	}
	if s := 100 * float64(p.Rates.ConfSlow) / n; s > 0.1 {
		t.Errorf("%.2f %% confirmed slower", s)
	}
	if s := 100 * p.Steps.Share(); s < 80 {
		t.Errorf("%.1f %% of lasting steps found within three results", s)
	}
}

// TestMethodologyTable: the tables of the document are what the command prints.
func TestMethodologyTable(t *testing.T) {
	t.Parallel()
	var want bytes.Buffer
	if err := replay.Report(&want, unchangedHistory(t), unchanged, sevenYears(t)); err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
	file := root + "/docs/methodology.md"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no measured tables", file)
	}
	if got == want.String() {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the tables of docs/methodology.md are not what is measured now; run go test ./internal/app -run MethodologyTable -update\n%s", want.String())
}
