package app_test

import (
	"context"
	"crypto/rand"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"perfband/internal/app"
)

const root = "../.."

// run is the program as main starts it, with a fixed clock and version.
func run() {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	os.Exit(app.Main(context.Background(), app.Env{
		Args: os.Args[1:], Getenv: os.Getenv, Dir: dir, Stdout: os.Stdout, Stderr: os.Stderr,
		Now:    func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) },
		Random: rand.Reader, Demo: os.DirFS(os.Getenv("PERFBAND_TEST_ROOT")), Version: "test",
	}))
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"perfband": run})
}

// need skips a test whose part is missing, unless it is required.
func need(t *testing.T, part string, there bool) {
	t.Helper()
	if there {
		return
	}
	if req := os.Getenv("PERFBAND_REQUIRE"); req == "all" || slices.Contains(strings.Split(req, ","), part) {
		t.Fatalf("%s is required and missing", part)
	}
	t.Skipf("%s is missing", part)
}

func needGit(t *testing.T) {
	_, err := exec.LookPath("git")
	need(t, "git", err == nil)
}

// TestScripts runs the program from outside, on real repositories.
func TestScripts(t *testing.T) {
	needGit(t)
	abs, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: root + "/testdata/e2e",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PERFBAND_TEST_ROOT", abs+"/"+root)
			e.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
			return nil
		},
	})
}
