package gh

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"perfband/internal/limits"
	"perfband/internal/perf"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// newTestLog is a log into two buffers.
func newTestLog(inActions, debug bool) (l *Log, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return NewLog(stdout, stderr, inActions, debug), stdout, stderr
}

// evil are texts that try to be commands.
var evil = []string{
	"::set-output name=verdict::faster", "  ::add-mask::a", "\t::error::x", "\u00a0::error::x", "\u2028::error::x",
	"text ##[error]forged", "##[add-mask]e", "###[error]x", "::stop-commands::x", "a\n::group::hidden\n::endgroup::",
	"a\r::error::x", "a\r\n##[error]x", "%0A::warning::second line", ": :error::x", "::::", "::\n::x::y",
}

// sayAll writes s by every method but Mask.
func sayAll(l *Log, s string) {
	l.Info(s)
	l.Infof("%s and %s", s, s)
	l.Debugf("%s", s)
	l.Progress(s)
	l.Group(s)
	l.EndGroup()
	for _, severity := range []perf.Severity{perf.Error, perf.Warning, perf.Notice} {
		l.Diagnostic(perf.Diagnostic{Severity: severity, Code: s, What: s, Why: s, Do: s, Where: perf.Where{File: s, Line: 3}})
	}
}

func TestLogForgesNoCommand(t *testing.T) {
	allowed := map[string]bool{"group": true, "endgroup": true, "error": true, "warning": true, "notice": true, "debug": true}
	check := func(s string) error {
		for _, debug := range []bool{false, true} {
			l, stdout, stderr := newTestLog(true, debug)
			l.now = func() time.Time { return time.Unix(1e9, 0) }
			sayAll(l, s)
			if err := l.Close(); err != nil {
				return err
			}
			var names []string
			for _, c := range runnerCommands(stdout.String() + stderr.String()) {
				if !allowed[c.name] {
					return fmt.Errorf("%q gave the command %q: %s", s, c.name, stdout)
				}
				names = append(names, c.name)
			}
			want := []string{"group", "endgroup", "error", "warning", "notice"}
			if debug {
				want = append([]string{"debug"}, want...)
			}
			if diff := cmp.Diff(want, names); diff != "" {
				return fmt.Errorf("%q gave other commands: %s\n%s", s, diff, stdout)
			}
		}
		return nil
	}
	for _, s := range evil {
		if err := check(s); err != nil {
			t.Error(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ \t\r\n]{0,3}(::|##\[|:|[#\[]|error|\]){1,6}`)).Draw(t, "s")
		if err := check(s); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLogHostile sends the shared names of a hostile result file.
func TestLogHostile(t *testing.T) {
	for _, file := range hostileFiles(t, "names/X05-*.json") {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct{ Results []struct{ Command string } }
		if err := json.Unmarshal(b, &doc); err != nil || len(doc.Results) == 0 {
			t.Fatal(err, len(doc.Results))
		}
		l, stdout, stderr := newTestLog(true, true)
		raw := l.Raw()
		for _, r := range doc.Results {
			l.Info(r.Command)
			fmt.Fprintln(raw, r.Command)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*bytes.Buffer{stdout, stderr} {
			if got := runnerCommands(s.String()); len(got) != 0 {
				t.Errorf("commands came out: %v", got)
			}
		}
	}
}

func TestLogAnnotations(t *testing.T) {
	l, stdout, stderr := newTestLog(true, false)
	l.Diagnostic(perf.Diagnostic{Severity: perf.Warning, Code: "unknown-key", What: "unknown key, 100 %",
		Where: perf.Where{File: "a,b:c/perf.yml", Line: 12, Col: 5}, Do: "Remove it."})
	l.Diagnostic(perf.Diagnostic{Severity: perf.Error, Code: "broken", What: "broken\nentry",
		Where: perf.Where{Ref: "perf-raw", File: "x/metadata.json", Line: 1}})
	want := []command{
		{"warning", map[string]string{"title": "perfband: unknown-key", "file": "a,b:c/perf.yml", "line": "12", "col": "5"},
			"a,b:c/perf.yml:12:5: unknown key, 100 %. Remove it."},
		{"error", map[string]string{"title": "perfband: broken"}, "perf-raw:x/metadata.json:1: broken\nentry"},
	}
	if diff := cmp.Diff(want, runnerCommands(stdout.String()), cmp.AllowUnexported(command{})); diff != "" {
		t.Errorf("%s\n%s", diff, stdout)
	}
	if strings.Count(stdout.String(), "\n") != 2 || stderr.Len() != 0 {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}

func TestLogOutsideActions(t *testing.T) {
	l, stdout, stderr := newTestLog(false, true)
	l.Mask("t0p-secret")
	l.Group("Reading")
	l.Infof("read %d files", 3)
	l.EndGroup()
	l.Debugf("tip %s", "abc")
	l.Diagnostic(perf.Diagnostic{Severity: perf.Error, Code: "a", What: "broken", Where: perf.Where{File: "x", Line: 1}})
	l.Diagnostic(perf.Diagnostic{Severity: perf.Notice, Code: "b", What: "odd"})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := "read 3 files\ndebug: tip abc\nx:1: broken\nnotice: odd\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" || stdout.Len() != 0 {
		t.Errorf("%s, stdout %q", diff, stdout)
	}
}

// TestLogCounts: of one kind ten are told and the rest is counted; of one
// severity ten are annotations and the rest are lines.
func TestLogCounts(t *testing.T) {
	for _, inActions := range []bool{false, true} {
		l, stdout, stderr := newTestLog(inActions, false)
		for _, code := range []string{"a", "b"} {
			for i := range 25 {
				l.Diagnostic(perf.Diagnostic{Severity: perf.Warning, Code: code, What: fmt.Sprintf("%s %d", code, i)})
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(stdout.String()+stderr.String(), "\n"), "\n")
		if len(lines) != 22 || lines[20] != `warning: and 15 more of "a"` || lines[21] != `warning: and 15 more of "b"` {
			t.Errorf("in Actions %v: %d lines, last %q", inActions, len(lines), lines[len(lines)-1])
		}
		annotations := 0
		if inActions {
			annotations = limits.AnnotationsPerKind
		}
		if got := len(runnerCommands(stdout.String())); got != annotations {
			t.Errorf("in Actions %v: %d annotations", inActions, got)
		}
	}
}

func TestLogProgress(t *testing.T) {
	l, _, stderr := newTestLog(false, false)
	now := time.Unix(1e9, 0)
	l.now = func() time.Time { return now }
	for i := range 25 {
		l.Progress(fmt.Sprint(i))
		now = now.Add(time.Second)
	}
	if got := stderr.String(); got != "0\n10\n20\n" {
		t.Errorf("%q", got)
	}
}

func TestLogMask(t *testing.T) {
	l, stdout, _ := newTestLog(true, false)
	l.Mask("line-one-secret\r\nab\nline%two-secret")
	want := []command{{"add-mask", map[string]string{}, "line-one-secret"}, {"add-mask", map[string]string{}, "line%two-secret"}}
	if diff := cmp.Diff(want, runnerCommands(stdout.String()), cmp.AllowUnexported(command{})); diff != "" {
		t.Error(diff)
	}
	stdout.Reset()
	l.Info("ab line-one-secret line%two-secret")
	if got := stdout.String(); got != "ab *** ***\n" {
		t.Errorf("%q", got)
	}
}

func TestSecrets(t *testing.T) {
	var s Secrets
	const token = "ghs_" + "0123456789+/=&%äbcdefghijklmn"
	if got := s.Text(token); got != token {
		t.Errorf("without secrets: %q", got)
	}
	s.Add("abc") // too short
	s.Add(token)
	s.Add(token[:10]) // a part of it
	b64 := func(t string) string { return base64.StdEncoding.EncodeToString([]byte(t)) }
	for _, text := range []string{
		token, "x" + token + "x", url.QueryEscape(token), url.PathEscape(token), strings.ToLower(url.PathEscape("%/")) + token,
		b64(token), b64("x-access-token:" + token), b64("a" + token), b64("ab" + token + "z"), b64(token + "zz"),
		base64.URLEncoding.EncodeToString([]byte("abcd" + token)),
	} {
		got := s.Text("abc " + text)
		// What may be left of base64 are the characters it shares with its neighbours.
		if !strings.HasPrefix(got, "abc ") || !strings.Contains(got, "***") || len(got) > 60 {
			t.Errorf("Text(%q) = %q", text, got)
		}
	}
	if got := s.Text("a " + token[:10] + " b"); got != "a *** b" {
		t.Errorf("the part alone: %q", got)
	}
	if got := fmt.Sprintf("%v %+v %#v", &s, &s, &s); strings.Contains(got, token[:10]) {
		t.Errorf("formatted: %q", got)
	}
}

func TestSecretsError(t *testing.T) {
	var s Secrets
	s.Add("t0p-secret")
	if s.Error(nil) != nil {
		t.Error("nil became an error")
	}
	plain := errors.New("plain")
	if s.Error(plain) != plain {
		t.Error("an error without secrets was changed")
	}
	d := &perf.Diagnostic{What: "read https://x:t0p-secret@h", Err: ErrForbidden}
	got := s.Error(fmt.Errorf("push: %w", d))
	if got.Error() != "push: read https://x:***@h" || !errors.Is(got, ErrForbidden) {
		t.Errorf("%v", got)
	}
	var as *perf.Diagnostic
	if !errors.As(got, &as) || as != d {
		t.Error("the diagnostic is lost")
	}
	if text := fmt.Sprintf("%v %+v", got, got); strings.Contains(text, "t0p") {
		t.Error(text)
	}
}

func TestLogRaw(t *testing.T) {
	data := "a,b\n::error::x,1\n{\"n\":\"##[x]\"}\nt0p-secret ::fine\nrest"
	for _, c := range []struct {
		inActions    bool
		want, notice string
	}{
		{false, "a,b\n::error::x,1\n{\"n\":\"##[x]\"}\n*** ::fine\nrest", ""},
		{true, "a,b\n: :error::x,1\n{\"n\":\"## [x]\"}\n*** ::fine\nrest", "notice: 2 places"},
	} {
		for _, piece := range []int{1, 3, 1000} {
			l, stdout, stderr := newTestLog(c.inActions, false)
			raw := l.Raw()
			l.Secrets().Add("t0p-secret")
			l.Info("message")
			for rest := data; rest != ""; {
				n := min(piece, len(rest))
				if k, err := raw.Write([]byte(rest[:n])); k != n || err != nil {
					t.Fatal(k, err)
				}
				rest = rest[n:]
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, stdout.String()); diff != "" {
				t.Errorf("in Actions %v, pieces of %d: %s", c.inActions, piece, diff)
			}
			if !strings.HasPrefix(stderr.String(), "message\n"+c.notice) {
				t.Errorf("messages %q", stderr)
			}
		}
	}
}

func TestRawForgesNoCommand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(evil), rapid.SampledFrom([]string{"\n", "\r", ":", "#", "[", " ", "::", "x"}))).Draw(t, "parts")
		l, stdout, _ := newTestLog(true, false)
		raw := l.Raw()
		for _, p := range parts {
			raw.Write([]byte(p))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got := runnerCommands(stdout.String()); len(got) != 0 {
			t.Fatalf("%q gave %v", stdout, got)
		}
	})
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestLogOfClosedStreams(t *testing.T) {
	l := NewLog(brokenWriter{}, brokenWriter{}, true, true)
	l.Mask("t0p-secret")
	sayAll(l, "x")
	if _, err := l.Raw().Write([]byte("data\n")); err == nil {
		t.Error("lost data is no error")
	}
	if err := l.Close(); err != nil {
		t.Errorf("nothing was left to write: %v", err)
	}
}
