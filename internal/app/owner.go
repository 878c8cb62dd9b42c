package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"perfband/internal/perf"
)

// handOver notes what stands in the folders the action writes to, and returns a
// function that gives everything made there since to the owner of the
// workspace. The action runs as root, and root's files would stop the next
// checkout on a runner that lives longer than a job.
func (s *session) handOver() (done func()) {
	if !s.fromInputs || os.Geteuid() != 0 {
		return func() {}
	}
	info, err := os.Lstat(s.env.Dir)
	if err != nil {
		return func() {}
	}
	uid, gid, ok := ownerOf(info)
	if !ok || uid == 0 {
		return func() {}
	}
	var folders []made
	for _, option := range []string{"artifact-dir", "site-out"} {
		if slices.Contains(s.opt.mode.options, option) && s.opt.str(option) != "" {
			folders = append(folders, lookAt(s.abs(s.opt.str(option))))
		}
	}
	return func() {
		var failed []error
		for _, f := range folders {
			failed = append(failed, f.give(uid, gid))
		}
		if err := errors.Join(failed...); err != nil {
			s.log.Diagnostic(perf.Diagnostic{Severity: perf.Warning, Code: "owner", What: "some files in the workspace belong to root", Why: err.Error(),
				Do: "On a self-hosted runner remove them before the next checkout."})
		}
	}
}

// made finds what was made in a folder after lookAt.
type made struct {
	base   string          // the deepest folder on the way that was there
	top    string          // what to look through, below base
	before map[string]bool // what was there of it
}

// lookAt looks through a folder, which need not exist.
func lookAt(dir string) made {
	m := made{base: filepath.Clean(dir), top: ".", before: map[string]bool{}}
	for {
		if info, err := os.Lstat(m.base); err == nil && info.IsDir() {
			break
		}
		parent := filepath.Dir(m.base)
		if parent == m.base {
			break
		}
		m.base, m.top = parent, filepath.Base(m.base)
	}
	m.walk(func(_ *os.Root, name string) error {
		m.before[name] = true
		return nil
	})
	return m
}

// give changes the owner of what is new. Links are given away themselves and
// not followed, and nothing outside the folder can be reached.
func (m made) give(uid, gid int) error {
	return m.walk(func(root *os.Root, name string) error {
		if m.before[name] {
			return nil
		}
		return root.Lchown(name, uid, gid)
	})
}

func (m made) walk(do func(root *os.Root, name string) error) error {
	root, err := os.OpenRoot(m.base)
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(m.top); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fs.WalkDir(root.FS(), m.top, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return do(root, filepath.FromSlash(name))
	})
}
