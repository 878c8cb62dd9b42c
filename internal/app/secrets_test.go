package app_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"perfband/internal/app"
	"perfband/internal/gitdb"
)

// secretRun is a publish call on files that hold secrets, as the runner makes it.
type secretRun struct {
	dir    string
	code   int
	stdout bytes.Buffer
	stderr bytes.Buffer
}

func publishSecrets(t *testing.T, files map[string]string, event string, env map[string]string) *secretRun {
	t.Helper()
	r := &secretRun{dir: t.TempDir()}
	if err := gitdb.Init(filepath.Join(r.dir, "owner/repo.git")); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		p := filepath.Join(r.dir, "ws/out", name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(r.dir, "event.json"), []byte(event), 0o644); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"INPUT_MODE": "publish", "INPUT_RESULTS": "out", "GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": filepath.Join(r.dir, "ws"),
		"GITHUB_SERVER_URL": "file://" + r.dir, "GITHUB_REPOSITORY": "owner/repo", "GITHUB_RUN_ID": "1", "GITHUB_RUN_ATTEMPT": "1", "GITHUB_SHA": strings.Repeat("a", 40), "GITHUB_EVENT_NAME": "push",
		"GITHUB_EVENT_PATH": filepath.Join(r.dir, "event.json"), "GITHUB_OUTPUT": filepath.Join(r.dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(r.dir, "summary")}
	maps.Copy(all, env)
	r.code = app.Main(context.Background(), app.Env{Getenv: func(name string) string { return all[name] }, Dir: r.dir, Stdout: &r.stdout, Stderr: &r.stderr,
		Now: func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }, Random: rand.Reader, Version: "test"})
	return r
}

// texts is everything a call left behind that others can read.
func (r *secretRun) texts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"stdout": r.stdout.String(), "stderr": r.stderr.String()}
	for _, branch := range []string{"perf-raw", "gh-pages"} {
		b, err := gitdb.Open(gitdb.Remote{URL: filepath.Join(r.dir, "owner/repo.git")}, branch)
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
		readAll(t, tree, branch+":", out)
	}
	for _, given := range []string{"ws/out", "event.json"} {
		os.RemoveAll(filepath.Join(r.dir, given))
	}
	readAll(t, os.DirFS(r.dir), "disk:", out)
	return out
}

func readAll(t *testing.T, fsys fs.FS, prefix string, out map[string]string) {
	t.Helper()
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, p)
		out[prefix+p] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHostileSecrets: a file of a tool that logs every secret there is. Nothing
// of it gets out, with or without its encodings.
func TestHostileSecrets(t *testing.T) {
	corpus := os.Getenv("PERFBAND_CORPUS")
	if corpus == "" {
		corpus = root + "/../shared/corpus"
	}
	raw, err := os.ReadFile(corpus + "/hostile/secrets/K10-raw-log.txt")
	need(t, "corpus", err == nil)
	const letters = "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7b"
	token, installation, aws := "own"+letters, "ghs"+"_"+letters[:36], letters[2:]+"+/"
	leak := strings.NewReplacer("{{GITHUB_TOKEN_VALUE}}", token, "{{GHS_40}}", installation, "{{AWS_SECRET_40}}", aws, "{{PEM}}", "RSA PRIVATE").Replace(string(raw))
	files := map[string]string{"leak.txt": leak, "fine.txt": "BenchmarkFine-4 \t 100\t 10 ns/op\n", "encoded.log": "x " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token)) + " " + url.QueryEscape(token)}
	event := `{"head_commit": {"id": "` + strings.Repeat("a", 40) + `", "message": "Use ` + installation + `", "author": {"name": "A ` + token + `"}}}`
	values := []string{token, installation, aws, url.QueryEscape(aws), "PRIVATE KEY"}
	for skip := range 3 {
		values = append(values, base64.RawStdEncoding.EncodeToString([]byte(token)[skip:])[:40])
	}
	for _, mode := range []string{"keep", "redact"} {
		t.Run(mode, func(t *testing.T) {
			r := publishSecrets(t, files, event, map[string]string{"INPUT_RAW": mode, "ACTIONS_RUNTIME_TOKEN": token})
			texts := r.texts(t)
			for name, text := range texts {
				for _, v := range values {
					if strings.Contains(text, v) {
						t.Errorf("%s holds a secret", name)
					}
				}
			}
			const folder = "perf-raw:benchmarks/"
			archived := map[string]string{}
			for name, text := range texts {
				if strings.HasPrefix(name, folder) && strings.HasSuffix(name, "/metadata.json") && (!strings.Contains(text, `"subject": "Use [redacted:github-token]"`) ||
					!strings.Contains(text, `"author": "A [redacted:run-token]"`)) {
					t.Errorf("metadata: %s", text)
				}
				if _, file, ok := strings.Cut(name, "/raw/main/"); ok && strings.HasPrefix(name, folder) {
					archived[file] = text
				}
			}
			if archived["fine.txt"] != files["fine.txt"] {
				t.Errorf("the good file is not archived: %q", archived)
			}
			if n := strings.Count(r.stdout.String(), "the results name people"); mode == "redact" && n != 1 {
				t.Errorf("%d notices about names, want 1", n)
			}
			switch mode {
			case "keep":
				if r.code != 1 || len(archived) != 1 || !strings.Contains(r.stdout.String(), "out/leak.txt:3:50: not archived") || !strings.Contains(r.stdout.String(), "encoded.log:1:23: not archived: the file holds a secret (run-token and 1 more)") {
					t.Errorf("exit %d, archived %q\n%s", r.code, archived, r.stdout.String())
				}
			case "redact":
				if got := archived["leak.txt"]; r.code != 0 || strings.Count(got, "\n") != strings.Count(leak, "\n") || strings.Count(got, "[redacted:") != 4 || !strings.Contains(got, "BenchmarkOk-4") || !strings.Contains(got, "@github.test/org") {
					t.Errorf("exit %d, archived %q\n%s", r.code, got, r.stdout.String())
				}
			}
		})
	}
}
