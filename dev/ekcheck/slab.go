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

// A trial is a mkdir on a file system that is mounted anew, with what a point does to it.
type trial struct {
	result error
	taken  []ekm.Choice
	sites  []ekm.Site
	stat   ekm.PointStat
}

// mkdirOnce restores the disk, mounts it, and makes a directory with the point of slabs switched on.
func mkdirOnce(c *ekm.Control, d *ramdisk.Disk, mode ekm.Mode, limit ekm.Limit, seq []uint32) (t trial, err error) {
	if _, err := d.Restore("base"); err != nil {
		return t, err
	}
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		return t, err
	}
	// Reading inodes ahead would be the most of all that is allocated. Block bitmaps are read ahead by a thread of the kernel
	// (ext4_lazyinit_thread) that begins with the mount: mkdir would read those that it has not come to yet.
	err = guestcheck.Mounted("ext3", d.Path(), "inode_readahead_blks=0,no_prefetch_block_bitmaps", func(dir string) error {
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

// failing is the sequence in which choice n alone is 1.
func failing(n int) []uint32 {
	seq := make([]uint32, n+1)
	seq[n] = 1
	return seq
}

// mostStrayed bounds the runs that may take another way before the choice that fails: the kernel does a little at its own time.
const mostStrayed = 3

// differs says where choices up to n are made elsewhere than before; nothing if they are not.
func differs(before, now []ekm.Choice, n int) string {
	for k := range n + 1 {
		if k >= len(now) {
			return fmt.Sprintf("%d choices", len(now))
		}
		if now[k].Stack != before[k].Stack || now[k].Site != before[k].Site {
			return fmt.Sprintf("choice %d is at %s (%x), was at %s (%x)", k, now[k].Site, now[k].Stack, before[k].Site, before[k].Stack)
		}
	}
	return ""
}

// inMkdir leaves out what the thread allocates beside the call: signals by which Go's runtime interrupts it, for one.
var inMkdir = ekm.Limit{Symbol: "__x64_sys_mkdirat"}

// checkSlab counts the slab allocations of a mkdir on ext3, and has each of them fail, again and again: at exactly its site.
func checkSlab(c *ekm.Control) error {
	d, err := makeDisk("ext3")
	if err != nil {
		return err
	}
	// Not in the root directory: ext4 spreads what is made there at random (find_group_orlov).
	if err := guestcheck.Mounted("ext3", d.Path(), "", func(dir string) error {
		return unix.Mkdir(filepath.Join(dir, "parent"), 0o755)
	}); err != nil {
		return err
	}
	if err := d.Snapshot("base"); err != nil {
		return err
	}
	// Once without a look: what the kernel allocates the first time only is no choice of later ones.
	if _, err := mkdirOnce(c, d, ekm.Count, inMkdir, nil); err != nil {
		return err
	}
	counted, err := mkdirOnce(c, d, ekm.Count, inMkdir, nil)
	if err != nil {
		return err
	}
	if counted.result != nil || len(counted.taken) != 0 || counted.stat.Hits == 0 || counted.stat.Failed != 0 {
		return fmt.Errorf("counting: mkdir ends with %s after %d choices; %+v", guestcheck.Outcome(counted.result), len(counted.taken), counted.stat)
	}
	base, err := mkdirOnce(c, d, ekm.On, inMkdir, nil)
	if err != nil {
		return err
	}
	if base.result != nil || uint64(len(base.taken)) != counted.stat.Hits {
		return fmt.Errorf("with zeros mkdir ends with %s after %d choices; %d were counted", guestcheck.Outcome(base.result), len(base.taken),
			counted.stat.Hits)
	}
	trials := slabTrials{c: c, d: d, base: base.taken}
	for n := range base.taken {
		if err := trials.fail(n); err != nil {
			return err
		}
	}
	inode := trials.inode
	if trials.failed == 0 || inode == nil {
		return fmt.Errorf("%d of %d failing allocations make mkdir fail, that of the inode seen: %v", trials.failed,
			len(base.taken), inode != nil)
	}
	for _, s := range trials.strayed {
		guestcheck.Fact("slab", "took another way, and was run again: %s", s)
	}
	guestcheck.Fact("slab", "%d allocations: %d make mkdir fail with ENOMEM, the others are done without", len(base.taken),
		trials.failed)
	return slabLimits(c, d, inode, counted.stat.Hits)
}

// slabTrials has the allocations of a mkdir fail.
type slabTrials struct {
	c       *ekm.Control
	d       *ramdisk.Disk
	base    []ekm.Choice // of a mkdir in which none fails
	failed  int          // trials in which mkdir failed with ENOMEM
	strayed []string     // runs that took another way
	inode   *ekm.Choice  // the allocation of the inode
}

// fail has allocation n fail twice. Both times mkdir has to end alike.
func (s *slabTrials) fail(n int) error {
	const times = 2
	var first trial
	for done := 0; done < times; {
		t, err := mkdirOnce(s.c, s.d, ekm.On, inMkdir, failing(n))
		if err != nil {
			return err
		}
		if other := differs(s.base, t.taken, n); other != "" {
			s.strayed = append(s.strayed, fmt.Sprintf("failing allocation %d: %s", n, other))
			if len(s.strayed) > mostStrayed {
				return fmt.Errorf("too many runs take another way: %s", strings.Join(s.strayed, "; "))
			}
			continue
		}
		if t.stat.Failed != 1 || t.taken[n].Value != 1 {
			return fmt.Errorf("failing allocation %d: choice %+v, %d failed", n, t.taken[n], t.stat.Failed)
		}
		if done++; done == 1 {
			first = t
		} else if !errors.Is(t.result, first.result) {
			return fmt.Errorf("failing allocation %d at %s: mkdir ends with %s, and with %s before", n, t.taken[n].Site,
				guestcheck.Outcome(t.result), guestcheck.Outcome(first.result))
		}
	}
	if errors.Is(first.result, unix.ENOMEM) {
		s.failed++
	}
	if strings.HasPrefix(first.taken[n].Site, "ext4_alloc_inode+") {
		s.inode = &first.taken[n]
	}
	guestcheck.Fact("slab", "allocation %d, at %s, fails: mkdir %d times ends with %q", n, first.taken[n].Site, times,
		fmt.Sprint(first.result))
	return nil
}

// slabLimits: limited to a call site, by its symbol, its place or its stack, the point chooses there alone.
func slabLimits(c *ekm.Control, d *ramdisk.Disk, inode *ekm.Choice, hits uint64) error {
	for _, limit := range []ekm.Limit{{Symbol: "ext4_alloc_inode"}, {Symbol: inode.Site}, {Stack: inode.Stack},
		{Symbol: "ext4_mkdir", Stack: inode.Stack}} {
		t, err := mkdirOnce(c, d, ekm.On, limit, []uint32{1})
		if err != nil {
			return err
		}
		if !errors.Is(t.result, unix.ENOMEM) || len(t.taken) != 1 || t.taken[0].Site != inode.Site || t.stat.Hits != 1 || t.stat.Failed != 1 {
			return fmt.Errorf("limited to %+v: mkdir ends with %s after %d choices; %+v", limit, guestcheck.Outcome(t.result), len(t.taken), t.stat)
		}
	}
	t, err := mkdirOnce(c, d, ekm.On, ekm.Limit{Symbol: "ext4_no_such"}, []uint32{1})
	if err != nil {
		return err
	}
	if t.result != nil || len(t.taken) != 0 || t.stat.Elsewhere < hits {
		return fmt.Errorf("limited to what is not there: mkdir ends with %s after %d choices; %+v", guestcheck.Outcome(t.result), len(t.taken),
			t.stat)
	}
	return d.Drop("base")
}
