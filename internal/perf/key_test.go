package perf

import (
	"testing"

	"pgregory.net/rapid"
)

func TestKeyBenchmark(t *testing.T) {
	for _, tc := range []struct {
		key  Key
		want string
	}{
		{Key{Name: "N.C.M(n: 1)", Params: []Param{{"n", "1"}}}, "N.C.M(n: 1)"},
		{Key{Name: "pkg.BenchmarkX/n=1", Params: []Param{{"n", "1"}}}, "pkg.BenchmarkX/n=1"},
		{Key{Name: "send", Params: []Param{{"feature", "outbox"}, {"provider", "redis"}}}, "send{feature=outbox,provider=redis}"},
		{Key{Name: "plain"}, "plain"},
	} {
		if got := tc.key.Benchmark(); got != tc.want {
			t.Errorf("Benchmark() = %q, want %q", got, tc.want)
		}
	}
}

// Keys, their ids and their order agree on what is equal.
func TestKeyIdentity(t *testing.T) {
	text := rapid.StringMatching(`[ab=:,{}/ ]{0,3}`)
	gen := rapid.Custom(func(t *rapid.T) Key {
		k := Key{Kind: rapid.SampledFrom(Kinds).Draw(t, "kind"), Module: text.Draw(t, "module"), Name: text.Draw(t, "name"), Job: text.Draw(t, "job")}
		for range rapid.IntRange(0, 2).Draw(t, "params") {
			k.Params = append(k.Params, Param{text.Draw(t, "p"), text.Draw(t, "v")})
		}
		k.Normalize()
		return k
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		if (a.ID() == b.ID()) != (a.Compare(b) == 0) {
			t.Fatalf("ids equal: %v, order equal: %v for %+v and %+v", a.ID() == b.ID(), a.Compare(b) == 0, a, b)
		}
		if a.Compare(b) != -b.Compare(a) {
			t.Fatalf("order is not antisymmetric for %+v and %+v", a, b)
		}
	})
}
