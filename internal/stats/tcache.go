package stats

import "sync"

// One quantile costs about 20 µs and a run asks for the same few thousands of
// times, so they are remembered.
var tQuantiles tCache

type tKey struct {
	p  float64
	df int
}

type tCache struct{ m sync.Map }

func (c *tCache) get(p float64, df int) float64 {
	k := tKey{p, df}
	if v, ok := c.m.Load(k); ok {
		return v.(float64)
	}
	v := studentT(p, float64(df))
	c.m.Store(k, v)
	return v
}
