package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// A basketBenchmark is one benchmark of the made-up .NET module orders.
type basketBenchmark struct {
	method     string
	items      int
	nanosecond float64 // true cost of one operation
	bytes      int     // allocated by one operation
	operations int     // in one iteration
}

var basketBenchmarks = []basketBenchmark{
	{"Price", 10, 412, 264, 1 << 20},
	{"Price", 100, 3_870, 1_704, 1 << 17},
	{"Discount", 10, 96, 0, 1 << 22},
	{"Discount", 100, 905, 0, 1 << 19},
}

const (
	iterations = 15
	// student is the 99.95 % quantile of Student's t with 14 degrees of
	// freedom: the reports state a 99.9 % interval.
	student = 4.1405
	// otherMachine is the run whose orders job landed on a different processor.
	otherMachine = 8
	// moreMemory is the first run in which Price allocates more.
	moreMemory = 9
	// failedRun is the run in which Discount(Items: 100) did not finish.
	failedRun = 7
)

func basketReport(run int, started time.Time) object {
	processor, slowdown := "AMD EPYC 7763 2.45GHz", 1.0
	if run == otherMachine {
		processor, slowdown = "Intel Xeon Platinum 8370C CPU 2.80GHz", 1.13
	}
	entries := make([]object, len(basketBenchmarks))
	for i, b := range basketBenchmarks {
		b.nanosecond *= slowdown
		if run >= moreMemory && b.method == "Price" {
			b.bytes += 24 + 2*b.items
		}
		entries[i] = basketEntry(run, b)
	}
	return object{
		"Title", "Shop.Orders.Benchmarks.BasketBenchmarks-" + started.Add(40*time.Second).Format("20060102-150405"),
		"HostEnvironmentInfo", object{
			"BenchmarkDotNetCaption", "BenchmarkDotNet", "BenchmarkDotNetVersion", "0.15.8",
			"OsVersion", "Linux Ubuntu 24.04.3 LTS (Noble Numbat)", "ProcessorName", processor,
			"PhysicalProcessorCount", 1, "PhysicalCoreCount", 2, "LogicalCoreCount", 4,
			"RuntimeVersion", ".NET 10.0.6", "Architecture", "X64", "HasAttachedDebugger", false, "HasRyuJit", true,
			"Configuration", "RELEASE", "DotNetCliVersion", "10.0.202",
			"ChronometerFrequency", object{"Hertz", 1_000_000_000}, "HardwareTimerKind", "Unknown",
		},
		"Benchmarks", entries,
	}
}

func basketEntry(run int, b basketBenchmark) object {
	const namespace, class = "Shop.Orders.Benchmarks", "BasketBenchmarks"
	entry := object{
		"DisplayInfo", fmt.Sprintf("%s.%s: DefaultJob [Items=%d]", class, b.method, b.items),
		"Namespace", namespace, "Type", class, "Method", b.method, "MethodTitle", b.method,
		"Parameters", fmt.Sprintf("Items=%d", b.items),
		"FullName", fmt.Sprintf("%s.%s.%s(Items: %d)", namespace, class, b.method, b.items),
		"HardwareIntrinsics", "AVX2 VectorSize=256",
	}
	if run == failedRun && b.method == "Discount" && b.items == 100 {
		return append(entry, "Statistics", nil, "Memory", nil, "Measurements", []object{})
	}
	values, measurements := measure(source(run, fmt.Sprint(b.method, b.items)), b)
	return append(entry,
		"Statistics", statistics(values),
		"Memory", object{
			"Gen0Collections", b.bytes * b.operations / (64 << 20), "Gen1Collections", 0, "Gen2Collections", 0,
			"TotalOperations", b.operations, "BytesAllocatedPerOperation", b.bytes,
		},
		"Measurements", measurements,
		"Metrics", []object{{"Value", b.bytes, "Descriptor", object{
			"Id", "Allocated Memory", "DisplayName", "Allocated", "Legend", "Managed memory allocated by one operation",
			"NumberFormat", "0.##", "UnitType", 2, "Unit", "B", "TheGreaterTheBetter", false, "PriorityInCategory", 3,
		}}},
	)
}

// measure makes up one launch: a run is off by about 1.5 % as a whole, an
// iteration by about 1 %, and the first warm-up iterations are slower.
func measure(random *rand.Rand, b basketBenchmark) (values []float64, measurements []object) {
	level := b.nanosecond * math.Exp(0.015*random.NormFloat64())
	add := func(mode, stage string, i, operations int, nanoseconds float64) {
		measurements = append(measurements, object{
			"IterationMode", mode, "IterationStage", stage, "LaunchIndex", 1, "IterationIndex", i,
			"Operations", operations, "Nanoseconds", math.Round(nanoseconds),
		})
	}
	overhead := 0.6 * float64(b.operations)
	iteration := func(extra float64) float64 {
		return level*(1+extra)*math.Exp(0.01*random.NormFloat64())*float64(b.operations) + overhead
	}
	add("Overhead", "Jitting", 1, 1, 181_000+9_000*random.Float64())
	add("Workload", "Jitting", 1, 1, 402_000+30_000*random.Float64())
	for i, operations := 1, 16; operations < b.operations; i, operations = i+1, operations*8 {
		add("Workload", "Pilot", i, operations, level*1.1*float64(operations))
	}
	for i := range 3 {
		add("Overhead", "Warmup", i+1, b.operations, overhead*1.02)
		add("Overhead", "Actual", i+1, b.operations, overhead)
	}
	for i := range 6 {
		add("Workload", "Warmup", i+1, b.operations, iteration(0.2*math.Exp(-1.5*float64(i))))
	}
	actual := make([]float64, iterations)
	for i := range actual {
		actual[i] = iteration(0)
		add("Workload", "Actual", i+1, b.operations, actual[i])
	}
	for i, a := range actual {
		result := math.Round(a - overhead)
		add("Workload", "Result", i+1, b.operations, result)
		values = append(values, result/float64(b.operations))
	}
	return values, measurements
}

func statistics(values []float64) object {
	sorted, n := sortedCopy(values), float64(len(values))
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	variance := squares / (n - 1)
	standardError := math.Sqrt(variance / n)
	q1, q3 := quantile(sorted, 0.25), quantile(sorted, 0.75)
	low, high := q1-1.5*(q3-q1), q3+1.5*(q3-q1)
	lower, upper := []float64{}, []float64{}
	for _, v := range sorted {
		switch {
		case v < low:
			lower = append(lower, v)
		case v > high:
			upper = append(upper, v)
		}
	}
	percentiles := object{}
	for _, p := range []int{0, 25, 50, 67, 80, 85, 90, 95, 100} {
		percentiles = append(percentiles, fmt.Sprint("P", p), quantile(sorted, float64(p)/100))
	}
	return object{
		"OriginalValues", values, "N", len(values), "Min", sorted[0], "LowerFence", low, "Q1", q1,
		"Median", quantile(sorted, 0.5), "Mean", mean, "Q3", q3, "UpperFence", high, "Max", sorted[len(sorted)-1],
		"InterquartileRange", q3 - q1, "LowerOutliers", lower, "UpperOutliers", upper,
		"AllOutliers", append(append([]float64{}, lower...), upper...),
		"StandardError", standardError, "Variance", variance, "StandardDeviation", math.Sqrt(variance),
		"ConfidenceInterval", object{
			"N", len(values), "Mean", mean, "StandardError", standardError, "Level", 12,
			"Margin", student * standardError, "Lower", mean - student*standardError, "Upper", mean + student*standardError,
		},
		"Percentiles", percentiles,
	}
}
