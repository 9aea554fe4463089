package guard_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"
	"time"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
	"fsward/interp"
)

// logLoad writes logs with everything that they can have: names, files of several extents,
// directories with removed entries, files without checksums, compressed files, links, attributes,
// several subvolumes.
const logLoad = `
	mkdir dir; echo > dir/old; btrfs subvolume create sub > /dev/null
	sync -f .
	for i in 1 2 3 4 5 6; do
		head -c 20000 /dev/urandom > dir/f$i; sync dir/f$i
		dd if=/dev/urandom of=dir/f$i bs=4k seek=9 count=4 conv=notrunc 2> /dev/null; sync dir/f$i
		ln dir/f$i dir/l$i; setfattr -n user.a -v $i dir/f$i; echo small > dir/s$i; sync dir/s$i dir
		mv dir/s$i dir/t$i; rm -f dir/old; sync dir/t$i dir
		head -c 9000 /dev/urandom > sub/g$i; sync sub/g$i
		yes | head -c 90000 > dir/c$i; chattr +c dir/c$i; sync dir/c$i
		[ $((i % 2)) = 0 ] || sync -f .
	done`

// logViolations alter log commits, as violations alter commits.
var logViolations = []violation{
	{"btrfs/91", "inode_item!delete@tree=-6", 2},
	{"btrfs/92", "extent_csum!delete@tree=-6", 2},
	{"btrfs/92", "extent_csum.key.offset+4096@tree=-6", 2},
	{"btrfs/93", "extent_data.disk_bytenr=13635584@tree=-6,type=1", 2},
	{"btrfs/94", "extent_data.key.offset-4096@tree=-6,offset=36864", 2},
	{"btrfs/95", "dir_index.type=2@tree=-6,type=1", 2},
	{"btrfs/96", "dir_log_index.end=0@tree=-6", 2},
	{"btrfs/97", "inode_item.nlink=-1@tree=-6", 2},
	{"btrfs/98", "inode_ref.index^0x8000000000000000@tree=-6", 2},
	{"btrfs/100", "extent_data.type=2@tree=-6,type=1", 2},
	{"btrfs/104", "inode_item.generation-1@tree=-6", 2},
	{"btrfs/103", "inode_item.flags+1@tree=-6,mode=0o100644,flags=0", 2},
	{"btrfs/108", "inode_ref.key.offset=259@tree=-6", 2},
	{"btrfs/102", "root_item.key.offset=300@tree=-6", 2},
	{"btrfs/generation", "header.generation+1@tree=-6", 2},
	{"btrfs/owner", "header.owner=5@tree=-6", 2},
	{"btrfs/misdirected", "header.bytenr+16384@tree=-6", 2},
	{"btrfs/nritems", "header.nritems=60000@tree=-6", 2},
	{"btrfs/level", "header.level=9@tree=-6", 2},
	{"btrfs/item-bounds", "inode_item.item.offset+4@tree=-6", 2},
	{"btrfs/item", "extent_data.type=9@tree=-6", 2},
	{"btrfs/item", "inode_ref.name_len+1@tree=-6", 2},
	{"btrfs/item", "root_item.level=9@tree=-6", 2},
	{"btrfs/item", "root_item.generation_v2-1@tree=-6", 2},
	{"btrfs/level", "root_item.level+1@tree=-6", 2},
	{"btrfs/generation", "root_item.generation-1@tree=-6", 2},
	{"btrfs/root", "root_item.key.offset=7@tree=-6", 2},
	{"btrfs/item-type", "dir_index.key.type=99@tree=-6", 2},
	{"btrfs/level", "super_block.log_root_level+1", 2},
}

// TestLogReplay crashes at a log commit. The next mount puts the log into the trees, and a guard
// that has just attached finds nothing wrong.
func TestLogReplay(t *testing.T) {
	rec := guardtest.Record(t, "btrfs", logLoad)
	logs := crashes(t, rec, "", 0)
	if logs < 24 {
		t.Fatalf("only %d log commits were recorded", logs)
	}
	for i := range 12 {
		at := 1 + i*(logs-1)/11
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			image := guardtest.BlankImage(t, 256<<20)
			crashes(t, rec, image, at)
			r := guardtest.Attach(t, image, nil)
			r.MustMount("btrfs")
			r.MustRun("find . -type f -exec cat {} + > /dev/null; echo more > more; sync more; sync -f .")
			if err := r.Unmount(); err != nil {
				t.Fatal(err)
			}
			if commits := r.NoAlarm(); commits == 0 {
				t.Error("no commit was seen")
			}
			r.End()
			guardtest.MustBeClean(t, "btrfs", image)
		})
	}
}

