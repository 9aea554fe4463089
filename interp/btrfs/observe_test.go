package btrfs_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
)

const (
	primary = 64 << 10
	mirror  = 64 << 20
)

// madeDisk returns a fresh file system.
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

// super returns a write of the primary superblock on a disk after a change, with a new checksum.
func super(d *sparseDisk, change func(b []byte)) interp.Write {
	b := make([]byte, 4096)
	_, _ = d.ReadAt(b, primary)
	change(b)
	reseal(b)
	return interp.Write{Off: primary, Len: 4096, Data: b}
}

// A superblockCase is a single write to a fresh file system and its expected observation.
type superblockCase struct {
	name  string
	write interp.Write
	rule  string // "": the write passes
	point interp.Point
	note  string // a part of the note
	fs    string // after the write
}

func garbage(off, n uint64) interp.Write {
	return interp.Write{Off: off, Len: n, Data: bytes.Repeat([]byte("x"), int(n))}
}

// superblockCases are writes that leave the file system as it is, or give it up, or violate a rule.
func superblockCases(base *sparseDisk) []superblockCase {
	const (
		magic      = ondisk.SuperMagicAt
		magicEnd   = magic + 8
		generation = ondisk.SuperGenerationAt
		superRule  = "btrfs/superblock"
	)
	// next alters the superblock of generation 1000.
	next := func(changes ...func(b []byte)) interp.Write {
		return super(base, func(b []byte) {
			put64(generation, 1000)(b)
			for _, change := range changes {
				change(b)
			}
		})
	}
	wiped := super(base, func([]byte) {})
	clear(wiped.Data[magic:magicEnd]) // wipefs keeps the old checksum
	xxhashed := next(put16(ondisk.SuperCsumTypeAt, 1))
	clear(xxhashed.Data[:ondisk.CsumArea])
	put64(0, xxhash.Sum64(xxhashed.Data[ondisk.CsumArea:]))(xxhashed.Data)
	return []superblockCase{
		{name: "same again", write: super(base, func([]byte) {}), fs: "btrfs"},
		{name: "missing log", write: super(base, put64(ondisk.SuperLogRootAt, 30<<20)),
			rule: "btrfs/csum", point: interp.LogPoint, fs: "btrfs"},
		{name: "garbage", write: garbage(primary, 4096), rule: superRule, fs: "btrfs"},
		{name: "garbage in part", write: garbage(primary+512, 512), rule: superRule, fs: "btrfs"},
		{name: "garbage over the mirror", write: garbage(mirror, 4096), rule: superRule, fs: "btrfs"},
		{name: "zeros", write: interp.Write{Off: 0, Len: 1 << 20}, note: "erased"},
		{name: "discard", write: interp.Write{Off: 0, Len: 1 << 20, Discard: true}, note: "erased"},
		{name: "discard of the mirror",
			write: interp.Write{Off: mirror, Len: 4096, Discard: true}, fs: "btrfs"},
		{name: "wipefs", write: wiped, note: "erased"},
		{name: "zero magic and more", write: super(base, func(b []byte) {
			clear(b[magic:magicEnd])
			b[ondisk.SuperSysChunkArrayAt] ^= 1
		}), rule: superRule, fs: "btrfs"},
		{name: "mkfs begins", write: super(base, func(b []byte) { copy(b[magic:], "!BHRfS_M") }),
			note: "being made"},
		{name: "generation back", write: super(base, put64(generation, 1)),
			rule: superRule, fs: "btrfs"},
		{name: "root moved without a generation",
			write: super(base, put64(ondisk.SuperRootAt, 30<<20)), rule: superRule, fs: "btrfs"},
		{name: "sectorsize", write: next(put32(ondisk.SuperSectorsizeAt, 8192)),
			rule: superRule, fs: "btrfs"},
		{name: "leafsize", write: next(put32(ondisk.SuperLeafsizeAt, 8192)),
			rule: superRule, fs: "btrfs"},
		{name: "unknown flag", write: next(func(b []byte) { b[ondisk.SuperFlagsAt+1] |= 0x10 }),
			rule: superRule, fs: "btrfs"},
		{name: "unknown checksum", write: super(base, put16(ondisk.SuperCsumTypeAt, 4)),
			rule: "btrfs/csum-type", fs: "btrfs"},
		{name: "another checksum", write: xxhashed, rule: "btrfs/csum-type", fs: "btrfs"},
		{name: "generation without blocks", write: next(),
			rule: "btrfs/generation", point: interp.CommitPoint, fs: "btrfs"},
		{name: "chunk root nowhere", write: next(put64(ondisk.SuperChunkRootAt, 1<<40)),
			rule: "btrfs/block-pointer", point: interp.CommitPoint, fs: "btrfs"},
		{name: "elsewhere", write: interp.Write{Off: 100 << 20, Len: 4096, Data: make([]byte, 4096)},
			fs: "btrfs"},
	}
}

