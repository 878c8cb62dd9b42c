package app

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
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
	for _, file := range []string{"publish.go", "recalc.go"} {
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
