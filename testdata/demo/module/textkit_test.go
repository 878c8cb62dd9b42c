package textkit

import (
	"fmt"
	"strings"
	"testing"
)

const paragraph = `A benchmark answers one question: how long does this take here, now?
The answer differs each time it is asked. Say by how much, or say nothing; a
number without its spread is a rumour. Größe, naïveté and Ελλάδα are words too.
`

// text returns n bytes of prose, one character more where n would cut one.
func text(n int) string {
	s := strings.Repeat(paragraph, n/len(paragraph)+2)
	for s[n]&0xC0 == 0x80 {
		n++
	}
	return s[:n]
}

func BenchmarkWords(b *testing.B) {
	for _, size := range []string{"1k", "16k"} {
		b.Run("size="+size, func(b *testing.B) {
			s := text(map[string]int{"1k": 1 << 10, "16k": 16 << 10}[size])
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				Words(s)
			}
		})
	}
}

func BenchmarkWrap(b *testing.B) {
	s := text(4 << 10)
	for _, width := range []int{40, 80} {
		b.Run(fmt.Sprintf("width=%d", width), func(b *testing.B) {
			lines := 0
			for b.Loop() {
				lines = 1 + strings.Count(Wrap(s, width), "\n")
			}
			b.ReportMetric(float64(lines), "lines/op")
		})
	}
}

func BenchmarkSlug(b *testing.B) {
	for _, c := range []struct{ script, s string }{
		{"latin", "The quick brown fox: a report on 12 jumps over one lazy dog"},
		{"greek", "Η γρήγορη αλεπού: αναφορά για 12 άλματα πάνω από ένα σκυλί"},
	} {
		b.Run("script="+c.script, func(b *testing.B) {
			for b.Loop() {
				Slug(c.s)
			}
		})
	}
}

func BenchmarkTop(b *testing.B) {
	s := text(8 << 10)
	b.Run("n=10", func(b *testing.B) {
		for b.Loop() {
			Top(s, 10)
		}
	})
}

func BenchmarkDistance(b *testing.B) {
	for _, n := range []int{16, 64} {
		b.Run(fmt.Sprintf("len=%d", n), func(b *testing.B) {
			x, y := text(n), text(3 * n)[2*n:]
			for b.Loop() {
				Distance(x, y)
			}
		})
	}
}

func BenchmarkExpand(b *testing.B) {
	values := map[string]string{"Name": "Ada", "city": "Lisbon", "year": "1843", "unit": "ns"}
	s := strings.Repeat("Dear {Name}, in {city} in {year} we counted in {unit}. ", 8)
	b.Run("values=4", func(b *testing.B) {
		for b.Loop() {
			if _, err := Expand(s, values); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestTextkit(t *testing.T) {
	expanded, err := Expand("in {city}", map[string]string{"city": "Lisbon"})
	for _, c := range []struct{ got, want any }{
		{fmt.Sprint(Words("one, two")), "[one two]"},
		{Wrap("one two three", 7), "one two\nthree"},
		{Slug("  One: Two!"), "one-two"},
		{fmt.Sprint(Top("b a B c", 2)), "[{b 2} {a 1}]"},
		{Distance("kitten", "sitting"), 3},
		{expanded, "in Lisbon"},
		{err, nil},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
