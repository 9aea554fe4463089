package guard_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
)

// writeLoad has single writes that are hard to judge: logs, writes through to the disk, discards,
// and tools that rewrite or move data.
const writeLoad = `
	sync -f .
	head -c 3000000 /dev/urandom > base
	for i in 1 2 3 4 5 6; do
		for j in 1 2 3 4 5; do
			head -c $((i * j * 3000)) /dev/urandom > f$j; sync f$j
			head -c 5000 /dev/urandom >> log; sync log
		done
		dd if=/dev/urandom of=osync bs=8k count=6 oflag=sync conv=notrunc 2> /dev/null
		mv f2 g$i; rm -f f1; sync g$i
		[ $i -ne 2 ] || rm base
		fallocate -l 200k pre
		dd if=/dev/urandom of=pre bs=4k seek=$i count=3 conv=notrunc,fsync 2> /dev/null
		touch cow$i; chattr +C cow$i; dd if=/dev/urandom of=cow$i bs=16k count=4 conv=fsync 2> /dev/null
		dd if=/dev/urandom of=cow1 bs=4k count=5 seek=2 conv=notrunc,fsync 2> /dev/null
		sync -f .
	done
	fstrim . || true
	btrfs scrub start -B . > /dev/null
	rm -f g1 g2 f3; btrfs filesystem sync .
	btrfs balance start --full-balance . > /dev/null
	head -c 400000 /dev/urandom > end; sync end; sync -f .`

// TestWritesNoFalseAlarm checks that no write of a sound kernel is refused.
func TestWritesNoFalseAlarm(t *testing.T) {
	for _, tc := range []struct {
		name    string
		size    int64
		mkfs    []string
		options string
	}{
		{"async discard", 512 << 20, nil, "discard=async"},
		{"sync discard, single", 512 << 20, []string{"-m", "single"}, "discard=sync"},
		{"mixed", 200 << 20, []string{"--mixed"}, "nodiscard"},
		{"compressed, small nodes", 512 << 20, []string{"-n", "4k"}, "compress-force=zstd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			image := guardtest.BlankImage(t, tc.size)
			guardtest.Run(t, "mkfs.btrfs", append(append([]string{"-q"}, tc.mkfs...), image)...)
			r := guardtest.Attach(t, image, nil)
			if err := r.Mount("btrfs", tc.options); err != nil {
				t.Fatal(err)
			}
			r.MustRun(writeLoad)
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			logs, records := 0, 0
			for _, ev := range r.Seen.Events() {
				if ev.Kind == guard.KindLogCommit {
					logs++
					records += ev.Records
				}
			}
			if commits := r.NoAlarm(); commits < 10 || logs < 30 || records < 10*logs {
				t.Errorf("%d commits and %d log commits with %d records, want 10, 30 and 10 for each", commits,
					logs, records)
			}
			r.End()
			guardtest.MustBeClean(t, "btrfs", r.Image)
		})
	}
}

// TestStrayWrites checks that a write over what is still needed is refused, and that the guest goes
// on as before. The write bypasses the kernel, as a stray write of the kernel or the storage would.
func TestStrayWrites(t *testing.T) {
	image := guardtest.Mkfs(t, "btrfs", 256<<20)
	r := guardtest.Attach(t, image, nil)
	r.MustMount("btrfs")
	dev := r.Daemon.Devices()["disk"]
	disk := rawImage(t, image)
	r.MustRun("head -c 300000 /dev/urandom > data; sync -f .")
	data := disk.find(r.MustRun("head -c 4096 data"))
	at := findStrayTargets(t, r, disk)
	for i := range at.writes(disk, data) {
		t.Run(at.writes(disk, data)[i].name, func(t *testing.T) {
			for range 20 {
				if at.same(disk) {
					before := len(r.Seen.Events())
					tc := at.writes(disk, data)[i]
					if tc.req.Len == 0 {
						tc.req.Len = uint64(len(tc.req.Data))
					}
					err := dev.Do(context.Background(), &tc.req)
					if at.same(disk) {
						tc.judge(t, err, r.Seen.Events()[before:])
						return
					}
				}
				// A sync(2) of another test commits every file system: then what was needed no longer is, and
				// may be overwritten.
				t.Log("there is another commit; once more")
				at = findStrayTargets(t, r, disk)
			}
			t.Error("each time there was another commit")
		})
	}
	r.MustRun("cmp data data; echo more > more; sync -f .")
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.End()
	guardtest.MustBeClean(t, "btrfs", r.Image)
}

// strayTargets are blocks that the last commit of a file system and its log need.
type strayTargets struct {
	super     []byte
	root, log []uint64 // copies of the root tree's root, and of the log root tree's
	other     uint64   // of another block
}

// findStrayTargets writes a log, and finds the blocks.
func findStrayTargets(t *testing.T, r *guardtest.Rig, disk raw) (at strayTargets) {
	t.Helper()
	r.MustRun(`echo > logged; sync logged; sync -f .
		for i in 1 2 3; do echo $i >> logged; sync logged; done`)
	at.super = disk.read(64<<10, 4096)
	at.root, at.other = disk.physical(binary.LittleEndian.Uint64(at.super[80:])), disk.anotherBlock(
		at.super)
	if at.log = disk.physical(binary.LittleEndian.Uint64(at.super[96:])); at.log == nil {
		t.Fatal("there is no log")
	}
	return at
}

// same reports whether nothing was committed since.
func (at strayTargets) same(disk raw) bool { return bytes.Equal(disk.read(64<<10, 4096), at.super) }

// A strayWrite is a write that no file system makes, and the rule that refuses it; "": it passes.
type strayWrite struct {
	name string
	req  blocktap.Request
	rule string
}

