package decode

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"perfband/internal/perf"
)

// job is one set of results: the files that hold it, richest first. Only the
// first that can be read counts.
type job struct {
	paths  []string
	report bool // named like a tool's report, so it should hold results
}

// plan decides from names alone, before any byte is read, which files are
// reports of the same results and which hold none. The second list are files
// not worth opening.
func plan(paths []string, explicit bool) (jobs []job, useless []string) {
	type member struct {
		path string
		rank int
	}
	groups := map[string][]member{}
	var keys []string
	sorted := slices.Clone(paths)
	slices.Sort(sorted)
	for _, p := range slices.Compact(sorted) {
		if !explicit && isUseless(p) {
			useless = append(useless, p)
			continue
		}
		key, rank := reportOf(p)
		if _, ok := groups[key]; !ok {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], member{p, rank})
	}
	for _, key := range keys {
		g := groups[key]
		slices.SortStableFunc(g, func(a, b member) int { return cmp.Compare(a.rank, b.rank) })
		j := job{report: g[0].rank >= 0}
		for _, m := range g {
			j.paths = append(j.paths, m.path)
		}
		jobs = append(jobs, j)
	}
	slices.SortFunc(jobs, func(a, b job) int { return cmp.Compare(a.paths[0], b.paths[0]) })
	return jobs, useless
}

// dotnetReports are the endings of BenchmarkDotNet's exports, richest first.
var dotnetReports = []string{
	"-report-full-compressed.json", "-report-full.json", "-report-brief-compressed.json",
	"-report-brief.json", "-report.json", "-report.csv", "-report-github.md",
}

// nbomberReports are the extensions of NBomber's reports, richest first.
var nbomberReports = []string{".csv", ".txt", ".md"}

const nbomberSummary = "nbomber-summary.json"

// reportOf returns a key shared by the reports of the same results and the
// file's rank among them; the rank is negative for files that are not named
// like any tool's report, which have a key of their own.
func reportOf(p string) (key string, rank int) {
	name := strings.TrimSuffix(p, ".gz")
	dir, base := path.Split(name)
	lower := strings.ToLower(base)
	if !strings.HasPrefix(lower, "nbomber-") && !strings.HasPrefix(lower, "nbomber_") {
		for i, ending := range dotnetReports {
			if stem, ok := strings.CutSuffix(name, ending); ok && stem != dir {
				return "dotnet\x00" + stem, i
			}
		}
	}
	if base == nbomberSummary {
		return "nbomber\x00" + dir + "nbomber-report", len(nbomberReports)
	}
	ext := path.Ext(base)
	if i := slices.Index(nbomberReports, strings.ToLower(ext)); i >= 0 && strings.Contains(lower, "nbomber") {
		return "nbomber\x00" + strings.TrimSuffix(name, ext), i
	}
	return "file\x00" + p, -1
}

// isUseless reports, by name, files that stand beside results but hold none in
// any format.
func isUseless(p string) bool {
	base := strings.ToLower(path.Base(p))
	if base == perf.EnvFileName || strings.HasPrefix(base, "nbomber-log-") {
		return true
	}
	switch path.Ext(base) {
	case ".log", ".html", ".htm", ".css", ".js", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".pdf", ".r", ".dll", ".exe", ".pdb", ".zip":
		return true
	}
	for _, ending := range []string{"-measurements.csv", "-report-default.md", "-report-console.md", "-report-stackoverflow.md", "-report-atlassian.md"} {
		if strings.HasSuffix(base, ending) {
			return true
		}
	}
	return false
}
