package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"perfband/internal/archive"
	"perfband/internal/config"
	"perfband/internal/perf"
	"perfband/internal/secret"
)

// tokenVariables hold tokens in a workflow. None may become public.
var tokenVariables = []string{"PERFBAND_TOKEN", "INPUT_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"}

// scanner finds secrets, the tokens of this call among them.
func (s *session) scanner() *secret.Scanner {
	tokens := []string{s.token()}
	for _, name := range tokenVariables {
		tokens = append(tokens, s.env.Getenv(name))
	}
	return secret.New(tokens...)
}

// stageOptions say which files may become public, and how.
func (s *session) stageOptions(c config.Config) (archive.StageOptions, error) {
	raw := s.opt.str("raw")
	if raw != "keep" && raw != "redact" {
		return archive.StageOptions{}, usagef("--raw %s: must be keep or redact", raw)
	}
	return archive.StageOptions{Exclude: c.Archive.Exclude, Secrets: s.scanner(), Redact: raw == "redact"}, nil
}

// checkNames refuses names chosen by the user that would publish a secret: they
// become folders, so they cannot be redacted.
func checkNames(scanner *secret.Scanner, names map[string]string) error {
	for _, option := range sortedKeys(names) {
		if shown, n := scanner.Text(names[option]); n > 0 {
			return usagef("%s %s: holds a secret and would be public. Revoke it, and choose another name", option, shown)
		}
	}
	return nil
}

// moduleNames are the names that become part of the keys of a source's results.
func moduleNames(src archive.Source) map[string]string {
	names := map[string]string{"module": src.Module}
	for _, p := range src.Params {
		names["parameter "+p.Name] = p.Value
	}
	return names
}

// redactMetadata removes secrets from all that the metadata says of the run.
// What it says of the files is clean, as they are, and must stay equal to them.
func redactMetadata(m perf.Metadata, scanner *secret.Scanner) (perf.Metadata, []perf.Diagnostic) {
	said := m
	said.Modules, said.Suites, said.Files, said.Excluded = nil, nil, nil, nil
	doc, err := perf.CanonicalJSON(said)
	if err != nil {
		return m, nil // it cannot be archived either
	}
	var tree any
	in := json.NewDecoder(bytes.NewReader(doc))
	in.UseNumber()
	if in.Decode(&tree) != nil {
		return m, nil
	}
	r := redactor{scanner: scanner}
	if tree = r.clean(tree, "", ""); len(r.diags) == 0 {
		return m, nil
	}
	var out perf.Metadata
	if doc, err = json.Marshal(tree); err == nil {
		err = json.Unmarshal(doc, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("redacted metadata: %v", err)) // strings were replaced by strings
	}
	out.Modules, out.Suites, out.Files, out.Excluded = m.Modules, m.Suites, m.Files, m.Excluded
	return out, r.diags
}

// redactor removes secrets from the strings of a JSON document.
type redactor struct {
	scanner *secret.Scanner
	diags   []perf.Diagnostic
}

// clean is v without secrets. Its key counts as what stands beside it.
func (r *redactor) clean(v any, place, key string) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			v[k] = r.clean(v[k], strings.TrimPrefix(place+"."+k, "."), k)
		}
	case []any:
		for i := range v {
			v[i] = r.clean(v[i], place, key)
		}
	case string:
		before := key + "="
		if text, n := r.scanner.Text(before + v); n > 0 {
			r.diags = append(r.diags, perf.Diagnostic{Severity: perf.Warning, Code: "redacted",
				What: place + " in metadata.json is archived without the secret it holds", Do: "Revoke the secret: other copies may be public."})
			return strings.TrimPrefix(text, before)
		}
	}
	return v
}
