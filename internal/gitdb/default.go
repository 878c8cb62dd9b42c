package gitdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// branchRefs is where branches stand among the refs.
const branchRefs = "refs/heads/"

func (b *branch) Default(ctx context.Context) (string, error) {
	name, err := b.store.defaultBranch(ctx)
	if err != nil {
		return "", fmt.Errorf("read default branch: %w", err)
	}
	return name, nil
}

// defaultBranch reads what HEAD points to; servers name it among what they can
// do, and only if that branch exists.
func (s *smart) defaultBranch(ctx context.Context) (string, error) {
	caps, err := s.capabilities(ctx)
	if err != nil {
		return "", err
	}
	for _, ref := range caps.Get(capability.SymRef) {
		if target, ok := strings.CutPrefix(ref, "HEAD:"+branchRefs); ok {
			return target, nil
		}
	}
	return "", nil
}

func (l *local) defaultBranch(ctx context.Context) (string, error) {
	text, err := os.ReadFile(filepath.Join(l.dir, "HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: "+branchRefs)
	if !ok {
		return "", nil
	}
	h, err := l.head(ctx, plumbing.NewBranchReferenceName(name))
	if err != nil || h.IsZero() {
		return "", err
	}
	return name, nil
}
