// Package gitdb is one branch of a git repository as a store of files: read it
// at a revision, and add to it with compare-and-swap.
//
// It is opinionated about three things. An append costs what it adds, not what
// the branch already holds: no clone, no checkout, no history, only the folders
// on the way to the new files. A branch is never forced: a commit lands on the
// tip it was made for or not at all ([ErrMoved]). Content is what its id says:
// every object received is hashed before it is used.
//
// A remote is a smart-HTTP server or a bare repository on this machine; neither
// needs a git program. This is the only package which imports go-git, and it
// takes its plumbing only: hashes, pkt-lines, protocol messages, pack indexes.
package gitdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Rev is a commit id of 40 hex digits; "" means that the branch does not exist.
type Rev string

// ID is the id of a git object, 40 hex digits. Equal ids mean equal content,
// for files and for whole folders.
type ID string

// What callers branch on.
var (
	// ErrMoved says that the branch's tip is not the base of the commit.
	ErrMoved = errors.New("the branch has moved")
	// ErrNothing is returned by an attempt of [Update] which finds nothing to do.
	ErrNothing = errors.New("nothing to change")
	// ErrAuth says that the server does not accept the token, or wants one.
	ErrAuth = errors.New("not authenticated")
	// ErrForbidden says that the token is known but may not do this.
	ErrForbidden = errors.New("not allowed")
	// ErrNotFound says that there is no such repository, or none the token may see.
	ErrNotFound = errors.New("no such repository")
	// ErrRefused says that the server refused a push for a reason of its own (a
	// protected branch, a hook): trying again is no use.
	ErrRefused = errors.New("push refused")
)

// Auth is how to speak to a server; the zero value is anonymous.
type Auth struct {
	Token string // a token for git over HTTPS, sent as the password of x-access-token
}

// String never shows the token.
func (a Auth) String() string {
	if a.Token == "" {
		return "anonymous"
	}
	return "token ***"
}

// GoString never shows the token.
func (a Auth) GoString() string { return a.String() }

// Remote names a repository.
type Remote struct {
	URL    string // http(s)://…, or the path of a bare repository (file:// is understood)
	Auth   Auth   // for HTTP
	CAFile string // PEM certificates trusted besides the system's; "" for none
	// Notice, if set, is told one line about things that work but cost more than
	// they should, and about faults of a branch that a commit mended. It may be
	// called from any goroutine.
	Notice func(text string)
}

// Branch is one branch of a repository. Its methods are safe for concurrent
// use. Open makes one; a decorator may wrap it.
type Branch interface {
	// Head is the tip: "" when the branch, or the whole repository, is empty.
	Head(ctx context.Context) (Rev, error)
	// Tree is a view of the files at a revision, the empty tree for "". It reads
	// lazily, under ctx, for as long as the view is used.
	Tree(ctx context.Context, rev Rev) (*Tree, error)
	// Commit puts the change on base as one commit and moves the tip to it; a base
	// of "" creates the branch without a parent. It returns ErrMoved when the tip
	// is not base. A change which alters nothing returns base and makes no commit.
	Commit(ctx context.Context, base Rev, c Change) (Rev, error)
	// Default is the name of the repository's default branch, the one HEAD points
	// to: "" when HEAD does not say or that branch does not exist.
	Default(ctx context.Context) (string, error)
}

// Change is what a commit does. Files which are not named stay as they are,
// whatever they are (links and submodules too); entries that git itself refuses,
// of which Notice is told, are dropped or put in order.
type Change struct {
	Message string
	When    time.Time // author and committer time, to the second
	Author  string    // "" for perfband
	Email   string    // "" for perfband@localhost
	Put     []File    // files to add or replace
	// Replace is a folder which shall afterwards hold exactly the files of Put
	// below it; "." is the whole tree, "" replaces nothing.
	Replace string
}

// File is one file of a change. Content is streamed: memory does not grow with
// its size.
type File struct {
	Path string // slash-separated, relative, as fs.ValidPath has it
	Size int64  // bytes that Open's reader gives; another number is an error
	// Open is called once for each try to push.
	Open func() (io.ReadCloser, error)
}

// Bytes is a file whose content is at hand.
func Bytes(path string, content []byte) File {
	return File{Path: path, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

// Open names a branch of a remote. It checks the names and, for a path, that a
// bare repository is there; a server is first spoken to when something is read.
func Open(r Remote, name string) (Branch, error) {
	ref := plumbing.NewBranchReferenceName(name)
	if !ValidBranch(name) {
		return nil, fmt.Errorf("open branch %q: not a valid branch name", name)
	}
	if r.Notice == nil {
		r.Notice = func(string) {}
	}
	scheme, rest, isURL := strings.Cut(r.URL, "://")
	var s store
	var err error
	switch {
	case r.URL == "":
		err = errors.New("no remote is named: give the URL of a repository or the path of a bare one")
	case isURL && (scheme == "http" || scheme == "https"):
		s, err = newSmart(r)
	case isURL && scheme == "file":
		s, err = newLocal(filepath.FromSlash(rest))
	case isURL || looksLikeSSH(r.URL):
		err = fmt.Errorf("cannot speak to %q: give an http(s) URL or the path of a bare repository", r.URL)
	default:
		s, err = newLocal(r.URL)
	}
	if err != nil {
		return nil, fmt.Errorf("open branch %s: %w", name, err)
	}
	return &branch{store: s, name: name, ref: ref, notice: r.Notice}, nil
}

// ValidBranch reports whether git takes the name for a branch.
func ValidBranch(name string) bool {
	return name != "" && plumbing.NewBranchReferenceName(name).Validate() == nil
}

// looksLikeSSH tells git@host:path from a path on this machine.
func looksLikeSSH(s string) bool {
	host, _, ok := strings.Cut(s, ":")
	if !ok || len(host) < 2 || strings.ContainsAny(host, `/\`) {
		return false
	}
	_, err := os.Stat(s)
	return err != nil
}
