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

// A footprint is what the guest's kernel has allocated and would keep: of each slab cache the objects, and the pages by what
// /proc/meminfo says that they are for.
type footprint map[string]int64

// Names in a footprint.
const (
	programPages = "pages AnonPages" // of this program's own memory, which Go's runtime lets grow and shrink
	otherPages   = "pages not told"  // that no counter explains: what alloc_page gave out and nobody gave back is among them
)

// measure lets the kernel give back what it may keep for later, and counts what is left. SLUB's counts are exact only after
// each cache has been shrunk: before, what is free on a processor's list counts as taken (mm/slub.c, get_slabinfo).
func measure() (footprint, error) {
	debug.FreeOSMemory()
	for range 2 { // what the first has freed lets the second free more: inodes after their dentries, all after a grace period
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

// shrinkSlabs lets each slab cache give back what is free in it: Documentation/ABI/testing/sysfs-kernel-slab.
func shrinkSlabs() error {
	entries, err := os.ReadDir("/sys/kernel/slab")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 { // another name of a cache
			continue
		}
		if err := os.WriteFile(filepath.Join("/sys/kernel/slab", e.Name(), "shrink"), []byte("1"), 0); err != nil {
			return err
		}
	}
	return nil
}

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

// readPages reads what /proc/meminfo has of pages in use, and what it does not have.
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
	// Free pages on the lists of processors are not in MemFree.
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
	for _, name := range []string{"AnonPages", "Cached", "Buffers", "PageTables", "Slab", "VmallocUsed", "Percpu"} {
		f["pages "+name] = kib[name] * 1024 / int64(os.Getpagesize())
		rest -= kib[name]
	}
	f[otherPages] = rest * 1024 / int64(os.Getpagesize())
	return nil
}

// growth is by how much each count has grown.
func growth(before, after footprint) map[string]int64 {
	out := make(map[string]int64)
	for name, n := range after {
		out[name] = n - before[name]
	}
	return out
}

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
