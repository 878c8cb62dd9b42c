package derive

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/perf"
)

// envClass names the class of machine a result belongs to: processor, system
// and toolchain. Results of different classes are never compared. Patch levels
// do not count: hosted runners change them every week, and what they do to
// speed shows as a platform shift. The number of processors does, since more of
// them are faster for what runs in parallel. known is false if the processor is unknown;
// such results are a class of their own.
func envClass(e perf.Env) (class string, known bool) {
	parts := []string{e.CPUModel, strconv.Itoa(e.CPUCount), e.OS, minor(e.OSVersion), e.Arch}
	for _, name := range slices.Sorted(maps.Keys(e.Toolchain)) {
		parts = append(parts, name, minor(e.Toolchain[name]))
	}
	return strings.Join(parts, "\x00"), e.CPUModel != ""
}

// exactClass is the class for metrics that do not vary by chance: the
// processor's model has no part in them.
func exactClass(e perf.Env) string {
	e.CPUModel, e.CPUCount = "", 0
	class, _ := envClass(e)
	return class
}

// minor cuts every dotted number in a version text after its second part:
// "Ubuntu 24.04.4 LTS" is "Ubuntu 24.04 LTS".
func minor(version string) string {
	var b strings.Builder
	dots, number := 0, false
	for _, r := range version {
		digit := r >= '0' && r <= '9'
		switch {
		case digit:
			number = true
		case r == '.' && number:
			dots++
		default:
			dots, number = 0, false
		}
		if dots < 2 {
			b.WriteRune(r)
		}
	}
	return b.String()
}
