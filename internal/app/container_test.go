package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perfband/internal/gitdb/gittest"
)

// needImage is the name of the image to test, which .ci/run builds.
func needImage(t *testing.T) string {
	t.Helper()
	name := os.Getenv("PERFBAND_IMAGE")
	need(t, "container", name != "")
	return name
}

func docker(args ...string) (string, error) {
	out, err := exec.Command("docker", args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// TestImage: small, and nothing in it but the program.
func TestImage(t *testing.T) {
	image := needImage(t)
	text, err := docker("image", "inspect", "--format", "{{.Size}} {{json .Config.User}} {{json .Config.Entrypoint}}", image)
	if err != nil {
		t.Fatal(text)
	}
	size, rest, _ := strings.Cut(text, " ")
	if n, err := strconv.Atoi(size); err != nil || n >= 15_000_000 {
		t.Errorf("the image has %s bytes, want fewer than 15000000", size)
	}
	t.Logf("the image has %s bytes", size)
	if want := `"" ["/perfband"]`; rest != want {
		t.Errorf("user and entrypoint are %s, want %s", rest, want)
	}
	if out, err := docker("run", "--rm", "--network", "none", "--entrypoint", "/bin/sh", image, "-c", "true"); err == nil {
		t.Errorf("the image has a shell: %s", out)
	}
	if out, err := docker("run", "--rm", "--network", "none", image, "version"); err != nil || !strings.Contains(out, "perfband") {
		t.Errorf("version: %v, %s", err, out)
	}
}

// newToken is a token as GitHub's look; no such text stands in this file.
func newToken() string { return "ghs" + "_" + strings.Repeat("aZ3/+9", 6) }

// hostileCommit is what the API says of the measured commit.
const hostileCommit = `{"sha":"%s","commit":{"message":"##[add-mask]a\n::error::forged","author":{"name":"::warning::forged"},
"committer":{"date":"2026-04-01T09:00:00Z"}},"parents":[]}`

// server is a GitHub with one repository, owner/repo, on the loopback interface.
func server(t *testing.T, token string) *gittest.Server {
	t.Helper()
	return gittest.New(t, gittest.Options{Token: token, Before: func(w http.ResponseWriter, r *http.Request) bool {
		if commit, ok := strings.CutPrefix(r.URL.Path, "/api/v3/repos/owner/repo/commits/"); ok && r.Header.Get("Authorization") == "Bearer "+token {
			fmt.Fprintf(w, hostileCommit, commit)
			return true
		}
		var ok bool
		if r.URL.Path, ok = strings.CutPrefix(r.URL.Path, "/owner"); !ok {
			http.NotFound(w, r)
		}
		return !ok
	}})
}

const (
	measured = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	event    = `{"ref":"refs/heads/main","repository":{"id":1,"full_name":"owner/repo","default_branch":"main","owner":{"login":"owner"}}}`
)

// TestContainer runs the modes of the action in the image as the runner does,
// on results whose names attack every place they may be shown in.
func TestContainer(t *testing.T) {
	image := needImage(t)
	needGit(t)
	token := newToken()
	srv := server(t, token)
	base := strings.TrimSuffix(srv.URL, "/repo.git")
	r := newRunner(t, image, event)
	maps.Copy(r.env, map[string]string{"GITHUB_SERVER_URL": base, "GITHUB_API_URL": base + "/api/v3", "GITHUB_GRAPHQL_URL": base + "/api/graphql",
		"GITHUB_SHA": measured, "GITHUB_RUN_ID": "4711", "ACTIONS_RUNTIME_TOKEN": "runtime" + token, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "id" + token})
	r.inputs["token"] = token
	hostileResults(t, r)
	tree := func() string { return gittest.Git(t, srv.Repo, "", "rev-parse", "gh-pages^{tree}") }

	publish := map[string]string{"mode": "publish", "results": "results", "site-out": "build/site", "module": "::add-mask::b"}
	s := r.run(t, publish, nil)
	checkStep(t, r, s, token, false)
	if s.code != 1 { // names that are none are errors; everything else is published
		t.Errorf("publish: exit %d\n%s", s.code, s.log)
	}
	wanted := outputsOfAction(t)
	if d := cmp.Diff(wanted, slices.Sorted(maps.Keys(s.outputs))); d != "" {
		t.Fatalf("outputs (-action.yml +publish):\n%s\n%s", d, s.log)
	}
	for name, want := range map[string]string{"run-id": "4711.1", "verdict": "inconclusive", "slower": "0", "badge-color": "grey", "site-url": "", "summary-file": "perfband-out/summary.md",
		"raw-commit":  strings.TrimSpace(gittest.Git(t, srv.Repo, "", "rev-parse", "perf-raw")),
		"site-commit": strings.TrimSpace(gittest.Git(t, srv.Repo, "", "rev-parse", "gh-pages"))} {
		if got := s.outputs[name]; got != want {
			t.Errorf("output %s is %q, want %q", name, got, want)
		}
	}
	if n, err := strconv.Atoi(s.outputs["rows"]); err != nil || n < 20 {
		t.Errorf("output rows is %q", s.outputs["rows"])
	}
	if s.summary == "" {
		t.Error("there is no summary")
	}
	for _, name := range []string{"perfband-out/summary.md", "build/site/index.html"} {
		if _, err := os.Stat(filepath.Join(r.workspace(), name)); err != nil {
			t.Error(err)
		}
	}
	published := tree()

	t.Run("debug", func(t *testing.T) {
		s := r.run(t, publish, map[string]string{"RUNNER_DEBUG": "1", "GITHUB_RUN_ATTEMPT": "1"})
		checkStep(t, r, s, token, true)
		if tree() != published {
			t.Error("publishing the same once more changed the site")
		}
	})
	for _, mode := range []string{"recalc", "badge"} {
		t.Run(mode, func(t *testing.T) {
			s := r.run(t, map[string]string{"mode": mode}, nil)
			checkStep(t, r, s, token, false)
			if s.code != 0 || tree() != published {
				t.Errorf("exit %d, site changed: %v\n%s", s.code, tree() != published, s.log)
			}
			if d := cmp.Diff([]string{"badge-color", "inconclusive", "site-commit", "site-url", "slower", "verdict"}, slices.Sorted(maps.Keys(s.outputs))); d != "" {
				t.Errorf("outputs (-want +got):\n%s", d)
			}
		})
	}
	t.Run("not archived", func(t *testing.T) {
		s := r.run(t, map[string]string{"mode": "publish", "results": "results", "token": "wrong" + token}, map[string]string{"GITHUB_RUN_ID": "4712"})
		checkStep(t, r, s, "wrong"+token, false)
		kept, err := filepath.Glob(filepath.Join(r.workspace(), "perfband-out/raw/benchmarks/*/4712.1/metadata.json"))
		if s.code != 3 || err != nil || len(kept) != 1 {
			t.Errorf("exit %d, kept %v\n%s", s.code, kept, s.log)
		}
	})
	everything := gittest.Git(t, srv.Repo, "", "cat-file", "--batch-all-objects", "--batch")
	checkSecret(t, "the repository", everything, token)
	if !strings.Contains(everything, `::add-mask::a`) {
		t.Error("the hostile names are not archived as they are")
	}
}

// hostileResults writes the results: files in which names are attacks, the
// names of X05, which no decoder reads, in a form that is read and in one that
// is refused by name, and files whose own names are attacks.
func hostileResults(t *testing.T, r *runner) {
	t.Helper()
	dir := filepath.Join(r.workspace(), "results")
	if err := os.CopyFS(dir, os.DirFS(root+"/testdata/container/names")); err != nil {
		t.Fatal(err)
	}
	var source struct{ Results []struct{ Command string } }
	data, err := os.ReadFile(root + "/testdata/container/names/X05-hyperfine-workflow-commands.json")
	if err == nil {
		err = json.Unmarshal(data, &source)
	}
	if err != nil || len(source.Results) == 0 {
		t.Fatal(err)
	}
	for file, value := range map[string]int{"read.json": 100, "refused.json": -100} {
		var rows []map[string]any
		for _, res := range source.Results {
			rows = append(rows, map[string]any{"name": res.Command, "unit": "ns", "value": value})
		}
		list, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, file), string(list))
	}
	for _, name := range []string{"##[error]forged.txt", "::warning::forged.json", "a\n::add-mask::c.txt"} {
		write(t, filepath.Join(dir, name), "{\"broken\": ##[error]forged\n::error::forged\n")
	}
	err = filepath.WalkDir(r.workspace(), func(name string, _ os.DirEntry, err error) error {
		if err == nil && os.Getuid() == 0 {
			err = os.Lchown(name, r.uid, r.uid)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func outputsOfAction(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(root + "/action.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(data), "\noutputs:\n")
	text, _, _ = strings.Cut(text, "\nruns:\n")
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	if !ok || len(names) == 0 {
		t.Fatal("action.yml has no outputs")
	}
	slices.Sort(names)
	return names
}

var ownTitle = regexp.MustCompile(`^perfband: [a-z-]+$`)

// checkStep: the log holds our commands alone, the token is nowhere, and the
// workspace belongs to its owner.
func checkStep(t *testing.T, r *runner, s step, token string, debug bool) {
	t.Helper()
	masks := 0
	for _, c := range s.commands {
		ok := false
		switch c.name {
		case "add-mask":
			masks++
			ok = c.data == token && len(c.props) == 0
		case "group":
			ok = slices.Contains([]string{"Read results", "Archive", "Derive and write the site"}, c.data)
		case "endgroup":
			ok = c.data == ""
		case "error", "warning", "notice":
			ok = ownTitle.MatchString(c.props["title"])
		case "debug":
			ok = debug
		}
		if !ok {
			t.Errorf("the runner would obey %+v", c)
		}
	}
	if masks != 1 {
		t.Errorf("%d secrets masked, want the token alone", masks)
	}
	if at := strings.Index(s.log, "##["); at >= 0 {
		t.Errorf("the log holds an old command: %q", s.log[at:min(len(s.log), at+80)])
	}
	checkSecret(t, "the log", strings.Replace(s.log, "::add-mask::"+token+"\n", "", 1), token)
	checkSecret(t, "a file of the runner", s.files, token)
	for name := range mounts {
		files := contentOf(t, filepath.Join(r.dir, name))
		checkSecret(t, name, files, token)
	}
	if f := r.strangers(t); len(f) > 0 {
		t.Errorf("%d files are not of the workspace's owner: %q ...", len(f), f[0])
	}
}

// contentOf is the content and the names of every file below a folder.
func contentOf(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(name)
			fmt.Fprintf(&b, "%s\n%s\n", name, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func checkSecret(t *testing.T, where, text, secret string) {
	t.Helper()
	for _, form := range formsOf(secret) {
		if at := strings.Index(text, form); at >= 0 {
			t.Errorf("%s holds the token: %q", where, text[max(0, at-40):at])
		}
	}
}
