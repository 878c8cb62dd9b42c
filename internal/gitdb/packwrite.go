package gitdb

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/klauspost/compress/zlib"
)

// packHeaderBytes is the length of "PACK", version and object count.
const packHeaderBytes = 12

// packWriter writes a pack file of whole objects (no deltas: the search costs
// eight times the CPU for 4 % of size) to a temporary file. Objects are
// streamed once: hashed and compressed in the same pass, and taken back when
// they turn out to be known. It ends with finish, after which reader may be
// called any number of times.
type packWriter struct {
	file    *os.File
	buf     *bufio.Writer
	zip     *zlib.Writer
	end     int64 // length of the pack so far
	crc     uint32
	entries []packed
	known   map[plumbing.Hash]bool // objects which need not be written
	earlier map[plumbing.Hash]bool // the same, of earlier packs; read only
	thin    bool                   // an object was left out because of an earlier pack
	sum     plumbing.Hash          // the pack's own name, set by finish
	kept    bool                   // set by a store which has all objects of the pack
}

// packed is one object of the pack.
type packed struct {
	id     plumbing.Hash
	offset int64
	crc    uint32
}

func newPackWriter(earlier map[plumbing.Hash]bool) (*packWriter, error) {
	f, err := os.CreateTemp("", "perfband-*.pack")
	if err != nil {
		return nil, fmt.Errorf("make temporary file for new objects: %w", err)
	}
	p := &packWriter{file: f, known: map[plumbing.Hash]bool{}, earlier: earlier}
	p.buf = bufio.NewWriterSize(f, 64<<10)
	p.zip, _ = zlib.NewWriterLevel(nil, 6) // a constant, valid level
	if _, err := (packSink{p}).Write(make([]byte, packHeaderBytes)); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// close drops the temporary file.
func (p *packWriter) close() {
	p.file.Close()
	os.Remove(p.file.Name())
}

// packSink counts and sums what goes to the file.
type packSink struct{ p *packWriter }

func (s packSink) Write(b []byte) (int, error) {
	n, err := s.p.buf.Write(b)
	s.p.end += int64(n)
	s.p.crc = crc32.Update(s.p.crc, crc32.IEEETable, b[:n])
	return n, err
}

// skip notes that the repository has an object.
func (p *packWriter) skip(id plumbing.Hash) { p.known[id] = true }

// object adds a small object and returns its id.
func (p *packWriter) object(kind plumbing.ObjectType, data []byte) (plumbing.Hash, error) {
	id := plumbing.ComputeHash(kind, data)
	if p.have(id) {
		return id, nil
	}
	start := p.end
	_, err := p.write(kind, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return id, err
	}
	p.add(id, start)
	return id, nil
}

// blob adds a file of exactly size bytes and returns its id.
func (p *packWriter) blob(r io.Reader, size int64) (plumbing.Hash, error) {
	start := p.end
	id, err := p.write(plumbing.BlobObject, r, size)
	if err != nil {
		return id, err
	}
	if p.have(id) {
		return id, p.rewind(start)
	}
	p.add(id, start)
	return id, nil
}

func (p *packWriter) have(id plumbing.Hash) bool {
	if p.known[id] {
		return true
	}
	if p.earlier[id] {
		p.thin = true
		return true
	}
	return false
}

func (p *packWriter) add(id plumbing.Hash, start int64) {
	p.known[id] = true
	p.entries = append(p.entries, packed{id, start, p.crc})
}

// write appends one object: type and size in 7-bit groups, then zlib data.
func (p *packWriter) write(kind plumbing.ObjectType, r io.Reader, size int64) (plumbing.Hash, error) {
	p.crc = 0
	head := []byte{byte(kind)<<4 | byte(size&15)}
	for rest := size >> 4; rest > 0; rest >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(rest&0x7f))
	}
	sink := packSink{p}
	if _, err := sink.Write(head); err != nil {
		return plumbing.ZeroHash, err
	}
	sum := plumbing.NewHasher(kind, size)
	p.zip.Reset(sink)
	n, err := io.Copy(io.MultiWriter(sum, p.zip), io.LimitReader(r, size+1))
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if n != size {
		return plumbing.ZeroHash, errors.New("its size is not the one announced: it changed while it was read")
	}
	return sum.Sum(), p.zip.Close()
}

// rewind takes back what was written from start on.
func (p *packWriter) rewind(start int64) error {
	if err := p.buf.Flush(); err != nil {
		return err
	}
	if err := p.file.Truncate(start); err != nil {
		return err
	}
	p.end = start
	_, err := p.file.Seek(start, io.SeekStart)
	return err
}

// finish completes the pack: the count in its header and its sum at the end.
func (p *packWriter) finish() error {
	if err := p.buf.Flush(); err != nil {
		return err
	}
	head := append([]byte("PACK"), 0, 0, 0, 2)
	head = binary.BigEndian.AppendUint32(head, uint32(len(p.entries)))
	if _, err := p.file.WriteAt(head, 0); err != nil {
		return err
	}
	sum := sha1.New()
	if _, err := io.Copy(sum, p.reader()); err != nil {
		return err
	}
	copy(p.sum[:], sum.Sum(nil))
	_, err := p.file.WriteAt(p.sum[:], p.end)
	p.end += int64(len(p.sum))
	return err
}

// reader gives the pack from its start.
func (p *packWriter) reader() io.Reader { return io.NewSectionReader(p.file, 0, p.end) }
