package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fsward/blocktap/trace"
	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// readLog calls do, reads the log of all disks meanwhile, and calls see for each record.
func readLog(c *ramdisk.Control, do func() error, see func(r *ramdisk.Record) error) error {
	return guestcheck.DiskLog(c).During(do, see)
}

// virtioDisk returns the path of the virtio disk with a serial.
func virtioDisk(serial string) (string, error) {
	names, err := filepath.Glob("/sys/block/vd*/serial")
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if b, err := os.ReadFile(name); err == nil && strings.TrimSpace(string(b)) == serial {
			return "/dev/" + filepath.Base(filepath.Dir(name)), nil
		}
	}
	return "", fmt.Errorf("no virtio disk has the serial %s", serial)
}

// copyToHost copies the contents of a disk, read from the module, to the virtio disk with a serial.
// The host has an empty image for it.
func copyToHost(d *ramdisk.Disk, bytes uint64, serial string) error {
	path, err := virtioDisk(serial)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var page, zero [ramdisk.PageSize]byte
	for i := range bytes / ramdisk.PageSize {
		if err := d.Page(i, &page); err != nil {
			return err
		}
		if page == zero {
			continue
		}
		if _, err := f.WriteAt(page[:], int64(i*ramdisk.PageSize)); err != nil {
			return err
		}
	}
	return f.Sync()
}

// bioCounts counts the bios in a log.
type bioCounts struct {
	submitted, completed, failed int
	ops                          [6]int
	flags                        map[ramdisk.Flags]int
	threads                      map[string]int // by name
	last                         uint64         // number of the last completed bio
	disordered                   int            // bios that completed after a later one
}

// add counts a record.
func (s *bioCounts) add(r *ramdisk.Record) {
	switch r.Type {
	case ramdisk.Submit:
		s.submitted++
		s.ops[r.Op]++
		for f := ramdisk.FUA; f <= ramdisk.NoUnmap; f <<= 1 {
			if r.Flags&f != 0 {
				s.flags[f]++
			}
		}
		s.threads[r.Comm]++
	case ramdisk.Complete:
		s.completed++
		if r.Status != 0 {
			s.failed++
		}
		if r.ID < s.last {
			s.disordered++
		}
		s.last = r.ID
	}
}

// String returns the counts as text.
func (s *bioCounts) String() string {
	return fmt.Sprintf("%d bios: %d reads, %d writes, %d flushes, %d discards, %d zeroes; "+
		"FUA %d, PREFLUSH %d, META %d, SYNC %d, PRIO %d; threads %v", s.submitted,
		s.ops[ramdisk.Read], s.ops[ramdisk.Write], s.ops[ramdisk.Flush],
		s.ops[ramdisk.Discard], s.ops[ramdisk.Zeroes],
		s.flags[ramdisk.FUA], s.flags[ramdisk.Preflush], s.flags[ramdisk.Meta],
		s.flags[ramdisk.Sync], s.flags[ramdisk.Prio], s.threads)
}

// ioCounts are the kernel's counts of the operations on a disk.
type ioCounts struct{ reads, writes, discards int }

// countIO reads the kernel's counts: Documentation/block/stat.rst.
func countIO(d *ramdisk.Disk) (c ioCounts, err error) {
	b, err := os.ReadFile("/sys/block/" + filepath.Base(d.Path()) + "/stat")
	if err != nil {
		return c, err
	}
	var skip int
	_, err = fmt.Sscan(string(b), &c.reads, &skip, &skip, &skip, &c.writes, &skip, &skip, &skip,
		&skip, &skip, &skip, &c.discards)
	return c, err
}

// fsBytes is the size of the disk of checkLog.
const fsBytes = 128 << 20

func checkLogExt3(c *ramdisk.Control) error  { return checkLog(c, "ext3") }
func checkLogBtrfs(c *ramdisk.Control) error { return checkLog(c, "btrfs") }

// checkLog logs a load on a file system and compares the log with the kernel's counts. It writes
// the contents of the disk before and after the load, and the converted log, to virtio disks, where
// the host compares them.
func checkLog(c *ramdisk.Control, fs string) error {
	d, err := c.Make(0, fsBytes)
	if err != nil {
		return err
	}
	if err := guestcheck.Mkfs(fs, d.Path()); err != nil {
		return err
	}
	if err := copyToHost(d, fsBytes, fs+".base"); err != nil {
		return err
	}
	path, err := virtioDisk(fs + ".log")
	if err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer out.Close()
	w, err := trace.NewWriter(out)
	if err != nil {
		return err
	}
	conv := ramdisk.NewConverter(map[uint32]*trace.Writer{0: w})
	s := bioCounts{flags: make(map[ramdisk.Flags]int), threads: make(map[string]int)}
	var kernel ioCounts
	err = readLog(c, func() (err error) {
		kernel, err = runLoad(c, d, fs)
		return err
	}, func(r *ramdisk.Record) error {
		s.add(r)
		return conv.Add(r)
	})
	if err != nil {
		return err
	}
	if err := errors.Join(w.Close(), out.Sync(), copyToHost(d, fsBytes, fs+".final")); err != nil {
		return err
	}
	guestcheck.Fact("log-"+fs, "%v; %d entries converted", &s, w.Entries())
	if err := s.check(conv.Held(), kernel); err != nil {
		return err
	}
	return d.Remove()
}

// runLoad runs a load on the mounted file system while the disk logs its bios, and returns the
// growth of the kernel's counts.
func runLoad(c *ramdisk.Control, d *ramdisk.Disk, fs string) (counted ioCounts, err error) {
	before, err := countIO(d)
	if err != nil {
		return counted, err
	}
	if err := d.Log(true); err != nil {
		return counted, err
	}
	if err := guestcheck.Mounted(fs, d.Path(), "", func(dir string) error {
		for _, profile := range []string{"mixed", "fsync"} {
			if err := guestcheck.Program("fsload", "-dir", dir, "-seed", "1", "-ops", "150",
				"-seconds", "60", "-profile", profile); err != nil {
				return err
			}
			if err := c.Mark(profile + " done"); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return counted, err
	}
	if err := d.Log(false); err != nil {
		return counted, err
	}
	after, err := countIO(d)
	counted = ioCounts{
		after.reads - before.reads,
		after.writes - before.writes,
		after.discards - before.discards,
	}
	return counted, err
}

// check compares the counts with the kernel's, and checks that bios with all important flags occur.
// pending is the number of bios that have not completed.
func (s *bioCounts) check(pending int, kernel ioCounts) error {
	if s.submitted == 0 || s.submitted != s.completed || s.failed != 0 || s.disordered != 0 ||
		pending != 0 {
		return fmt.Errorf("%d bios submitted, %d completed, %d failed,"+
			" %d not in the order of submission, %d pending",
			s.submitted, s.completed, s.failed, s.disordered, pending)
	}
	important := []ramdisk.Flags{
		ramdisk.FUA, ramdisk.Preflush, ramdisk.Meta, ramdisk.Sync, ramdisk.Prio,
	}
	for _, f := range important {
		if s.flags[f] == 0 {
			return fmt.Errorf("no bio has the flag %#x", uint32(f))
		}
	}
	// The kernel counts writes of zeros and flushes without data as writes.
	log := ioCounts{
		reads:    s.ops[ramdisk.Read],
		writes:   s.ops[ramdisk.Write] + s.ops[ramdisk.Flush] + s.ops[ramdisk.Zeroes],
		discards: s.ops[ramdisk.Discard],
	}
	if kernel != log {
		return fmt.Errorf("the kernel counts %+v, the log has %+v", kernel, log)
	}
	return nil
}
