package app_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/goccy/go-yaml"
)

// runner starts steps in the image as GitHub's runner starts a container
// action, and reads what they say as it does.
type runner struct {
	image  string
	dir    string // of the folders that are mounted
	env    map[string]string
	inputs map[string]string // of action.yml, with their defaults
	uid    int               // owner of the workspace
}

// mounts are the folders of the runner by their names in the container.
var mounts = map[string]string{
	"home": "/github/home", "workflow": "/github/workflow", "file_commands": "/github/file_commands",
	"workspace": "/github/workspace", "temp": "/github/runner_temp",
}

// newRunner makes the folders. The workspace belongs to the user that runners
// run as, where the test may give it away.
func newRunner(t *testing.T, image, event string) *runner {
	t.Helper()
	r := &runner{image: image, dir: t.TempDir(), inputs: map[string]string{}, uid: os.Getuid()}
	for name := range mounts {
		if err := os.Mkdir(filepath.Join(r.dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if r.uid == 0 {
		r.uid = 1001
		if err := os.Chown(r.workspace(), 1001, 1001); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(r.dir, "workflow", "event.json"), event)
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct{ Entrypoint string }
	}
	data, err := os.ReadFile(root + "/action.yml")
	if err == nil {
		err = yaml.Unmarshal(data, &action)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range action.Inputs {
		r.inputs[name] = in.Default
	}
	r.env = map[string]string{
		"HOME": "/github/home", "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "/github/workspace",
		"GITHUB_EVENT_PATH": "/github/workflow/event.json", "GITHUB_ACTION": "__self", "GITHUB_ACTOR": "alice",
		"GITHUB_REF": "refs/heads/main", "GITHUB_REF_NAME": "main", "GITHUB_REF_TYPE": "branch", "GITHUB_HEAD_REF": "", "GITHUB_BASE_REF": "",
		"GITHUB_EVENT_NAME": "push", "GITHUB_JOB": "measure", "GITHUB_WORKFLOW": "Benchmarks", "GITHUB_RUN_NUMBER": "3", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_REPOSITORY": "owner/repo", "GITHUB_REPOSITORY_OWNER": "owner", "GITHUB_RETENTION_DAYS": "90",
		"GITHUB_WORKFLOW_REF": "owner/repo/.github/workflows/b.yml@refs/heads/main", "GITHUB_ARTIFACTS": "", "GITHUB_ARTIFACTS_LIST": "",
		"RUNNER_OS": "Linux", "RUNNER_ARCH": "X64", "RUNNER_NAME": "r1", "RUNNER_ENVIRONMENT": "self-hosted", "RUNNER_TEMP": "/github/runner_temp",
		"RUNNER_TOOL_CACHE": "/opt/hostedtoolcache", "RUNNER_WORKSPACE": "/github", "ACTIONS_RESULTS_URL": "http://127.0.0.1:1/",
	}
	return r
}

func (r *runner) workspace() string { return filepath.Join(r.dir, "workspace") }

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// step is what the runner learns from a step.
type step struct {
	code     int
	log      string // both streams
	commands []command
	outputs  map[string]string
	summary  string
	files    string // of all file commands
}

// fileCommands are the variables of file commands and their files.
var fileCommands = map[string]string{
	"GITHUB_OUTPUT": "set_output_", "GITHUB_ENV": "set_env_", "GITHUB_PATH": "add_path_", "GITHUB_STATE": "save_state_",
	"GITHUB_STEP_SUMMARY": "step_summary_",
}

// run runs one step with some inputs that are not the defaults, and fails the
// test for anything that the runner would not let pass.
func (r *runner) run(t *testing.T, with, more map[string]string) step {
	t.Helper()
	env := maps.Clone(r.env)
	for name, value := range r.inputs {
		env["INPUT_"+strings.ToUpper(strings.ReplaceAll(name, " ", "_"))] = value
	}
	for name, value := range with {
		if _, ok := r.inputs[name]; !ok {
			t.Fatalf("action.yml has no input %s", name)
		}
		env["INPUT_"+strings.ToUpper(name)] = value
	}
	maps.Copy(env, more)
	file := func(variable string) string { return filepath.Join(r.dir, "file_commands", fileCommands[variable]+"x") }
	for variable, name := range fileCommands {
		write(t, file(variable), "")
		env[variable] = "/github/file_commands/" + name + "x"
	}
	args := []string{"run", "--rm", "--workdir", "/github/workspace", "--network", "host", "--entrypoint", "/perfband"}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		args = append(args, "-e", name) // the value goes by environment
	}
	for _, name := range slices.Sorted(maps.Keys(mounts)) {
		args = append(args, "-v", filepath.Join(r.dir, name)+":"+mounts[name])
	}
	cmd := exec.Command("docker", append(args, r.image)...)
	cmd.Env = os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	s := step{code: cmd.ProcessState.ExitCode(), log: stdout.String() + stderr.String()}
	if s.code > 3 {
		t.Fatalf("the container did not run: exit %d\n%s", s.code, s.log)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(s.log, "\r", "\n"), "\n") {
		if c, ok := parseCommand(line); ok {
			s.commands = append(s.commands, c)
		}
	}
	read := func(variable string) string {
		data, err := os.ReadFile(file(variable))
		if err != nil {
			t.Fatal(err)
		}
		s.files += string(data)
		return string(data)
	}
	var err error
	if s.outputs, err = parseFileCommand(read("GITHUB_OUTPUT")); err != nil {
		t.Errorf("GITHUB_OUTPUT: %v", err)
	}
	for _, variable := range []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE"} {
		if text := read(variable); text != "" {
			t.Errorf("%s is written: %q", variable, text)
		}
	}
	if s.summary = read("GITHUB_STEP_SUMMARY"); len(s.summary) > 1<<20 {
		t.Errorf("the summary has %d bytes: the runner drops it", len(s.summary))
	}
	return s
}

// strangers lists what in the workspace does not belong to its owner.
func (r *runner) strangers(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(r.workspace(), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if uid := info.Sys().(*syscall.Stat_t).Uid; int(uid) != r.uid {
			out = append(out, fmt.Sprintf("%s: %d", name, uid))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// command is a workflow command.
type command struct {
	name  string
	props map[string]string
	data  string
}

// registered are the commands a runner obeys; it compares without case.
var registered = []string{"internal-set-repo-path", "set-env", "set-output", "save-state", "add-path", "add-mask", "add-matcher",
	"remove-matcher", "warning", "error", "notice", "debug", "group", "endgroup", "echo", "stop-commands"}

// parseCommand finds a command in a line: ::name k=v,k=v::data at its start
// after blanks, or ##[name k=v;k=v]data anywhere.
func parseCommand(line string) (command, bool) {
	if rest, ok := strings.CutPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::"); ok {
		if head, data, ok := strings.Cut(rest, "::"); ok {
			if c, ok := newCommand(head, ",", data); ok {
				return c, true
			}
		}
	}
	if _, rest, ok := strings.Cut(line, "##["); ok {
		if head, data, ok := strings.Cut(rest, "]"); ok {
			return newCommand(head, ";", data)
		}
	}
	return command{}, false
}

var unescape = strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%3B", ";", "%5D", "]", "%25", "%")

func newCommand(head, separator, data string) (command, bool) {
	name, props, _ := strings.Cut(head, " ")
	c := command{strings.ToLower(name), map[string]string{}, unescape.Replace(data)}
	for p := range strings.SplitSeq(props, separator) {
		if key, value, ok := strings.Cut(p, "="); ok {
			c.props[strings.TrimSpace(key)] = unescape.Replace(value)
		}
	}
	return c, slices.Contains(registered, c.name)
}

// parseFileCommand reads name=value lines and name<<DELIMITER blocks, with the
// runner's errors.
func parseFileCommand(text string) (map[string]string, error) {
	out := map[string]string{}
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 {
		line := lines[0]
		lines = lines[1:]
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case line == "":
		case heredoc > 0 && (equals < 0 || heredoc < equals):
			end := slices.Index(lines, line[heredoc+2:])
			if end < 0 {
				return out, fmt.Errorf("no end of the value of %s", line[:heredoc])
			}
			out[line[:heredoc]] = strings.Join(lines[:end], "\n")
			lines = lines[end+1:]
		case equals > 0:
			out[line[:equals]] = line[equals+1:]
		default:
			return out, fmt.Errorf("no name and value: %q", line)
		}
	}
	return out, nil
}

// formsOf are the ways in which a secret may stand in a text: as it is,
// URL-encoded, and in base64 behind 0, 1 or 2 other bytes.
func formsOf(secret string) []string {
	forms := []string{secret, url.QueryEscape(secret)}
	for before, skip := range []int{0, 2, 3} {
		code := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		forms = append(forms, code[skip:len(code)-2])
	}
	return forms
}

func TestRunnerEmulation(t *testing.T) {
	for line, want := range map[string]string{
		"::error file=a,line=1::forged%0Aagain": "error map[file:a line:1] forged\nagain",
		" \t::set-output name=x::y":             "set-output map[name:x] y",
		"text ##[add-mask]a":                    "add-mask map[] a",
		"::unknown::##[Warning file=a;line=2]w": "warning map[file:a line:2] w",
		"x ::error::no":                         "",
		"::error no end":                        "",
	} {
		c, ok := parseCommand(line)
		if got := fmt.Sprint(c.name, " ", c.props, " ", c.data); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %v %s", line, ok, got)
		}
	}
	got, err := parseFileCommand("a=b<<c\nd<<E\nf=g\nEE\nE\n")
	if err != nil || fmt.Sprint(got) != "map[a:b<<c d:f=g\nEE]" {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{"a<<E\nb\n", "a\n"} {
		if got, err := parseFileCommand(bad); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}
