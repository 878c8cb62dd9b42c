// Command count reads the output of "go test -json" on standard input and
// prints what a reader of "go test" expects: one line for each package, the
// whole output of each failed test, the reason of each skip. Its last line is
// "N passed, N failed", where a test with subtests counts as its subtests. The
// exit code is 1 if anything failed or nothing ran.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// An event is the part used of what "go doc test2json" describes.
type event struct {
	Action, Package, Test, Output, ImportPath string
}

type test struct{ pkg, name string }

type counter struct {
	output       map[test][]string
	parent       map[test]bool // has subtests
	brokenParent map[test]bool // has a failed subtest
	broken       map[string]bool
	passed       int
	failed       int
	skipped      int
}

func main() {
	c := counter{map[test][]string{}, map[test]bool{}, map[test]bool{}, map[string]bool{}, 0, 0, 0}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Println(lines.Text())
			continue
		}
		c.add(e)
	}
	if err := lines.Err(); err != nil {
		fmt.Println("read test events:", err)
		c.failed++
	}
	fmt.Printf("%d skipped\n%d passed, %d failed\n", c.skipped, c.passed, c.failed)
	if c.failed > 0 || c.passed == 0 {
		os.Exit(1)
	}
}

func (c *counter) add(e event) {
	t := test{e.Package, e.Test}
	switch {
	case e.Action == "build-output":
		fmt.Print(e.Output)
	case e.Test == "":
		c.addPackage(e)
	case e.Action == "run":
		for _, p := range parents(t) {
			c.parent[p] = true
		}
	case e.Action == "output":
		c.output[t] = append(c.output[t], e.Output)
	case e.Action == "pass", e.Action == "fail", e.Action == "skip":
		c.end(e.Action, t)
	}
}

// addPackage shows the lines of a package as they come. A package can fail
// without a failed test: it did not build, panicked or ran out of time.
func (c *counter) addPackage(e event) {
	switch {
	case e.Action == "output" && e.Output != "PASS\n" && e.Output != "FAIL\n":
		fmt.Print(e.Output)
	case e.Action == "fail" && !c.broken[e.Package]:
		c.failed++
		for t, lines := range c.output {
			if t.pkg == e.Package {
				fmt.Print(strings.Join(lines, ""))
			}
		}
	}
}

func (c *counter) end(action string, t test) {
	switch {
	case action == "fail" && (!c.parent[t] || !c.brokenParent[t]):
		c.failed++
		c.broken[t.pkg] = true
		for _, p := range parents(t) {
			c.brokenParent[p] = true
		}
	case c.parent[t]:
	case action == "pass":
		c.passed++
	case action == "skip":
		c.skipped++
	}
	if action != "pass" {
		fmt.Print(strings.Join(c.output[t], ""))
	}
	delete(c.output, t)
}

// parents returns every test that t may be a subtest of: names of subtests can
// hold slashes themselves.
func parents(t test) []test {
	var all []test
	for i, r := range t.name {
		if r == '/' {
			all = append(all, test{t.pkg, t.name[:i]})
		}
	}
	return all
}
