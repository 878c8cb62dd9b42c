// Package gh is the border to GitHub: the log with its workflow commands, the
// files for outputs and the job summary, the event a workflow run was started
// by, and the REST API. Nothing else imports go-github or go-githubactions.
//
// It is opinionated about two things. Every text that leaves the program passes
// through here, where registered secrets are removed and foreign text can
// become neither a workflow command nor an output. And what a run measured is
// decided once, from the event, never guessed later.
package gh
