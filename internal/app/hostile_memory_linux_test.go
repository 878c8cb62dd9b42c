package app_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"perfband/internal/gitdb/gittest"
)

// TestHostileMemory publishes the largest results, site included, and bounds
// the memory that the whole program ever had.
func TestHostileMemory(t *testing.T) {
	needGit(t)
	bin, err := program()
	if err != nil {
		t.Fatal(err)
	}
	event := func(output string) string {
		return fmt.Sprintf(`{"Action":"output","Package":"p","Output":"%s\n"}`+"\n", output)
	}
	for _, tc := range []struct {
		name  string
		file  string
		parts func() []string // of the file
		rows  int
		code  int
		mib   int64
	}{
		{"200,000 benchmarks", "a.txt", func() []string { return []string{string(goLines(200_000))} }, 200_000, 0, 800},
		{"a line of 100 MB", "a.txt", func() []string {
			return []string{"BenchmarkA 1 2 ns/op\n", strings.Repeat("x", 100_000_000), "\nBenchmarkB 1 2 ns/op\n"}
		}, 2, 1, 230},
		{"a JSON line of 100 MB", "a.json", func() []string {
			return []string{event("BenchmarkA 1 2 ns/op"), event(strings.Repeat("x", 100_000_000)), event("BenchmarkB 1 2 ns/op")}
		}, 2, 1, 230},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, repo := t.TempDir(), gittest.NewRepo(t)
			writeParts(t, filepath.Join(dir, "out", tc.file), tc.parts())
			var said bytes.Buffer
			cmd := exec.Command(bin, "publish", "--remote", repo, "--run-id", "1", "--results", "out", "--started", "2026-04-01T10:00:00Z")
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()} // no GOGC, no GOMEMLIMIT
			forgetPeak()
			if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if code := cmd.ProcessState.ExitCode(); code != tc.code || !strings.Contains(said.String(), fmt.Sprintf(" files: %d results", tc.rows)) ||
				!strings.Contains(said.String(), "Site written") {
				t.Errorf("exit %d, want %d with %d results and a site\n%.3000s", code, tc.code, tc.rows, said.String())
			}
			peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
			t.Logf("peak %d MiB", peak)
			if peak > tc.mib {
				t.Errorf("peak of %d MiB, more than %d", peak, tc.mib)
			}
		})
	}
}

func writeParts(t *testing.T, name string, parts []string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range parts {
		if _, err := f.WriteString(p); err != nil {
			t.Fatal(err)
		}
	}
}

// forgetPeak gives memory back and resets this process's own peak: Linux counts
// what a process was before it became another program as memory of that one.
func forgetPeak() {
	debug.FreeOSMemory()
	// Where it is refused, what is measured can only be larger.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}
