package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/blocktap/trace"
	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// logged reads the log while do runs, and gives each record to see.
func logged(c *ramdisk.Control, do func() error, see func(r *ramdisk.Record) error) error {
	return guestcheck.DiskLog(c).During(do, see)
}

// virtioDisk is the device with a serial.
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
	return "", fmt.Errorf("no disk with the serial %s", serial)
}

// give copies what a disk holds, as the module has it, to the virtio disk with a serial, where the host finds it.
func give(d *ramdisk.Disk, bytes uint64, serial string) error {
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
			continue // the host's image is empty
		}
		if _, err := f.WriteAt(page[:], int64(i*ramdisk.PageSize)); err != nil {
			return err
		}
	}
	return f.Sync()
}

// seen counts what a log has.
type seen struct {
	submitted, completed, failed int
	ops                          [6]int
	flags                        map[ramdisk.Flags]int
	threads                      map[string]int
	order                        uint64 // of completion: that of the last
	disordered                   int
}

func (s *seen) add(r *ramdisk.Record) {
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
		if r.ID < s.order {
			s.disordered++
		}
		s.order = r.ID
	}
}

func (s *seen) String() string {
	return fmt.Sprintf("%d bios: %d reads, %d writes, %d flushes, %d discards, %d zeroes; FUA %d, PREFLUSH %d, META %d, SYNC %d, PRIO %d; threads %v",
		s.submitted, s.ops[ramdisk.Read], s.ops[ramdisk.Write], s.ops[ramdisk.Flush], s.ops[ramdisk.Discard], s.ops[ramdisk.Zeroes],
		s.flags[ramdisk.FUA], s.flags[ramdisk.Preflush], s.flags[ramdisk.Meta], s.flags[ramdisk.Sync], s.flags[ramdisk.Prio], s.threads)
}

// ioCounts are the numbers of reads and writes that the kernel has counted on a disk: Documentation/block/stat.rst.
func ioCounts(d *ramdisk.Disk) (reads, writes, discards int, err error) {
	b, err := os.ReadFile("/sys/block/" + filepath.Base(d.Path()) + "/stat")
	if err != nil {
		return 0, 0, 0, err
	}
	var skip int
	_, err = fmt.Sscan(string(b), &reads, &skip, &skip, &skip, &writes, &skip, &skip, &skip, &skip, &skip, &skip, &discards)
	return reads, writes, discards, err
}

const fsBytes = 128 << 20

func checkLogExt3(c *ramdisk.Control) error  { return checkLog(c, "ext3") }
func checkLogBtrfs(c *ramdisk.Control) error { return checkLog(c, "btrfs") }

