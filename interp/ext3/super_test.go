package ext3

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// recording holds a small file system before it is mounted, and all writes until it is unmounted.
var recording struct {
	sync.Mutex
	base   []byte
	writes []interp.Write
}

func record(t *testing.T) ([]byte, []interp.Write) {
	t.Helper()
	recording.Lock()
	defer recording.Unlock()
	if recording.base != nil {
		return recording.base, recording.writes
	}
	image := Mkfs(t, "8M", "-b", "1024", "-I", "128")
	base, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	f := Follow(t, image, 0, nil, nil, `
		mkdir dir; echo one > dir/one; sync dir/one; ln dir/one two; sync two; sync -f .
		head -c 30000 /dev/urandom > large; sync large; rm dir/one; sync two
		echo three > three; sync three`)
	recording.base, recording.writes = base, f.Writes
	return base, f.Writes
}

// replay gives the recorded writes to an interpreter until stop accepts one, and returns that one.
func replay(t *testing.T, stop func(*FS, interp.Write) bool) (*FS, *MemDisk, interp.Write) {
	t.Helper()
	base, writes := record(t)
	d := NewDisk(bytes.NewReader(base), uint64(len(base)))
	fs, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range writes {
		if stop(fs, w) {
			return fs, d, w
		}
		fs.Observe(w)
		d.Apply(w)
		fs.Settle(true)
	}
	t.Fatal("no such write in the recording")
	return nil, nil, interp.Write{}
}

func mountedNow(fs *FS, _ interp.Write) bool {
	return fs.m != nil &&
		fs.m.Log.nextSeq > fs.m.Log.Seq
}

func only(t *testing.T, obs interp.Observation, rule string) {
	t.Helper()
	var rules []string
	for _, v := range obs.Violations {
		rules = append(rules, v.Rule)
	}
	if len(rules) == 0 || slices.ContainsFunc(rules, func(r string) bool { return r != rule }) {
		t.Errorf("found %v (%v, note %q), want %s", rules, obs.Unknown, obs.Note, rule)
	}
}

func superWrite(t *testing.T, d *MemDisk, change func(sb []byte)) interp.Write {
	t.Helper()
	sb, err := readSuper(d)
	if err != nil {
		t.Fatal(err)
	}
	change(sb)
	return interp.Write{Off: ondisk.SuperOff, Len: ondisk.SuperLen, Data: sb}
}

// TestSuperblockWrites judges writes over the superblock of a mounted file system.
func TestSuperblockWrites(t *testing.T) {
	put32 := func(off int, n uint32) func([]byte) {
		return func(sb []byte) { binary.LittleEndian.PutUint32(sb[off:], n) }
	}
	for _, tc := range []struct {
		name   string
		change func([]byte)
		rule   string // "" passes
		gone   bool
	}{
		{"label", func(sb []byte) { copy(sb[120:], "label") }, "", false},
		{"free counts", put32(ondisk.SuperFreeBlocksCountAt, 17), "", false},
		{"magic", func(sb []byte) { sb[ondisk.SuperMagicAt] = 0 }, "ext3/superblock", false},
		{"garbage", func(sb []byte) { copy(sb, bytes.Repeat([]byte("garbage!"), ondisk.SuperLen/8)) },
			"ext3/superblock", false},
		{"a feature of ext4", put32(ondisk.SuperFeatureIncompatAt,
			ondisk.IncompatFiletype|ondisk.IncompatRecover|0x40), "ext3/superblock", false},
		{"blocks_count", put32(ondisk.SuperBlocksCountAt, 8191), "ext3/superblock-geometry", false},
		{"uuid", func(sb []byte) { sb[ondisk.SuperUUIDAt]++ }, "ext3/superblock-geometry", false},
		{"first_ino", put32(ondisk.SuperFirstInoAt, 12), "ext3/superblock-geometry", false},
		{"zeros", func(sb []byte) { clear(sb) }, "", true},
		{"clean while the journal is needed",
			func(sb []byte) { sb[ondisk.SuperFeatureIncompatAt] &^= ondisk.IncompatRecover },
			"ext3/clean-journal", false},
		{"another file system", func(sb []byte) {
			sb[ondisk.SuperFeatureIncompatAt] &^= ondisk.IncompatRecover
			sb[ondisk.SuperUUIDAt]++
		}, "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fs, d, _ := replay(t, func(fs *FS, w interp.Write) bool {
				return mountedNow(fs, w) &&
					len(fs.m.State.Copies) > 1
			})
			w := superWrite(t, d, tc.change)
			obs := fs.Observe(w)
			if tc.rule != "" {
				only(t, obs, tc.rule)
			} else if len(obs.Violations) > 0 || obs.Unknown != nil {
				t.Errorf("%v %v", obs.Violations, obs.Unknown)
			}
			d.Apply(w)
			fs.Settle(true)
			if gone := fs.FS() == ""; gone != tc.gone || gone && (fs.Schema() != nil || obs.Note == "") {
				t.Errorf("the file system is gone: %v, want %v; note %q", gone, tc.gone, obs.Note)
			}
		})
	}
}

