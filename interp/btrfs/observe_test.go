package btrfs_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"fsward/interp"
	"fsward/interp/btrfs"
)

const (
	primary = 64 << 10
	mirror  = 64 << 20
)

// madeDisk is a fresh file system.
func madeDisk(t testing.TB, options ...string) *sparseDisk {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image")
	mkfs(t, path, 128<<20, options...)
	return openDisk(t, path)
}

func follow(t testing.TB, d *sparseDisk) *btrfs.FS {
	t.Helper()
	f, err := btrfs.New(d)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// super returns a write of the primary superblock on a disk, changed and with its checksum right
// again.
func super(d *sparseDisk, change func(b []byte)) interp.Write {
	b := make([]byte, 4096)
	_, _ = d.ReadAt(b, primary)
	change(b)
	reseal(b)
	return interp.Write{Off: primary, Len: 4096, Data: b}
}

func reseal(b []byte) {
	binary.LittleEndian.PutUint32(b, crc32.Checksum(b[32:], crc32.MakeTable(crc32.Castagnoli)))
}

func put16(off int, v uint16) func(b []byte) {
	return func(b []byte) { binary.LittleEndian.PutUint16(b[off:], v) }
}

func put64(off int, v uint64) func(b []byte) {
	return func(b []byte) { binary.LittleEndian.PutUint64(b[off:], v) }
}

// What is said of single writes to the superblock.
func TestSuperblockWrites(t *testing.T) {
	base := madeDisk(t)
	log := base.clone()
	for _, tc := range []struct {
		name  string
		write interp.Write
		rule  string // "": it passes
		point interp.Point
		note  string
		fs    string // after it was done
	}{
		{name: "same again", write: super(base, func([]byte) {}), fs: "btrfs"},
		{name: "log that is not there", write: super(base, put64(96, 30<<20)), rule: "btrfs/csum", point: interp.LogPoint, fs: "btrfs"},
		{name: "garbage", write: interp.Write{Off: primary, Len: 4096, Data: []byte(strings.Repeat("x", 4096))}, rule: "btrfs/superblock", fs: "btrfs"},
		{name: "garbage in part", write: interp.Write{Off: primary + 512, Len: 512, Data: []byte(strings.Repeat("x", 512))}, rule: "btrfs/superblock", fs: "btrfs"},
		{name: "garbage over the mirror", write: interp.Write{Off: mirror, Len: 4096, Data: []byte(strings.Repeat("x", 4096))}, rule: "btrfs/superblock", fs: "btrfs"},
		{name: "zeros", write: interp.Write{Off: 0, Len: 1 << 20}, note: "erased"},
		{name: "discard", write: interp.Write{Off: 0, Len: 1 << 20, Discard: true}, note: "erased"},
		{name: "discard of the mirror", write: interp.Write{Off: mirror, Len: 4096, Discard: true}, fs: "btrfs"},
		{name: "wipefs", write: interp.Write{Off: primary, Len: 4096, Data: func() []byte {
			b := make([]byte, 4096)
			_, _ = base.ReadAt(b, primary)
			clear(b[64:72])
			return b
		}()}, note: "erased"},
		{name: "zero magic and more", write: super(base, func(b []byte) { clear(b[64:72]); b[1000] ^= 1 }), rule: "btrfs/superblock", fs: "btrfs"},
		{name: "mkfs begins", write: super(base, func(b []byte) { copy(b[64:], "!BHRfS_M") }), note: "being made"},
		{name: "generation back", write: super(base, put64(72, 1)), rule: "btrfs/superblock", fs: "btrfs"},
		{name: "root moved without a generation", write: super(base, put64(80, 30<<20)), rule: "btrfs/superblock", fs: "btrfs"},
		{name: "sectorsize", write: super(base, func(b []byte) { put64(72, 1000)(b); binary.LittleEndian.PutUint32(b[144:], 8192) }), rule: "btrfs/superblock", fs: "btrfs"},
		{name: "leafsize", write: super(base, func(b []byte) { put64(72, 1000)(b); binary.LittleEndian.PutUint32(b[152:], 8192) }), rule: "btrfs/superblock", fs: "btrfs"},
		{name: "unknown flag", write: super(base, func(b []byte) { put64(72, 1000)(b); b[57] |= 0x10 }), rule: "btrfs/superblock", fs: "btrfs"},
		{name: "unknown checksum", write: super(base, put16(196, 4)), rule: "btrfs/csum-type", fs: "btrfs"},
		{name: "another checksum", write: func() interp.Write {
			w := super(base, func(b []byte) { put64(72, 1000)(b); put16(196, 1)(b) })
			clear(w.Data[:32])
			binary.LittleEndian.PutUint64(w.Data, xxhash.Sum64(w.Data[32:]))
			return w
		}(), rule: "btrfs/csum-type", fs: "btrfs"},
		{name: "generation without blocks", write: super(base, put64(72, 1000)), rule: "btrfs/generation", point: interp.CommitPoint, fs: "btrfs"},
		{name: "chunk root nowhere", write: super(base, func(b []byte) { put64(72, 1000)(b); put64(88, 1<<40)(b) }), rule: "btrfs/block-pointer", point: interp.CommitPoint, fs: "btrfs"},
		{name: "elsewhere", write: interp.Write{Off: 100 << 20, Len: 4096, Data: make([]byte, 4096)}, fs: "btrfs"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := log.clone()
			f := follow(t, d)
			obs := f.Observe(tc.write)
			if obs.Unknown != nil {
				t.Error(obs.Unknown)
			}
			rule := ""
			if len(obs.Violations) > 0 {
				rule = obs.Violations[0].Rule
				t.Log(obs.Violations[0].Detail)
			}
			if rule != tc.rule || obs.Point != tc.point {
				t.Errorf("rule %q at point %d, want %q at %d", rule, obs.Point, tc.rule, tc.point)
			}
			if !strings.Contains(obs.Note, tc.note) || tc.note == "" && obs.Note != "" {
				t.Errorf("note %q, want %q in it", obs.Note, tc.note)
			}
			if tc.rule == "" {
				d.apply(tc.write)
			}
			f.Settle(tc.rule == "")
			if f.FS() != tc.fs {
				t.Errorf("file system %q, want %q", f.FS(), tc.fs)
			}
		})
	}
}

