package gitdb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"perfband/internal/limits"

	"github.com/go-git/go-git/v5/plumbing"
)

// spool holds objects received from a server, unpacked, in a temporary file:
// memory does not grow with what was received, and an object is read again in
// one step. It is filled by one goroutine at a time and read by any number.
type spool struct {
	file *os.File
	end  int64

	mu   sync.RWMutex
	byID map[plumbing.Hash]spooled
}

type spooled struct {
	kind   plumbing.ObjectType
	offset int64
	size   int64
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "perfband-*.objects")
	if err != nil {
		return nil, fmt.Errorf("make temporary file for received objects: %w", err)
	}
	// Where the system allows it the file has no name from here on, so that
	// nothing is left behind however the program ends.
	os.Remove(f.Name())
	return &spool{file: f, byID: map[plumbing.Hash]spooled{}}, nil
}

func (s *spool) has(id plumbing.Hash) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.byID[id]
	return ok
}

// get is an object received earlier.
func (s *spool) get(id plumbing.Hash) (plumbing.ObjectType, []byte, bool, error) {
	s.mu.RLock()
	o, ok := s.byID[id]
	s.mu.RUnlock()
	if !ok {
		return 0, nil, false, nil
	}
	data, err := s.load(o)
	return o.kind, data, true, err
}

func (s *spool) load(o spooled) ([]byte, error) {
	data := make([]byte, o.size)
	if _, err := s.file.ReadAt(data, o.offset); err != nil {
		return nil, fmt.Errorf("read received object: %w", noEOF(err))
	}
	return data, nil
}

// add stores an object under the id that its content has.
func (s *spool) add(kind plumbing.ObjectType, data []byte) (spooled, error) {
	id := plumbing.ComputeHash(kind, data)
	s.mu.RLock()
	o, ok := s.byID[id]
	s.mu.RUnlock()
	if ok {
		return o, nil
	}
	o = spooled{kind: kind, offset: s.end, size: int64(len(data))}
	if o.offset+o.size > limits.SpoolBytes {
		return o, fmt.Errorf("the server sent more than %d bytes", int64(limits.SpoolBytes))
	}
	if _, err := s.file.WriteAt(data, o.offset); err != nil {
		return o, fmt.Errorf("store received object: %w", err)
	}
	s.end += o.size
	s.mu.Lock()
	s.byID[id] = o
	s.mu.Unlock()
	return o, nil
}

// receive stores the objects of a pack as it streams in. Memory is a few times
// the largest object. The pack's own check sum is not looked at, since every
// object is found by the hash of its content.
func (s *spool) receive(r io.Reader) error {
	count := &countingReader{r: r}
	src := bufio.NewReaderSize(count, 64<<10)
	var head [packHeaderBytes]byte
	if _, err := io.ReadFull(src, head[:]); err != nil {
		return noEOF(err)
	}
	if string(head[:8]) != "PACK\x00\x00\x00\x02" {
		return errors.New("the server's reply is not a pack")
	}
	f := inflaters.Get().(*inflater)
	defer inflaters.Put(f)
	at := map[int64]spooled{} // by offset in the pack, for deltas
	for range binary.BigEndian.Uint32(head[8:]) {
		offset := count.n - int64(src.Buffered())
		o, err := s.receiveOne(src, f, offset, at)
		if err != nil {
			return noEOF(err)
		}
		at[offset] = o
	}
	_, err := io.CopyN(io.Discard, src, int64(len(plumbing.ZeroHash))) // the pack's check sum
	return noEOF(err)
}

// receiveOne stores the object which begins at an offset of the stream. A
// delta's base has always been sent before it.
func (s *spool) receiveOne(src *bufio.Reader, f *inflater, offset int64, at map[int64]spooled) (spooled, error) {
	head, err := readPackHead(src)
	if err != nil {
		return spooled{}, err
	}
	data, err := f.inflate(src, head.size)
	if err != nil {
		return spooled{}, err
	}
	if !head.isDelta() {
		return s.add(head.kind, data)
	}
	base, ok := at[offset-head.back]
	if head.kind == plumbing.REFDeltaObject {
		s.mu.RLock()
		base, ok = s.byID[head.base]
		s.mu.RUnlock()
	}
	if !ok {
		return spooled{}, errBadPack
	}
	old, err := s.load(base)
	if err != nil {
		return spooled{}, err
	}
	data, err = patch(old, data)
	if err != nil {
		return spooled{}, err
	}
	return s.add(base.kind, data)
}

// countingReader counts the bytes read.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
