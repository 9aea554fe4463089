package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ekm"
	"fsward/explore/ramdisk"
)

// A trial is the outcome of a mkdir on a newly mounted file system with the choice point of slab
// allocations switched on.
type trial struct {
	result error
	taken  []ekm.Choice
	sites  []ekm.Site
	stat   ekm.PointStat
}

// mkdirOnce restores the disk, mounts it, and makes a directory with the slab point in a mode.
func mkdirOnce(c *ekm.Control, d *ramdisk.Disk, mode ekm.Mode, limit ekm.Limit,
	seq []uint32) (t trial, err error) {
	if _, err := d.Restore("base"); err != nil {
		return t, err
	}
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		return t, err
	}
	// The readahead of inodes would make most of the allocations. A kernel thread
	// (ext4_lazyinit_thread) prefetches block bitmaps after the mount, and mkdir would read the ones
	// that are left, which vary.
	const options = "inode_readahead_blks=0,no_prefetch_block_bitmaps"
	err = guestcheck.Mounted("ext3", d.Path(), options, func(dir string) error {
		return asMember(c, func() error {
			if err := errors.Join(c.Load(seq), c.Start(), c.Set(ekm.Slab, mode, limit)); err != nil {
				return err
			}
			t.result = unix.Mkdir(filepath.Join(dir, "parent", "child"), 0o755)
			var e [3]error
			t.taken, e[0] = c.Taken()
			t.sites, e[1] = c.Sites()
			t.stat, e[2] = c.Stat(ekm.Slab)
			return errors.Join(e[0], e[1], e[2], c.Set(ekm.Slab, ekm.Off, ekm.Limit{}))
		})
	})
	return t, err
}

// failing returns the sequence in which only choice n is 1.
func failing(n int) []uint32 {
	seq := make([]uint32, n+1)
	seq[n] = 1
	return seq
}

// maxDiverged is the maximum number of runs that may diverge before the failing choice. A few do,
// since some work of the kernel happens at varying times.
const maxDiverged = 3

// differs compares the call sites of the choices up to n. It describes the first difference, or
// returns "" if there is none.
func differs(before, now []ekm.Choice, n int) string {
	for k := range n + 1 {
		if k >= len(now) {
			return fmt.Sprintf("%d choices", len(now))
		}
		if now[k].Stack != before[k].Stack || now[k].Site != before[k].Site {
			return fmt.Sprintf("choice %d is at %s (%x), was at %s (%x)",
				k, now[k].Site, now[k].Stack, before[k].Site, before[k].Stack)
		}
	}
	return ""
}

// inMkdir limits the point to the call. The thread allocates memory for other reasons too, such as
// the signals with which Go's runtime preempts it.
var inMkdir = ekm.Limit{Symbol: "__x64_sys_mkdirat"}

// checkSlab counts the slab allocations of a mkdir on ext3, and makes each of them fail twice. Both
// times exactly the allocation at this site must fail.
func checkSlab(c *ekm.Control) error {
	d, err := makeDisk("ext3")
	if err != nil {
		return err
	}
	// The directory is not made in the root: ext4 chooses a random group there (find_group_orlov).
	if err := guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		return unix.Mkdir(filepath.Join(dir, "parent"), 0o755)
	}); err != nil {
		return err
	}
	if err := d.Snapshot("base"); err != nil {
		return err
	}
	// The first mkdir makes allocations that later ones do not make.
	if _, err := mkdirOnce(c, d, ekm.Count, inMkdir, nil); err != nil {
		return err
	}
	counted, err := mkdirOnce(c, d, ekm.Count, inMkdir, nil)
	if err != nil {
		return err
	}
	if counted.result != nil || len(counted.taken) != 0 || counted.stat.Hits == 0 ||
		counted.stat.Failed != 0 {
		return fmt.Errorf("counted: mkdir ends with %s after %d choices; %+v",
			guestcheck.Outcome(counted.result), len(counted.taken), counted.stat)
	}
	base, err := mkdirOnce(c, d, ekm.On, inMkdir, nil)
	if err != nil {
		return err
	}
	if base.result != nil || uint64(len(base.taken)) != counted.stat.Hits {
		return fmt.Errorf("with zeros mkdir ends with %s after %d choices; %d were counted",
			guestcheck.Outcome(base.result), len(base.taken), counted.stat.Hits)
	}
	trials := slabTrials{c: c, d: d, base: base.taken}
	for n := range base.taken {
		if err := trials.fail(n); err != nil {
			return err
		}
	}
	inode := trials.inode
	if trials.failed == 0 || inode == nil {
		return fmt.Errorf("%d of %d failing allocations make mkdir fail, allocation of the inode"+
			" found: %v; want some and true", trials.failed, len(base.taken), inode != nil)
	}
	for _, s := range trials.diverged {
		guestcheck.Fact("slab", "diverged, and was repeated: %s", s)
	}
	guestcheck.Fact("slab", "%d allocations: %d make mkdir fail with ENOMEM, it succeeds without"+
		" the others", len(base.taken), trials.failed)
	return slabLimits(c, d, inode, counted.stat.Hits)
}

