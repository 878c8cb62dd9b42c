package gitdb

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"sync"

	"perfband/internal/limits"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

// packHead is what stands before an object's compressed data in a pack.
type packHead struct {
	kind plumbing.ObjectType
	size int64         // unpacked bytes of what follows: the object, or its delta
	back int64         // OFSDeltaObject: how far before this object its base begins
	base plumbing.Hash // REFDeltaObject: the base
}

func (h packHead) isDelta() bool {
	return h.kind == plumbing.OFSDeltaObject || h.kind == plumbing.REFDeltaObject
}

var errBadPack = errors.New("the pack is damaged")

// readPackHead reads the head of one object.
func readPackHead(r io.ByteReader) (packHead, error) {
	var h packHead
	c, err := r.ReadByte()
	if err != nil {
		return h, err
	}
	h.kind = plumbing.ObjectType(c >> 4 & 7)
	h.size = int64(c & 15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = r.ReadByte(); err != nil {
			return h, noEOF(err)
		}
		if shift > 46 { // 2^53 bytes
			return h, errBadPack
		}
		h.size |= int64(c&0x7f) << shift
	}
	switch h.kind {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject:
		for {
			if c, err = r.ReadByte(); err != nil {
				return h, noEOF(err)
			}
			h.back |= int64(c & 0x7f)
			if c&0x80 == 0 {
				break
			}
			if h.back++; h.back > 1<<50 {
				return h, errBadPack
			}
			h.back <<= 7
		}
	case plumbing.REFDeltaObject:
		for i := range h.base {
			if h.base[i], err = r.ReadByte(); err != nil {
				return h, noEOF(err)
			}
		}
	default:
		return h, errBadPack
	}
	return h, nil
}

// noEOF makes an end in the middle of something an error of its own.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// maxBytes is the largest object of a kind that is read.
func maxBytes(kind plumbing.ObjectType) int64 {
	if kind == plumbing.TreeObject {
		return limits.TreeBytes
	}
	return limits.FileBytes
}

// inflater unpacks zlib data; it is reused, since setting one up is dear.
type inflater struct {
	src *bufio.Reader
	zip io.ReadCloser
}

var inflaters = sync.Pool{New: func() any { return &inflater{src: bufio.NewReaderSize(nil, 16<<10)} }}

// reset starts a new stream. The source is left exactly behind the compressed
// data once that was read to its end.
func (f *inflater) reset(src *bufio.Reader) (io.Reader, error) {
	var err error
	if f.zip == nil {
		f.zip, err = zlib.NewReader(src)
	} else {
		err = f.zip.(zlib.Resetter).Reset(src, nil)
	}
	return f.zip, noEOF(err)
}

// inflate unpacks exactly size bytes.
func (f *inflater) inflate(src *bufio.Reader, size int64) ([]byte, error) {
	r, err := f.reset(src)
	if err != nil {
		return nil, err
	}
	return readSized(r, size)
}

// readSized reads size bytes, after which the source must end.
func readSized(r io.Reader, size int64) ([]byte, error) {
	if size > limits.FileBytes {
		return nil, fmt.Errorf("an object of %d bytes, more than the %d read from a branch", size, int64(limits.FileBytes))
	}
	out := make([]byte, size)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, noEOF(err)
	}
	var more [1]byte // reaching the end makes zlib compare its check sum
	n, err := r.Read(more[:])
	for n == 0 && err == nil {
		n, err = r.Read(more[:])
	}
	if n != 0 {
		return nil, errBadPack
	}
	if err != io.EOF {
		return nil, err
	}
	return out, nil
}

// patch applies a delta to its base: both sizes in 7-bit groups, then
// instructions to copy from the base or to insert what follows.
func patch(base, delta []byte) ([]byte, error) {
	from, delta, ok1 := deltaSize(delta)
	to, delta, ok2 := deltaSize(delta)
	if !ok1 || !ok2 || from != int64(len(base)) || to > limits.FileBytes {
		return nil, errBadPack
	}
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var piece []byte
		switch {
		case op&0x80 != 0:
			var offset, size int64
			for i := range 7 {
				if op&(1<<i) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, errBadPack
				}
				if i < 4 {
					offset |= int64(delta[0]) << (8 * i)
				} else {
					size |= int64(delta[0]) << (8 * (i - 4))
				}
				delta = delta[1:]
			}
			if size == 0 {
				size = 0x10000
			}
			if offset+size > int64(len(base)) {
				return nil, errBadPack
			}
			piece = base[offset : offset+size]
		case op != 0 && int(op) <= len(delta):
			piece, delta = delta[:op], delta[op:]
		default:
			return nil, errBadPack
		}
		if len(out)+len(piece) > int(to) {
			return nil, errBadPack
		}
		out = append(out, piece...)
	}
	if len(out) != int(to) {
		return nil, errBadPack
	}
	return out, nil
}

func deltaSize(b []byte) (n int64, rest []byte, ok bool) {
	for shift := 0; len(b) > 0 && shift < 49; shift += 7 {
		c := b[0]
		b = b[1:]
		n |= int64(c&0x7f) << shift
		if c&0x80 == 0 {
			return n, b, true
		}
	}
	return 0, nil, false
}