func (at strayTargets) writes(disk raw, data uint64) []strayWrite {
	root, log := at.root, at.log
	block := disk.read(root[0], 16384)
	changed := bytes.Clone(block)
	changed[200] ^= 1
	return []strayWrite{
		{"the root tree again", blocktap.Request{Op: blocktap.OpWrite, Off: root[0], Data: block}, ""},
		{"one bit of the root tree", blocktap.Request{Op: blocktap.OpWrite, Off: root[0], Data: changed},
			"btrfs/base-block"},
		{"one bit of its other copy", blocktap.Request{Op: blocktap.OpWrite, Off: root[1], Data: changed},
			"btrfs/base-block"},
		{"a sector of it", blocktap.Request{Op: blocktap.OpWrite, Off: root[0] + 4096,
			Data: bytes.Repeat([]byte("x"), 512)}, "btrfs/base-block"},
		{"another block over it", blocktap.Request{Op: blocktap.OpWrite, Off: root[0],
			Data: disk.read(at.other, 16384)}, "btrfs/misdirected"},
		{"zeros over it", blocktap.Request{Op: blocktap.OpZero, Off: root[0], Len: 16384},
			"btrfs/base-block"},
		{"its discard", blocktap.Request{Op: blocktap.OpTrim, Off: root[0] - 65536, Len: 131072},
			"btrfs/base-block"},
		{"a sector of the log", blocktap.Request{Op: blocktap.OpWrite, Off: log[0] + 512,
			Data: bytes.Repeat([]byte("x"), 512)}, "btrfs/log-block"},
		{"a discard of the log", blocktap.Request{Op: blocktap.OpTrim, Off: log[1], Len: 16384},
			"btrfs/log-block"},
		{"a metadata block over data", blocktap.Request{Op: blocktap.OpWrite, Off: data, Data: block},
			"btrfs/base-data"},
		{"half a sector of data", blocktap.Request{Op: blocktap.OpWrite, Off: data + 2048,
			Data: bytes.Repeat([]byte("x"), 2048)}, "btrfs/base-data"},
		{"data again", blocktap.Request{Op: blocktap.OpWrite, Off: data, Data: disk.read(data, 8192)},
			""},
		{"a discard of data", blocktap.Request{Op: blocktap.OpTrim, Off: data, Len: 4096},
			"btrfs/base-data"},
		{"zeros over data", blocktap.Request{Op: blocktap.OpZero, Off: data, Len: 4096},
			"btrfs/base-data"},
	}
}

// judge checks the result of the write.
func (w strayWrite) judge(t *testing.T, err error, events []*guard.Event) {
	t.Helper()
	if refused := errors.Is(err, blocktap.ErrRefused); refused != (w.rule != "") || err != nil &&
		!refused {
		t.Errorf("done with %v", err)
	}
	if w.rule == "" {
		if len(events) != 0 {
			t.Errorf("reported: %s", guardtest.TextOf(events[0]))
		}
		return
	}
	if len(events) != 1 || events[0].Kind != guard.KindWrite ||
		events[0].Violations[0].Rule != w.rule || events[0].Violations[0].Kind != change.ByWrite {
		t.Errorf("reported %d events, want one of %s: %v", len(events), w.rule, events)
	}
}

// A raw is an image file of a file system with mkfs's default geometry, read past the guard.
type raw struct {
	t *testing.T
	f *os.File
}

func rawImage(t *testing.T, image string) raw {
	t.Helper()
	f, err := os.Open(image)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return raw{t, f}
}

func (r raw) read(off uint64, n int) []byte {
	r.t.Helper()
	b := make([]byte, n)
	if _, err := r.f.ReadAt(b, int64(off)); err != nil {
		r.t.Fatal(err)
	}
	return b
}

// physical returns the addresses of the copies of a metadata block, found by the address in its
// header.
func (r raw) physical(logical uint64) []uint64 {
	r.t.Helper()
	if logical == 0 {
		return nil
	}
	out, err := r.scan(func(b []byte) bool { return binary.LittleEndian.Uint64(b[48:]) == logical })
	if err != nil || len(out) != 2 {
		r.t.Fatalf("block %d has the copies %v: %v", logical, out, err)
	}
	return out
}

// anotherBlock returns the address of a metadata block that is not the root tree's root.
func (r raw) anotherBlock(super []byte) uint64 {
	r.t.Helper()
	root := binary.LittleEndian.Uint64(super[80:])
	out, err := r.scan(func(b []byte) bool {
		return binary.LittleEndian.Uint64(b[48:]) != root &&
			b[100] == 0
	})
	if err != nil || len(out) == 0 {
		r.t.Fatalf("no other block: %v", err)
	}
	return out[0]
}

// scan returns the addresses of matching metadata blocks: the newest contents of each logical
// address.
func (r raw) scan(fits func(b []byte) bool) ([]uint64, error) {
	super := r.read(64<<10, 4096)
	size, err := r.f.Seek(0, 2)
	if err != nil {
		return nil, err
	}
	var out []uint64
	for off := uint64(1 << 20); off+16384 <= uint64(size); off += 16384 {
		if off == 64<<20 { // the superblock's mirror
			continue
		}
		b := r.read(off, 16384)
		if bytes.Equal(b[32:48], super[32:48]) && fits(b) {
			out = append(out, off)
		}
	}
	return out, nil
}

// find returns the address of a sector with the given contents.
func (r raw) find(contents string) uint64 {
	r.t.Helper()
	size, err := r.f.Seek(0, 2)
	if err != nil {
		r.t.Fatal(err)
	}
	for off := uint64(1 << 20); off+4096 <= uint64(size); off += 4096 {
		if string(r.read(off, 4096)) == contents {
			return off
		}
	}
	r.t.Fatal(fmt.Errorf("no sector has these %d bytes", len(contents)))
	return 0
}
