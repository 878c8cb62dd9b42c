// Package archive keeps runs on the raw branch: plain files, add-only, one
// folder and one commit per entry. What was measured is stored byte for byte
// and never rewritten; judging comes later, from what is stored.
//
//	{benchmarks|load-tests|co-runs}/{YYYY-MM-DD of the start}/{run id}.{attempt}[.{shard}]/
//	    metadata.json
//	    raw/{module}/…
//
// The reader also understands the older layouts that have no raw folder.
package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"

	"perfband/internal/perf"
	"perfband/internal/text"
)

// DefaultBranch is the raw branch's usual name.
const DefaultBranch = "perf-raw"

const (
	metadataName = "metadata.json"
	rawFolder    = "raw"
)

// Path is the folder of an entry on the raw branch. The run must have a kind,
// a run id and a start.
func Path(r perf.Run) (string, error) {
	folder := r.Kind.Folder()
	switch {
	case folder == "":
		return "", fmt.Errorf("archive path: unknown kind %q", r.Kind)
	case r.RunID == "":
		return "", fmt.Errorf("archive path: the run has no id")
	case r.Started.IsZero():
		return "", fmt.Errorf("archive path: run %s has no start time", r.RunID)
	}
	return path.Join(folder, r.Started.UTC().Format("2006-01-02"), entryName(r)), nil
}

// RunID composes a run's id: "{run_id}.{attempt}[.{shard}]", a second call with
// "x" and its digits after the shard.
func RunID(r perf.Run) string {
	id := r.RunID
	if r.Attempt > 0 {
		id += "." + strconv.Itoa(r.Attempt)
	}
	shard := r.Shard
	if r.SecondCall != "" {
		shard += "x" + r.SecondCall
	}
	if shard != "" {
		id += "." + shard
	}
	return id
}

// entryName is the run's id made safe as a folder name. Run ids are numbers on
// GitHub but free text on the command line; a dot in one would look like the
// end of the id.
func entryName(r perf.Run) string {
	if strings.Contains(r.RunID, ".") {
		sum := sha256.Sum256([]byte(r.RunID))
		r.RunID = strings.ReplaceAll(r.RunID, ".", "_") + "-" + hex.EncodeToString(sum[:4])
	}
	return safeComponent(RunID(r))
}

// Digest is the sha256 of the canonical metadata without its digest.
func Digest(m perf.Metadata) (string, error) {
	m.Digest = ""
	b, err := perf.CanonicalJSON(m)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// safeComponent keeps a file's own name where it can stand in a path on every
// system, and replaces it by its slug where it cannot.
func safeComponent(name string) string {
	if len(name) > 200 || name == "" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") ||
		strings.HasPrefix(name, "-") || strings.HasSuffix(name, " ") {
		return text.Slug(name)
	}
	for _, r := range name {
		if r < ' ' || r > '~' || strings.ContainsRune(`\/:*?"<>|`, r) {
			return text.Slug(name)
		}
	}
	return name
}

// safePath applies safeComponent to each part of a slash-separated path.
func safePath(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = safeComponent(part)
	}
	return strings.Join(parts, "/")
}
