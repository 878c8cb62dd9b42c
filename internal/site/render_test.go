package site

import "testing"

func BenchmarkRender(b *testing.B) {
	d := history(24, 800, 15)
	b.ReportAllocs()
	for b.Loop() {
		files, err := Render(d)
		if err != nil {
			b.Fatal(err)
		}
		total := 0
		for _, f := range files {
			total += len(f.Data)
		}
		b.ReportMetric(float64(total)/1e6, "MB/site")
		b.ReportMetric(float64(len(files)), "files")
	}
}