// checkLog logs a workload on a file system. The host is given the disk before and after it, and the log between, converted
// as it comes.
func checkLog(c *ramdisk.Control, fs string) error {
	d, err := c.Make(0, fsBytes)
	if err != nil {
		return err
	}
	if err := guestcheck.Mkfs(fs, d.Path()); err != nil {
		return err
	}
	if err := give(d, fsBytes, fs+".base"); err != nil {
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
	s := seen{flags: make(map[ramdisk.Flags]int), threads: make(map[string]int)}
	var before, after [3]int
	err = logged(c, func() error {
		if before[0], before[1], before[2], err = ioCounts(d); err != nil {
			return err
		}
		if err := d.Log(true); err != nil {
			return err
		}
		if err := guestcheck.Mounted(fs, d.Path(), "", func(dir string) error {
			for _, profile := range []string{"mixed", "fsync"} {
				if err := guestcheck.Program("fsload", "-dir", dir, "-seed", "1", "-ops", "150", "-seconds", "60", "-profile", profile); err != nil {
					return err
				}
				if err := c.Mark(profile + " done"); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if err := d.Log(false); err != nil {
			return err
		}
		after[0], after[1], after[2], err = ioCounts(d)
		return err
	}, func(r *ramdisk.Record) error {
		s.add(r)
		return conv.Add(r)
	})
	if err != nil {
		return err
	}
	if err := errors.Join(w.Close(), out.Sync(), give(d, fsBytes, fs+".final")); err != nil {
		return err
	}
	guestcheck.Fact("log-"+fs, "%v; %d entries converted", &s, w.Entries())
	if s.submitted == 0 || s.submitted != s.completed || s.failed != 0 || s.disordered != 0 || conv.Held() != 0 {
		return fmt.Errorf("%d submitted, %d completed, %d failed, %d not in the order of submission, %d held", s.submitted, s.completed,
			s.failed, s.disordered, conv.Held())
	}
	for _, f := range []ramdisk.Flags{ramdisk.FUA, ramdisk.Preflush, ramdisk.Meta, ramdisk.Sync, ramdisk.Prio} {
		if s.flags[f] == 0 {
			return fmt.Errorf("no bio with the flag %#x", uint32(f))
		}
	}
	// The kernel's own counts. Writes of zeroes count as writes, and so does a flush that comes alone.
	logWrites := s.ops[ramdisk.Write] + s.ops[ramdisk.Flush] + s.ops[ramdisk.Zeroes]
	if r, w, x := after[0]-before[0], after[1]-before[1], after[2]-before[2]; r != s.ops[ramdisk.Read] || w != logWrites || x != s.ops[ramdisk.Discard] {
		return fmt.Errorf("the kernel counts %d reads, %d writes, %d discards; the log has %d, %d, %d", r, w, x,
			s.ops[ramdisk.Read], logWrites, s.ops[ramdisk.Discard])
	}
	return d.Remove()
}

// checkOverflow: what does not fit into the log is told, at its place and with its number, and no log is made of the rest.
func checkOverflow(c *ramdisk.Control) error {
	d, err := c.Make(0, 16<<20)
	if err != nil {
		return err
	}
	if err := d.Log(true); err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	buf := alignedPage()
	const writes = 600 // of a page each; the log of 1 MiB holds some 250
	for i := range writes {
		if _, err := unix.Pwrite(f, buf, int64(i*ramdisk.PageSize)); err != nil {
			return err
		}
	}
	h, err := c.Hello()
	if err != nil {
		return err
	}
	if h.LogBytes != 1<<20 || h.LogUsed > h.LogBytes || h.Lost == 0 || h.Lost >= 2*writes {
		return fmt.Errorf("after %d writes: %+v", writes, h)
	}
	log, err := ramdisk.OpenLog()
	if err != nil {
		return err
	}
	defer log.Close()
	if second, err := ramdisk.OpenLog(); !errors.Is(err, unix.EBUSY) {
		_ = second.Close()
		return errors.Join(errors.New("the log that is open is not refused as busy"), err)
	}
	r := ramdisk.NewReader(log)
	conv := ramdisk.NewConverter(map[uint32]*trace.Writer{})
	kept, lost, gaps := 0, uint64(0), 0
	for uint64(kept)+lost < 2*writes {
		rec, err := r.Next() // which finds that numbers follow each other
		if err != nil {
			return err
		}
		err = conv.Add(rec)
		if rec.Type == ramdisk.Lost {
			lost += rec.Len
			gaps++
			if !errors.Is(err, ramdisk.ErrNotWhole) {
				return errors.Join(fmt.Errorf("a log that lacks %d records is not refused by the converter", rec.Len), err)
			}
			continue
		}
		kept++
	}
	// Where a write does not fit its end still may, so there are gaps of one.
	if lost != h.Lost || uint64(kept)+lost != 2*writes {
		return fmt.Errorf("%d records kept and %d lost of %d; the module counts %d", kept, lost, 2*writes, h.Lost)
	}
	// There is room again, and the log goes on after the gap.
	if _, err := unix.Pwrite(f, buf, 0); err != nil {
		return err
	}
	for _, want := range []ramdisk.Type{ramdisk.Submit, ramdisk.Complete} {
		if rec, err := r.Next(); err != nil || rec.Type != want || rec.Op != ramdisk.Write {
			return errors.Join(fmt.Errorf("after the gap comes %+v", rec), err)
		}
	}
	// Full again: what is lost is told before the mark, for which reading has made room.
	for i := range writes {
		if _, err := unix.Pwrite(f, buf, int64(i*ramdisk.PageSize)); err != nil {
			return err
		}
	}
	for range 10 {
		if _, err := r.Next(); err != nil {
			return err
		}
	}
	if err := c.Mark("room"); err != nil {
		return err
	}
	h2, err := c.Hello()
	if err != nil {
		return err
	}
	again := uint64(0)
	for {
		rec, err := r.Next()
		if err != nil {
			return err
		}
		if rec.Type == ramdisk.Mark {
			break
		}
		if rec.Type == ramdisk.Lost {
			again += rec.Len
		}
	}
	guestcheck.Fact("overflow", "%d of %d records lost, told in %d places; then %d more", lost, 2*writes, gaps, again)
	if again == 0 || again != h2.Lost-h.Lost {
		return fmt.Errorf("%d records lost the second time; the module counts %d", again, h2.Lost-h.Lost)
	}
	return errors.Join(unix.Close(f), d.Remove())
}
