package gitdb

import (
	"bytes"
	"container/list"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"sync"

	"perfband/internal/limits"

	"github.com/go-git/go-git/v5/plumbing"
)

// pack is one pack file of a repository on disk, with its index. Nothing is
// held in memory but the index's first table.
type pack struct {
	data, index *os.File
	fanout      [256]uint32 // objects whose id begins with at most this byte
}

const (
	indexHeadBytes   = 8 // magic and version
	indexFanoutBytes = 256 * 4
)

// openPack opens a pack by the path of its index.
func openPack(path string) (*pack, error) {
	index, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := os.Open(strings.TrimSuffix(path, ".idx") + ".pack")
	if err != nil {
		index.Close()
		return nil, err
	}
	p := &pack{data: data, index: index}
	if err := p.readFanout(); err != nil {
		p.close()
		return nil, fmt.Errorf("read pack index %s: %w", path, err)
	}
	return p, nil
}

func (p *pack) close() {
	p.data.Close()
	p.index.Close()
}

func (p *pack) readFanout() error {
	var head [indexHeadBytes + indexFanoutBytes]byte
	if _, err := p.index.ReadAt(head[:], 0); err != nil {
		return noEOF(err)
	}
	if string(head[:indexHeadBytes]) != "\377tOc\x00\x00\x00\x02" {
		return errors.New("not of version 2: run \"git gc\" in the repository")
	}
	var last uint32
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[indexHeadBytes+4*i:])
		if p.fanout[i] < last {
			return errBadPack
		}
		last = p.fanout[i]
	}
	return nil
}

// find is where an object begins in the pack.
func (p *pack) find(id plumbing.Hash) (offset int64, found bool, err error) {
	lo, hi := 0, int(p.fanout[id[0]])
	if id[0] > 0 {
		lo = int(p.fanout[id[0]-1])
	}
	const names = indexHeadBytes + indexFanoutBytes
	var at plumbing.Hash
	i := lo + sort.Search(hi-lo, func(i int) bool {
		if _, e := p.index.ReadAt(at[:], names+int64(lo+i)*int64(len(at))); e != nil {
			err = noEOF(e)
		}
		return bytes.Compare(at[:], id[:]) >= 0
	})
	if err != nil || i == hi {
		return 0, false, err
	}
	count := int64(p.fanout[255])
	if _, err := p.index.ReadAt(at[:], names+int64(i)*int64(len(at))); err != nil || at != id {
		return 0, false, err
	}
	var word [8]byte
	offsets := names + count*(int64(len(at))+4) // behind names and check sums
	if _, err := p.index.ReadAt(word[:4], offsets+int64(i)*4); err != nil {
		return 0, false, noEOF(err)
	}
	short := binary.BigEndian.Uint32(word[:4])
	if short&(1<<31) == 0 {
		return int64(short), true, nil
	}
	long := offsets + count*4 + int64(short&^(1<<31))*8
	if _, err := p.index.ReadAt(word[:], long); err != nil {
		return 0, false, noEOF(err)
	}
	return int64(binary.BigEndian.Uint64(word[:])), true, nil
}

// read unpacks the object at an offset. The result belongs to the cache, if it
// was put there: it must not be changed.
func (p *pack) read(offset int64, cache *deltaCache) (plumbing.ObjectType, []byte, error) {
	type step struct {
		offset int64
		delta  []byte
	}
	var chain []step // from the object wanted down to what it is based on
	var pending int64
	var got cached
	for {
		var ok bool
		if got, ok = cache.get(p, offset); ok {
			break
		}
		head, data, err := p.entry(offset)
		if err != nil {
			return 0, nil, err
		}
		if !head.isDelta() {
			got = cached{kind: head.kind, data: data}
			cache.put(p, offset, got)
			break
		}
		chain = append(chain, step{offset, data})
		pending += int64(len(data))
		if len(chain) > limits.DeltaChain || pending > limits.FileBytes {
			return 0, nil, errBadPack
		}
		if offset, err = p.baseOf(offset, head); err != nil {
			return 0, nil, err
		}
	}
	for i := len(chain) - 1; i >= 0; i-- {
		data, err := patch(got.data, chain[i].delta)
		if err != nil {
			return 0, nil, err
		}
		got = cached{kind: got.kind, data: data}
		cache.put(p, chain[i].offset, got)
	}
	return got.kind, got.data, nil
}

// entry unpacks what is at an offset: an object or a delta.
func (p *pack) entry(offset int64) (packHead, []byte, error) {
	f := inflaters.Get().(*inflater)
	defer inflaters.Put(f)
	f.src.Reset(io.NewSectionReader(p.data, offset, 1<<62))
	head, err := readPackHead(f.src)
	if err != nil {
		return head, nil, noEOF(err)
	}
	data, err := f.inflate(f.src, head.size)
	return head, data, err
}

// baseOf is where the base of a delta begins.
func (p *pack) baseOf(offset int64, head packHead) (int64, error) {
	if head.kind == plumbing.OFSDeltaObject {
		if head.back <= 0 || head.back > offset {
			return 0, errBadPack
		}
		return offset - head.back, nil
	}
	base, found, err := p.find(head.base)
	if err == nil && !found {
		err = errBadPack
	}
	return base, err
}

// deltaCache keeps unpacked objects, since the next one is likely stored as a
// difference to one of them. The least recently used goes first.
type deltaCache struct {
	mu    sync.Mutex
	bytes int
	byKey map[cacheKey]*list.Element
	order list.List // of cached, most recent first
}

type cacheKey struct {
	pack   *pack
	offset int64
}

type cached struct {
	key  cacheKey
	kind plumbing.ObjectType
	data []byte
}

func newDeltaCache() *deltaCache { return &deltaCache{byKey: map[cacheKey]*list.Element{}} }

func (c *deltaCache) get(p *pack, offset int64) (cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[cacheKey{p, offset}]
	if e == nil {
		return cached{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(cached), true
}

func (c *deltaCache) put(p *pack, offset int64, v cached) {
	if len(v.data) > limits.DeltaCacheBytes/4 {
		return
	}
	v.key = cacheKey{p, offset}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey[v.key] != nil {
		return
	}
	c.byKey[v.key] = c.order.PushFront(v)
	for c.bytes += len(v.data); c.bytes > limits.DeltaCacheBytes; {
		last := c.order.Remove(c.order.Back()).(cached)
		delete(c.byKey, last.key)
		c.bytes -= len(last.data)
	}
}
