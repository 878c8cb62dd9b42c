package gitdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"perfband/internal/limits"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
)

// refusal is a server's answer to a push which did not move the ref.
type refusal struct {
	status   string // the report's word for it
	text     string // what it said besides, untrusted
	unpacked bool   // the objects arrived
}

func (r refusal) Error() string {
	s := "the server says " + r.status
	if r.text != "" {
		s += ":\n" + r.text
	}
	return s
}

// push sends the pack once, and again only when the connection broke and the
// ref is still where it was: the ref's old value is part of the request, so
// that nothing can land twice or on top of another's commit.
func (s *smart) push(ctx context.Context, ref plumbing.ReferenceName, from, to plumbing.Hash, p *packWriter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := retry(ctx, func() error {
		adv, err := s.advertiseOnce(ctx, receivePack)
		if err != nil {
			return err
		}
		switch tip := adv.References[ref.String()]; tip {
		case to:
			p.kept = true
			return nil // an earlier try arrived, only its answer was lost
		case from:
		default:
			return ErrMoved
		}
		err = s.sendPack(ctx, adv.Capabilities, packp.Command{Name: ref, Old: from, New: to}, p)
		if r := (refusal{}); errors.As(err, &r) {
			return s.judge(ctx, ref, from, to, p, r)
		}
		p.kept = err == nil
		return err
	})
	if err == nil {
		// What was just sent is often read next. Only speed is lost if this fails.
		_ = s.received.receive(p.reader())
	}
	return err
}

// judge tells a lost race from a real refusal. The status text differs between
// servers, so the ref itself is asked; another push may still be at it, hence
// more than once.
func (s *smart) judge(ctx context.Context, ref plumbing.ReferenceName, from, to plumbing.Hash, p *packWriter, r refusal) error {
	if p.thin && (!r.unpacked || strings.Contains(r.status, "missing necessary objects")) {
		return errMissing // its check of the pack wanted what we left out
	}
	const looks = 3
	for look := 1; ; look++ {
		adv, err := s.advertiseOnce(ctx, receivePack)
		if err != nil {
			return err
		}
		switch tip := adv.References[ref.String()]; {
		case tip == to:
			return nil
		case tip != from:
			// git keeps the objects of a pack whose ref could not be moved.
			p.kept = r.unpacked
			return ErrMoved
		case look == looks:
			return fmt.Errorf("%w: %w", ErrRefused, r)
		}
		if err := pause(ctx, look); err != nil {
			return err
		}
	}
}

// sendPack makes the request: the command, then the pack straight from its file.
func (s *smart) sendPack(ctx context.Context, caps *capability.List, cmd packp.Command, p *packWriter) error {
	req := packp.NewReferenceUpdateRequest()
	req.Commands = []*packp.Command{&cmd}
	for _, c := range []capability.Capability{capability.ReportStatus, capability.Sideband64k} {
		if !caps.Supports(c) {
			return fmt.Errorf("push to %s: the server lacks the capability %q of git's protocol", s.base, c)
		}
		if err := req.Capabilities.Set(c); err != nil {
			return err
		}
	}
	var head bytes.Buffer
	if err := req.Encode(&head); err != nil {
		return err
	}
	reply, err := s.http.do(ctx, request{
		url:         s.base + "/" + receivePack,
		accept:      "application/x-" + receivePack + "-result",
		contentType: "application/x-" + receivePack + "-request",
		body:        func() io.Reader { return io.MultiReader(bytes.NewReader(head.Bytes()), p.reader()) },
		size:        int64(head.Len()) + p.end,
	})
	if err != nil {
		return fmt.Errorf("push to %s: %w", s.base, err)
	}
	defer reply.close()
	if err := readReport(reply); err != nil {
		return fmt.Errorf("push to %s: %w", s.base, err)
	}
	reply.drain()
	return nil
}

// readReport reads the answer to a push.
func readReport(r io.Reader) error {
	var text boundedBuffer
	demux := sideband.NewDemuxer(sideband.Sideband64k, io.LimitReader(r, limits.ReportBytes))
	demux.Progress = &text
	report := packp.NewReportStatus()
	if err := report.Decode(demux); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return passing{fmt.Errorf("the answer is cut off: %w", err)}
		}
		return refusal{status: remoteError(err).Error(), text: text.String()}
	}
	io.Copy(io.Discard, demux) // what the server says after its report
	if report.UnpackStatus != "ok" {
		return refusal{status: "unpack: " + report.UnpackStatus, text: text.String()}
	}
	for _, c := range report.CommandStatuses {
		if c.Status != "ok" {
			return refusal{status: c.Status, text: text.String(), unpacked: true}
		}
	}
	if len(report.CommandStatuses) == 0 {
		return refusal{status: "nothing about the branch", text: text.String(), unpacked: true}
	}
	return nil
}

// boundedBuffer keeps the first [limits.RemoteTextBytes] of what is written.
type boundedBuffer struct{ buf bytes.Buffer }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.buf.Write(p[:min(len(p), limits.RemoteTextBytes-b.buf.Len())])
	return len(p), nil
}

func (b *boundedBuffer) String() string { return strings.TrimSpace(b.buf.String()) }