// TestCountsAtUnmount checks that the counts of a file system are judged when it is marked clean.
func TestCountsAtUnmount(t *testing.T) {
	unmounting := func(fs *FS, w interp.Write) bool {
		sb, err := readSuper(PendingDevice{fs.disk, w})
		return fs.m != nil && touches(w, ondisk.SuperOff, ondisk.SuperLen) && err == nil &&
			!ondisk.NeedsRecovery(sb)
	}
	fs, _, w := replay(t, unmounting)
	if obs := fs.Observe(w); len(obs.Violations) > 0 || !strings.Contains(obs.Note, "unmounted") {
		t.Errorf("%v, note %q", obs.Violations, obs.Note)
	}
	for _, off := range []int{ondisk.SuperFreeBlocksCountAt, ondisk.SuperFreeInodesCountAt} {
		w.Data = bytes.Clone(w.Data)
		w.Data[ondisk.SuperOff-w.Off+uint64(off)]++
		only(t, fs.Observe(w), "ext3/clean-counts")
	}
}

// TestJournalWrites judges writes into the journal of a mounted file system other than commits.
func TestJournalWrites(t *testing.T) {
	ready := func(fs *FS, w interp.Write) bool {
		return mountedNow(fs, w) && len(fs.m.State.Copies) > 1
	}
	journalSuperWrite := func(fs *FS, d *MemDisk, at int, n uint32) interp.Write {
		block := fs.m.Log.Block(0)
		b, err := ReadBlock(d, fs.geo, block)
		if err != nil {
			t.Fatal(err)
		}
		binary.BigEndian.PutUint32(b[at:], n)
		return interp.Write{Off: fs.geo.Addr(block), Len: uint64(len(b)), Data: b}
	}
	t.Run("a tail beyond what is in its place", func(t *testing.T) {
		fs, d, _ := replay(t, ready)
		only(t, fs.Observe(journalSuperWrite(fs, d, ondisk.JournalSuperStartAt, 0)),
			"ext3/journal-superblock")
		w := journalSuperWrite(fs, d, ondisk.JournalSuperStartAt, fs.m.Log.head)
		binary.BigEndian.PutUint32(w.Data[ondisk.JournalSuperSequenceAt:], fs.m.Log.nextSeq)
		only(t, fs.Observe(w), "ext3/journal-tail")
	})
	t.Run("a tail at no transaction", func(t *testing.T) {
		fs, d, _ := replay(t, ready)
		only(t, fs.Observe(journalSuperWrite(fs, d, ondisk.JournalSuperStartAt, fs.m.Log.Start+1)),
			"ext3/journal-superblock")
	})
	t.Run("no magic", func(t *testing.T) {
		fs, d, _ := replay(t, ready)
		only(t, fs.Observe(journalSuperWrite(fs, d, 0, 1)), "ext3/journal-superblock")
	})
	t.Run("over a committed transaction", func(t *testing.T) {
		fs, _, _ := replay(t, ready)
		b := make([]byte, fs.geo.BlockSize)
		only(t, fs.Observe(interp.Write{Off: fs.geo.Addr(fs.m.Log.Block(fs.m.Log.Start)),
			Len: uint64(len(b)), Data: b}), "ext3/journal-overwrite")
	})
}

// commits reports whether a write commits the next transaction.
func commits(fs *FS, w interp.Write) bool {
	return mountedNow(fs, w) && fs.m.Log.holdsCommit(w, fs.m.Log.nextSeq)
}

