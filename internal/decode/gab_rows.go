package decode

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/strictjson"
)

// readWord reads the string under a key.
func (r *gabReader) readWord(key string) (s, why string) {
	if k := r.d.Kind(); k != strictjson.String {
		r.d.Skip()
		return "", key + " is " + k.String() + ", not a string"
	}
	b, _ := r.d.Text()
	return r.word(b), ""
}

// readGABNumber reads a value: scripts that feed the action write it as a
// string too.
func readGABNumber(d *strictjson.Decoder) (v float64, why string) {
	if d.Kind() != strictjson.String {
		n, why := readJSONNumber(d)
		if why != "" {
			why = "value " + why
		}
		return n.Or(0), why
	}
	b, _ := d.Text()
	b = bytes.TrimSpace(b)
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !isGoNumber(b) || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, "value " + quote(string(b)) + " is not a number"
	}
	return v, ""
}

// assemble makes benchmarks of the rows of a run.
func (r *gabReader) assemble(tool string, identity []perf.Param) []perf.Benchmark {
	rows := r.rows
	var procs []perf.Param
	if tool == "go" {
		rows = r.splitGo()
		procs = nameProcs(rows)
	}
	clear(r.at)
	clear(r.identities)
	r.benchmarks = r.benchmarks[:0]
	for i := range rows {
		row := &rows[i]
		name := row.name
		if row.pkg != "" {
			name = row.pkg + "." + name
		}
		at, again := r.at[name]
		if !again {
			at = len(r.benchmarks)
			if r.results+at > limits.Benchmarks { // told at the end
				break
			}
			r.at[name] = at
			b := perf.Benchmark{Name: name, Rows: 1, Status: perf.OK, JobKind: perf.Default, Identity: identity, Dims: procs}
			if tool == "go" && strings.Contains(row.name, "=") {
				b.Params = goParams(row.name)
			}
			if row.pkg != "" {
				b.Label = row.name
				b.Identity = r.extend(identity, "pkg", row.pkg)
			}
			r.benchmarks = append(r.benchmarks, b)
		}
		r.addRow(&r.benchmarks[at], tool, row)
	}
	return slices.Clone(r.benchmarks)
}

// extend copies an identity and adds to it. Results of one run that add the
// same share one copy, since most runs have few different ranges.
func (r *gabReader) extend(identity []perf.Param, name, value string) []perf.Param {
	key := gabExtension{name: name, value: value}
	if len(identity) > 0 {
		key.of = &identity[0]
	}
	out, ok := r.identities[key]
	if !ok {
		out = make([]perf.Param, len(identity)+1)
		copy(out, identity)
		out[len(identity)] = perf.Param{Name: name, Value: value}
		r.identities[key] = out
	}
	return out
}

// addRow adds a value to its benchmark: as a metric of its own or, when there
// is one in that quantity, as a repeat.
func (r *gabReader) addRow(b *perf.Benchmark, tool string, row *gabRow) {
	m, isText := r.metric(tool, row)
	if isText && row.spread != "" && !slices.ContainsFunc(b.Identity, func(p perf.Param) bool { return p.Name == "range" }) {
		b.Identity = r.extend(b.Identity, "range", row.spread)
	}
	to := b.Metric(m.Name)
	if to != nil && to.Unit != m.Unit {
		// Another quantity under one name, as for repeats.
		m.Name += " (" + string(m.Unit) + ")"
		to = b.Metric(m.Name)
	}
	switch {
	case to != nil:
		centralToSample(to)
		centralToSample(&m)
		sample := m.Samples[0] // a row holds one value
		sample.Block = int32(len(to.Samples)) + 1
		to.Samples = append(to.Samples, sample)
		b.Rows = max(b.Rows, len(to.Samples))
	case b.Metrics == nil:
		b.Metrics = []perf.Metric{m}
	case len(b.Metrics) <= limits.MetricsPerBenchmark: // one more than allowed is enough to refuse it
		b.Metrics = append(b.Metrics, m)
	}
}

