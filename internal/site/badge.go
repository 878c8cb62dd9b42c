package site

import (
	"perfband/internal/derive"
	"perfband/internal/limits"
	"perfband/internal/perf"
	"perfband/internal/svg"
	"perfband/internal/text"
)

// badgeLabel is the left field of the badge.
const badgeLabel = "performance"

// badgeColors are the message field's colours by state, for our own file and
// by name for shields.io. A state it does not know is grey, never green.
var badgeColors = map[string][2]string{
	"green": {"#1a7f37", "brightgreen"},
	"amber": {"#9a6700", "yellow"},
	"red":   {"#cf222e", "red"},
	"grey":  {"#6e7781", "lightgrey"},
}

// Badge makes badge.svg, which needs no third party, and badge.json in the
// endpoint schema of shields.io, for people who want its styles.
func Badge(b derive.Badge) ([]File, error) {
	colors, ok := badgeColors[b.State]
	if !ok {
		colors = badgeColors["grey"]
	}
	message := badgeMessage(b)
	shields, err := perf.CanonicalJSON(struct {
		SchemaVersion int    `json:"schemaVersion"`
		Label         string `json:"label"`
		Message       string `json:"message"`
		Color         string `json:"color"`
		IsError       bool   `json:"isError"`
		CacheSeconds  int    `json:"cacheSeconds"`
	}{1, badgeLabel, message, colors[1], false, 3600})
	if err != nil {
		return nil, err
	}
	drawn := svg.Badge{Label: badgeLabel, Message: message, Color: colors[0], Name: badgeText(b)}.Render()
	return []File{{"badge.json", shields}, {"badge.svg", []byte(drawn)}}, nil
}

func (s *site) badgeFiles() error {
	files, err := Badge(s.d.Badge)
	s.files = append(s.files, files...)
	return err
}

// badgeMessage is the right field; an empty one would look like good news.
func badgeMessage(b derive.Badge) string {
	if b.Message == "" {
		return "no data"
	}
	return text.Cut(text.Visible(b.Message), limits.BadgeRunes)
}

// badgeText says the badge's state in words.
func badgeText(b derive.Badge) string { return badgeLabel + ": " + badgeMessage(b) }
