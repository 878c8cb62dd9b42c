package textkit

import (
	"fmt"
	"strings"
)

// Expand replaces every {name} in s by its value.
func Expand(s string, values map[string]string) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(s, "{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		name, after, closed := strings.Cut(strings.ToLower(rest), "}")
		if !closed {
			return "", fmt.Errorf("{%s: no closing brace", name)
		}
		value, known := values[name]
		if !known {
			return "", fmt.Errorf("{%s}: no such value", name)
		}
		out.WriteString(value)
		s = after
	}
}