// splitGo undoes what the action made of the lines of go test. Up to version
// 1.17 all of a line after the first value was its unit. Since then it stores
// that row still and, after it, each value of the line as "NAME - UNIT", with
// the package in parentheses when there are several. Each value counts once.
func (r *gabReader) splitGo() []gabRow {
	r.split = r.split[:0]
	var again []gabRow // values of the latest line, which may follow once more
	for _, row := range r.rows {
		base, isUnit := strings.CutSuffix(row.name, row.unit)
		base, isDash := strings.CutSuffix(base, " - ")
		if isUnit && isDash {
			row.name = base
		}
		// A Go benchmark has no blank in its name.
		if name, pkg, ok := strings.Cut(row.name, " ("); ok && strings.HasSuffix(pkg, ")") {
			row.name, row.pkg = r.word([]byte(name)), r.word([]byte(strings.TrimSuffix(pkg, ")")))
		}
		if isUnit && isDash {
			if i := slices.IndexFunc(again, row.repeats); i >= 0 {
				again = slices.Delete(again, i, i+1)
				continue
			}
			r.split = append(r.split, row)
			continue
		}
		from := len(r.split)
		glued := r.unglue(row)
		again = again[:0]
		if glued {
			again = append(again, r.split[from:]...)
		}
	}
	return r.split
}

// repeats reports whether a row says the same as another.
func (a *gabRow) repeats(b gabRow) bool {
	return a.name == b.name && a.pkg == b.pkg && a.unit == b.unit && a.value == b.value
}

// unglue adds a row to r.split, and those that stand in its unit, as in
// "ns/op\t  16 B/op\t  2 allocs/op".
func (r *gabReader) unglue(row gabRow) (glued bool) {
	if !strings.ContainsAny(row.unit, " \t") {
		r.split = append(r.split, row)
		return false
	}
	words := strings.Fields(row.unit)
	lost := ""
	if len(words) > 2*limits.MetricsPerBenchmark || len(words) == 0 {
		lost, words = row.unit, words[:min(len(words), 1)]
	}
	if len(words) > 0 {
		row.unit = r.word([]byte(words[0]))
	}
	r.split = append(r.split, row)
	for i := 1; i < len(words); i += 2 {
		value, err := strconv.ParseFloat(words[i], 64)
		if err != nil || i+1 == len(words) || !isGoNumber([]byte(words[i])) {
			lost = strings.Join(words[i:], " ")
			break
		}
		next := row
		next.value, next.unit = value, r.word([]byte(words[i+1]))
		r.split = append(r.split, next)
	}
	if lost != "" {
		r.told.add(perf.Diagnostic{Severity: perf.Notice, Code: "ignored",
			What: fmt.Sprintf("%s: what follows the first unit is no list of values and units", quote(row.name)), Why: quote(lost)})
	}
	return true
}

// nameProcs returns the processor count as a dimension if all rows have the
// same; otherwise it goes back to the end of each name, where go test had it.
func nameProcs(rows []gabRow) []perf.Param {
	same := true
	for i := range rows {
		same = same && gabLine(rows[i].extra, "", " procs") == gabLine(rows[0].extra, "", " procs")
	}
	if same {
		if len(rows) == 0 || gabLine(rows[0].extra, "", " procs") == 0 {
			return nil
		}
		return []perf.Param{{Name: "procs", Value: strconv.FormatInt(gabLine(rows[0].extra, "", " procs"), 10)}}
	}
	for i := range rows {
		if n := gabLine(rows[i].extra, "", " procs"); n > 0 {
			rows[i].name += "-" + strconv.FormatInt(n, 10)
		}
	}
	return nil
}

// gabLine finds the positive integer in the line of extra that has the given
// text before and after it; 0 when there is none.
func gabLine(extra, before, after string) int64 {
	for line := range strings.Lines(extra) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), before)
		if !ok {
			continue
		}
		if digits, ok := strings.CutSuffix(line, after); ok {
			if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}
