package checkers

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/model"
	"fsward/explore/ramdisk"
)

// A fake is a file system on a disk in memory that journals all operations and data. fsync and sync
// write the operations since the last sync as records with checksums, and flush. Recovery performs
// the records up to the first incomplete one. It is correct, except for one planted bug.
type fake struct {
	explore.Node
	bug     string         // "": none
	options model.Promises // Sync and Dirsync are the mount options

	fs              *model.FS
	seen            *model.Observed // of fs at the moment seenAt of seenOf: see observed
	seenOf          *model.FS
	seenAt          int
	pending         []model.Op             // not in the journal yet
	next            uint64                 // sector of the next record
	seq             uint64                 // sequence number of the next record
	slots           [agent.MaxSlots]int    // flags of open files; -1: closed
	inodes          [agent.MaxSlots]uint64 // of open files
	mounts          int
	unreported      [agent.MaxSlots]bool // an error of a write has yet to be reported to the open file
	fault           *ramdisk.Rule
	writes          uint64   // since the fault was added
	failAt          []uint32 // hits that fail; nil: no faults are injected
	hits            []agent.Hit
	leaked          int            // leaked objects in the slab cache
	lost            map[string]int // leaked by links, by where: "slab", "pages" or "vmalloc"
	links, measured int            // how often a name was linked, and memory measured
	fsck            int            // errors left to repair
	recovered       bool           // a recovery came before the present mount
	warm            bool           // the tree was read after the last change, or recovered
	stopped         bool           // each call gives EIO until the next mount
	unseen          unseenState    // since the mount, for unseenBugs
}

const (
	fakeAt    = "/fake"
	fakeBytes = 1 << 20
	magic     = 0xfa4ef5
)

// fakePromises are those of ext3 with data=journal.
var fakePromises = model.Promises{Ordered: true, AtomicRename: true, Data: model.Versions,
	Features: []model.Feature{model.Nodes, model.Direct, model.Whiteout, model.ZeroRange, model.Shift,
		model.Times, model.Full, model.Inodes, model.FileFlags, model.Subvolumes,
		model.FileExtents}}

// fewInodes in place of a bug: there are no more than 20 files and directories.
const fewInodes = "few inodes"

func newFake(s *exploretest.System, bug string, options model.Promises) *fake {
	on := []explore.Component{explore.RAMDisk(0, fakeBytes)}
	f := &fake{Node: explore.Node{At: fakeAt, On: on}, bug: bug, options: options,
		lost: make(map[string]int)}
	s.Perform = f.perform
	s.Programs["fake"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
		if err := f.command(s, c.Args[1]); err != nil {
			out := []byte(err.Error())
			return agent.Exit{Code: 1, Stdout: out}, nil //nolint:nilerr // an error of the program
		}
		return agent.Exit{}, nil
	}
	s.Programs["stat"] = func(*exploretest.System, agent.Command) (agent.Exit, error) {
		if f.bug == "more is free than there is" {
			return agent.Exit{Stdout: []byte("9999 99999 9999 1024 0 0")}, nil
		}
		if f.bug == fewInodes {
			return agent.Exit{Stdout: []byte("9999 9999 9999 1024 20 0")}, nil
		}
		return agent.Exit{Stdout: []byte("9999 9999 9999 1024 0 0")}, nil
	}
	s.Programs["sh"] = func(_ *exploretest.System, c agent.Command) (agent.Exit, error) {
		if !strings.Contains(c.Args[2], "/proc/slabinfo") {
			if strings.Contains(c.Args[2], "insmod") {
				return agent.Exit{}, nil
			}
			return agent.Exit{Code: 127}, nil
		}
		const memory = "MemTotal: %d kB\nNode 0, zone DMA\n count: 7\n%s" +
			"slabinfo - version: 2.1\n# name\ndentry 100 100\nfake_inode %d 10\n"
		f.measured++
		return agent.Exit{Stdout: fmt.Appendf(nil, memory, 4096+4*f.lost["pages"],
			strings.Repeat("0x10 4096 fake\n", 10+f.lost["vmalloc"]),
			f.leaked+f.lost["slab"]+f.noise())}, nil
	}
	return f
}

// noise returns a number by which a measurement of the slab cache is wrong: it varies, and does not
// grow for long.
func (f *fake) noise() int { return f.measured * 7 % 5 }

// run runs a program, and returns an error if its exit status is not 0.
func run(e *explore.Env, args ...string) error {
	exit, err := e.Run(args...)
	if err == nil && exit.Code != 0 {
		err = &explore.CommandError{Command: fmt.Sprint(args), Exit: exit}
	}
	return err
}

func (f *fake) Init(e *explore.Env) error    { return run(e, "fake", "mkfs") }
func (f *fake) Mount(e *explore.Env) error   { return run(e, "fake", "mount") }
func (f *fake) Unmount(e *explore.Env) error { return run(e, "fake", "unmount") }
func (f *fake) Recover(e *explore.Env) error { return run(e, "fake", "recover") }
func (f *fake) Verify(e *explore.Env) error  { return run(e, "fake", "verify") }

