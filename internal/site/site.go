// Package site turns everything derived into the files of the dashboard: pages
// that read fully without JavaScript, the data files behind them, the badge and
// the images for READMEs. It is opinionated about three things. Every number
// stands with its interval or says why it has none. Links are relative, so the
// site works under any prefix and from a folder. The same input gives the same
// bytes.
package site

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/svg"
	"perfband/internal/text"
)

// File is one file of the site. Path is slash separated and relative to the
// site's folder.
type File struct {
	Path string
	Data []byte
}

// Render makes the site, sorted by path.
func Render(d *derive.Derived) ([]File, error) {
	s := newSite(d)
	for _, step := range []func() error{
		s.overview, s.runList, s.runPages, s.benchPages, s.loadPage, s.unstablePage, s.methodPage,
		s.dataFiles, s.imageFiles, s.badgeFiles, s.assets,
	} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("render site: %w", err)
		}
	}
	slices.SortFunc(s.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return s.files, nil
}

// site is the input with what the pages look up in it.
type site struct {
	d        *derive.Derived
	files    []File
	buf      bytes.Buffer                // of the page being written
	runs     []*derive.Run               // without copies, newest first
	trend    map[perf.Kind][]*derive.Run // members of trends, oldest first
	position map[*derive.Run]int         // index in trend
	series   map[string][]*derive.Series // by key id
	benches  []*bench                    // benchmarks with a page, in canonical order
	byKey    map[string]*bench
	hasPage  map[*derive.Run]bool
	machines map[string]int            // CPU model -> line of charts
	images   map[*derive.Series][]byte // of the headline series
	names    []string                  // of the lines
	runByID  map[string]*derive.Run    // by kind and id, without copies
	retired  map[string]string         // reason, by key id
	leftOut  map[string][]at           // results the configuration leaves out, newest first, by key id
}

// bench is a benchmark or scenario with a page.
type bench struct {
	key    perf.Key
	slug   string
	latest at               // newest result, whatever became of it
	last   at               // newest result in the trend, zero if none
	series []*derive.Series // one per metric
	main   *derive.Series   // of the headline metric, nil without trend points
}

// at is a result in its run.
type at struct {
	run    *derive.Run
	result *derive.Result
}

func newSite(d *derive.Derived) *site {
	s := &site{d: d, trend: map[perf.Kind][]*derive.Run{}, position: map[*derive.Run]int{},
		series: map[string][]*derive.Series{}, byKey: map[string]*bench{}, hasPage: map[*derive.Run]bool{},
		runByID: map[string]*derive.Run{}, retired: map[string]string{}, leftOut: map[string][]at{}}
	for _, r := range d.Runs {
		if r.InTrend {
			s.position[r] = len(s.trend[r.Kind])
			s.trend[r.Kind] = append(s.trend[r.Kind], r)
		}
	}
	pages := map[perf.Kind]int{}
	for _, r := range slices.Backward(d.Runs) {
		if r.DuplicateOf != "" {
			continue
		}
		s.runs = append(s.runs, r)
		s.runByID[string(r.Kind)+"/"+r.ID] = r
		for _, res := range r.Results {
			if res.Excluded != "" {
				s.leftOut[res.Key.ID()] = append(s.leftOut[res.Key.ID()], at{r, res})
			}
		}
		if pages[r.Kind]++; pages[r.Kind] <= limits.RunPages {
			s.hasPage[r] = true
		}
	}
	for _, k := range perf.Kinds {
		if r := s.newest(k, true); r != nil {
			s.hasPage[r] = true // however many dry runs came after it
		}
	}
	for _, sr := range d.Series {
		id := sr.Key.ID()
		s.series[id] = append(s.series[id], sr)
		if sr.Retired != "" {
			s.retired[id] = sr.Retired
		}
	}
	s.rankMachines()
	s.collectBenches()
	s.drawImages()
	return s
}

// rankMachines gives the CPU models with the most results a line of their own
// in every chart, the same on every page; the others share the last line.
func (s *site) rankMachines() {
	count := map[string]int{}
	for _, runs := range s.trend {
		for _, r := range runs {
			for _, res := range r.Results {
				count[res.Env.CPUModel]++
			}
		}
	}
	models := make([]string, 0, len(count))
	for m := range count {
		models = append(models, m)
	}
	slices.SortFunc(models, func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	s.machines = map[string]int{}
	for i, m := range models {
		s.machines[m] = min(i, svg.Lines-1)
		if i < svg.Lines {
			s.names = append(s.names, machineName(m))
		}
	}
	if len(models) > svg.Lines {
		s.names[svg.Lines-1] = "other machines"
	}
}

// collectBenches finds the benchmarks that get a page (see
// [limits.RecentRuns]).
func (s *site) collectBenches() {
	seen, recent := map[perf.Kind]int{}, map[perf.Kind]int{}
	for _, run := range s.runs {
		seen[run.Kind]++
		if run.InTrend {
			recent[run.Kind]++
		}
		if seen[run.Kind] > 1 && (!run.InTrend || recent[run.Kind] > limits.RecentRuns) {
			continue
		}
		for _, r := range citedFirst(run.Results) {
			id := r.Key.ID()
			b := s.byKey[id]
			if b == nil && len(s.benches) == limits.BenchPages {
				continue
			}
			if b == nil {
				b = &bench{key: r.Key, slug: benchSlug(r.Key), latest: at{run, r}, series: s.series[id]}
				s.byKey[id] = b
				s.benches = append(s.benches, b)
			}
			if b.last.run == nil && r.InTrend {
				b.last = at{run, r}
				b.main = seriesOf(b.series, r.Headline())
			}
		}
	}
	slices.SortFunc(s.benches, func(a, b *bench) int { return a.key.Compare(b.key) })
}

// citedFirst orders results: those that documents cite come first.
func citedFirst(results []*derive.Result) []*derive.Result {
	out := slices.Clone(results)
	slices.SortStableFunc(out, func(a, b *derive.Result) int {
		switch {
		case (a.DocRef != "") == (b.DocRef != ""):
			return 0
		case a.DocRef != "":
			return -1
		}
		return 1
	})
	return out
}

// seriesOf finds the history of a metric, nil if there is none.
func seriesOf(series []*derive.Series, m *derive.Metric) *derive.Series {
	for _, sr := range series {
		if m != nil && sr.Metric == m.Name {
			return sr
		}
	}
	return nil
}

// newest is the newest run of a kind, the newest in trends if trend is set;
// nil if there is none.
func (s *site) newest(kind perf.Kind, trend bool) *derive.Run {
	for _, r := range s.runs {
		if r.Kind == kind && (r.InTrend || !trend) {
			return r
		}
	}
	return nil
}

func runSlug(r *derive.Run) string { return text.Slug(string(r.Kind) + "-" + r.ID) }
