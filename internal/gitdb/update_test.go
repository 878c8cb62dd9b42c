package gitdb_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"perfband/internal/gitdb"
	"perfband/internal/limits"

	"github.com/google/go-cmp/cmp"
)

// restless is a branch whose tip moves before every commit.
type restless struct {
	commits int
}

func (r *restless) Default(context.Context) (string, error)              { return "", nil }
func (r *restless) Head(context.Context) (gitdb.Rev, error)              { return "", nil }
func (r *restless) Tree(context.Context, gitdb.Rev) (*gitdb.Tree, error) { return nil, nil }
func (r *restless) Commit(context.Context, gitdb.Rev, gitdb.Change) (gitdb.Rev, error) {
	r.commits++
	return "", gitdb.ErrMoved
}

// TestUpdateGivesUp runs on a clock of its own: the pauses take no time.
func TestUpdateGivesUp(t *testing.T) {
	attempt := func(context.Context, gitdb.Rev, *gitdb.Tree) (gitdb.Change, error) { return gitdb.Change{}, nil }
	synctest.Test(t, func(t *testing.T) {
		b := &restless{}
		var told []int
		_, err := gitdb.Update(t.Context(), b, gitdb.UpdateOptions{Moved: func(try int) { told = append(told, try) }}, attempt)
		if !errors.Is(err, gitdb.ErrMoved) {
			t.Errorf("got %v, want ErrMoved", err)
		}
		if b.commits != limits.PushTries {
			t.Errorf("%d commits, want %d", b.commits, limits.PushTries)
		}
		if diff := cmp.Diff([]int{2, 3, 4, 5, 6, 7, 8, 9, 10}, told); diff != "" {
			t.Error(diff)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		b := &restless{}
		_, err := gitdb.Update(ctx, b, gitdb.UpdateOptions{Moved: func(int) { cancel(enough) }}, attempt)
		if !errors.Is(err, enough) || b.commits != 2 {
			t.Errorf("after %d commits: %v, want that it ends with %v", b.commits, err, enough)
		}
	})
}

// TestUpdateEndsWithOtherErrors does not try again what cannot get better.
func TestUpdateEndsWithOtherErrors(t *testing.T) {
	wrong := errors.New("wrong")
	b := &restless{}
	_, err := gitdb.Update(t.Context(), b, gitdb.UpdateOptions{}, func(context.Context, gitdb.Rev, *gitdb.Tree) (gitdb.Change, error) {
		return gitdb.Change{}, wrong
	})
	if !errors.Is(err, wrong) || b.commits != 0 {
		t.Errorf("after %d commits: %v", b.commits, err)
	}
}

// TestUpdateSpread: the first try waits for less than the spread, and a
// cancelled wait tries nothing.
func TestUpdateSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		attempt := func(context.Context, gitdb.Rev, *gitdb.Tree) (gitdb.Change, error) {
			calls++
			return gitdb.Change{}, gitdb.ErrNothing
		}
		var waited time.Duration
		for range 20 {
			start := time.Now()
			if _, err := gitdb.Update(context.Background(), &restless{}, gitdb.UpdateOptions{Spread: time.Hour}, attempt); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(start); d >= time.Hour {
				t.Errorf("waited %v", d)
			}
			waited += time.Since(start)
		}
		if waited == 0 || calls != 20 {
			t.Errorf("%d calls, waited %v in all", calls, waited)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := gitdb.Update(ctx, &restless{}, gitdb.UpdateOptions{Spread: time.Hour}, attempt); err == nil || calls != 20 {
			t.Errorf("after cancelling: %v, %d calls", err, calls)
		}
	})
}
