package replay

import (
	"fmt"
	"io"
	"slices"

	"perfband/internal/history"
)

// What a report plants and how it counts.
const (
	leastPoints = 20 // results of a series of unknown machines that counts
	skipPoints  = 5  // results of a series before its first planted step
	stride      = 2  // between planted steps
	lasting     = 1.3
	within      = 3 // results in which a lasting step should be found
)

// Aa is the report on a history of unchanged code whose machines are known.
type Aa struct {
	Rates  Rates
	Factor []float64
	Once   []Found // planted into one run, by Factor
	Twice  []Found // planted into two runs in a row
}

// KnownMachines judges the runs of a history from the given one on, as they are
// and with changes planted.
func KnownMachines(h *History, set history.Settings, from int) Aa {
	rule := func() Rule { return history.New(set) }
	a := Aa{Rates: h.Claims(rule(), from, 1), Factor: []float64{1.05, 1.1, 1.2}}
	for _, f := range a.Factor {
		a.Once = append(a.Once, h.Planted(rule, f, from))
		a.Twice = append(a.Twice, h.PlantedTwice(rule, f, from))
	}
	return a
}

// Point is one point of the trade-off between false alarms and steps found.
type Point struct {
	Rule  string
	Rates Rates
	Steps Found // of a lasting change to 1.3 times
}

// Judge names the rule of this program at an error level for unknown machines.
func Judge(set history.Settings, alpha float64) (string, func() Rule) {
	set.AlphaUnknown = alpha
	return fmt.Sprintf("perfband, alpha %g", alpha), func() Rule { return history.New(set) }
}

// UnknownMachines is the point of one rule over histories whose machines are
// unknown.
func UnknownMachines(hs []*History, name string, rule func() Rule) Point {
	p := Point{Rule: name}
	for _, h := range hs {
		p.Rates = p.Rates.Add(h.Claims(rule(), 0, leastPoints))
		p.Steps = p.Steps.Add(h.Steps(rule, lasting, within, leastPoints, skipPoints, stride))
	}
	return p
}

// Alphas are the levels of the trade-off curve.
var Alphas = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05}

// Report writes the tables of docs/methodology.md: judged are the ids of the
// runs of known that are judged, which must be its last.
func Report(w io.Writer, known *History, judged []string, unknown []*History) error {
	from := len(known.Runs) - len(judged)
	if from < 0 || !slices.Equal(known.Runs[from:], judged) {
		return fmt.Errorf("the judged runs %v are not the last of %v", judged, known.Runs)
	}
	set := history.DefaultSettings()
	a := KnownMachines(known, set, from)
	fmt.Fprintf(w, "| known machines, code unchanged | results | share |\n|:--|--:|--:|\n")
	row := func(what string, k, n int) {
		fmt.Fprintf(w, "| %s | %d of %d | %.2f %% |\n", what, k, n, 100*float64(k)/float64(n))
	}
	row("judged, earlier runs on the same CPU model", a.Rates.Judged, a.Rates.Results)
	row("claimed slower or faster after one run", a.Rates.Claimed, a.Rates.Judged)
	row("confirmed", a.Rates.Confirmed, a.Rates.Judged)
	for i, f := range a.Factor {
		row(fmt.Sprintf("+%.0f %% planted into one run: claimed slower", 100*(f-1)), a.Once[i].Found, a.Once[i].Planted)
		row(fmt.Sprintf("+%.0f %% planted into two runs in a row: confirmed", 100*(f-1)), a.Twice[i].Found, a.Twice[i].Planted)
	}
	fmt.Fprintf(w, "\n| unknown machines, code hardly changed | slower suspected | slower confirmed | 1.3 x found at once | within %d results |\n|:--|--:|--:|--:|--:|\n", within)
	points := []Point{}
	for _, alpha := range Alphas {
		name, rule := Judge(set, alpha)
		if alpha == set.AlphaUnknown {
			name = "**" + name + " (default)**"
		}
		points = append(points, UnknownMachines(unknown, name, rule))
	}
	points = append(points,
		UnknownMachines(unknown, "previous run + 10 %", func() Rule { return Previous(1.1) }),
		UnknownMachines(unknown, "previous run + 100 % (github-action-benchmark)", func() Rule { return Previous(2) }),
		UnknownMachines(unknown, "t prediction limit 0.99 of the last 64 (Bencher)", func() Rule { return Prediction(64, 0.99) }))
	for _, p := range points {
		n := float64(p.Rates.Results)
		confirmed := fmt.Sprintf("%.2f %%", 100*float64(p.Rates.ConfSlow)/n)
		if p.Rates.ConfSlow == 0 && len(p.Rule) > 0 && p.Rule[0] != '*' && p.Rule[:8] != "perfband" {
			confirmed = "" // these rules know no confirmation
		}
		fmt.Fprintf(w, "| %s | %.2f %% | %s | %.1f %% | %.1f %% |\n", p.Rule, 100*float64(p.Rates.Slower)/n, confirmed,
			100*float64(p.Steps.First)/float64(p.Steps.Planted), 100*p.Steps.Share())
	}
	fmt.Fprintf(w, "\n%d results, %d planted steps.\n", points[0].Rates.Results, points[0].Steps.Planted)
	return nil
}
