package gitdb

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"perfband/internal/gitdb/gittest"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPackWriter lets git check packs of random objects, and reads them back in
// both ways that this package has.
func TestPackWriter(t *testing.T) {
	gittest.RequireGit(t)
	repo := gittest.NewRepo(t)
	gittest.Git(t, repo, "earlier", "hash-object", "-w", "--stdin") // what the tree names
	rapid.Check(t, func(rt *rapid.T) {
		earlier := plumbing.ComputeHash(plumbing.BlobObject, []byte("earlier"))
		known := plumbing.ComputeHash(plumbing.BlobObject, []byte("known"))
		p, err := newPackWriter(map[plumbing.Hash]bool{earlier: true})
		if err != nil {
			rt.Fatal(err)
		}
		defer p.close()
		p.skip(known)
		content := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 0, 5000), rapid.SampledFrom([][]byte{nil, []byte("earlier"), []byte("known"), []byte("same")}))
		want := map[plumbing.Hash]string{}
		for _, data := range rapid.SliceOfN(content, 1, 20).Draw(rt, "blobs") {
			id, err := p.blob(bytes.NewReader(data), int64(len(data)))
			if err != nil {
				rt.Fatal(err)
			}
			if s := string(data); s != "earlier" && s != "known" {
				want[id] = s
			}
		}
		es := []entry{{"b", modeFile, earlier}}
		tree, err := p.object(plumbing.TreeObject, encodeTree(es))
		if err != nil {
			rt.Fatal(err)
		}
		want[tree] = string(encodeTree(es))
		if err := p.finish(); err != nil {
			rt.Fatal(err)
		}
		if len(p.entries) != len(want) {
			rt.Fatalf("%d objects in the pack, want %d", len(p.entries), len(want))
		}
		checkWithGit(rt, repo, p)
		checkSpool(rt, p, want)
		checkPack(rt, p, want)
	})
}

func checkWithGit(rt *rapid.T, repo string, p *packWriter) {
	data, err := io.ReadAll(p.reader())
	if err != nil {
		rt.Fatal(err)
	}
	out, err := gittest.TryGit(repo, string(data), "index-pack", "--strict", "--stdin")
	if err != nil {
		rt.Fatal(err)
	}
	if want := p.sum.String(); !strings.Contains(out, want) {
		rt.Fatalf("git names the pack %q, want %s", out, want)
	}
	index, err := os.ReadFile(filepath.Join(repo, "objects", "pack", "pack-"+p.sum.String()+".idx"))
	if err != nil {
		rt.Fatal(err)
	}
	var ours bytes.Buffer
	if err := p.writeIndex(&ours); err != nil {
		rt.Fatal(err)
	}
	if !bytes.Equal(index, ours.Bytes()) {
		rt.Fatal("the index is not the one that git makes")
	}
}

func checkSpool(rt *rapid.T, p *packWriter, want map[plumbing.Hash]string) {
	s, err := newSpool()
	if err != nil {
		rt.Fatal(err)
	}
	defer s.file.Close()
	if err := s.receive(p.reader()); err != nil {
		rt.Fatal(err)
	}
	for id, text := range want {
		_, data, ok, err := s.get(id)
		if !ok || err != nil || string(data) != text {
			rt.Fatalf("%s is received as %q, %v, %v", id, data, ok, err)
		}
	}
}

func checkPack(rt *rapid.T, p *packWriter, want map[plumbing.Hash]string) {
	base := filepath.Join(filepath.Dir(p.file.Name()), "pack-"+p.sum.String())
	defer os.Remove(base + ".pack")
	defer os.Remove(base + ".idx")
	err := errors.Join(place(base+".idx", p.writeIndex), place(base+".pack", func(w io.Writer) error {
		_, err := io.Copy(w, p.reader())
		return err
	}))
	if err != nil {
		rt.Fatal(err)
	}
	k, err := openPack(base + ".idx")
	if err != nil {
		rt.Fatal(err)
	}
	defer k.close()
	for id, text := range want {
		offset, found, err := k.find(id)
		if !found || err != nil {
			rt.Fatalf("find %s: %v, %v", id, found, err)
		}
		if _, data, err := k.read(offset, newDeltaCache()); err != nil || string(data) != text {
			rt.Fatalf("%s is read as %q, %v", id, data, err)
		}
	}
	if _, found, err := k.find(plumbing.ZeroHash); found || err != nil {
		rt.Fatalf("an object which is not there: %v, %v", found, err)
	}
}

// TestStalledServer lets a server fall silent in the middle of an answer.
func TestStalledServer(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
		io.WriteString(w, "001e# service=git-upload-pack\n")
		w.(http.Flusher).Flush()
		<-release
	}))
	defer s.Close()
	defer close(release)
	b, err := Open(Remote{URL: s.URL}, "x")
	if err != nil {
		t.Fatal(err)
	}
	st := b.(*branch).store.(*smart)
	st.http.stall = 50 * time.Millisecond
	if _, err := st.advertiseOnce(context.Background(), uploadPack); !errors.Is(err, errStalled) || !errors.As(err, &passing{}) {
		t.Errorf("got %v, want a passing errStalled", err)
	}
}

