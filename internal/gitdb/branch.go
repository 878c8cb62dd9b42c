package gitdb

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// objects is where a repository's objects are read. Its methods are safe for
// concurrent use.
type objects interface {
	// object is the content of one object, checked against its id. It is the
	// caller's to keep and change.
	object(ctx context.Context, id plumbing.Hash, kind plumbing.ObjectType) ([]byte, error)
	// list makes the folders of a tree, at any depth, cheap to read.
	list(ctx context.Context, tree plumbing.Hash) error
	// announce tells which blobs will be read, in this order.
	announce(blobs []plumbing.Hash)
}

// store is a repository.
type store interface {
	objects
	// head is what a ref points to, zero when there is no such ref.
	head(ctx context.Context, ref plumbing.ReferenceName) (plumbing.Hash, error)
	// defaultBranch is the branch HEAD points to, "" when there is none.
	defaultBranch(ctx context.Context) (string, error)
	// push stores a pack and moves the ref from one commit to another. It returns
	// ErrMoved when the ref is elsewhere and errMissing when the repository lacks
	// objects that the pack does not hold. It marks the pack as kept when the
	// repository has its objects, whether or not the ref could be moved.
	push(ctx context.Context, ref plumbing.ReferenceName, from, to plumbing.Hash, p *packWriter) error
}

// errMissing says that a pack without the objects sent before was not enough.
var errMissing = errors.New("the repository lacks objects sent earlier")

type branch struct {
	store  store
	name   string
	ref    plumbing.ReferenceName
	notice func(text string)

	mu   sync.Mutex
	kept map[plumbing.Hash]bool // objects that earlier pushes left in the repository
}

func (b *branch) Head(ctx context.Context) (Rev, error) {
	h, err := b.store.head(ctx, b.ref)
	if err != nil {
		return "", fmt.Errorf("read tip of branch %s: %w", b.name, err)
	}
	return revOf(h), nil
}

func (b *branch) Tree(ctx context.Context, rev Rev) (*Tree, error) {
	commit, err := parseRev(rev)
	if err != nil {
		return nil, fmt.Errorf("read branch %s: %w", b.name, err)
	}
	root, err := rootTree(ctx, b.store, commit)
	if err != nil {
		return nil, fmt.Errorf("read branch %s at %s: %w", b.name, rev, err)
	}
	return newTree(ctx, b.store, root), nil
}

// rootTree is the tree of a commit, zero for no commit.
func rootTree(ctx context.Context, o objects, commit plumbing.Hash) (plumbing.Hash, error) {
	if commit.IsZero() {
		return plumbing.ZeroHash, nil
	}
	data, err := o.object(ctx, commit, plumbing.CommitObject)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return commitTree(data)
}

func (b *branch) Commit(ctx context.Context, base Rev, c Change) (Rev, error) {
	// One push at a time: a second one could only find that the first moved the tip.
	b.mu.Lock()
	defer b.mu.Unlock()
	from, err := parseRev(base)
	if err != nil {
		return "", fmt.Errorf("commit to branch %s: %w", b.name, err)
	}
	rev, err := b.commit(ctx, from, c)
	if errors.Is(err, errMissing) {
		b.kept = nil
		rev, err = b.commit(ctx, from, c)
	}
	if err != nil {
		return "", fmt.Errorf("commit to branch %s: %w", b.name, err)
	}
	return rev, nil
}

// commit builds and pushes once.
func (b *branch) commit(ctx context.Context, from plumbing.Hash, c Change) (Rev, error) {
	root, err := rootTree(ctx, b.store, from)
	if err != nil {
		return "", err
	}
	p, err := newPackWriter(b.kept)
	if err != nil {
		return "", err
	}
	defer p.close()
	builder := &builder{ctx: ctx, objects: b.store, pack: p}
	tree, err := builder.build(root, c)
	if err != nil {
		return "", err
	}
	if tree == root && !from.IsZero() {
		return revOf(from), nil
	}
	to, err := p.object(plumbing.CommitObject, encodeCommit(c, tree, from))
	if err != nil {
		return "", err
	}
	if err := p.finish(); err != nil {
		return "", err
	}
	err = b.store.push(ctx, b.ref, from, to, p)
	if p.kept {
		b.keep(p)
	}
	if err != nil {
		return "", err
	}
	for _, text := range builder.mended {
		b.notice("branch " + b.name + ": " + text)
	}
	return revOf(to), nil
}

// keep remembers what need not be sent again.
func (b *branch) keep(p *packWriter) {
	if b.kept == nil {
		b.kept = make(map[plumbing.Hash]bool, len(p.entries))
	}
	for _, e := range p.entries {
		b.kept[e.id] = true
	}
}
