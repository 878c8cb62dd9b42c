// Package text turns values into text for people: numbers, names that become
// paths, and foreign text on its way into a sink (HTML, XML, Markdown, CSV, a
// log line).
//
// It is opinionated about one thing: foreign text is kept verbatim as data and
// made safe exactly once, where it is shown, by the function named after the
// sink. Everything here is pure and independent of locale.
package text
