package checkers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fsward/explore"
)

// Names of kernelMemory beside those of slab caches.
const (
	unaccountedPages = "pages that no counter has"
	vmallocAreas     = "areas of vmalloc"
)

// kernelMemory has the number of objects of each slab cache, of pages that belong to no counter of
// /proc/meminfo, and of areas of vmalloc.
type kernelMemory map[string]int

// readMemory prints the files that kernelMemory is made of. It first drops and shrinks the caches
// twice: SLUB's counts are exact only after a cache was shrunk (mm/slub.c, get_slabinfo), and
// inodes are freed after their dentries. Compaction frees most pages in the lists of the
// processors.
const readMemory = `for i in 1 2; do sync; echo 3 > /proc/sys/vm/drop_caches; sleep 0.3
for c in /sys/kernel/slab/*; do [ -L $c ] || echo 1 > $c/shrink; done; done
echo 1 > /proc/sys/vm/compact_memory
for p in /sys/module/fsw_ramdisk/parameters/pages; do [ ! -e $p ] || echo ramdisk: $(cat $p); done
cat /proc/meminfo /proc/zoneinfo /proc/vmallocinfo /proc/slabinfo`

// measureMemory reads the kernel's memory.
func measureMemory(e *explore.Env) (kernelMemory, error) {
	exit, err := e.Run("sh", "-c", readMemory)
	if err != nil {
		return nil, err
	}
	if exit.Code != 0 {
		return nil, &explore.CommandError{Command: readMemory, Exit: exit}
	}
	return parseMemory(string(exit.Stdout))
}

// accounted lists the counters of /proc/meminfo that add up to MemTotal, but for pages in the lists
// of the processors and those that the kernel took for itself.
var accounted = []string{"MemFree", "Buffers", "Cached", "SwapCached", "AnonPages", "Slab",
	"KernelStack", "PageTables", "SecPageTables", "VmallocUsed", "Percpu"}

// parseMemory parses the output of readMemory.
func parseMemory(text string) (kernelMemory, error) {
	out := make(kernelMemory)
	info := make(map[string]int) // KiB, by name in /proc/meminfo
	listed := 0                  // pages in the lists of the processors, and of RAM disks
	slabs := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) < 2 || f[0] == "#":
			continue
		case f[0] == "slabinfo":
			slabs = true
			continue
		case strings.HasPrefix(f[0], "0x"): // of vmallocinfo; areas that are freed late are no leak
			if !strings.Contains(line, "unpurged") {
				out[vmallocAreas]++
			}
			continue
		}
		number, to, name := f[1], info, strings.TrimSuffix(f[0], ":")
		switch {
		case slabs:
			to = out
		case f[0] == "count:", f[0] == "ramdisk:":
		case !strings.HasSuffix(f[0], ":") || len(f) != 3 || f[2] != "kB":
			continue // of zoneinfo
		}
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("memory of the kernel: %q: %w", line, err)
		}
		if f[0] == "count:" || f[0] == "ramdisk:" {
			listed += n
		} else {
			to[name] += n
		}
	}
	if info["MemTotal"] == 0 || out[vmallocAreas] == 0 || !slabs {
		return nil, errors.New("memory of the kernel: a file is missing")
	}
	left := info["MemTotal"]
	for _, name := range accounted {
		left -= info[name]
	}
	out[unaccountedPages] = left/4 - listed
	delete(out, "vmap_area") // counted as areas of vmalloc, without those that are freed late
	return out, nil
}

// Rounds of a search for leaks.
const (
	suspectRounds = 3 // after which a count is suspected
	allRounds     = 7 // after which it is reported
	quietRounds   = 3 // without an operation, which show how much a count varies by itself
	// pageNoise multiplies the least loss of pages: work of the kernel moves them between counters.
	pageNoise = 8
)

// A memorySeries has measurements of the kernel's memory.
type memorySeries []kernelMemory

// measure appends a measurement.
func (s *memorySeries) measure(e *explore.Env) error {
	m, err := measureMemory(e)
	*s = append(*s, m)
	return err
}

// growth returns by how much a count has grown between measurements.
func (s memorySeries) growth(name string) (out []int) {
	for i := 1; i < len(s); i++ {
		out = append(out, s[i][name]-s[i-1][name])
	}
	return out
}

// leaks reports whether a count has grown by at least least in most rounds, and in all rounds
// together by least for each, and by noise more. After all rounds it must also be close to a
// straight line: the kernel frees files and other objects late, so their counts go up and down.
func (s memorySeries) leaks(name string, least, noise int) bool {
	if name == unaccountedPages {
		least *= pageNoise
	}
	grown := s.growth(name)
	total := 0
	for _, n := range grown {
		total += n
	}
	if len(grown) >= allRounds && straightness(grown) < leastStraight {
		return false
	}
	slices.Sort(grown)
	return grown[len(grown)/2] >= least && total >= least*len(grown)+noise
}

// leastStraight is the least straightness of a leak. It bears noise of twice the loss of a round.
const leastStraight = 0.7

// straightness returns the squared correlation, 0 to 1, of a count with the number of the round. It
// is 1 if the count grows by the same number in each.
func straightness(growth []int) float64 {
	n := float64(len(growth) + 1)
	var x, y, xx, yy, xy, sum float64
	for i := range int(n) {
		if i > 0 {
			sum += float64(growth[i-1])
		}
		at := float64(i)
		x, y, xx, yy, xy = x+at, y+sum, xx+at*at, yy+sum*sum, xy+at*sum
	}
	spread := (xx - x*x/n) * (yy - y*y/n)
	if spread == 0 {
		return 0
	}
	return (xy - x*y/n) * (xy - x*y/n) / spread
}

// noise returns how much a count has varied between two measurements.
func (s memorySeries) noise(name string) (most int) {
	for _, n := range s.growth(name) {
		most = max(most, n, -n)
	}
	return most
}

// findLeak repeats a round, and returns what leaks at least least objects in each; "": nothing
// does.
func findLeak(e *explore.Env, least int, round func() error) (string, error) {
	var rounds, quiet memorySeries
	run := func(until int) error {
		for len(rounds) <= until {
			if len(rounds) > 0 {
				if err := round(); err != nil {
					return err
				}
			}
			if err := rounds.measure(e); err != nil {
				return err
			}
		}
		return nil
	}
	suspects := func() (out []string) {
		for _, name := range slices.Sorted(maps.Keys(rounds[len(rounds)-1])) {
			noise := 0
			if quiet != nil {
				noise = quiet.noise(name)
			}
			if rounds.leaks(name, least, noise) {
				out = append(out, name)
			}
		}
		return out
	}
	if err := run(suspectRounds); err != nil || len(suspects()) == 0 {
		return "", err
	}
	if err := run(allRounds); err != nil || len(suspects()) == 0 {
		return "", err
	}
	for len(quiet) <= quietRounds {
		if err := quiet.measure(e); err != nil {
			return "", err
		}
	}
	var out []string
	for _, name := range suspects() {
		out = append(out, fmt.Sprintf("%s %v", name, rounds.growth(name)))
	}
	return strings.Join(out, ", "), nil
}
