package site

// methodPage explains the rules the pages follow.
func (s *site) methodPage() error {
	body := struct{ Level string }{levelWords(s.d)}
	return s.emit("method", page{Path: "method/index.html", Title: "How to read this · " + s.title(), Here: "method", Body: body})
}
