package gitdb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"

	"perfband/internal/limits"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
)

const (
	uploadPack  = "git-upload-pack"  // the service which gives objects
	receivePack = "git-receive-pack" // the service which takes them
)

// smart is a repository behind git's smart HTTP protocol, version 0.
//
// Objects are asked for by id, with filters which keep the server from sending
// what lies below: "tree:0" gives a commit or folder alone, "blob:none" a
// folder's listing at any depth. A server which cannot filter is asked for the
// whole tree of the revision once.
type smart struct {
	http   *httpClient
	notice func(string)

	mu       sync.Mutex       // one fetch at a time, so that none is made twice
	base     string           // URL of the repository
	caps     *capability.List // nil until they are asked for
	received *spool
	once     sync.Once              // for the notice
	queue    []plumbing.Hash        // blobs in the order in which they will be read
	place    map[plumbing.Hash]int  // where in the queue
	listed   map[plumbing.Hash]bool // folders whose listing was brought
}

func newSmart(r Remote) (*smart, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" {
		return nil, errors.New("the remote is not a valid URL") // not quoted: it may hold a secret
	}
	if u.User != nil {
		return nil, errors.New("the remote's URL holds a user or password: take it out and give the token apart")
	}
	u.RawQuery, u.Fragment = "", ""
	c, err := newHTTPClient(r, u)
	if err != nil {
		return nil, err
	}
	s := &smart{http: c, notice: r.Notice, base: strings.TrimSuffix(u.String(), "/"), place: map[plumbing.Hash]int{}, listed: map[plumbing.Hash]bool{}}
	s.received, err = newSpool()
	return s, err
}

func (s *smart) head(ctx context.Context, ref plumbing.ReferenceName) (plumbing.Hash, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	adv, err := s.advertise(ctx, uploadPack)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	s.caps = adv.Capabilities
	return adv.References[ref.String()], nil
}

// advertise asks for the refs and what the server can do.
func (s *smart) advertise(ctx context.Context, service string) (*packp.AdvRefs, error) {
	var adv *packp.AdvRefs
	err := retry(ctx, func() (err error) {
		adv, err = s.advertiseOnce(ctx, service)
		return err
	})
	return adv, err
}

func (s *smart) advertiseOnce(ctx context.Context, service string) (*packp.AdvRefs, error) {
	adv, err := s.readRefs(ctx, service)
	if err != nil {
		return nil, fmt.Errorf("read refs of %s: %w", s.base, err)
	}
	return adv, nil
}

func (s *smart) readRefs(ctx context.Context, service string) (*packp.AdvRefs, error) {
	const path = "/info/refs"
	reply, err := s.http.do(ctx, request{
		url:    s.base + path + "?service=" + service,
		accept: "application/x-" + service + "-advertisement",
	})
	if err != nil {
		return nil, err
	}
	defer reply.close()
	body := &io.LimitedReader{R: reply, N: limits.RefBytes}
	adv := packp.NewAdvRefs()
	var odd *packp.ErrUnexpectedData
	err = adv.Decode(body)
	switch {
	case errors.Is(err, packp.ErrEmptyAdvRefs):
		return packp.NewAdvRefs(), nil
	case err != nil && body.N == 0:
		return nil, fmt.Errorf("the server lists more than %d bytes of refs", limits.RefBytes)
	case errors.As(err, &odd) && bytes.Contains(odd.Data, []byte("object-format=sha256")):
		return nil, errors.New("the repository's object format is sha256: only sha1 is understood")
	case err != nil:
		return nil, remoteError(err)
	}
	reply.drain()
	// A renamed repository is spoken to at its new place from here on.
	if at, ok := strings.CutSuffix(reply.url.Path, path); ok {
		moved := *reply.url
		moved.Path, moved.RawPath, moved.RawQuery = at, "", ""
		s.base = moved.String()
	}
	return adv, nil
}

// remoteError bounds the text of an error which may quote the server.
func remoteError(err error) error {
	if text := err.Error(); len(text) > limits.RemoteTextBytes {
		return errors.New(text[:limits.RemoteTextBytes])
	}
	return err
}

func (s *smart) object(ctx context.Context, id plumbing.Hash, kind plumbing.ObjectType) ([]byte, error) {
	got, data, ok, err := s.received.get(id)
	if !ok && err == nil {
		if err := s.bring(ctx, id, kind); err != nil {
			return nil, fmt.Errorf("read object %s: %w", id, err)
		}
		got, data, ok, err = s.received.get(id)
	}
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("read object %s: the server did not send it", id)
	case got != kind:
		return nil, fmt.Errorf("read object %s: it is a %s, not a %s", id, got, kind)
	case int64(len(data)) > maxBytes(kind):
		return nil, fmt.Errorf("read object %s: %d bytes, more than the %d read from a branch", id, len(data), maxBytes(kind))
	}
	return data, nil
}