// TestJournalCommits judges commits with a fault in the journal.
func TestJournalCommits(t *testing.T) {
	t.Run("a commit block without its transaction", func(t *testing.T) {
		fs, d, w := replay(t, commits)
		d.Apply(interp.Write{Off: fs.geo.Addr(fs.m.Log.Block(fs.m.Log.head)),
			Len: uint64(fs.geo.BlockSize)})
		obs := fs.Observe(interp.Write{Off: w.Off + w.Len - uint64(fs.geo.BlockSize),
			Len: uint64(fs.geo.BlockSize), Data: w.Data[w.Len-uint64(fs.geo.BlockSize):]})
		only(t, obs, "ext3/journal-chain")
		if obs.Point != interp.CommitPoint || obs.Txn != nil {
			t.Errorf("point %v, records %v", obs.Point, obs.Txn)
		}
	})
	t.Run("a copy of a block of the journal", func(t *testing.T) {
		fs, d, w := replay(t, commits)
		at := fs.geo.Addr(fs.m.Log.Block(fs.m.Log.head))
		b, err := ReadBlock(PendingDevice{d, w}, fs.geo, fs.m.Log.Block(fs.m.Log.head))
		if err != nil {
			t.Fatal(err)
		}
		binary.BigEndian.PutUint32(b[ondisk.JournalHeaderLen:], fs.m.Log.Block(0))
		d.Apply(interp.Write{Off: at, Len: uint64(len(b)), Data: b})
		if touches(w, at, 1) {
			copy(w.Data[at-w.Off:], b)
		}
		only(t, fs.Observe(w), "ext3/journal-tag")
	})
}

// TestRefusedCommit checks that a refused commit does not change the base: the same commit has the
// same changes the next time.
func TestRefusedCommit(t *testing.T) {
	fs, d, w := replay(t, commits)
	obs := fs.Observe(w)
	before := len(obs.Txn.Records)
	seq := fs.m.Log.nextSeq
	fs.Settle(false)
	if obs = fs.Observe(w); fs.m.Log.nextSeq != seq || obs.Txn == nil ||
		len(obs.Txn.Records) != before {
		t.Errorf("after a refusal the log continues with %d, was %d", fs.m.Log.nextSeq, seq)
	}
	d.Apply(w)
	fs.Settle(true)
	if fs.m.Log.nextSeq != seq+1 {
		t.Errorf("the log continues with %d, want %d", fs.m.Log.nextSeq, seq+1)
	}
}

// TestCrashAnywhere checks that after a crash at any write, a new reader finds the committed state
// and follows the guest's recovery.
func TestCrashAnywhere(t *testing.T) {
	base, writes := record(t)
	rules := Engine(t)
	d := NewDisk(bytes.NewReader(base), uint64(len(base)))
	for n, w := range writes {
		d.Apply(w)
		if n%3 != 0 {
			continue
		}
		fs, err := New(d)
		if err != nil {
			t.Fatalf("after write %d: %v", n, err)
		}
		obs, err := Image(d)
		if err != nil {
			t.Fatalf("after write %d: %v", n, err)
		}
		for _, line := range Judge(rules, obs) {
			t.Errorf("after write %d: %s", n, line)
		}
		if fs.m != nil {
			followRecovery(t, fs, NewDisk(d, d.size), n)
		}
	}
}

// followRecovery shows fs the writes of a recovery after write n: the copies to their places, and
// then the journal's superblock. It applies them to d.
func followRecovery(t *testing.T, fs *FS, d *MemDisk, n int) {
	t.Helper()
	step := func(w interp.Write) {
		obs := fs.Observe(w)
		for _, v := range obs.Violations {
			t.Errorf("recovery after write %d: %v", n, v)
		}
		d.Apply(w)
		fs.Settle(true)
	}
	fs.disk, fs.m.State.dev = newDevices(d, 0), d
	copies := make([]uint32, 0, len(fs.m.State.Copies))
	for b := range fs.m.State.Copies {
		copies = append(copies, b)
	}
	slices.Sort(copies)
	for _, b := range copies {
		data, err := fs.m.State.Block(b)
		if err != nil {
			t.Fatal(err)
		}
		step(interp.Write{Off: fs.geo.Addr(b), Len: uint64(len(data)), Data: bytes.Clone(data)})
	}
	if len(fs.m.State.Copies) != 0 {
		t.Errorf("write %d: recovery left %d blocks in the log", n, len(fs.m.State.Copies))
	}
	js, err := ReadBlock(d, fs.geo, fs.m.Log.Block(0))
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(js[ondisk.JournalSuperSequenceAt:], fs.m.Log.nextSeq+1)
	binary.BigEndian.PutUint32(js[ondisk.JournalSuperStartAt:], fs.m.Log.First)
	seq := fs.m.Log.nextSeq
	step(interp.Write{Off: fs.geo.Addr(fs.m.Log.Block(0)), Len: uint64(len(js)), Data: js})
	if fs.m.Log.nextSeq != seq+1 || fs.m.Log.head != fs.m.Log.First {
		t.Errorf("after recovery the log continues with %d at %d", fs.m.Log.nextSeq, fs.m.Log.head)
	}
}

