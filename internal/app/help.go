package app

import (
	"context"
	"fmt"
	"strings"
)

// help prints the modes, or one mode with all its flags.
func help(_ context.Context, s *session) error {
	var b strings.Builder
	if s.opt != nil && len(s.opt.args) > 0 {
		m, err := findMode(s.opt.args[0], false)
		if err != nil {
			return err
		}
		describe(&b, m)
	} else {
		overview(&b)
	}
	_, err := s.log.Raw().Write([]byte(b.String()))
	return err
}

func overview(b *strings.Builder) {
	b.WriteString("perfband archives benchmark and load-test results for ever, derives honest statistics\nfrom them and publishes a site and a badge.\n\nUsage: perfband MODE [flags]\n\nModes:\n")
	for _, m := range modes() {
		fmt.Fprintf(b, "  %-9s %s\n", m.name, m.short)
	}
	b.WriteString("\nperfband help MODE shows a mode's flags. Without arguments and with INPUT_MODE set it\nruns as a GitHub Action, every input being the flag of the same name.\n" +
		"\nExit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 results not archived.\n")
}

func describe(b *strings.Builder, m mode) {
	fmt.Fprintf(b, "perfband %s: %s.\n\nUsage: perfband %s", m.name, m.short, m.name)
	if len(m.options) > 0 {
		b.WriteString(" [flags]")
	}
	if m.positional != "" {
		b.WriteString(" " + m.positional)
	}
	b.WriteByte('\n')
	if len(m.options) > 0 {
		b.WriteString("\nFlags:\n")
	}
	for _, name := range m.options {
		o := m.find(name)
		head := "--" + o.name
		switch {
		case o.arg != "":
			head += " " + o.arg
		case o.value == "true":
			head += ", --no-" + o.name
		}
		text := o.help
		if o.many {
			text += "; may be repeated"
		}
		if o.value != "" {
			text += fmt.Sprintf(" (default %s)", o.value)
		}
		fmt.Fprintf(b, "  %s\n      %s\n", head, text)
	}
}

// joinWords lists words as "a, b and c".
func joinWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// version prints the version.
func version(_ context.Context, s *session) error {
	_, err := fmt.Fprintf(s.log.Raw(), "perfband %s\n", s.env.Version)
	return err
}
