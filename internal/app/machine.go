package app

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"perfband/internal/derive"
	"perfband/internal/perf"
)

// environment resolves --env: "here" looks at this machine, a file is read,
// "" knows nothing, since the publishing machine need not be the measuring one.
func (s *session) environment() (perf.EnvFile, error) {
	switch from := s.opt.str("env"); from {
	case "":
		return perf.EnvFile{}, nil
	case "here":
		return perf.EnvFile{Env: thisMachine()}, nil
	default:
		data, err := os.ReadFile(s.abs(from))
		if err != nil {
			return perf.EnvFile{}, usagef("--env %s: %v. Give a %s or the word here", from, reason(err), perf.EnvFileName)
		}
		f, err := derive.ReadEnvFile(data)
		if err != nil {
			return perf.EnvFile{}, usagef("--env %s: %v", from, err)
		}
		return f, nil
	}
}

// abs makes a path of the user's absolute.
func (s *session) abs(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(s.env.Dir, p)
}

// reason is the cause of a file error without the path it repeats.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// thisMachine describes the machine perfband runs on, as far as it can be read.
func thisMachine() perf.Env {
	e := perf.Env{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUCount: runtime.NumCPU()}
	e.CPUModel = fieldOf("/proc/cpuinfo", "model name", ":")
	if kb, err := strconv.ParseInt(strings.TrimSuffix(fieldOf("/proc/meminfo", "MemTotal", ":"), " kB"), 10, 64); err == nil {
		e.MemoryBytes = kb << 10
	}
	e.OSVersion = strings.Trim(fieldOf("/etc/os-release", "PRETTY_NAME", "="), `"`)
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		e.Kernel = strings.TrimSpace(string(b))
	}
	if v := goVersion(); v != "" {
		e.Toolchain = map[string]string{"go": v}
	}
	return e
}

// goVersion is the version of the installed Go, "" if there is none. It is
// asked outside the workspace, where no file can make it fetch another one.
func goVersion() string {
	cmd := exec.Command("go", "env", "GOVERSION")
	cmd.Dir, cmd.Env = os.TempDir(), []string{"GOTOOLCHAIN=local"}
	for _, name := range []string{"PATH", "HOME"} {
		cmd.Env = append(cmd.Env, name+"="+os.Getenv(name))
	}
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "go")
}

// fieldOf reads the first "name<sep>value" line of a system file, "" if none.
func fieldOf(file, name, sep string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	sc := bufio.NewScanner(bytes.NewReader(b))
	for sc.Scan() {
		if k, v, ok := strings.Cut(sc.Text(), sep); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}