// command runs a command of the program fake.
func (f *fake) command(s *exploretest.System, name string) error {
	switch name {
	case "mkfs":
		return s.Submit(0, ramdisk.Write, ramdisk.FUA, 0, make([]byte, ramdisk.SectorSize))
	case "mount":
		f.mounts++
		if f.bug == "leak on mount" || f.bug == "leak on every tenth mount" && f.mounts%10 == 0 {
			f.leaked++
		}
		return f.load(s)
	case "unmount":
		var err error
		switch {
		case f.stopped, f.bug == "unmount writes nothing",
			f.bug == "an unmount of a full disk writes nothing" && f.unseen.full:
			f.pending = nil
		case f.bug == "unmount does not flush",
			f.bug == "an unmount of a full disk does not flush" && f.unseen.full:
			err = f.write(s)
		default:
			err = f.commit(s)
		}
		f.fs, f.recovered = nil, false
		return err
	case "recover":
		f.fsck, f.recovered = 0, true
		if f.bug == "recovery leaves errors" {
			f.fsck = 1
		}
		if f.bug == "recovery drops a record" {
			return f.dropLast(s)
		}
		return nil
	case "verify":
		if f.fsck > 0 {
			return errors.New("an inode has the wrong link count")
		}
		return nil
	}
	return fmt.Errorf("no command %q", name)
}

// A header begins each record. Len and Sum are the length in bytes and the CRC-32 of its text.
type header struct{ Magic, Seq, Len, Sum uint64 }

// record returns a record of operations, padded to sectors.
func record(seq uint64, ops []model.Op) []byte {
	text, err := json.Marshal(ops)
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	h := header{magic, seq, uint64(len(text)), uint64(crc32.ChecksumIEEE(text))}
	_ = binary.Write(&b, binary.LittleEndian, h)
	b.Write(text)
	return append(b.Bytes(), make([]byte, -b.Len()&(ramdisk.SectorSize-1))...)
}

// read reads the record at a sector. ok reports whether it is complete and has the number seq.
func (f *fake) read(
	s *exploretest.System, sector, seq uint64,
) (ops []model.Op, sectors uint64, ok bool) {
	first, err := s.Read(0, sector)
	if err != nil {
		return nil, 0, false
	}
	var h header
	_ = binary.Read(bytes.NewReader(first[:]), binary.LittleEndian, &h)
	if h.Magic != magic || h.Seq != seq || h.Len > 1<<16 {
		return nil, 0, false
	}
	const size = 32
	sectors = (size + h.Len + ramdisk.SectorSize - 1) / ramdisk.SectorSize
	all := first[:]
	for i := uint64(1); i < sectors; i++ {
		data, err := s.Read(0, sector+i)
		if err != nil {
			return nil, 0, false
		}
		all = append(all, data[:]...)
	}
	text := all[size : size+h.Len]
	if uint64(crc32.ChecksumIEEE(text)) != h.Sum {
		if f.bug != "checksum not checked" {
			return nil, 0, false
		}
		if ops = withGarbage(text); ops != nil {
			return ops, sectors, true
		}
	}
	if json.Unmarshal(text, &ops) != nil {
		return nil, sectors, f.bug == "checksum not checked"
	}
	return ops, sectors, true
}

// withGarbage reads an incomplete record as a journal without checksums would: the first operation,
// which opens a file, and a write of garbage in place of the data. It returns nil if the record is
// complete, or has no first operation.
func withGarbage(text []byte) (ops []model.Op) {
	i := bytes.IndexByte(text, 0)
	if i < 0 {
		return nil
	}
	j := bytes.Index(text[:i], []byte("},{"))
	if j < 0 || json.Unmarshal(append(slices.Clone(text[:j]), "}]"...), &ops) != nil {
		return nil
	}
	return append(ops, model.Op{Code: model.Write, Len: 9000, Seed: 99}, model.Op{Code: model.Close})
}

// load recovers the tree from the journal.
func (f *fake) load(s *exploretest.System) error {
	f.fs, f.pending, f.next, f.seq = model.New(fakePromises), nil, 1, 1
	f.unseen = unseenState{}
	f.closeAll()
	for i := range f.slots {
		f.slots[i] = -1
	}
	if f.stopped && f.bug == "a stop leaves a strange directory" {
		f.log(model.Op{Code: model.Mkdir, Path: "/strange"})
		f.fs.Apply(model.Op{Code: model.Mkdir, Path: "/strange"})
	}
	f.stopped = false
	for {
		ops, sectors, ok := f.read(s, f.next, f.seq)
		if !ok && f.bug == "recovery skips holes" {
			if ops, sectors, ok = f.read(s, f.next+1, f.seq+1); ok {
				f.next, f.seq = f.next+1, f.seq+1
			}
		}
		if !ok || f.bug == "recovery reads 250 records" && f.seq > 250 {
			return nil
		}
		for _, o := range ops {
			if f.bug == "recovery copies links" && o.Code == model.Link {
				f.fs.Apply(model.Op{
					Code: model.Open, Path: o.To, Flags: unix.O_CREAT | unix.O_WRONLY, Mode: 0o644,
				})
				f.fs.CloseAll()
				continue
			}
			f.fs.Apply(o)
		}
		f.fs.CloseAll()
		f.next, f.seq = f.next+sectors, f.seq+1
	}
}

