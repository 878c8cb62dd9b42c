package decode

import (
	"bytes"
	"fmt"
	"testing"
)

// dotnetSized is a full report of about 4 MB.
func dotnetSized() []byte {
	var b bytes.Buffer
	b.WriteString(`{"Title":"T-20260405-182445","HostEnvironmentInfo":{"RuntimeVersion":".NET 10.0.5"},"Benchmarks":[`)
	for i := range 300 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"DisplayInfo":"Type.Method: MediumRun(IterationCount=15, LaunchCount=2, WarmupCount=10)","Namespace":"Ns","Type":"Type","Method":"Method","MethodTitle":"Method","Parameters":"n=%d","FullName":"Ns.Type.Method(n: %d)","Statistics":{"OriginalValues":[`, i, i)
		for j := range 30 {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%.13f", 70.5+float64(j)/7)
		}
		b.WriteString(`],"N":30,"Mean":72.4419498533010483,"Median":72.5,"ConfidenceInterval":{"N":30,"Level":12,"Lower":71.5,"Upper":73.25}},"Memory":{"TotalOperations":1966080,"BytesAllocatedPerOperation":120},"Measurements":[`)
		for j := range 90 {
			if j > 0 {
				b.WriteByte(',')
			}
			stage := []string{"Warmup", "Actual", "Result"}[j/30]
			fmt.Fprintf(&b, `{"IterationMode":"Workload","IterationStage":"%s","LaunchIndex":1,"IterationIndex":%d,"Operations":65536,"Nanoseconds":%d}`, stage, j%30+1, 4638932+j)
		}
		b.WriteString(`]}`)
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func goSized() []byte {
	var b bytes.Buffer
	b.WriteString("goos: linux\ngoarch: amd64\npkg: example.com/p\ncpu: Example CPU 1000\n")
	for i := range 30000 {
		fmt.Fprintf(&b, "BenchmarkNew/text=opticks/size=%dK/bits=32-8 \t     295\t   4052%03d ns/op\t  24.68 MB/s\t  401490 B/op\t       2 allocs/op\n", i/10, i%1000)
	}
	return b.Bytes()
}

func benchmarkFile(b *testing.B, name string, data []byte) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		suites, diagnostics, err := File(name, data, Options{})
		if err != nil || len(diagnostics) > 0 || len(suites) != 1 {
			b.Fatal(len(suites), diagnostics, err)
		}
	}
}

func BenchmarkDecodeBenchmarkDotNet(b *testing.B) {
	benchmarkFile(b, "T-report-full-compressed.json", dotnetSized())
}

func BenchmarkDecodeGo(b *testing.B) { benchmarkFile(b, "bench.txt", goSized()) }
