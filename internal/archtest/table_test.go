// Package archtest holds the rules of ARCHITECTURE.md that a compiler does not
// check: who may import whom, what a pure package may not do, who may print,
// and that everything exported is documented.
package archtest

// rule is the row of one package. Paths are relative to the module. Whatever a
// row does not list is not allowed, and what it lists must be used.
type rule struct {
	// pure packages know no clock, environment, network, process or chance:
	// the same input gives the same bytes.
	pure bool
	// foundation packages may be imported by every package.
	foundation bool
	// testSupport packages may be imported by tests only.
	testSupport bool
	// imports of other packages that are not foundation.
	imports []string
	// modules are those of others, by the beginning of the import path.
	modules []string
	// effects are the packages of the standard library by which a program
	// reaches the world outside, see [outside].
	effects []string
}

// table is the whole architecture, from the bottom up. A new package needs a
// row, and with it a decision; ARCHITECTURE.md gives the reasons.
var table = map[string]rule{
	"internal/limits":     {pure: true, foundation: true},
	"internal/perf":       {pure: true, foundation: true},
	"internal/secret":     {pure: true, foundation: true},
	"internal/strictjson": {pure: true, foundation: true},
	"internal/text":       {pure: true, foundation: true},
	"internal/svg":        {pure: true, foundation: true},
	"internal/stats":      {pure: true, foundation: true, modules: []string{"gonum.org/v1/gonum"}},

	"internal/config":   {pure: true, modules: []string{"github.com/bmatcuk/doublestar/v4", "github.com/goccy/go-yaml"}},
	"internal/manifest": {pure: true},
	"internal/decode":   {pure: true, modules: []string{"golang.org/x/perf/benchfmt"}},
	"internal/history":  {pure: true},
	"internal/derive":   {pure: true, imports: []string{"internal/config", "internal/decode", "internal/history", "internal/manifest"}},
	"internal/replay":   {pure: true, imports: []string{"internal/history"}},
	"internal/site": {pure: true, imports: []string{"internal/derive"},
		modules: []string{"github.com/wcharczuk/go-chart/v2"}},
	"internal/report": {pure: true, imports: []string{"internal/derive"}},

	"internal/gitdb": {modules: []string{"github.com/go-git/go-git/v5", "github.com/klauspost/compress/zlib"},
		effects: []string{"crypto/tls", "net", "net/http", "os", "syscall"}},
	"internal/gitdb/gittest": {testSupport: true,
		effects: []string{"log", "net/http", "net/http/cgi", "net/http/httptest", "os", "os/exec"}},
	"internal/archive": {imports: []string{"internal/gitdb"}, modules: []string{"github.com/bmatcuk/doublestar/v4"}},
	"internal/gh": {modules: []string{"github.com/google/go-github/v62", "github.com/sethvargo/go-githubactions"},
		effects: []string{"net", "net/http", "os"}},

	"internal/app": {
		imports: []string{"internal/archive", "internal/config", "internal/decode", "internal/derive", "internal/gh",
			"internal/gitdb", "internal/manifest", "internal/report", "internal/site"},
		modules: []string{"github.com/bmatcuk/doublestar/v4"},
		effects: []string{"crypto/tls", "net", "net/http", "os", "os/exec", "syscall"}},
	".": {imports: []string{"internal/app"}, effects: []string{"crypto/rand", "os", "os/signal", "syscall"}},

	"internal/archtest": {},
}

// outside are the packages of the standard library that must stand in a row to
// be imported, with everything below them.
var outside = []string{"crypto/rand", "crypto/tls", "log", "math/rand", "net", "os", "plugin", "runtime/cgo", "syscall", "unsafe"}

// inside are the exceptions: net/url reads and writes text only, and of
// math/rand/v2 only what draws without a seed is kept out, by [impure].
var inside = []string{"net/url", "math/rand/v2"}

// forTests are the modules that tests of every package may import.
var forTests = []string{
	"github.com/google/go-cmp", "pgregory.net/rapid", "github.com/rogpeppe/go-internal", "github.com/yuin/goldmark",
	"github.com/goccy/go-yaml", "golang.org/x/net/html",
}

// programs are folders of small programs beside the product, which no rule but
// that of their own purpose binds.
var programs = []string{"bench", "testdata", "internal/decode/new"}

// mayPrint are the packages that may touch the standard streams; all others
// write through the log of internal/gh.
var mayPrint = []string{".", "internal/gh"}

// impure are functions of otherwise harmless packages that a pure package may
// not use, by import path.
var impure = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer", "Local", "LoadLocation"},
	"math/rand/v2": {"ExpFloat64", "Float32", "Float64", "Int", "Int32", "Int32N", "Int64", "Int64N", "IntN", "N", "NormFloat64",
		"Perm", "Shuffle", "Uint", "Uint32", "Uint32N", "Uint64", "Uint64N", "UintN"},
}