// dropLast overwrites the last record with zeros.
func (f *fake) dropLast(s *exploretest.System) error {
	if err := f.load(s); err != nil {
		return err
	}
	at, seq := uint64(1), uint64(1)
	for {
		_, sectors, ok := f.read(s, at, seq)
		if !ok {
			return nil
		}
		if _, _, more := f.read(s, at+sectors, seq+1); !more {
			return s.Submit(0, ramdisk.Write, 0, at, make([]byte, ramdisk.SectorSize))
		}
		at, seq = at+sectors, seq+1
	}
}

// submit writes to the disk, or returns EIO if the fault applies.
func (f *fake) submit(s *exploretest.System, sector uint64, data []byte) error {
	if f.fault != nil {
		if f.writes++; f.writes >= f.fault.Nth && f.writes < f.fault.Nth+f.fault.Times {
			return unix.EIO
		}
	}
	return s.Submit(0, ramdisk.Write, 0, sector, data)
}

// commit writes the pending operations and flushes.
func (f *fake) commit(s *exploretest.System) error {
	flush := func() error { return s.Submit(0, ramdisk.Flush, ramdisk.Preflush, 0, nil) }
	if f.bug == "write past a flush" {
		if err := flush(); err != nil {
			return err
		}
	}
	if err := f.write(s); err != nil && f.bug != "write errors ignored" {
		return err
	}
	if f.bug == "dropped flush" || f.bug == "write past a flush" {
		return nil
	}
	return flush()
}

// write writes the pending operations to the journal, one sector a bio.
func (f *fake) write(s *exploretest.System) error {
	// A group of operations is one record, so that it is atomic.
	var groups [][]model.Op
	for _, o := range f.pending {
		groups = append(groups, f.logged(o)...)
	}
	f.pending = nil
	for _, g := range groups {
		data := record(f.seq, g)
		sector := f.next
		f.next, f.seq = f.next+uint64(len(data))/ramdisk.SectorSize, f.seq+1
		for off := 0; off < len(data); off += ramdisk.SectorSize {
			if f.bug == "only the first sector is written" && off > 0 {
				break
			}
			at := sector + uint64(off)/ramdisk.SectorSize
			if err := f.submit(s, at, data[off:off+ramdisk.SectorSize]); err != nil {
				return err
			}
		}
	}
	return nil
}

// logged returns the records of an operation in the journal, each a group of operations.
func (f *fake) logged(o model.Op) [][]model.Op {
	if f.bug == o.Code.String()+" not journaled" || f.unseenUnlogged(o) {
		return nil
	}
	switch {
	case o.Code == model.Rename && f.bug == "rename in two steps" && o.Flags == 0:
		return [][]model.Op{
			{{Code: model.Link, Path: o.Path, To: o.To}},
			{{Code: model.Unlink, Path: o.Path}},
		}
	case o.Code == model.Rename && f.bug == "rename through another name" && o.Flags == 0:
		return [][]model.Op{
			{{Code: model.Link, Path: o.Path, To: "/.tmp"}, {Code: model.Unlink, Path: o.Path}},
			{{Code: model.Rename, Path: "/.tmp", To: o.To}},
		}
	case o.Code == model.Symlink && f.bug == "symlink without its target":
		o.To = "?"
	case o.Code == model.Mkdir && f.bug == "mode not journaled":
		o.Mode = 0
	}
	if o.Code == model.Write || o.Code == model.Ftruncate || o.Code == model.Fallocate {
		if o.Code == model.Write && f.bug == "data not journaled" { // only the size is
			o.Code, o.Flags, o.Value = model.Fallocate, 0, ""
		}
		if o.Code == model.Write && f.bug == "garbage in new blocks" {
			o.Seed = 99
		}
		if o.Code == model.Write {
			o.Value = strings.Repeat("x", ramdisk.SectorSize) // as much as data need in a journal
		}
		// O_APPEND: the file may be append-only.
		open := model.Op{Code: model.Open, Path: o.Path, Flags: unix.O_RDWR | unix.O_APPEND}
		return [][]model.Op{{open, o, {Code: model.Close}}}
	}
	return [][]model.Op{{o}}
}
