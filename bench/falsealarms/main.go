// Command falsealarms prints how often perfband's verdicts are wrong on real
// histories, and what they find: the tables of docs/methodology.md.
//
//	perfband export --remote REPO --what stats > stats.csv
//	perfband decode data.js > decoded.jsonl
//	go run ./bench/falsealarms -stats stats.csv -runs ID,ID,… -judge ID,… -decoded decoded.jsonl
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"perfband/internal/replay"
)

func main() {
	stats := flag.String("stats", "", "table of export --what stats, of unchanged code on known machines")
	runs := flag.String("runs", "", "ids of its runs that count, oldest first, joined by commas")
	judge := flag.String("judge", "", "the last of these, which are judged")
	leaveOut := flag.String("leave-out", "", "leave out benchmarks whose name contains this")
	decoded := flag.String("decoded", "", "what decode prints of a file of many runs on unknown machines")
	flag.Parse()
	if err := report(*stats, *runs, *judge, *leaveOut, *decoded); err != nil {
		fmt.Fprintln(os.Stderr, "falsealarms:", err)
		os.Exit(1)
	}
}

func report(stats, runs, judge, leaveOut, decoded string) error {
	s, err := os.Open(stats)
	if err != nil {
		return err
	}
	defer s.Close()
	known, err := replay.FromStats(s, strings.Split(runs, ","), leaveOut)
	if err != nil {
		return err
	}
	d, err := os.Open(decoded)
	if err != nil {
		return err
	}
	defer d.Close()
	unknown, err := replay.FromDecoded(d)
	if err != nil {
		return err
	}
	return replay.Report(os.Stdout, known, strings.Split(judge, ","), unknown)
}
