package secret

import (
	"bytes"
	"strings"
)

// names are the rules for names of people and machines.
var names = []rule{
	{literal: "/home/", match: homeFolder},
	{literal: "/Users/", match: homeFolder},
	{literal: `\users\`, fold: true, match: homeFolder},
	{literal: "user", fold: true, match: func(w *window, at int) { keyed(w, at, at+len("user"), UserName) }},
	{literal: "host", fold: true, match: func(w *window, at int) { keyed(w, at, at+len("host"), HostName) }},
	{literal: "machine", fold: true, match: func(w *window, at int) { keyed(w, at, at+len("machine"), HostName) }},
	{literal: "computer", fold: true, match: func(w *window, at int) { keyed(w, at, at+len("computer"), HostName) }},
}

// common are user and machine names that tell nothing about anybody.
var common = words(`runner runneradmin root user users username name admin administrator ubuntu debian ec2-user vsts vscode
	circleci travis jenkins github gitlab gitlab-runner build builder ci app node nonroot nobody guest test tester public default
	all containeradministrator containeruser linuxbrew shared local localhost unknown none null true false system yes no`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

var isPlainName = setOf(alnum + "._-")

// homeFolder looks for the owner of a home folder whose parent stands at at.
func homeFolder(w *window, at int) {
	text := w.text
	if text[at] == '/' && !bytes.HasSuffix(text[:at], []byte("://")) && (!fresh(text, at) || at > 0 && (text[at-1] == '.' || text[at-1] == '/')) {
		return // part of an address or of another folder
	}
	start := at + len("/home/")
	if text[at+1]|0x20 == 'u' {
		start = at + len("/Users/")
	}
	for start < len(text) && start-at < 16 && text[start] == '\\' { // escaped
		start++
	}
	w.addName(HomeFolder, start)
}

// addName adds the name at start if it tells something. A dot at its end ends
// the sentence.
func (w *window) addName(kind string, start int) {
	end := isPlainName.run(w.text, start, 65)
	name := bytes.ToLower(bytes.TrimRight(w.text[start:end], "."))
	if len(name) < 2 || len(name) > 64 || common[string(name)] || !isAlnum[name[0]] {
		return
	}
	w.add(kind, start, start+len(name))
}

// keyed looks for the name beside a key like user or hostname, whose first word
// stands at [at, end).
func keyed(w *window, at, end int, kind string) {
	text := w.text
	if at > 0 && text[at-1] != '"' && text[at-1] != '\'' && text[at-1] > ' ' && text[at-1] != ',' {
		return
	}
	tailEnd := isName.run(text, end, 8)
	tail := plainTail(text[end:tailEnd])
	alone := tail == ""
	if !alone && tail != "name" || alone && kind == HostName && text[at]|0x20 != 'h' {
		return
	}
	start, ok := separator(text, tailEnd, false)
	if !ok || start == len(text) || text[start] == '[' {
		return
	}
	start, _ = opening(text, start)
	stop := isPlainName.run(text, start, 254)
	if stop < len(text) && (isValue[text[stop]] && text[stop] != '@' || text[stop] == '(' || text[stop] >= 0x80) {
		return
	}
	if kind == HostName && !privateHost(string(bytes.ToLower(text[start:stop])), alone) {
		return
	}
	if c := text[start:]; len(c) == 0 || c[0] <= '9' {
		return
	}
	w.addName(kind, start)
}

// privateHost says that a host name belongs to a machine of its user: hosted
// runners have random names, and public servers are no secret. alone: the key
// was host, which names servers more often than machines.
func privateHost(name string, alone bool) bool {
	for _, hosted := range []string{"runnervm", "fv-az", "pkrvm", "mac-1"} {
		if strings.HasPrefix(name, hosted) {
			return false
		}
	}
	for _, domain := range []string{".internal", ".local", ".corp", ".lan", ".intranet", ".localdomain", ".home.arpa"} {
		if strings.HasSuffix(name, domain) {
			return true
		}
	}
	return !alone && !strings.Contains(name, ".")
}
