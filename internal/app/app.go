// Package app is where the parts meet: one file per mode, each wiring the
// other packages together. It is the only package that reads the environment,
// the clock or the machine.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/debug"
	"slices"
	"time"

	"perfband/internal/gh"
	"perfband/internal/perf"
	"perfband/internal/text"
)

// Env is everything the program may take from outside.
type Env struct {
	Args    []string // without the program's name
	Getenv  func(string) string
	Dir     string // working folder
	Stdout  io.Writer
	Stderr  io.Writer
	Now     func() time.Time
	Random  io.Reader
	Demo    fs.FS // input of the demo
	Version string
}

// Exit codes.
const (
	exitDone        = 0 // whatever the verdict
	exitFailed      = 1 // an operation or check failed
	exitUsage       = 2 // usage or configuration
	exitNotArchived = 3 // the raw entry could not be archived
)

// mode is one thing the program does.
type mode struct {
	name       string
	action     bool   // can be the action's mode
	positional string // what its arguments are, "" if it takes none
	short      string
	options    []string
	own        []option // options that differ from the table's of that name
	run        func(context.Context, *session) error
}

var (
	branchOptions = []string{"remote", "token", "raw-branch", "config", "ca-file"}
	siteOptions   = []string{"site-branch", "site-dir", "manifests", "dry-run", "artifact-dir"}
)

// modes is the table of everything perfband does, in the order help shows it.
func modes() []mode {
	return []mode{
		{name: "publish", action: true, short: "archive results on the raw branch, derive, write site and badge", run: publish,
			options: slices.Concat([]string{"results", "format", "kind", "module", "job", "run-id", "attempt", "shard", "commit", "ref",
				"started", "env", "allow-empty", "raw", "site", "site-out"}, branchOptions, siteOptions)},
		{name: "recalc", action: true, short: "derive everything again from the raw branch and rewrite the site", run: recalc,
			options: slices.Concat(branchOptions, siteOptions, []string{"site-out"})},
		{name: "badge", action: true, short: "write badge.svg and badge.json only", run: writeBadge,
			options: slices.Concat(branchOptions, siteOptions)},
		{name: "decode", positional: "PATH...", short: "print what result files hold, one JSON object a line", run: decodeFiles,
			options: []string{"format", "module", "kind"}},
		{name: "export", short: "print derived tables as CSV or JSON", run: export,
			options: slices.Concat([]string{"what", "run", "format", "manifests"}, branchOptions),
			own:     []option{{name: "format", value: "csv", arg: "csv|json", cli: true, help: "form of the table"}}},
		{name: "demo", short: "publish real example runs to a throw-away repository and serve the site", run: demo,
			options: []string{"dir", "listen", "serve"}},
		{name: "serve", short: "derive the site and serve it on this machine", run: serve,
			options: slices.Concat(branchOptions, []string{"manifests", "listen"})},
		{name: "version", short: "print the version", run: version},
		{name: "help", positional: "[MODE]", short: "print usage", run: help},
	}
}

// session is one call of the program.
type session struct {
	env  Env
	opt  *options
	log  *gh.Log
	out  *gh.Outputs
	now  time.Time // start of the call
	code int       // exit code if nothing worse happens

	fromInputs bool   // called as the action
	summary    string // the job summary, once written
}

// fail raises the exit code of a call that goes on.
func (s *session) fail(code int) { s.code = max(s.code, code) }

// exitError is an error that ends the call with a code of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// Main runs perfband and returns the exit code.
func Main(ctx context.Context, env Env) (code int) {
	inActions := env.Getenv("GITHUB_ACTIONS") == "true"
	log := gh.NewLog(env.Stdout, env.Stderr, inActions, env.Getenv("RUNNER_DEBUG") == "1")
	defer func() {
		if p := recover(); p != nil {
			log.Debugf("%s", debug.Stack())
			log.Diagnostic(perf.Diagnostic{Severity: perf.Error, Code: "crash", What: "perfband crashed", Why: fmt.Sprint(p),
				Do: "This is a bug in perfband. Run again with debug logging on (RUNNER_DEBUG=1) and report the trace."})
			code = exitFailed
		}
		log.Close()
	}()
	s := &session{env: env, log: log, now: env.Now().UTC().Truncate(time.Second)}
	s.out = gh.NewOutputs(env.Getenv("GITHUB_OUTPUT"), env.Random, log)
	err := s.start(ctx)
	log.EndGroup() // an error inside a folded group would not be seen
	if err := s.out.Write(); err != nil {
		s.report(err)
		s.fail(exitFailed)
	}
	if err != nil {
		s.report(err)
		return max(s.code, exitCode(err))
	}
	return s.code
}

func exitCode(err error) int {
	var usage *usageError
	var exit *exitError
	switch {
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailed
}

// report prints an error as a diagnostic.
func (s *session) report(err error) {
	var d *perf.Diagnostic
	if errors.As(err, &d) {
		s.log.Diagnostic(*d)
		return
	}
	s.log.Diagnostic(perf.Diagnostic{Severity: perf.Error, Code: "failed", What: err.Error()})
}

// start finds the mode and its options, and runs it.
func (s *session) start(ctx context.Context) error {
	args := s.env.Args
	input := s.env.Getenv("INPUT_MODE")
	if len(args) == 0 && input == "" {
		return help(ctx, s)
	}
	fromInputs := len(args) == 0
	name := input
	if !fromInputs {
		name, args = args[0], args[1:]
	}
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "--version":
		name = "version"
	}
	m, err := findMode(name, fromInputs)
	if err != nil {
		return err
	}
	if s.fromInputs = fromInputs; fromInputs {
		if w := s.env.Getenv("GITHUB_WORKSPACE"); w != "" {
			s.env.Dir = w
		}
		s.opt, err = parseInputs(m, s.env.Getenv)
	} else {
		if slices.ContainsFunc(args, func(a string) bool { return a == "-h" || a == "-help" || a == "--help" }) {
			s.opt = &options{args: []string{m.name}}
			return help(ctx, s)
		}
		s.opt, err = parseFlags(m, args)
	}
	if err != nil {
		return err
	}
	if t := s.token(); t != "" {
		s.log.Mask(t)
	}
	defer s.handOver()()
	return m.run(ctx, s)
}

func findMode(name string, action bool) (mode, error) {
	var valid []string
	for _, m := range modes() {
		if action && !m.action {
			continue
		}
		if m.name == name {
			return m, nil
		}
		valid = append(valid, m.name)
	}
	msg := fmt.Sprintf("unknown mode %q", name)
	if near := text.Nearest(name, valid); near != "" {
		msg += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return mode{}, usagef("%s. The modes are %s", msg, joinWords(valid))
}

// token is the token to use, "" for none.
func (s *session) token() string {
	if slices.Contains(s.opt.mode.options, "token") {
		if t := s.opt.str("token"); t != "" {
			return t
		}
	}
	return s.env.Getenv("PERFBAND_TOKEN")
}
