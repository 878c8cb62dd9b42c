package decode

import "testing"

func FuzzBMF(f *testing.F) { fuzzFormat(f, "bmf") }
