package site

// methodPage explains the rules the pages follow.
func (s *site) methodPage() error {
	type row struct{ Short, Sentence, Help string }
	body := struct {
		Level string
		Whys  []row
	}{Level: levelWords(s.d)}
	for _, w := range whys {
		body.Whys = append(body.Whys, row{w.short, w.sentence, w.help})
	}
	return s.emit("method", page{Path: "method/index.html", Title: "How to read this · " + s.title(), Here: "method", Body: body})
}
