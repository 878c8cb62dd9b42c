package decode

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"testing/synctest"
)

// stuckFS cancels a context when a file is read and then does not answer until
// it is told to.
type stuckFS struct {
	fs.FS
	cancel  context.CancelFunc
	release chan struct{}
}

func (s stuckFS) Open(name string) (fs.File, error) {
	f, err := s.FS.Open(name)
	return stuckFile{f, s}, err
}

type stuckFile struct {
	fs.File
	fs stuckFS
}

func (f stuckFile) Read([]byte) (int, error) {
	f.fs.cancel()
	<-f.fs.release
	return 0, errors.New("released")
}

// TestFilesStop: a decoder that takes its time does not keep Files from ending
// with its context.
func TestFilesStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails if Files waits
		ctx, cancel := context.WithCancel(t.Context())
		fsys := stuckFS{fstest.MapFS{"a.txt": {Data: []byte("BenchmarkA 1 2 ns/op\n")}, "b.txt": {Data: []byte("x")}}, cancel, make(chan struct{})}
		defer close(fsys.release)
		suites, diagnostics, err := Files(fsys, []string{"a.txt", "b.txt"}, Options{Context: ctx})
		if !errors.Is(err, context.Canceled) || suites != nil || diagnostics != nil {
			t.Errorf("Files = %v, %v, %v; want the context's error alone", suites, diagnostics, err)
		}
	})
}

// TestFilesStopped: of a context that has ended nothing is read.
func TestFilesStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		fsys := stuckFS{fstest.MapFS{"a.txt": {Data: []byte("x")}}, func() { t.Error("a file was read") }, make(chan struct{})}
		close(fsys.release)
		if _, _, err := Files(fsys, []string{"a.txt"}, Options{Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("Files: %v", err)
		}
		synctest.Wait()
	})
}