// Features that are not handled are named, on attach and in Image.
func TestUnsupportedIsNamed(t *testing.T) {
	base := madeDisk(t)
	for want, change := range map[string]func(b []byte){
		"RAID56":        put64(188, 1<<7),
		"ZONED":         put64(188, 1<<12),
		"flag 0x800000": put64(188, 1<<23),
		"compat_ro":     put64(180, 1<<20),
		"EXTENT_TREE":   put64(188, 1<<13),
		"STRIPE_TREE":   put64(188, 1<<14),
		"seed device":   put64(56, 1<<32),
	} {
		d := base.clone()
		d.apply(super(d, change))
		_, err := btrfs.New(d)
		var unsupported *interp.UnsupportedError
		if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("New: %v, want it to name %s", err, want)
		}
		if _, err := btrfs.Image(d); !errors.As(err, &unsupported) {
			t.Errorf("Image: %v, want it to name %s", err, want)
		}
	}
	if _, err := btrfs.New(newSparseDisk(1 << 20)); !errors.Is(err, interp.ErrNotFound) {
		t.Errorf("an empty disk: %v", err)
	}
	if _, err := btrfs.New(newSparseDisk(1000)); !errors.Is(err, interp.ErrNotFound) {
		t.Errorf("a tiny disk: %v", err)
	}
	var corrupt *interp.CorruptError
	d := base.clone()
	_, _ = d.WriteAt([]byte("x"), primary+2000)
	if _, err := btrfs.New(d); !errors.As(err, &corrupt) || corrupt.Addr != primary {
		t.Errorf("a damaged superblock: %v", err)
	}
}

