//go:build !image

package main

import "embed"

//go:embed testdata/demo/runs
var demo embed.FS
