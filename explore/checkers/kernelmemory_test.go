package checkers

import (
	"maps"
	"testing"
)

// TestParseMemory: pages that no counter has, areas of vmalloc and slabs are counted. Areas that
// are freed late, and pages in the lists of the processors and of RAM disks, are not.
func TestParseMemory(t *testing.T) {
	got, err := parseMemory(`ramdisk: 3
MemTotal:        4000 kB
MemFree:         3000 kB
Slab:             400 kB
HugePages_Total:       0
Node 0, zone      DMA
  pages free     10
    cpu: 0
              count: 2
              high:  5
0x00000000-0x00000001    8192 a_function+0x10 pages=1 vmalloc
0x00000002-0x00000003    8192 unpurged vm_area
slabinfo - version: 2.1
# name            <active_objs> <num_objs>
vmap_area             7      7
kmalloc-256          12     16
`)
	want := kernelMemory{unaccountedPages: 600/4 - 5, vmallocAreas: 1, "kmalloc-256": 12}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// FuzzParseMemory: any text of a guest gives counts or an error.
func FuzzParseMemory(f *testing.F) {
	f.Add("MemTotal: 4000 kB\n0x1 2\nslabinfo\nkmalloc-256 12 16\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMemory(text)
		if err == nil && m[vmallocAreas] == 0 {
			t.Errorf("%v without areas of vmalloc", m)
		}
	})
}

// TestLeaks: a count leaks if it grows steadily, and not if it goes up and down.
func TestLeaks(t *testing.T) {
	for _, c := range []struct {
		growth       []int
		least, noise int
		want         bool
	}{
		{[]int{64, 64, 64, 64, 64, 64, 64}, 4, 0, true},
		{[]int{2, 2, 2, 2, 2, 2, 2}, 1, 3, true},
		{[]int{70, -6, 64, 64, 58, 64, 64}, 4, 6, true}, // one round waits for a late free
		{[]int{64, 64, 64}, 4, 0, true},
		{[]int{48, -32, 16, -16, 16, 0, 32}, 1, 0, false}, // filp, under load
		{[]int{300, 0, 0, 0, 0, 0, 0}, 4, 0, false},
		{[]int{1, 1, 1, 1, 1, 1, 1}, 1, 3, false},
	} {
		s := memorySeries{{"filp": 1000}}
		for _, n := range c.growth {
			s = append(s, kernelMemory{"filp": s[len(s)-1]["filp"] + n})
		}
		if got := s.leaks("filp", c.least, c.noise); got != c.want {
			t.Errorf("%v: %v, want %v", c.growth, got, c.want)
		}
	}
}
