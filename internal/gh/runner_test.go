package gh

import (
	"fmt"
	"regexp"
	"strings"
)

// command is a workflow command as the runner reads it.
type command struct {
	name       string
	properties map[string]string
	data       string
}

var (
	lineEnd = regexp.MustCompile(`\r\n|\r|\n`)
	// blanks are what the runner's language trims at the start of a line.
	blanks = regexp.MustCompile(`^[\s\x{85}\p{Z}]+`)
)

// runnerCommands reads a stream as the runner does: the form with "::" at the
// start of a line after blanks, the older form with "##[" anywhere in it.
func runnerCommands(stream string) []command {
	var out []command
	for _, line := range lineEnd.Split(stream, -1) {
		trimmed := blanks.ReplaceAllString(line, "")
		if rest, ok := strings.CutPrefix(trimmed, "::"); ok {
			if head, data, ok := strings.Cut(rest, "::"); ok {
				c := command{properties: map[string]string{}, data: unescapeCommand(data)}
				var properties string
				c.name, properties, _ = strings.Cut(head, " ")
				for _, p := range strings.Split(properties, ",") {
					if k, v, ok := strings.Cut(p, "="); ok {
						c.properties[strings.TrimSpace(k)] = unescapeCommand(v)
					}
				}
				out = append(out, c)
				continue
			}
		}
		if _, rest, ok := strings.Cut(line, "##["); ok {
			if head, data, ok := strings.Cut(rest, "]"); ok {
				out = append(out, command{name: head, data: data})
			}
		}
	}
	return out
}

func unescapeCommand(s string) string {
	return strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",").Replace(s)
}

// runnerOutputs reads a file of outputs as the runner does.
func runnerOutputs(file string) (map[string]string, error) {
	out := map[string]string{}
	for file != "" {
		line, rest, _ := strings.Cut(file, "\n")
		file = rest
		if line == "" {
			continue
		}
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		switch {
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			out[line[:equals]] = line[equals+1:]
		case heredoc > 0:
			delimiter := line[heredoc+2:]
			var lines []string
			for {
				next, rest, ok := strings.Cut(file, "\n")
				file = rest
				if next == delimiter {
					break
				}
				if !ok {
					return nil, fmt.Errorf("no delimiter %q", delimiter)
				}
				lines = append(lines, next)
			}
			out[line[:heredoc]] = strings.Join(lines, "\n")
		default:
			return nil, fmt.Errorf("line %q", line)
		}
	}
	return out, nil
}