// TestNewErrors checks that the errors about unsupported features and damage name the feature or
// the place.
func TestNewErrors(t *testing.T) {
	base, _ := record(t)
	for _, tc := range []struct {
		name   string
		change func(b []byte)
		want   string
	}{
		{"extents", func(b []byte) { b[ondisk.SuperOff+ondisk.SuperFeatureIncompatAt] |= 0x40 },
			"extents (incompat flag 0x40)"},
		{"metadata_csum", func(b []byte) { b[ondisk.SuperOff+ondisk.SuperFeatureROCompatAt+1] |= 0x4 },
			"metadata_csum (ro_compat flag 0x400)"},
		{"journal_dev", func(b []byte) { b[ondisk.SuperOff+ondisk.SuperFeatureIncompatAt] |= 0x8 },
			"journal_dev"},
		{"external journal", func(b []byte) { clear(b[ondisk.SuperOff+ondisk.SuperJournalInumAt:][:4]) },
			"external journal"},
		{"magic", func(b []byte) { b[ondisk.SuperOff+ondisk.SuperMagicAt] = 0 },
			interp.ErrNotFound.Error()},
		{"block size", func(b []byte) { b[ondisk.SuperOff+ondisk.SuperLogBlockSizeAt] = 40 },
			"device address 1024: log_block_size is 40"},
		{"inodes_per_group",
			func(b []byte) { clear(b[ondisk.SuperOff+ondisk.SuperInodesPerGroupAt:][:4]) },
			"device address 1024: inodes_per_group is 0"},
		{"descriptor", func(b []byte) {
			b[ondisk.SuperOff+ondisk.SuperFeatureIncompatAt] |= ondisk.IncompatRecover
			clear(b[2048:][:4])
		}, "device address 2048: the block bitmap of group 0 is at block 0"},
		{"truncated", nil, "do not fit the device"},
	} {
		b := bytes.Clone(base)
		if tc.change != nil {
			tc.change(b)
		} else {
			b = b[:len(b)/2]
		}
		d := NewDisk(bytes.NewReader(b), uint64(len(b)))
		_, err := New(d)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
		var foreign *interp.UnsupportedError
		var missing *interp.MissingDiskError
		var bad *interp.CorruptError
		if !errors.As(err, &foreign) && !errors.As(err, &missing) && !errors.As(err, &bad) &&
			!errors.Is(err, interp.ErrNotFound) {
			t.Errorf("%s: the error is a %T", tc.name, err)
		}
	}
}

// TestImageRules checks the rules that concern a whole image.
func TestImageRules(t *testing.T) {
	base, _ := record(t)
	rules := Engine(t)
	for _, tc := range []struct {
		name   string
		change func(b []byte)
		rule   string
	}{
		{"sound", func([]byte) {}, ""},
		{"free blocks", func(b []byte) { b[ondisk.SuperOff+ondisk.SuperFreeBlocksCountAt]++ }, "ext3/11"},
		{"free inodes", func(b []byte) { b[ondisk.SuperOff+ondisk.SuperFreeInodesCountAt]++ }, "ext3/11"},
		{"group", func(b []byte) {
			b[2048+ondisk.GroupDescFreeBlocksCountAt]++
			b[ondisk.SuperOff+ondisk.SuperFreeBlocksCountAt]++
		}, "ext3/10"},
	} {
		b := bytes.Clone(base)
		tc.change(b)
		obs, err := Image(NewDisk(bytes.NewReader(b), uint64(len(b))))
		if err != nil {
			t.Fatal(err)
		}
		found := strings.Join(Judge(rules, obs), "\n")
		if tc.rule == "" && found != "" || !strings.Contains(found, tc.rule) {
			t.Errorf("%s: want %q, found %s", tc.name, tc.rule, found)
		}
	}
}
