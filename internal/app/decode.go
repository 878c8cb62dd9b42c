package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"perfband/internal/decode"
	"perfband/internal/perf"
)

// decodeFiles prints what the named files hold. Every file is tried; the exit
// code is 1 if any could not be read.
func decodeFiles(ctx context.Context, s *session) error {
	if len(s.opt.args) == 0 {
		return usagef("decode needs files or folders: perfband decode PATH...")
	}
	kind, err := s.kind()
	if err != nil {
		return err
	}
	if err := checkDecoder(s.opt.str("format")); err != nil {
		return err
	}
	w := bufio.NewWriterSize(s.log.Raw(), 1<<16)
	defer w.Flush()
	for _, arg := range s.opt.args {
		fsys, names, explicit, err := filesOf(s.abs(arg))
		if err == nil && len(names) == 0 {
			err = errors.New("the folder holds no file")
		}
		if err != nil {
			s.log.Diagnostic(perf.Diagnostic{Severity: perf.Error, Code: "no-results", Where: perf.Where{File: arg}, What: "not readable", Why: reason(err).Error()})
			s.fail(exitFailed)
			continue
		}
		suites, diags, err := decode.Files(fsys, names, decode.Options{Format: s.opt.str("format"), Module: s.opt.str("module"), Kind: kind, Explicit: explicit, Histories: true, Context: ctx})
		if err != nil {
			return fmt.Errorf("decode %s: %w", arg, err)
		}
		show := func(file string) string {
			if explicit {
				return arg
			}
			return filepath.ToSlash(filepath.Join(arg, file))
		}
		for _, d := range diags {
			if d.Where.File != "" {
				d.Where.File = show(d.Where.File)
			}
			if d.Severity == perf.Error {
				s.fail(exitFailed)
			}
			s.log.Diagnostic(d)
		}
		for i := range suites {
			suites[i].File = show(suites[i].File)
		}
		if err := decode.JSONLines(w, suites); err != nil {
			return fmt.Errorf("print results of %s: %w", arg, err)
		}
	}
	return nil
}

// filesOf lists what a path means: the file itself, or all files of a folder.
func filesOf(p string) (fsys fs.FS, names []string, explicit bool, err error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, nil, false, err
	}
	if !info.IsDir() {
		return os.DirFS(filepath.Dir(p)), []string{filepath.Base(p)}, true, nil
	}
	fsys = os.DirFS(p)
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	return fsys, names, false, err
}

// kind is the --kind option; "" for auto.
func (s *session) kind() (perf.Kind, error) {
	switch k := perf.Kind(strings.ToLower(s.opt.str("kind"))); k {
	case perf.Bench, perf.Load:
		return k, nil
	case "auto", "":
		return "", nil
	default:
		return "", usagef("--kind %s: must be bench, load or auto", k)
	}
}