// TestSlowServer reads from a server which takes its time but keeps on sending.
func TestSlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		w := &watchdog{stall: time.Minute}
		w.timer = time.AfterFunc(w.stall, func() { cancel(errStalled) })
		defer w.timer.Stop()
		r := w.reader(ctx, slowReader{strings.NewReader(strings.Repeat("x", 10))})
		if data, err := io.ReadAll(r); len(data) != 10 || err != nil || ctx.Err() != nil {
			t.Errorf("read %d bytes, %v, %v", len(data), err, context.Cause(ctx))
		}
	})
}

// slowReader gives one byte every 40 seconds.
type slowReader struct{ r io.Reader }

func (s slowReader) Read(p []byte) (int, error) {
	time.Sleep(40 * time.Second)
	return s.r.Read(p[:1])
}

func TestPatch(t *testing.T) {
	base := []byte("0123456789")
	for _, c := range []struct{ name, delta, want string }{
		{"copy and insert", "\x0a\x06\x91\x02\x03\x03abc", "234abc"},
		{"nothing", "\x0a\x00", ""},
		{"wrong base", "\x09\x00", "-"},
		{"too short a result", "\x0a\x07\x91\x02\x03\x03abc", "-"},
		{"too long a result", "\x0a\x05\x91\x02\x03\x03abc", "-"},
		{"copy past the end", "\x0a\x03\x91\x09\x03", "-"},
		{"copy cut off", "\x0a\x03\x91\x02", "-"},
		{"insert cut off", "\x0a\x03\x03ab", "-"},
		{"reserved instruction", "\x0a\x03\x00", "-"},
		{"huge result", "\x0a\xff\xff\xff\xff\xff\x7f", "-"},
		{"no sizes", "", "-"},
		{"endless size", "\x8a\x80\x80\x80\x80\x80\x80\x80\x80\x80", "-"},
	} {
		got, err := patch(base, []byte(c.delta))
		if c.want == "-" {
			if err == nil {
				t.Errorf("%s: %q without an error", c.name, got)
			}
		} else if err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// FuzzReceive feeds a received pack that a hostile server could make.
func FuzzReceive(f *testing.F) {
	p, err := newPackWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	defer p.close()
	for _, text := range []string{"", "a", strings.Repeat("text ", 100)} {
		if _, err := p.blob(strings.NewReader(text), int64(len(text))); err != nil {
			f.Fatal(err)
		}
	}
	if err := p.finish(); err != nil {
		f.Fatal(err)
	}
	good, err := io.ReadAll(p.reader())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)-30])
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := newSpool()
		if err != nil {
			t.Fatal(err)
		}
		defer s.file.Close()
		if s.receive(bytes.NewReader(data)) != nil {
			return
		}
		for id, o := range s.byID {
			got, err := s.load(o)
			if err != nil || plumbing.ComputeHash(o.kind, got) != id {
				t.Errorf("object %s: %v", id, err)
			}
		}
	})
}

// FuzzTree checks that whatever parses as a tree is written back the same, that
// nothing hostile is shown, and that what is sound stands in git's order.
func FuzzTree(f *testing.F) {
	for _, tree := range []string{"100644 a\x00%s40000 b\x00%[1]s", "100644 b\x00%s40000 a\x00%[1]s", "40000 a\x00%s100644 a.b\x00%[1]s", "100644 a\x00%s100644 a\x00%[1]s"} {
		f.Add(fmt.Appendf(nil, tree, "aaaaaaaaaaaaaaaaaaaa"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		es, err := parseTree(data)
		if err != nil {
			return
		}
		var back []byte
		for _, e := range es {
			back = append(back, encodeTree([]entry{e})...)
		}
		if !bytes.Equal(back, data) {
			t.Error(cmp.Diff(data, back))
		}
		var sound []entry
		for i, why := range faults(es) {
			if why == "" {
				sound = append(sound, es[i])
			}
		}
		if again := parse(t, encodeTree(slices.Clone(sound))); !slices.Equal(again, sound) {
			t.Errorf("sound is %v, in order %v", sound, again)
		}
		shown, skipped := visible(es, ".")
		if len(shown)+len(skipped) != len(es) {
			t.Errorf("%d entries, shown %v, skipped %v", len(es), shown, skipped)
		}
		for _, e := range shown {
			if checkPath(e.name) != nil {
				t.Errorf("the name %q is shown", e.name)
			}
		}
	})
}

func parse(t *testing.T, data []byte) []entry {
	t.Helper()
	es, err := parseTree(data)
	if err != nil {
		t.Fatal(err)
	}
	return es
}

// FuzzReport reads answers to a push.
func FuzzReport(f *testing.F) {
	good := "002b\x01000eunpack ok\n0014ok refs/heads/x\n00000000"
	if err := readReport(strings.NewReader(good)); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := readReport(bufio.NewReader(bytes.NewReader(data))); err != nil && len(err.Error()) > 20_000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
