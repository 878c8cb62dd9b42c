package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/archive"
	"perfband/internal/config"
	"perfband/internal/derive"
	"perfband/internal/text"
)

// option is one flag of the command line and, when it is an input of the
// action, the input of the same name.
type option struct {
	name  string
	value string // default
	arg   string // placeholder in help, "" for a switch
	help  string
	many  bool // may be given more than once; an input has one value a line
	cli   bool // no input of the action
}

// optionTable is every option there is. Modes name those they take.
var optionTable = []option{
	{name: "remote", arg: "URL|DIR", cli: true, help: "git URL or path of a bare repository that holds the branches (default: the repository of the workflow)"},
	{name: "token", arg: "TOKEN", help: "token with contents: write; also read from PERFBAND_TOKEN"},
	{name: "raw-branch", value: archive.DefaultBranch, arg: "BRANCH", help: "orphan branch the raw results are kept on"},
	{name: "site-branch", value: "gh-pages", arg: "BRANCH", help: "branch the site is written to"},
	{name: "site-dir", value: "perf", arg: "DIR", help: "folder of the site on its branch"},
	{name: "config", value: config.DefaultPath, arg: "FILE", help: "configuration; a missing file means the defaults"},
	{name: "manifests", value: ".github/perf-manifest", arg: "DIR", help: "folder of module manifests"},
	{name: "dry-run", help: "do everything but write to the branches"},
	{name: "ca-file", arg: "FILE", help: "PEM file of further certificate authorities to trust"},
	{name: "artifact-dir", value: "perfband-out", arg: "DIR", help: "folder for what must not be lost, such as an entry that could not be archived"},

	{name: "results", arg: "PATH", many: true, help: "result file, folder or glob (default: from the configuration)"},
	{name: "format", value: "auto", arg: "NAME", help: "decoder to use, or auto to find it by content"},
	{name: "kind", value: "auto", arg: "KIND", help: "bench, load, or auto for what the format measures"},
	{name: "module", arg: "NAME", help: "module the results belong to (default: the configuration's suite, else main)"},
	{name: "job", arg: "KIND", help: "how thoroughly was measured: dry, short, medium or default (default: what the results say)"},
	{name: "run-id", arg: "ID", cli: true, help: "id of the run (default: GITHUB_RUN_ID)"},
	{name: "attempt", arg: "N", cli: true, help: "attempt of the run, a number from 1 (default: GITHUB_RUN_ATTEMPT, else 1)"},
	{name: "shard", arg: "NAME", help: "names this part of a matrix; parts of one run need different names"},
	{name: "commit", arg: "SHA", cli: true, help: "commit that was measured, 40 hex digits (default: GITHUB_SHA)"},
	{name: "ref", arg: "REF", cli: true, help: "ref that was measured (default: GITHUB_REF)"},
	{name: "started", arg: "TIME", cli: true, help: "start of the measurement, RFC 3339 (default: what the results say, else their oldest file time)"},
	{name: "env", arg: "FILE|here", help: "machine the results come from: a perfband-env.json, or here for this machine"},
	{name: "allow-empty", help: "accept results without a single benchmark"},
	{name: "raw", value: "keep", arg: "keep|redact", help: "what to do with a file that holds a secret: keep archives files as they are, and so leaves this one out; redact archives it without the secret"},
	{name: "site", value: "true", help: "derive and write the site; false only archives (matrix shards do this)"},
	{name: "site-out", arg: "DIR", help: "also write the site to this folder"},

	{name: "run", arg: "ID", cli: true, help: "only this run"},
	{name: "what", arg: "TABLE", cli: true, help: "table to export: " + joinWords(derive.TableNames)},

	{name: "dir", arg: "DIR", cli: true, help: "folder to use (default: a new temporary folder)"},
	{name: "listen", value: "127.0.0.1:8080", arg: "ADDR", cli: true, help: "address to serve on; the next free port is taken if it is in use"},
	{name: "serve", value: "true", cli: true, help: "serve the site until Ctrl-C"},
}

