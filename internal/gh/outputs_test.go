package gh

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perfband/internal/limits"
	"perfband/internal/perf"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// counting is a random source whose bytes are known.
type counting byte

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(*c)
	}
	*c++
	return len(p), nil
}

func TestOutputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output")
	if err := os.WriteFile(path, []byte("before=1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	log, _, _ := newTestLog(true, false)
	log.Secrets().Add("t0p-secret")
	o := NewOutputs(path, new(counting), log)
	for _, s := range [][2]string{{"verdict", "faster"}, {"bin", "a\r\nb t0p-secret"}, {"verdict", "slower\x00\xff"}} {
		if err := o.Set(s[0], s[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Write(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	zeros, ones := strings.Repeat("00", 16), strings.Repeat("01", 16)
	want := "before=1\n" +
		"verdict<<perfband_" + zeros + "\nslower\\u{0}\uFFFD\nperfband_" + zeros + "\n" +
		"bin<<perfband_" + ones + "\na\r\nb ***\nperfband_" + ones + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestOutputsReadBack: whatever the values are, the runner reads exactly them.
func TestOutputsReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "output")
	log, _, _ := newTestLog(true, false)
	check := func(values []string) error {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		o, want := NewOutputs(path, new(counting), log), map[string]string{}
		for i, v := range values {
			name := fmt.Sprintf("name-%d", i)
			if err := o.Set(name, v); err != nil {
				return err
			}
			want[name] = strings.ReplaceAll(v, "\x00", `\u{0}`)
		}
		if err := o.Write(); err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		got, err := runnerOutputs(string(b))
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New(diff)
		}
		return nil
	}
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching(`[\n\r]{0,2}(name-0|x)?(=|<<|perfband_|EOF)?[\n\r]{0,2}`)), 1, 4).Draw(t, "values")
		if err := check(values); err != nil {
			t.Fatalf("%q: %v", values, err)
		}
	})
	for _, file := range hostileFiles(t, "names/X07-*.json") {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var rows []struct{ Name string }
		if err := json.Unmarshal(b, &rows); err != nil || len(rows) == 0 {
			t.Fatal(err, len(rows))
		}
		var names []string
		for _, r := range rows {
			names = append(names, r.Name)
		}
		if err := check(names); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestOutputsRefuse(t *testing.T) {
	log, _, stderr := newTestLog(false, true)
	path := filepath.Join(t.TempDir(), "output")
	o := NewOutputs(path, new(counting), log)
	for _, name := range []string{"", "a b", "a=b", "a\nb", "1a", "a<<b"} {
		if err := o.Set(name, "x"); err == nil {
			t.Errorf("the name %q was accepted", name)
		}
	}
	if err := o.Set("fits", strings.Repeat("x", limits.OutputBytes)); err != nil {
		t.Error(err)
	}
	var d *perf.Diagnostic
	if err := o.Set("long", strings.Repeat("x", limits.OutputBytes+1)); !errors.As(err, &d) || d.Code != "output-size" {
		t.Errorf("too long: %v", err)
	}
	guessed := NewOutputs(path, new(counting), log)
	if err := guessed.Set("a", "perfband_"+strings.Repeat("00", 16)); err != nil {
		t.Fatal(err)
	}
	if err := guessed.Write(); err == nil {
		t.Error("a value with the delimiter was written")
	}
	dry := NewOutputs(path, bytes.NewReader(nil), log)
	if err := dry.Set("a", "b"); err != nil {
		t.Fatal(err)
	}
	if err := dry.Write(); err == nil {
		t.Error("outputs were written without randomness")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused write left a file")
	}
	nowhere := NewOutputs("", new(counting), log)
	if err := nowhere.Set("a", "b"); err != nil {
		t.Fatal(err)
	}
	if err := nowhere.Write(); err != nil || stderr.String() != "debug: output a=b\n" {
		t.Errorf("%v, %q", err, stderr)
	}
	gone := NewOutputs(filepath.Join(path, "x"), new(counting), log)
	if err := gone.Set("a", "b"); err != nil {
		t.Fatal(err)
	}
	if err := gone.Write(); err == nil {
		t.Error("a missing folder is no error")
	}
}

func TestSummary(t *testing.T) {
	log, _, _ := newTestLog(true, false)
	log.Secrets().Add("t0p-secret")
	path := filepath.Join(t.TempDir(), "summary")
	s := NewSummary(path, log)
	if err := s.Write("# Title t0p-secret\n"); err != nil {
		t.Fatal(err)
	}
	row := "row\n"
	if err := s.Write(strings.Repeat(row, limits.SummaryBytes/len(row))); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := string(b)
	rest, ok := strings.CutPrefix(got, "# Title ***\n")
	rows, said := strings.CutSuffix(rest, summaryCut)
	if !ok || !said || len(got) > limits.SummaryBytes || len(got) < limits.SummaryBytes-2*len(row) || strings.ReplaceAll(rows, row, "") != "" {
		t.Errorf("%d bytes, begins %.40q, ends %q", len(got), got, got[len(got)-100:])
	}
	if err := s.Write("more\n"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > limits.SummaryBytes {
		t.Errorf("%v bytes, %v", info.Size(), err)
	}
	if err := NewSummary("", log).Write("x"); err != nil {
		t.Error(err)
	}
}
