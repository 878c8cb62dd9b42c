//go:build image

package main

import "io/fs"

// demo is absent from the image: an action never runs it, and it would serve
// an address inside the container.
var demo fs.FS
