package decode

import "testing"

func FuzzLuau(f *testing.F) { fuzzFormat(f, "luau") }