// TestSuperblockWrites checks that Observe recognizes what a single write does to the superblock.
func TestSuperblockWrites(t *testing.T) {
	base := madeDisk(t)
	for _, tc := range superblockCases(base) {
		t.Run(tc.name, func(t *testing.T) {
			d := base.clone()
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

// TestUnsupportedIsNamed checks that New and Image name unsupported features.
func TestUnsupportedIsNamed(t *testing.T) {
	base := madeDisk(t)
	for want, change := range map[string]func(b []byte){
		"ZONED":         put64(ondisk.SuperIncompatFlagsAt, 1<<12),
		"flag 0x800000": put64(ondisk.SuperIncompatFlagsAt, 1<<23),
		"compat_ro":     put64(ondisk.SuperCompatROFlagsAt, 1<<20),
		"EXTENT_TREE":   put64(ondisk.SuperIncompatFlagsAt, 1<<13),
		"STRIPE_TREE":   put64(ondisk.SuperIncompatFlagsAt, 1<<14),
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

// A copiesCase is an order in which the copies of a commit's superblock arrive.
type copiesCase struct {
	name         string
	mirrorFirst  bool
	letThrough   bool
	between      bool // metadata is written between the copies
	second       interp.Point
	secondBroken bool
}

// run observes the blocks of a commit and then both copies of its superblock.
func (tc copiesCase) run(t *testing.T, d *sparseDisk, blocks, supers []interp.Write) {
	t.Helper()
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
	broken := len(obs.Violations) > 0
	if obs.Point != tc.second || broken != tc.secondBroken || obs.Unknown != nil {
		t.Errorf("the second copy: %+v", obs)
	}
	if tc.secondBroken && obs.Violations[0].Rule != "btrfs/refused-copy" {
		t.Errorf("the second copy is refused by %s", obs.Violations[0].Rule)
	}
	f.Settle(!tc.secondBroken)
}

// TestSuperblockCopies checks that a commit is judged at the first copy of its superblock that
// arrives. The other copies get the same verdict, until metadata is written.
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
	for _, tc := range []copiesCase{
		{"passed", false, true, false, interp.NoPoint, false},
		{"mirror first", true, true, false, interp.NoPoint, false},
		{"refused", false, false, false, interp.NoPoint, true},
		{"refused, mirror first", true, false, false, interp.NoPoint, true},
		{"metadata between", false, false, true, interp.CommitPoint, false},
		// Power fails when only the mirror has arrived: the next transaction is based on the state of
		// the primary.
		{"metadata between, mirror first", true, true, true, interp.CommitPoint, false},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, k.disk.clone(), blocks, supers) })
	}
	t.Run("mirror first, another primary", func(t *testing.T) {
		d := k.disk.clone()
		f := follow(t, d)
		other := supers[0]
		other.Data = bytes.Clone(other.Data)
		put64(ondisk.SuperCacheGenerationAt, 1)(other.Data)
		reseal(other.Data)
		// Linux mounts the primary, whatever else it contains. The commit of the mirror remains the
		// last one.
		rest := []interp.Write{supers[1], other, blocks[len(blocks)-1], supers[1]}
		for i, w := range slices.Concat(blocks, rest) {
			obs := f.Observe(w)
			committed := obs.Point == interp.CommitPoint
			if len(obs.Violations) > 0 || obs.Unknown != nil || committed != (i == len(blocks)) {
				t.Errorf("write %d of %d: %+v", i, len(blocks)+4, obs)
			}
			d.apply(w)
			f.Settle(true)
		}
	})
	k.disk.apply(supers[0])
}

// TestReplacedFileSystem checks that FS gives up a file system when mkfs in the guest erases it,
// and adopts the new one.
func TestReplacedFileSystem(t *testing.T) {
	d := madeDisk(t)
	f := follow(t, d)
	next := madeDisk(t)
	// The page cache writes the superblock before the trees.
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
