// Command synth writes the parts of the demo's input that no tool measured:
// run.json of every run, and reports in the shape of BenchmarkDotNet and
// NBomber with made-up numbers. The same program writes the same bytes.
//
// Run it in testdata/demo: go run ./synth
package main

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A version is one commit of the demo's repository and the run that measured it.
type version struct {
	committed string // day and time of day, UTC
	author    string
	subject   string
	orders    bool // the module orders was measured
	checkout  bool // the load test of checkout ran
}

var versions = []version{
	{"2026-03-02 09:12", "Ines Costa", "textkit: first release", true, false},
	{"2026-03-05 14:40", "Tom Okafor", "readme: explain Expand", false, false},
	{"2026-03-09 08:03", "Ines Costa", "test: cover Wrap", true, true},
	{"2026-03-12 16:27", "Mira Lindqvist", "distance: one row, on the stack", true, false},
	{"2026-03-16 10:55", "Tom Okafor", "expand: ignore the case of names", false, false},
	{"2026-03-16 13:31", "Tom Okafor", "expand: keep the case of names again", true, true},
	{"2026-03-20 11:18", "Ines Costa", "ci: measure on two cores", true, false},
	{"2026-03-24 07:46", "Mira Lindqvist", "readme: list the functions", true, false},
	{"2026-03-27 15:09", "Ines Costa", "orders: keep the tax of every line", true, true},
	{"2026-03-31 09:34", "Tom Okafor", "changelog: notes for 1.1", true, false},
	{"2026-04-03 12:22", "Mira Lindqvist", "wrap: count columns, not characters", true, false},
	{"2026-04-07 10:01", "Ines Costa", "readme: wrap and East Asian text", true, true},
}

type suite struct {
	Dir    string `json:"dir"`
	Module string `json:"module"`
	Kind   string `json:"kind"`
}

type commit struct {
	SHA     string    `json:"sha"`
	Parents []string  `json:"parents"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject"`
	Author  string    `json:"author"`
}

type run struct {
	RunID         string    `json:"run_id"`
	Attempt       int       `json:"attempt"`
	Commit        commit    `json:"commit"`
	Started       time.Time `json:"started"`
	Ref           string    `json:"ref"`
	DefaultBranch string    `json:"default_branch"`
	Suites        []suite   `json:"suites"`
}

func main() {
	parents := []string{}
	for i, v := range versions {
		at, err := time.Parse("2006-01-02 15:04", v.committed)
		if err != nil {
			log.Fatal(err)
		}
		sum := sha1.Sum([]byte(v.committed + " " + v.subject))
		r := run{
			RunID: fmt.Sprint(14_200_000_000 + 7_919_077*i), Attempt: 1,
			Commit:  commit{hex.EncodeToString(sum[:]), parents, at, v.subject, v.author},
			Started: at.Add(4*time.Minute + time.Duration(7*i)*time.Second),
			Ref:     "refs/heads/main", DefaultBranch: "main",
			Suites: []suite{{"bench", "textkit", "bench"}},
		}
		parents = []string{r.Commit.SHA}
		dir := filepath.Join("runs", fmt.Sprintf("%02d", i+1))
		if v.orders {
			r.Suites = append(r.Suites, suite{"bdn", "orders", "bench"})
			write(filepath.Join(dir, "bdn", "Shop.Orders.Benchmarks.BasketBenchmarks-report-full-compressed.json"), marshal(basketReport(i+1, r.Started)))
		}
		if v.checkout {
			r.Suites = append(r.Suites, suite{"load", "checkout", "load"})
			write(filepath.Join(dir, "load", "nbomber-report.csv"), []byte(loadReport(i+1)))
			write(filepath.Join(dir, "load", "perfband-env.json"), append(indent(loadEnv), '\n'))
		}
		write(filepath.Join(dir, "run.json"), append(indent(r), '\n'))
	}
}

// source returns the random numbers of one benchmark in one run.
func source(run int, name string) *rand.Rand {
	sum := sha1.Sum(fmt.Appendf(nil, "%d %s", run, name))
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum[:]), uint64(run)))
}

// An object is a JSON object: keys and values in turn, in the order written.
type object []any

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i := 0; i < len(o); i += 2 {
		value, err := json.Marshal(o[i+1])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(fmt.Appendf(out, "%q:", o[i]), value...)
	}
	return append(out, '}'), nil
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		log.Fatal(err)
	}
	return b
}

func indent(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		log.Fatal(err)
	}
	return b
}

func write(path string, data []byte) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		log.Fatal(err)
	}
}

func round(x float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(x*p) / p
}

// quantile interpolates linearly between the sorted values around (n-1)p.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-2)
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func sortedCopy(x []float64) []float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s
}

func joinRow(cells []any) string {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	return strings.Join(texts, ",")
}
