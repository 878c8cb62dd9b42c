package perf

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Num is a number that may be absent. The zero value is absent, so a field
// nobody filled can never be mistaken for a measured zero.
type Num struct {
	v  float64
	ok bool
}

// Some returns a present number. NaN and infinities have no JSON form and no
// meaning as a measurement, so they become absent.
func Some(v float64) Num {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Num{}
	}
	return Num{v: v, ok: true}
}

// Get returns the value and whether it is present.
func (n Num) Get() (float64, bool) { return n.v, n.ok }

// Or returns the value, or alt when it is absent.
func (n Num) Or(alt float64) float64 {
	if n.ok {
		return n.v
	}
	return alt
}

// IsZero reports absence. It makes encoding/json's omitzero drop absent
// numbers while keeping a measured 0.
func (n Num) IsZero() bool { return !n.ok }

// String renders the shortest decimal that reads back equal, or "" when absent.
func (n Num) String() string {
	if !n.ok {
		return ""
	}
	return strconv.FormatFloat(n.v, 'g', -1, 64)
}

// Round12 rounds to 12 significant decimal digits, the precision at which
// derived numbers are kept, so that every later step sees the same value
// whether it came from raw data or from a stored summary.
func (n Num) Round12() Num {
	if !n.ok {
		return n
	}
	return Num{v: Round12(n.v), ok: true}
}

// Round12 rounds v to 12 significant decimal digits. Finite input only.
func Round12(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 11, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// MarshalJSON writes the shortest decimal form, or null when absent.
func (n Num) MarshalJSON() ([]byte, error) {
	if !n.ok {
		return []byte("null"), nil
	}
	return json.Marshal(n.v)
}

// UnmarshalJSON reads a JSON number or null.
func (n *Num) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Num{}
		return nil
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("read number %s: %w", b, err)
	}
	*n = Some(v)
	return nil
}