// crashes writes to an image the recorded writes up to the n-th log commit, or all if n is 0, and
// returns the number of log commits. Without an image it only counts.
func crashes(t *testing.T, rec guardtest.Recorded, image string, n int) int {
	t.Helper()
	out := io.WriterAt(nowhere{})
	if image != "" {
		guardtest.Run(t, "cp", "--sparse=always", rec.Base, image)
		f, err := os.OpenFile(image, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = f
	}
	recording, err := trace.Open(rec.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	logs, root := 0, make([]byte, 8)
	for {
		e, err := recording.Next()
		if errors.Is(err, io.EOF) {
			return logs
		}
		if err != nil {
			t.Fatal(err)
		}
		r, ok := e.Request()
		if !ok || r.Op == blocktap.OpFlush {
			continue
		}
		data := r.Data
		if r.Op != blocktap.OpWrite {
			data = make([]byte, r.Len)
		}
		if _, err := out.WriteAt(data, int64(r.Off)); err != nil {
			t.Fatal(err)
		}
		if r.Op == blocktap.OpWrite && r.Off == 64<<10 {
			if now := r.Data[96:104]; !bytes.Equal(now, make([]byte, 8)) && !bytes.Equal(now, root) {
				if logs++; logs == n {
					return logs
				}
			}
			root = bytes.Clone(r.Data[96:104])
		}
	}
}

type nowhere struct{}

func (nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

// logMemory holds 81 change records, so that larger logs are judged part by part.
var logMemory = memory.Limits{PerDisk: 32 << 10, NoReserve: true}

// aboutLog returns what the guard said of a log when it attached; nil: nothing.
func aboutLog(r *guardtest.Rig) (found *guard.Event) {
	for _, ev := range r.Seen.Events() {
		if ev.Kind == guard.KindBaseline && ev.Note != "" {
			found = ev
		}
	}
	return found
}

// TestLogThatIsThere checks that a log which a crash left is judged when a guard attaches, as the
// log commit was: a good log holds, and an altered one is a finding of the baseline, before the
// next mount acts on it. The same holds of a log that does not fit into memory.
func TestLogThatIsThere(t *testing.T) {
	rec := guardtest.Record(t, "btrfs", logLoad)
	logs := crashes(t, rec, "", 0)
	for _, tc := range []struct {
		rule, spec string
		memory     memory.Limits
	}{
		{spec: ""},
		{rule: "btrfs/91", spec: "inode_item!delete@tree=-6"},
		{rule: "btrfs/93", spec: "extent_data.disk_bytenr=13635584@tree=-6,type=1"},
		{rule: "btrfs/item", spec: "extent_data.type=9@tree=-6"},
		{rule: "btrfs/generation", spec: "header.generation+1@tree=-6"},
		{rule: "btrfs/level", spec: "super_block.log_root_level+1"},
		{spec: "", memory: logMemory},
		{rule: "btrfs/91", spec: "inode_item!delete@tree=-6", memory: logMemory},
		{rule: "btrfs/95", spec: "dir_index.type=2@tree=-6,type=1", memory: logMemory},
	} {
		t.Run(fmt.Sprintf("%d KiB, altered by %s", tc.memory.PerDisk>>10, tc.spec), func(t *testing.T) {
			var r *guardtest.Rig
			var found *guard.Event
			// Not every log has the altered object, and one after a commit has few records.
			for at := logs / 2; found == nil || tc.spec == "" && found.Records < 100 && at <= logs; at++ {
				image := guardtest.BlankImage(t, 256<<20)
				crashes(t, rec, image, at)
				if tc.spec != "" {
					done, err := offline.CorruptImages([]string{image},
						offline.CorruptConfig{FS: "btrfs", Spec: tc.spec})
					if errors.Is(err, interp.ErrNoPlace) && at < logs {
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					t.Log(done.What)
				}
				r = guardtest.Attach(t, image, func(c *guard.Config) {
					verify(c)
					c.Memory = tc.memory
				})
				if found = aboutLog(r); found == nil {
					t.Fatal("nothing is said of the log")
				}
			}
			switch {
			case tc.rule == "" && (found.Outcome != change.Holds || found.Records < 100):
				t.Errorf("a good log, %d records: %s", found.Records, guardtest.TextOf(found))
			case tc.rule != "" && (found.Outcome != change.Violated ||
				!slices.Contains(guard.RuleNames(found.Violations), tc.rule)):
				t.Errorf("want %s: %s", tc.rule, guardtest.TextOf(found))
			}
			if whole := baselineOf(r, time.Minute); whole.Outcome != change.Holds || whole.Records == 0 {
				t.Errorf("the trees are as they were: %s", guardtest.TextOf(whole))
			}
		})
	}
}
