package derive

import (
	"testing"

	"perfband/internal/config"
)

// A renamed benchmark's series goes on under its new name, history included.
func TestAliasJoinsSeries(t *testing.T) {
	c := config.Default()
	c.Aliases = map[string]string{"m/example.test/m.BenchmarkOld": "m/example.test/m.BenchmarkNew"}
	entries := runsOf("100 101 102", "101 102 101", "100 102 101")
	for i := range entries {
		name := "Old"
		if i == 2 {
			name = "New"
		}
		entries[i] = entry(entries[i].Meta.Run.ID, entries[i].Meta.Run.Started, name+" 100 101 102")
	}
	d, _, err := Build(seq(entries), Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Series) != 1 || len(d.Series[0].Points) != 3 || d.Series[0].Key.Name != "example.test/m.BenchmarkNew" {
		t.Fatalf("%d series; %+v", len(d.Series), d.Series[0].Key)
	}
	if v := d.Series[0].Newest().Metric.Verdict; v.Baseline != "2.1" {
		t.Errorf("compared with %q", v.Baseline)
	}
	without, _, err := Build(seq(entries), Options{Config: config.Default()})
	if err != nil || len(without.Series) != 2 {
		t.Errorf("without the alias %d series, %v", len(without.Series), err)
	}
}
