package guestcheck

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A footprint counts the memory that the guest's kernel has allocated: the objects of each slab
// cache by its name, and the pages by their use in /proc/meminfo.
type footprint map[string]int64

// Names in a footprint.
const (
	programPages = "pages AnonPages"   // of this program; Go's runtime may change them at any time
	otherPages   = "pages unaccounted" // in no counter, such as leaked pages of alloc_page
)

// measure makes the kernel free its caches, and counts the rest. It shrinks each slab cache, since
// SLUB counts the free objects on a processor's list as allocated (mm/slub.c, get_slabinfo).
func measure() (footprint, error) {
	debug.FreeOSMemory()
	// The second round frees more: inodes follow their dentries, and RCU callbacks a grace period.
	for range 2 {
		unix.Sync()
		if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
			return nil, err
		}
		time.Sleep(300 * time.Millisecond)
		if err := shrinkSlabs(); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile("/proc/sys/vm/stat_refresh", []byte("1"), 0); err != nil {
		return nil, err
	}
	f := make(footprint)
	return f, errors.Join(f.readSlabs(), f.readPages())
}

// shrinkSlabs makes each slab cache free its unused slabs. See
// Documentation/ABI/testing/sysfs-kernel-slab.
func shrinkSlabs() error {
	entries, err := os.ReadDir("/sys/kernel/slab")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 { // an alias of another cache
			continue
		}
		shrink := filepath.Join("/sys/kernel/slab", e.Name(), "shrink")
		if err := os.WriteFile(shrink, []byte("1"), 0); err != nil {
			return err
		}
	}
	return nil
}

// readSlabs adds the number of active objects of each slab cache.
func (f footprint) readSlabs() error {
	return lines("/proc/slabinfo", func(line string) error {
		if strings.HasPrefix(line, "slabinfo") || strings.HasPrefix(line, "#") {
			return nil
		}
		var name string
		var active int64
		if _, err := fmt.Sscan(line, &name, &active); err != nil {
			return fmt.Errorf("/proc/slabinfo: %q: %w", line, err)
		}
		f[name] += active
		return nil
	})
}

// readPages adds the pages in use by their counter in /proc/meminfo, and those in no counter.
func (f footprint) readPages() error {
	kib := make(map[string]int64)
	err := lines("/proc/meminfo", func(line string) error {
		name, rest, _ := strings.Cut(line, ":")
		var n int64
		if _, err := fmt.Sscan(rest, &n); err != nil {
			return fmt.Errorf("/proc/meminfo: %q: %w", line, err)
		}
		kib[name] = n
		return nil
	})
	if err != nil {
		return err
	}
	// MemFree does not include the free pages on the lists of processors.
	listed := int64(0)
	if err := lines("/proc/zoneinfo", func(line string) error {
		var n int64
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "count: %d", &n); err == nil {
			listed += n
		}
		return nil
	}); err != nil {
		return err
	}
	rest := kib["MemTotal"] - kib["MemFree"] - listed*int64(os.Getpagesize())/1024
	for _, name := range []string{
		"AnonPages", "Cached", "Buffers", "PageTables", "Slab", "VmallocUsed", "Percpu",
	} {
		f["pages "+name] = kib[name] * 1024 / int64(os.Getpagesize())
		rest -= kib[name]
	}
	f[otherPages] = rest * 1024 / int64(os.Getpagesize())
	return nil
}

// growth returns the difference of each count.
func growth(before, after footprint) map[string]int64 {
	out := make(map[string]int64)
	for name, n := range after {
		out[name] = n - before[name]
	}
	return out
}

// lines calls each for each line of a file.
func lines(path string, each func(string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Scan() {
		if err := each(in.Text()); err != nil {
			return err
		}
	}
	return in.Err()
}
