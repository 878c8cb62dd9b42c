// Command perfband makes "did this change make it faster or slower?" a
// routine, trustworthy answer. It is a GitHub Action and a command.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"perfband/internal/app"
)

// version is set by release builds.
var version = "0.1.0-dev"

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // a runner's memory is scarcer than a tenth of a second
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(700 << 20) // where the collector must not fall behind; not a bound
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	dir, _ := os.Getwd()
	code := app.Main(ctx, app.Env{
		Args: os.Args[1:], Getenv: os.Getenv, Dir: dir, Stdout: os.Stdout, Stderr: os.Stderr,
		Now: time.Now, Random: rand.Reader, Demo: demo, Version: version,
	})
	stop()
	os.Exit(code)
}