// bring fetches an object; of blobs, also those announced to be read next.
func (s *smart) bring(ctx context.Context, id plumbing.Hash, kind plumbing.ObjectType) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.received.has(id) {
		return nil // another reader was faster
	}
	switch kind {
	case plumbing.CommitObject:
		return s.fetch(ctx, []plumbing.Hash{id}, packp.FilterTreeDepth(0), 1)
	case plumbing.TreeObject:
		return s.fetch(ctx, []plumbing.Hash{id}, packp.FilterTreeDepth(0), 0)
	}
	return s.fetch(ctx, s.batch(id), "", 0)
}

// batch is a blob and those which follow it in the queue.
func (s *smart) batch(id plumbing.Hash) []plumbing.Hash {
	wants := []plumbing.Hash{id}
	at, ok := s.place[id]
	if !ok {
		return wants
	}
	for at++; at < len(s.queue) && len(wants) < limits.BatchObjects; at++ {
		if !s.received.has(s.queue[at]) {
			wants = append(wants, s.queue[at])
		}
	}
	return wants
}

func (s *smart) announce(blobs []plumbing.Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	start := len(s.queue)
	for _, id := range blobs {
		if at, ok := s.place[id]; ok && at >= start || s.received.has(id) {
			continue
		}
		s.place[id] = len(s.queue)
		s.queue = append(s.queue, id)
	}
}

func (s *smart) list(ctx context.Context, tree plumbing.Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	caps, err := s.capabilities(ctx)
	if err != nil {
		return err
	}
	if s.listed[tree] || s.received.has(tree) && !caps.Supports(capability.Filter) {
		return nil
	}
	if err := s.fetch(ctx, []plumbing.Hash{tree}, packp.FilterBlobNone(), 0); err != nil {
		return err
	}
	s.listed[tree] = true
	return nil
}

// capabilities is what the server can do for readers.
func (s *smart) capabilities(ctx context.Context) (*capability.List, error) {
	if s.caps == nil {
		adv, err := s.advertise(ctx, uploadPack)
		if err != nil {
			return nil, err
		}
		s.caps = adv.Capabilities
	}
	return s.caps, nil
}

// fetch asks for objects and stores what comes.
func (s *smart) fetch(ctx context.Context, wants []plumbing.Hash, filter packp.Filter, depth int) error {
	caps, err := s.capabilities(ctx)
	if err != nil {
		return err
	}
	if filter != "" && !caps.Supports(capability.Filter) {
		filter = ""
		s.once.Do(func() {
			s.notice(fmt.Sprintf("%s cannot send a part of a branch: all its files are downloaded", s.base))
		})
	}
	req, err := fetchRequest(caps, wants, filter, depth)
	if err != nil {
		return err
	}
	return retry(ctx, func() error { return s.fetchOnce(ctx, req) })
}

func fetchRequest(caps *capability.List, wants []plumbing.Hash, filter packp.Filter, depth int) (*packp.UploadPackRequest, error) {
	req := packp.NewUploadPackRequest()
	req.Wants = wants
	for _, need := range []capability.Capability{capability.Sideband64k, capability.Shallow} {
		if !caps.Supports(need) {
			return nil, fmt.Errorf("the server lacks the capability %q of git's protocol", need)
		}
	}
	set := []capability.Capability{capability.Sideband64k, capability.Shallow}
	if caps.Supports(capability.OFSDelta) {
		set = append(set, capability.OFSDelta)
	}
	if caps.Supports(capability.NoProgress) {
		set = append(set, capability.NoProgress)
	}
	if filter != "" {
		set = append(set, capability.Filter)
		req.Filter = filter
	}
	for _, c := range set {
		if err := req.Capabilities.Set(c); err != nil {
			return nil, err
		}
	}
	req.Depth = packp.DepthCommits(depth)
	return req, nil
}

func (s *smart) fetchOnce(ctx context.Context, req *packp.UploadPackRequest) error {
	var body bytes.Buffer
	if err := req.UploadRequest.Encode(&body); err != nil {
		return err
	}
	body.WriteString("0009done\n")
	reply, err := s.http.do(ctx, request{
		url:         s.base + "/" + uploadPack,
		accept:      "application/x-" + uploadPack + "-result",
		contentType: "application/x-" + uploadPack + "-request",
		body:        func() io.Reader { return bytes.NewReader(body.Bytes()) },
		size:        int64(body.Len()),
	})
	if err != nil {
		return fmt.Errorf("fetch from %s: %w", s.base, err)
	}
	defer reply.close()
	if err := s.receive(reply, req); err != nil {
		return fmt.Errorf("fetch from %s: %w", s.base, remoteError(err))
	}
	reply.drain()
	return nil
}

// receive reads the reply to a fetch: where history is cut, "NAK" since we
// named nothing that we have, and the pack.
func (s *smart) receive(r io.Reader, req *packp.UploadPackRequest) error {
	src := bufio.NewReaderSize(r, 64<<10)
	if !req.Depth.IsZero() {
		if err := new(packp.ShallowUpdate).Decode(src); err != nil {
			return err
		}
	}
	if err := new(packp.ServerResponse).Decode(src, false); err != nil {
		return err
	}
	err := s.received.receive(sideband.NewDemuxer(sideband.Sideband64k, src))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return passing{fmt.Errorf("the reply is cut off: %w", err)}
	}
	return err
}
