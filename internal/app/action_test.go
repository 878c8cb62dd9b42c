package app

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"perfband/internal/derive"
	"perfband/internal/perf"
)

// actionFile is what of action.yml is compared with the code.
type actionFile struct {
	Inputs map[string]struct {
		Description string `yaml:"description"`
		Required    bool   `yaml:"required"`
		Default     string `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Description string `yaml:"description"`
	} `yaml:"outputs"`
	Runs struct {
		Using      string `yaml:"using"`
		Image      string `yaml:"image"`
		Entrypoint string `yaml:"entrypoint"`
	} `yaml:"runs"`
}

func readAction(t *testing.T) actionFile {
	t.Helper()
	data, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a actionFile
	if err := yaml.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestActionFile: every input is a flag of a mode of the action, with the same
// default, and every such flag an input.
func TestActionFile(t *testing.T) {
	a := readAction(t)
	flags := map[string]string{"mode": ""}
	for _, m := range modes() {
		if !m.action {
			continue
		}
		for _, name := range m.options {
			o := m.find(name)
			if o.cli {
				continue
			}
			flags[name] = o.value
			if o.arg == "" && o.value == "" {
				flags[name] = "false"
			}
		}
	}
	flags["token"] = "${{ github.token }}"
	inputs := map[string]string{}
	for name, in := range a.Inputs {
		inputs[name] = in.Default
		if in.Description == "" {
			t.Errorf("input %s has no description", name)
		}
	}
	if d := cmp.Diff(flags, inputs); d != "" {
		t.Errorf("flags and inputs differ (-code +action.yml):\n%s", d)
	}
	if !a.Inputs["mode"].Required {
		t.Error("mode must be required")
	}
	if a.Runs.Using != "docker" || a.Runs.Image != "Dockerfile" || a.Runs.Entrypoint != "/perfband" {
		t.Errorf("runs: %+v", a.Runs)
	}
}

// TestActionDefaults: the runner sets every input, to its default where the
// user gave none. That must be the same as giving none.
func TestActionDefaults(t *testing.T) {
	a := readAction(t)
	for _, m := range modes() {
		if !m.action {
			continue
		}
		o, err := parseInputs(m, func(name string) string {
			key, ok := strings.CutPrefix(name, "INPUT_")
			in, known := a.Inputs[strings.ToLower(key)]
			if !ok || !known {
				t.Errorf("%s reads %s, which action.yml does not declare", m.name, name)
			}
			return in.Default
		})
		if err != nil {
			t.Fatal(err)
		}
		delete(o.given, "token")
		if len(o.given) > 0 {
			t.Errorf("%s: the defaults count as given: %v", m.name, o.given)
		}
	}
}

// TestActionOutputs: what action.yml promises is what the code sets.
func TestActionOutputs(t *testing.T) {
	var set []string
	for _, file := range []string{"publish.go", "verdict.go"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for name := range readAction(t).Outputs {
			if strings.Contains(string(data), `"`+name+`":`) || strings.Contains(string(data), `["`+name+`"]`) {
				set = append(set, name)
			}
		}
	}
	slices.Sort(set)
	set = slices.Compact(set)
	var promised []string
	for name := range readAction(t).Outputs {
		promised = append(promised, name)
	}
	slices.Sort(promised)
	if d := cmp.Diff(promised, set); d != "" {
		t.Errorf("outputs (-action.yml +code):\n%s", d)
	}
}

// TestVerdictOutputs: the outputs tell of the worst a run shows, and nothing of
// runs that are in no trend.
func TestVerdictOutputs(t *testing.T) {
	run := func(slower, faster, unchanged, inconclusive int) *derive.Run {
		return &derive.Run{Claims: derive.Claims{Slower: slower, Faster: faster, Unchanged: unchanged, Inconclusive: inconclusive}}
	}
	for _, c := range []struct {
		runs                 []*derive.Run
		worst                perf.Outcome
		slower, inconclusive int
	}{
		{nil, perf.None, 0, 0},
		{[]*derive.Run{run(0, 0, 0, 0)}, perf.None, 0, 0},
		{[]*derive.Run{run(0, 1, 0, 0)}, perf.Faster, 0, 0},
		{[]*derive.Run{run(0, 1, 1, 0)}, perf.Unchanged, 0, 0},
		{[]*derive.Run{run(0, 1, 5, 3)}, perf.Inconclusive, 0, 3},
		{[]*derive.Run{run(0, 1, 5, 3), run(2, 0, 0, 1)}, perf.Slower, 2, 4},
	} {
		worst, slower, inconclusive := verdictOf(c.runs)
		if worst != c.worst || slower != c.slower || inconclusive != c.inconclusive {
			t.Errorf("%s, %d slower, %d inconclusive; want %s, %d, %d", worst, slower, inconclusive, c.worst, c.slower, c.inconclusive)
		}
	}
}

// TestNewest: benchmarks and load tests of the newest run in a trend.
func TestNewest(t *testing.T) {
	run := func(id string, kind perf.Kind, in bool) *derive.Run {
		r := &derive.Run{ID: id + ".1", Kind: kind, InTrend: in}
		r.Meta.Run.RunID = id
		return r
	}
	d := &derive.Derived{Runs: []*derive.Run{run("1", perf.Bench, true), run("2", perf.Bench, true), run("2", perf.Load, true), run("3", perf.Bench, false)}}
	got := newest(d)
	if len(got) != 2 || got[0] != d.Runs[2] || got[1] != d.Runs[1] {
		t.Errorf("newest: %+v", got)
	}
}
