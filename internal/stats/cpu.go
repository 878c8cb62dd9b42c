package stats

import (
	"math"
	"strconv"
	"strings"
)

// CPUPercentOfMachine is the share of the whole machine's processor time that a
// process used, 100 x (user + system) / (wall x cores), clamped to 0..100. One
// busy thread on 16 cores shows 6.25. user, system and wall are in one unit of
// time; cores is what the process may use, see CoresFromQuota.
//
// NaN when wall or cores is unknown (not above 0), or a time is negative or not
// finite.
func CPUPercentOfMachine(user, system, wall, cores float64) float64 {
	if !(cores > 0) || math.IsInf(cores, 0) {
		return math.NaN()
	}
	return min(100, 100*CPUCoresUsed(user, system, wall)/cores)
}

// CPUCoresUsed is the mean number of cores kept busy, (user + system) / wall: 1
// for one busy thread. Times are in one unit. NaN when wall is unknown (not above
// 0), or a time is negative or not finite.
func CPUCoresUsed(user, system, wall float64) float64 {
	used := (user + system) / wall
	if !(user >= 0 && system >= 0 && wall > 0) || math.IsInf(used, 0) || math.IsInf(wall, 0) {
		return math.NaN()
	}
	return used
}

// CoresFromQuota is the number of cores a process may use: the quota of its
// cgroup where that is below numCPU, else numCPU. cpuMax is the content of cgroup
// v2's cpu.max, quota and period in microseconds ("150000 100000" is 1.5 cores)
// or "max" for no quota. For cgroup v1 it is the contents of cpu.cfs_quota_us and
// cpu.cfs_period_us, joined by a space; there -1 is no quota. "" is no quota too:
// where there are no cgroups there is no such file.
//
// NaN, which stands for unknown, when numCPU < 1 or cpuMax is anything else.
func CoresFromQuota(cpuMax string, numCPU int) float64 {
	fields := strings.Fields(cpuMax)
	switch {
	case numCPU < 1 || len(fields) > 2:
		return math.NaN()
	case len(fields) == 0 || fields[0] == "max" || fields[0] == "-1":
		return float64(numCPU)
	case len(fields) == 1:
		return math.NaN()
	}
	quota, err := strconv.ParseUint(fields[0], 10, 63)
	period, err2 := strconv.ParseUint(fields[1], 10, 63)
	if err != nil || err2 != nil || quota == 0 || period == 0 {
		return math.NaN()
	}
	return min(float64(numCPU), float64(quota)/float64(period))
}