// find returns an option the mode takes: its own, else the table's.
func (m mode) find(name string) option {
	for _, table := range [][]option{m.own, optionTable} {
		for _, o := range table {
			if o.name == name {
				return o
			}
		}
	}
	panic("option " + name + " of mode " + m.name + " is in no table")
}

// options are the values given to one mode.
type options struct {
	mode  mode
	given map[string][]string
	args  []string // positional
}

func (o *options) list(name string) []string {
	if v, ok := o.given[name]; ok {
		return v
	}
	if opt := o.mode.find(name); opt.value != "" {
		return []string{opt.value}
	}
	return nil
}

func (o *options) str(name string) string {
	if v := o.list(name); len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

func (o *options) set(name string) bool { _, ok := o.given[name]; return ok }

func (o *options) flag(name string) bool { return o.str(name) == "true" }

// usageError is a mistake in how perfband was called; the exit code is 2.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// parseFlags reads a command line. Flags and positional arguments may mix.
func parseFlags(m mode, args []string) (*options, error) {
	o := &options{mode: m, given: map[string][]string{}}
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if a == "--" {
			o.args = append(o.args, args...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			o.args = append(o.args, a)
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
		opt, negated, err := m.option(name)
		if err != nil {
			return nil, err
		}
		switch {
		case negated && hasValue:
			return nil, usagef("--%s takes no value", name)
		case negated:
			value = "false"
		case opt.arg == "" && !hasValue:
			value = "true"
		case !hasValue && len(args) == 0:
			return nil, usagef("--%s needs a value: --%s %s", name, name, opt.arg)
		case !hasValue:
			value, args = args[0], args[1:]
		}
		if err := o.add(opt, value); err != nil {
			return nil, err
		}
	}
	if len(o.args) > 0 && m.positional == "" {
		hint := ""
		if slices.Contains(m.options, "results") {
			hint = "; results are given with --results"
		}
		return nil, usagef("%s takes no argument %q%s", m.name, o.args[0], hint)
	}
	return o, nil
}

// option finds a flag of the mode; "no-NAME" turns a switch off.
func (m mode) option(name string) (opt option, negated bool, err error) {
	if slices.Contains(m.options, name) {
		return m.find(name), false, nil
	}
	if on, ok := strings.CutPrefix(name, "no-"); ok && slices.Contains(m.options, on) {
		if opt = m.find(on); opt.arg == "" {
			return opt, true, nil
		}
	}
	msg := fmt.Sprintf("%s has no flag --%s", m.name, name)
	if near := text.Nearest(name, m.options); near != "" {
		msg += fmt.Sprintf(" (did you mean --%s?)", near)
	}
	return opt, false, usagef("%s. perfband help %s lists them", msg, m.name)
}

func (o *options) add(opt option, value string) error {
	if opt.arg == "" {
		b, err := strconv.ParseBool(value)
		if err != nil {
			return usagef("--%s must be true or false, not %q", opt.name, value)
		}
		value = strconv.FormatBool(b)
	}
	if value == "" {
		return usagef("--%s is given an empty value", opt.name)
	}
	if opt.many {
		o.given[opt.name] = append(o.given[opt.name], value)
	} else {
		o.given[opt.name] = []string{value}
	}
	return nil
}

// parseInputs reads the action's inputs. The runner sets every declared input,
// to its default or "" where nothing was given, so these mean: not given.
func parseInputs(m mode, getenv func(string) string) (*options, error) {
	o := &options{mode: m, given: map[string][]string{}}
	for _, name := range m.options {
		opt := m.find(name)
		if opt.cli {
			continue
		}
		value := strings.TrimSpace(getenv("INPUT_" + strings.ToUpper(name)))
		if value == "" || value == opt.value || opt.arg == "" && opt.value == "" && value == "false" {
			continue
		}
		values := []string{value}
		if opt.many {
			values = strings.Split(value, "\n")
		}
		for _, v := range values {
			if v = strings.TrimSpace(v); v == "" {
				continue
			}
			if err := o.add(opt, v); err != nil {
				return nil, err
			}
		}
	}
	return o, nil
}