// A commit is judged at the first copy that arrives; the copies after it get its answer, until
// metadata is written.
func TestSuperblockCopies(t *testing.T) {
	k := startKernel(t, 128<<20)
	must(t, writeFile(k.path("file"), 5000))
	run(t, "btrfs", "filesystem", "sync", k.mnt)
	var blocks, supers []interp.Write
	k.show(func(w interp.Write) {
		if w.Off == primary || w.Off == mirror {
			supers = append(supers, w)
		} else {
			blocks = append(blocks, w)
		}
	})
	if len(supers) != 2 || supers[0].Off != primary {
		t.Fatalf("%d superblocks", len(supers))
	}
	for _, tc := range []struct {
		name         string
		mirrorFirst  bool
		letThrough   bool
		between      bool // metadata is written between the copies
		second       interp.Point
		secondBroken bool
	}{
		{"passed", false, true, false, interp.NoPoint, false},
		{"mirror first", true, true, false, interp.NoPoint, false},
		{"refused", false, false, false, interp.NoPoint, true},
		{"refused, mirror first", true, false, false, interp.NoPoint, true},
		{"metadata between", false, false, true, interp.CommitPoint, false},
		// Nothing but the mirror had come when the power went: the file system begins with what the
		// primary says.
		{"metadata between, mirror first", true, true, true, interp.CommitPoint, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := k.disk.clone()
			f := follow(t, d)
			for _, w := range blocks {
				if obs := f.Observe(w); len(obs.Violations) > 0 || obs.Point != interp.NoPoint {
					t.Fatalf("%+v", obs)
				}
				d.apply(w)
				f.Settle(true)
			}
			first, second := supers[0], supers[1]
			if tc.mirrorFirst {
				first, second = second, first
			}
			obs := f.Observe(first)
			if obs.Point != interp.CommitPoint || obs.Txn == nil || len(obs.Violations) > 0 {
				t.Fatalf("the first copy: %+v", obs)
			}
			if tc.letThrough {
				d.apply(first)
			}
			f.Settle(tc.letThrough)
			if tc.between {
				w := blocks[len(blocks)-1]
				f.Observe(w)
				d.apply(w)
				f.Settle(true)
			}
			obs = f.Observe(second)
			if obs.Point != tc.second || len(obs.Violations) > 0 != tc.secondBroken || obs.Unknown != nil {
				t.Errorf("the second copy: %+v", obs)
			}
			if tc.secondBroken && obs.Violations[0].Rule != "btrfs/refused-copy" {
				t.Errorf("the second copy is refused by %s", obs.Violations[0].Rule)
			}
			f.Settle(!tc.secondBroken)
		})
	}
	t.Run("mirror first, a primary with something else in it", func(t *testing.T) {
		d := k.disk.clone()
		f := follow(t, d)
		other := supers[0]
		other.Data = bytes.Clone(other.Data)
		binary.LittleEndian.PutUint64(other.Data[555:], 1) // cache_generation
		reseal(other.Data)
		// Linux mounts by the primary, whatever else is in it: the mirror's commit stays the last
		// one.
		for i, w := range slices.Concat(blocks, []interp.Write{supers[1], other, blocks[len(blocks)-1], supers[1]}) {
			obs := f.Observe(w)
			if len(obs.Violations) > 0 || obs.Unknown != nil || (obs.Point == interp.CommitPoint) != (i == len(blocks)) {
				t.Errorf("write %d of %d: %+v", i, len(blocks)+4, obs)
			}
			d.apply(w)
			f.Settle(true)
		}
	})
	k.disk.apply(supers[0]) // so that the end is what the kernel left
}

// mkfs in the guest over a file system that is followed.
func TestReplacedFileSystem(t *testing.T) {
	d := madeDisk(t)
	f := follow(t, d)
	next := madeDisk(t)
	// As the page cache writes it: the superblock before the trees.
	obs := f.Observe(interp.Write{Off: 0, Len: 128 << 20, Discard: true})
	if len(obs.Violations) > 0 || obs.Note == "" {
		t.Fatalf("%+v", obs)
	}
	d.apply(interp.Write{Off: 0, Len: 128 << 20, Discard: true})
	f.Settle(true)
	if f.FS() != "" || f.Schema() != nil {
		t.Errorf("FS() is %q after the erasure", f.FS())
	}
	b := make([]byte, 4096)
	_, _ = next.ReadAt(b, primary)
	w := interp.Write{Off: primary, Len: 4096, Data: b}
	if obs = f.Observe(w); len(obs.Violations) > 0 || !strings.Contains(obs.Note, "not all of it") {
		t.Errorf("%+v", obs)
	}
	d.apply(w)
	f.Settle(true)
	for page, data := range next.pages {
		w := interp.Write{Off: page * pageSize, Len: pageSize, Data: data[:]}
		if obs := f.Observe(w); len(obs.Violations) > 0 || obs.Unknown != nil {
			t.Fatalf("%+v", obs)
		}
		d.apply(w)
		f.Settle(true)
	}
	if f.FS() != "btrfs" {
		t.Errorf("FS() is %q", f.FS())
	}
	if obs, err := btrfs.Image(d); err != nil || obs.Txn == nil {
		t.Errorf("%v %+v", err, obs.Violations)
	}
}
