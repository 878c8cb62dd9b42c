package replay

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/history"
)

// numbers gives texts small numbers in the order they come.
type numbers map[string]int

func (n numbers) of(text string) int {
	v, ok := n[text]
	if !ok {
		v = len(n)
		n[text] = v
	}
	return v
}

// FromStats reads the times of a history from the table `export --what stats`.
// runs are the ids of the runs that count, oldest first; leaveOut, if not "",
// leaves out benchmarks whose name contains it.
func FromStats(stats io.Reader, runs []string, leaveOut string) (*History, error) {
	r := csv.NewReader(stats)
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read the table of statistics: %w", err)
	}
	column := numbers{}
	for _, name := range head {
		column.of(name)
	}
	for _, name := range []string{"run", "module", "benchmark", "job", "metric", "median", "cv", "stability", "cpu_model"} {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("the table of statistics has no column %s: expected the output of export --what stats", name)
		}
	}
	h := &History{Name: "stats", Runs: runs, runs: make([][]history.Result, len(runs)), stable: make([][]bool, len(runs))}
	series, classes, modules := numbers{}, numbers{}, numbers{}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return h, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the table of statistics: %w", err)
		}
		get := func(name string) string { return row[column[name]] }
		run := slices.Index(runs, get("run"))
		median, err := strconv.ParseFloat(get("median"), 64)
		if run < 0 || get("metric") != "time" || err != nil || median <= 0 || leaveOut != "" && strings.Contains(get("benchmark"), leaveOut) {
			continue
		}
		cv, _ := strconv.ParseFloat(get("cv"), 64) // 0: unknown
		cpu := get("cpu_model")
		h.add(run, history.Result{Series: series.of(get("module") + "\x00" + get("benchmark") + "\x00" + get("job")), Class: classes.of(cpu), Known: cpu != "",
			Group: modules.of(get("module")), Value: math.Log(median), Spread: cv}, get("stability") == "stable")
	}
}

// decoded is a line of `perfband decode`.
type decoded struct {
	Module   string            `json:"module"`
	Name     string            `json:"name"`
	Started  string            `json:"started"`
	Identity map[string]string `json:"identity"`
	Metrics  []struct {
		Metric  string    `json:"metric"`
		Stat    string    `json:"stat"`
		Value   float64   `json:"value"`
		Better  string    `json:"better"`
		Samples []float64 `json:"samples"`
	} `json:"metrics"`
}

// FromDecoded reads histories from what `perfband decode` prints of a file that
// holds many runs: one history for each module, machines unknown. Only times and
// throughputs count.
func FromDecoded(lines io.Reader) ([]*History, error) {
	var out []*History
	index, series, starts := numbers{}, map[string]numbers{}, map[string]numbers{}
	in := bufio.NewScanner(lines)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var d decoded
		if err := json.Unmarshal(in.Bytes(), &d); err != nil {
			return nil, fmt.Errorf("read decoded results: %w", err)
		}
		if d.Started == "" {
			return nil, fmt.Errorf("%s/%s has no start: expected the results of a file that holds many runs", d.Module, d.Name)
		}
		n := index.of(d.Module)
		if n == len(out) {
			out = append(out, &History{Name: d.Module})
			series[d.Module], starts[d.Module] = numbers{}, numbers{}
		}
		h := out[n]
		run := starts[d.Module].of(d.Started)
		if run == len(h.runs) {
			h.Runs, h.runs, h.stable = append(h.Runs, d.Started), append(h.runs, nil), append(h.stable, nil)
		}
		for _, m := range d.Metrics {
			if cost, ok := costOf(m.Metric, m.Better, m.Value); ok {
				h.add(run, history.Result{Series: series[d.Module].of(d.Name + "\x00" + m.Metric), Value: cost}, true)
				break // a benchmark counts once
			}
		}
	}
	return out, in.Err()
}

// costOf is the ln of a time or of the inverse of a throughput.
func costOf(metric, better string, value float64) (float64, bool) {
	if value <= 0 || metric != "time" && metric != "real_time" && metric != "throughput" {
		return 0, false
	}
	if better == "higher" {
		return -math.Log(value), true
	}
	return math.Log(value), true
}
