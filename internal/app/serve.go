package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"perfband/internal/derive"
	"perfband/internal/site"
)

// serve derives the site and serves it until the context ends.
func serve(ctx context.Context, s *session) error {
	d, err := s.deriveTip(ctx, derive.SiteReach)
	if err != nil {
		return err
	}
	files, err := site.Render(d)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "perfband-site-")
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := writeFiles(dir, files); err != nil {
		return err
	}
	return s.serveFiles(ctx, os.DirFS(dir))
}

// serveFiles serves a folder on the --listen address, or the next free port.
func (s *session) serveFiles(ctx context.Context, fsys fs.FS) error {
	l, err := listen(s.opt.str("listen"))
	if err != nil {
		return err
	}
	s.log.Info("Serving the site on http://" + l.Addr().String() + "/ until Ctrl-C")
	srv := &http.Server{Handler: http.FileServerFS(fsys), ReadHeaderTimeout: 10 * time.Second}
	stopped := context.AfterFunc(ctx, func() { srv.Close() })
	defer stopped()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the site: %w", err)
	}
	return nil
}

// listen opens the address, trying the following ports when it is taken.
func listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	n, convErr := strconv.Atoi(port)
	if err != nil || convErr != nil || n < 0 || n > 65535 {
		return nil, usagef("--listen %s: must be HOST:PORT, for example 127.0.0.1:8080", addr)
	}
	const tries = 50
	for i := range tries {
		l, e := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(n+i)))
		if e == nil {
			return l, nil
		}
		if err = e; n == 0 || n+i >= 65535 {
			break
		}
	}
	return nil, fmt.Errorf("listen on %s: %w", addr, err)
}
