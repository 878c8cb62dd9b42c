package app

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"perfband/internal/derive"
	"perfband/internal/gh"
	"perfband/internal/site"
)

// recalc derives everything again from the raw branch and rewrites the site.
func recalc(ctx context.Context, s *session) error {
	return s.rewrite(ctx, wholeSite, true)
}

// writeBadge writes the badge's files only.
func writeBadge(ctx context.Context, s *session) error {
	return s.rewrite(ctx, func(d *derive.Derived) ([]site.File, bool, error) {
		files, err := site.Badge(d.Badge)
		return files, false, err
	}, false)
}

// rewrite derives from the raw branch, from nothing if fresh, and writes what
// pages makes of it.
func (s *session) rewrite(ctx context.Context, pages render, fresh bool) error {
	event, _ := gh.ReadContext(s.env.Getenv)
	if err := s.checkTargets(event.DefaultBranch); err != nil {
		return err
	}
	opt, err := s.deriveOptions()
	if err != nil {
		return err
	}
	raw, err := s.branch("raw-branch")
	if err != nil {
		return err
	}
	name, err := raw.Default(ctx)
	if err != nil {
		return err
	}
	if err := s.checkBranches(name); err != nil {
		return err
	}
	if rev, err := raw.Head(ctx); err != nil {
		return err
	} else if rev == "" {
		return fmt.Errorf("branch %s does not exist: publish a run first", s.opt.str("raw-branch"))
	}
	p, err := s.publishSite(ctx, raw, opt, pages, fresh, nil)
	if err != nil {
		return err
	}
	if s.opt.flag("dry-run") {
		s.log.Infof("Dry run: %d runs derived, %d bytes, nothing written", len(p.derived.Runs), p.bytes)
		return nil
	}
	s.log.Infof("%d runs derived from %s at %.12s; branch %s is at %.12s", len(p.derived.Runs), s.opt.str("raw-branch"), p.rawTip,
		s.opt.str("site-branch"), p.commit)
	return s.setAll(s.siteOutputs(p, newest(p.derived)))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