// slabTrials makes the allocations of a mkdir fail.
type slabTrials struct {
	c        *ekm.Control
	d        *ramdisk.Disk
	base     []ekm.Choice // of a mkdir without a failure
	failed   int          // number of allocations with which mkdir fails with ENOMEM
	diverged []string     // descriptions of runs with other choices
	inode    *ekm.Choice  // the allocation of the inode
}

// fail makes allocation n fail twice. Both times mkdir must have the same result.
func (s *slabTrials) fail(n int) error {
	const times = 2
	var first trial
	for done := 0; done < times; {
		t, err := mkdirOnce(s.c, s.d, ekm.On, inMkdir, failing(n))
		if err != nil {
			return err
		}
		if other := differs(s.base, t.taken, n); other != "" {
			s.diverged = append(s.diverged, fmt.Sprintf("failing allocation %d: %s", n, other))
			if len(s.diverged) > maxDiverged {
				return fmt.Errorf("too many runs diverge: %s", strings.Join(s.diverged, "; "))
			}
			continue
		}
		if t.stat.Failed != 1 || t.taken[n].Value != 1 {
			return fmt.Errorf("failing allocation %d: choice %+v, %d allocations failed",
				n, t.taken[n], t.stat.Failed)
		}
		if done++; done == 1 {
			first = t
		} else if !errors.Is(t.result, first.result) {
			return fmt.Errorf("failing allocation %d at %s: mkdir ends with %s, the first time with %s",
				n, t.taken[n].Site, guestcheck.Outcome(t.result), guestcheck.Outcome(first.result))
		}
	}
	if errors.Is(first.result, unix.ENOMEM) {
		s.failed++
	}
	if strings.HasPrefix(first.taken[n].Site, "ext4_alloc_inode+") {
		s.inode = &first.taken[n]
	}
	guestcheck.Fact("slab", "allocation %d, at %s, fails: mkdir %d times ends with %q",
		n, first.taken[n].Site, times, fmt.Sprint(first.result))
	return nil
}

// slabLimits checks that a point with a limit, by a symbol, a site or a stack, chooses only there.
func slabLimits(c *ekm.Control, d *ramdisk.Disk, inode *ekm.Choice, hits uint64) error {
	for _, limit := range []ekm.Limit{
		{Symbol: "ext4_alloc_inode"},
		{Symbol: inode.Site},
		{Stack: inode.Stack},
		{Symbol: "ext4_mkdir", Stack: inode.Stack},
	} {
		t, err := mkdirOnce(c, d, ekm.On, limit, []uint32{1})
		if err != nil {
			return err
		}
		if !errors.Is(t.result, unix.ENOMEM) || len(t.taken) != 1 ||
			t.taken[0].Site != inode.Site || t.stat.Hits != 1 || t.stat.Failed != 1 {
			return fmt.Errorf("limited to %+v: mkdir ends with %s after %d choices; %+v",
				limit, guestcheck.Outcome(t.result), len(t.taken), t.stat)
		}
	}
	t, err := mkdirOnce(c, d, ekm.On, ekm.Limit{Symbol: "ext4_no_such"}, []uint32{1})
	if err != nil {
		return err
	}
	if t.result != nil || len(t.taken) != 0 || t.stat.Elsewhere < hits {
		return fmt.Errorf("limited to an unknown symbol: mkdir ends with %s after %d choices; %+v",
			guestcheck.Outcome(t.result), len(t.taken), t.stat)
	}
	return d.Drop("base")
}
