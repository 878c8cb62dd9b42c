package decode

import "testing"

func FuzzJulia(f *testing.F) { fuzzFormat(f, "julia") }
