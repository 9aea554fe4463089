package checkers

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/ekm"
	"fsward/explore/model"
	"fsward/explore/ramdisk"
)

// Silent checks that a failure is reported. If a write to the disk or an allocation in the kernel
// fails and all calls, with fsync(2), return success, then everything is there after the next mount
// (FiSC 4.1, "no silent failures"). A failed write-back is also reported to each descriptor that
// was open at that time: see tellEach.
type Silent struct {
	Core
	On    Storage
	Disk  uint32 // the disk whose writes fail
	Sites uint32 // how many of the first writes fail, one in each execution; 0: 6
	// Allocations is how many of the first allocations fail, one in each execution.
	Allocations uint32
	// Strict reports each failed allocation that is followed by success, except at the sites that
	// Retries names.
	Strict bool
}

// Crashless says that the checker requests no crashes.
func (*Silent) Crashless() {}

// UsesModule reports whether allocations fail.
func (c *Silent) UsesModule() bool { return c.Allocations > 0 }

// silentAllocations is the default of Silent.Allocations in New.
const silentAllocations = 8

// Retries has prefixes of functions that try again when an allocation fails, or do without it:
// those that cache what is on the disk, and those that read ahead.
var Retries = []string{"ext4_es_", "__es_", "mb_cache_entry_", "page_cache_ra_", "read_pages",
	"readahead_", "jbd2_alloc", "alloc_buffer_head", "folio_alloc_buffers", "ext4_init_io_end",
	"mempool_", "bio_alloc", "bvec_alloc", "d_alloc", "__d_alloc",
	// They allocate bios from a pool with a reserve (mempool_alloc).
	"ext4_read_bh", "__bread_gfp", "__bh_read", "submit_bh", "block_write_", "__block_write_",
	"ext4_bio_write_", "ext4_io_submit", "jbd2_journal_commit_transaction"}

// Init loads the module fsw_ekm if allocations fail.
func (c *Silent) Init(e *explore.Env) error {
	if c.UsesModule() {
		if err := loadEKM(e); err != nil {
			return err
		}
	}
	return c.Core.Init(e)
}

// Mutate does one operation and forces it to the disk, while the disk fails one write, one
// allocation fails, or nothing fails.
func (c *Silent) Mutate(e *explore.Env) error {
	if c.torn {
		return nil
	}
	early := len(tellers)
	if c.Strict {
		early = 0
	}
	ops, teller := c.chooseOr(e, early, 0)
	if ops == nil {
		return c.tellEach(e, tellers[teller])
	}
	// sync(2) returns no error, so it cannot report a failure.
	syncs := slices.DeleteFunc(c.syncs(ops),
		func(s []model.Op) bool { return s[0].Code == model.Sync })
	sync := syncs[e.ChooseAt(uint32(len(syncs)), "sync")]
	sites := c.Sites
	if sites == 0 {
		sites = 6
	}
	nth := e.ChooseAt(sites+1+c.Allocations, "write or allocation that fails")
	if nth == 0 {
		if err := c.Step(e, ops); err != nil {
			return err
		}
		return c.Step(e, sync)
	}
	want := c.fs.Clone()
	all := slices.Concat(ops, sync)
	var what string
	var reported bool
	var err error
	if nth <= sites {
		what = fmt.Sprintf("write %d to the disk", nth)
		writes := []ramdisk.Op{ramdisk.Write}
		err = withFault(e, c.Disk, nth, writes, func() (err error) {
			reported, err = c.reportsError(e, all)
			return err
		})
	} else {
		var hit *agent.Hit
		if hit, reported, err = c.failAllocation(e, all, nth-sites-1); hit != nil {
			what = "the allocation at " + hit.Site
		} else {
			reported = true // nothing failed
		}
	}
	if err != nil {
		return err
	}
	c.torn = true // the file system may be read-only now: no further step
	if reported {
		return nil
	}
	for _, o := range all {
		want.Apply(o)
	}
	want.CloseAll()
	return c.checkRemounted(e, want, what)
}

// failAllocation performs operations while allocation nth, from 0, fails. hit is the allocation;
// nil: there are not so many. reported reports whether an operation returned an error.
func (c *Silent) failAllocation(e *explore.Env, ops []model.Op,
	nth uint32) (hit *agent.Hit, reported bool, err error) {
	points := []ekm.Point{ekm.Slab, ekm.Page}
	batch := slices.Concat([]agent.Op{agent.DropCaches(), agent.FailAt(points, []uint32{nth})},
		c.calls(ops), []agent.Op{agent.FailEnd()})
	results, err := e.Try(batch...)
	if err != nil {
		return nil, false, err
	}
	if err := errors.Join(results[1].Err(), results[len(results)-1].Err()); err != nil {
		return nil, false, fmt.Errorf("injecting faults into the kernel: %w", err)
	}
	hits, err := agent.DecodeHits(results[len(results)-1].Data)
	if err != nil || int(nth) >= len(hits) {
		return nil, false, err
	}
	for _, r := range results[2 : len(results)-1] {
		reported = reported || r.Errno != 0
	}
	hit = &hits[nth]
	retries := func(prefix string) bool { return strings.HasPrefix(hit.Site, prefix) }
	if c.Strict && !reported && !slices.ContainsFunc(Retries, retries) {
		return nil, false, explore.Failuref("silent allocation", "the allocation at %s failed, and %s "+
			"returned success", hit.Site, describe(ops))
	}
	return hit, reported, nil
}

// loadEKM loads the module fsw_ekm.
func loadEKM(e *explore.Env) error {
	return e.Sh("grep -q '^fsw_ekm ' /proc/modules || insmod /fsward/fsw_ekm.ko")
}

// checkRemounted mounts the file system again and checks that nothing durable in want is missing.
// what has failed, and no call has reported it.
func (c *Silent) checkRemounted(e *explore.Env, want *model.FS, what string) error {
	if err := remount(e, c.On, "silent failure"); err != nil {
		return err
	}
	if err := checkAllowed(e, c.At, want); err != nil {
		return explore.Failuref("silent failure",
			"%s failed, no call reported it, and after the next mount: %v", what, err)
	}
	return nil
}

// remount unmounts the storage, recovers it and mounts it again. If it cannot be recovered or
// mounted, the failure is of the given kind.
func remount(e *explore.Env, on Storage, kind string) error {
	if err := on.Unmount(e); err != nil {
		return commandFailure("cannot be unmounted", err)
	}
	for _, f := range []func(*explore.Env) error{on.Recover, on.Mount} {
		if err := f(e); err != nil {
			return commandFailure(kind, err)
		}
	}
	return nil
}

// reportsError performs operations, and reports whether one of them returned an error.
func (c *Silent) reportsError(e *explore.Env, ops []model.Op) (bool, error) {
	results, err := e.Try(c.calls(ops)...)
	for _, r := range results {
		if r.Errno != 0 {
			return true, err
		}
	}
	return false, err
}

// Check does nothing: the checker tries no crashes.
func (c *Silent) Check(*explore.Env, explore.Crash) error { return nil }
