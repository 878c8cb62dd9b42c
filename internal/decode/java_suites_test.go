package decode

import "testing"

func FuzzRenaissance(f *testing.F) { fuzzFormat(f, "renaissance") }

func FuzzDaCapo(f *testing.F) { fuzzFormat(f, "dacapo") }
