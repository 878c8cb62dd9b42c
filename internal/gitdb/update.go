package gitdb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"perfband/internal/limits"
)

// UpdateOptions are the options of [Update]; the zero value will do.
type UpdateOptions struct {
	// Spread is the longest of the random pauses before the first try: jobs of a
	// matrix end together and would all meet. 0 is none.
	Spread time.Duration
	// Moved, if set, is told before each further try, counted from 2.
	Moved func(try int)
}

// Update commits what attempt makes of the tip. When somebody else moves the
// tip meanwhile, attempt is called again with the new one, after a random
// pause, up to [limits.PushTries] times; the error then wraps [ErrMoved]. An
// attempt which returns [ErrNothing] ends Update with the tip it saw.
func Update(ctx context.Context, b Branch, opt UpdateOptions, attempt func(ctx context.Context, tip Rev, t *Tree) (Change, error)) (Rev, error) {
	if opt.Spread > 0 {
		if err := sleep(ctx, rand.N(opt.Spread)); err != nil {
			return "", err
		}
	}
	for try := 1; ; try++ {
		rev, err := updateOnce(ctx, b, attempt)
		if !errors.Is(err, ErrMoved) {
			return rev, err
		}
		if try == limits.PushTries {
			return "", fmt.Errorf("push refused %d times, other jobs kept moving the branch: %w", try, err)
		}
		if err := pause(ctx, try); err != nil {
			return "", err
		}
		if opt.Moved != nil {
			opt.Moved(try + 1)
		}
	}
}

func updateOnce(ctx context.Context, b Branch, attempt func(context.Context, Rev, *Tree) (Change, error)) (Rev, error) {
	tip, err := b.Head(ctx)
	if err != nil {
		return "", err
	}
	t, err := b.Tree(ctx, tip)
	if err != nil {
		return "", err
	}
	c, err := attempt(ctx, tip, t)
	if errors.Is(err, ErrNothing) {
		return tip, nil
	}
	if err != nil {
		return "", err
	}
	return b.Commit(ctx, tip, c)
}

// pause waits a random time below a bound which doubles with every try, so
// that writers who lost to each other do not meet again.
func pause(ctx context.Context, try int) error {
	return sleep(ctx, rand.N(min(limits.RetryPause<<(try-1), limits.RetryPauseMax)))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
