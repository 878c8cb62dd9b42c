package derive

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"perfband/internal/perf"
)

// Cell is one value of an exported table. Text is "" when unknown; Number says
// that it is the decimal form of a number.
type Cell struct {
	Text   string
	Number bool
}

// Table is an exported table in canonical order.
type Table struct {
	Columns []string
	Rows    [][]Cell
}

// TableNames lists what Export knows.
var TableNames = []string{"runs", "stats", "verdicts", "labels", "steps"}

// Export returns a table by name; ok is false for an unknown name. run, if not
// "", keeps only the run of that id.
func (d *Derived) Export(name, run string) (t Table, ok bool) {
	switch name {
	case "runs":
		t = d.runsTable(run)
	case "stats":
		t = d.statsTable(run)
	case "verdicts":
		t = d.verdictsTable(run)
	case "labels":
		t = d.labelsTable(run)
	case "steps":
		t = d.stepsTable(run)
	default:
		return t, false
	}
	return t, true
}

// is reports whether the run is meant by an id: its own, the same without the
// attempt, or that of one of its entries.
func (r *Run) is(id string) bool {
	return id == "" || r.ID == id || r.Meta.Run.RunID == id || slices.Contains(r.EntryIDs, id)
}

func str(s string) Cell { return Cell{Text: s} }

func count(n int) Cell { return Cell{Text: strconv.Itoa(n), Number: true} }

func num(n perf.Num) Cell { return Cell{Text: n.String(), Number: true} }

func flag(b bool) Cell {
	if b {
		return count(1)
	}
	return count(0)
}

func when(t time.Time) Cell {
	if t.IsZero() {
		return Cell{}
	}
	return Cell{Text: t.UTC().Format(time.RFC3339)}
}

func (d *Derived) runsTable(run string) Table {
	t := Table{Columns: strings.Split("run,kind,started,commit,job_kind,origin_path,modules,benchmarks,failed,stable,unstable,"+
		"expected_unstable,carried,cpu_models,duplicate_of", ",")}
	for _, r := range d.Runs {
		if !r.is(run) {
			continue
		}
		c := r.Counts
		var models []string
		for _, m := range r.CPUs {
			name := m.Model
			if name == "" {
				name = "unknown"
			}
			models = append(models, name+"="+strconv.Itoa(m.Results))
		}
		t.Rows = append(t.Rows, []Cell{str(r.ID), str(string(r.Kind)), when(r.Started), str(r.Meta.Commit.SHA), str(string(r.JobKind)),
			str(r.OriginPath), count(c.Modules), count(c.Benchmarks), count(c.Failed), count(c.Stable), count(c.Unstable),
			count(c.ExpectedUnstable), count(c.Carried), str(strings.Join(models, ";")), str(r.DuplicateOf)})
	}
	return t
}

func (d *Derived) statsTable(run string) Table {
	t := Table{Columns: strings.Split("run,started,commit,module,benchmark,job,metric,unit,n,mean,median,stddev,min,max,q1,q3,p95,p99,"+
		"ci_level,ci_lo,ci_hi,cv,stability,origin_run,cpu_model", ",")}
	for _, r := range d.Runs {
		if !r.is(run) || r.DuplicateOf != "" {
			continue
		}
		for _, res := range r.Results {
			if res.Excluded != "" {
				continue
			}
			origin := res.CarriedFrom
			if origin == "" {
				origin = r.ID
			}
			headline := res.Headline()
			for i := range res.Metrics {
				m := &res.Metrics[i]
				n, level, class := Cell{}, Cell{}, Cell{}
				if m.N > 0 {
					n = count(m.N)
				}
				if m.CI.Level > 0 {
					level = num(perf.Some(m.CI.Level))
				}
				if m == headline {
					class = str(string(res.Stability))
				}
				t.Rows = append(t.Rows, []Cell{str(r.ID), when(r.Started), str(r.Meta.Commit.SHA), str(res.Key.Module), str(res.Key.Benchmark()),
					str(res.Key.Job), str(m.Name), str(string(m.Unit)), n, num(m.Mean), num(m.Median), num(m.StdDev), num(m.Min), num(m.Max),
					num(m.Q1), num(m.Q3), num(m.P95), num(m.P99), level, num(m.CI.Lo), num(m.CI.Hi), num(m.CV), class, str(origin), str(res.Env.CPUModel)})
			}
		}
	}
	return t
}

func (d *Derived) verdictsTable(run string) Table {
	t := Table{Columns: strings.Split("run,baseline,module,benchmark,job,metric,basis,outcome,state,ratio,lo,hi,level,margin,p_value,reasons,legacy_ci99", ",")}
	for _, r := range d.Runs {
		if !r.is(run) || r.DuplicateOf != "" {
			continue
		}
		for _, res := range r.Results {
			for v, metric := range res.verdicts() {
				if v.Outcome == "" {
					continue // not part of a trend
				}
				t.Rows = append(t.Rows, []Cell{str(r.ID), str(v.Baseline), str(res.Key.Module), str(res.Key.Benchmark()), str(res.Key.Job), str(metric),
					str(string(v.Basis)), str(string(v.Outcome)), str(string(v.State)), num(v.Ratio), num(v.Lo), num(v.Hi), num(v.Level), num(v.Margin),
					num(v.PValue), str(strings.Join(v.Reasons, ";")), flag(v.LegacyCI99)})
			}
		}
	}
	return t
}
