package guard_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// replayWithBug replays a recording and simulates a bug in its n-th commit, or in the first one
// after it that writes the altered field. The engine judges from then on, and the compiled engine
// before. It returns the refused commit, nil if there was none, and what the bug changed.
func replayWithBug(t *testing.T, rec guardtest.Recorded, engine, bug string,
	n int) (*guard.Event, string) {
	t.Helper()
	seen, what := replaySwitched(t, rec, engine, bug, n)
	for _, ev := range seen {
		if ev.Action == guard.Refused {
			return ev, what
		}
	}
	return nil, what
}

// replaySwitched is replayWithBug that returns all events. Without a bug it only changes engines.
func replaySwitched(t *testing.T, rec guardtest.Recorded, engine, bug string,
	n int) (guardtest.Events, string) {
	t.Helper()
	rules, err := loaded.take(guard.EngineCompiled)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.giveBack(guard.EngineCompiled, rules)
	restore := func() {}
	defer func() { restore() }()
	base, err := blocktap.OpenImage(rec.Base)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	disk, err := overlay.New(base)
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	interpreter, err := detect.Follow(disk, detect.Auto)
	if err != nil {
		t.Fatal(err)
	}
	recording, err := trace.Open(rec.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	var seen guardtest.Events
	sim := guard.NewSimulator(disk)
	arm := armAfter{n: n, arm: func() {
		if bug != "" {
			if err := sim.Arm(bug); err != nil {
				t.Fatal(err)
			}
		}
		if engine != guard.EngineCompiled {
			restore = swapEngine(t, rules, engine)
		}
	}}
	arm.Event(&guard.Event{})
	log := zaptest.NewLogger(t)
	p := guard.NewPipeline(guard.PipelineConfig{Disks: []blocktap.Disk{disk}, Interpreter: interpreter,
		Rules: rules, Policy: guard.RefusePolicy{},
		Sinks: []guard.Sink{&seen, &arm}, Simulator: sim}, log)
	defer p.Close()
	merged, err := trace.Merge(recording.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := offline.Feed(context.Background(), p.Devices, merged); err != nil &&
		!errors.Is(err, blocktap.ErrRefused) {
		t.Fatal(err)
	}
	return seen, sim.Done()
}

// swapEngine lets another engine judge by the rules, and returns a function that undoes it.
func swapEngine(t *testing.T, rules *guard.Rules, engine string) (restore func()) {
	t.Helper()
	other, err := loaded.take(engine)
	if err != nil {
		t.Fatal(err)
	}
	back := rules.Swap(other)
	return func() {
		back()
		loaded.giveBack(engine, other)
	}
}

// armAfter is a Sink that arms a bug after n commits.
type armAfter struct {
	n   int
	arm func()
}

func (a *armAfter) Event(ev *guard.Event) {
	if ev.Kind == guard.KindCommit {
		a.n--
	}
	if a.n == 0 {
		a.arm()
		a.n = -1
	}
}

// variety is a workload in which every kind of object that rules use changes in each commit.
const variety = `
	for i in 1 2 3 4 5 6; do
		mkdir -p d$i/sub
		head -c 30000 /dev/urandom > d$i/data; echo $i > d$i/small
		ln d$i/small d$i/link; ln -s small d$i/soft
		setfattr -n user.fsward -v "$i$(head -c 700 /dev/zero | tr '\0' x)" d$i/small
		[ $i -lt 3 ] || { rm -r d$((i - 2)); mv d$((i - 1))/data d$i/sub/moved; }
		sync -f .
	done`

// orphanLoad changes the superblock of an ext3: files without names are on the list that begins
// there.
const orphanLoad = `
	for i in 1 2 3 4; do
		exec 3> open; echo x >&3; sync -f .; rm open; sync -f .; exec 3>&-; sync -f .
	done`

// linkLoad changes symbolic links whose text has a block. With blocks of 4 KiB, the reserved inodes
// share a block with the first files.
const linkLoad = `
	ln -s $(printf 'x%.0s' $(seq 80)) slow; sync -f .
	for i in 1 2 3 4; do
		touch -h slow; sync -f .
	done`

// TestEveryRuleRefuses violates each rule by altering a real commit in its bytes, with right
// checksums, and expects the refusal to name the rule.
func TestEveryRuleRefuses(t *testing.T) {
	for fs, bugs := range violations {
		t.Run(fs, func(t *testing.T) {
			proved := make(map[string]bool)
			refuseEach(t, guardtest.Record(t, fs, variety), bugs, proved)
			if fs == "btrfs" {
				refuseEach(t, guardtest.Record(t, fs, spaceLoad),
					slices.Concat(spaceViolations, structureViolations), proved)
				refuseEach(t, guardtest.Record(t, fs, bitmapLoad), bitmapViolations, proved)
				for _, l := range fileLoads {
					refuseEach(t, guardtest.RecordOn(t, fs, guardtest.Mkfs(t, fs, l.size, l.options...), l.script),
						l.bugs, proved)
				}
				refuseEach(t, guardtest.Record(t, fs, logLoad), logViolations, proved)
			}
			if fs == "ext3" {
				refuseEach(t, guardtest.Record(t, fs, orphanLoad), orphanViolations, proved)
				refuseEach(t, guardtest.RecordOn(t, fs, guardtest.Mkfs(t, fs, 64<<20, "-b", "4096"), linkLoad),
					linkViolations, proved)
			}
			rules, err := guard.RulesConfig{}.Load()
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rules.List(fs) {
				// TestSuperblockCounts, TestInodeCache; TestAlteredScripts and TestAlteredImages in interp/ext3
				elsewhere := []string{"ext3/11", "btrfs/66", "ext3/20", "ext3/21", "ext3/24", "ext3/28",
					"ext3/31"}
				if !proved[r.Name] && !slices.Contains(elsewhere, r.Name) {
					t.Errorf("%s is shipped and no test shows it violated: %s", r.Name, r.Doc)
				}
			}
		})
	}
}

// refuseEach expects each bug in a recording to be refused, and notes which rules that proves. Each
// bug has its own replay.
func refuseEach(t *testing.T, rec guardtest.Recorded, bugs []violation, proved map[string]bool) {
	t.Helper()
	refused := make([]bool, len(bugs))
	t.Run("each", func(t *testing.T) {
		for i, b := range bugs {
			t.Run(b.rule+" "+b.bug, func(t *testing.T) {
				t.Parallel()
				refuse(t, rec, b)
				refused[i] = true
			})
		}
	})
	for i, b := range bugs {
		proved[b.rule] = proved[b.rule] || refused[i]
	}
}

// refuse expects a bug in a recording to be refused by its rule.
func refuse(t *testing.T, rec guardtest.Recorded, b violation) {
	t.Helper()
	n := b.commit
	ev, what := replayWithBug(t, rec, guard.EngineCompiled, b.bug, n)
	// A commit can overtake a log that is then never needed. A sync(2) of another test divides a
	// commit, and the bug then changes another object.
	for ; n < b.commit+3 && !b.isNamedBy(ev); n++ {
		ev, what = replayWithBug(t, rec, guard.EngineCompiled, b.bug, n+1)
	}
	if ev == nil {
		t.Fatalf("nothing was refused; the bug did: %q", what)
	}
	// The reference engine says the same about the same commit.
	reference, _ := replayWithBug(t, rec, guard.EngineReference, b.bug, n)
	if reference == nil || !cmp.Equal(ev.Violations, reference.Violations) {
		t.Errorf("the engines differ:\n%s", cmp.Diff(ev.Violations, reference.Violations))
	}
	if !b.isNamedBy(ev) {
		t.Fatalf("the bug (%s) was refused for another reason: %s", what, guardtest.TextOf(ev))
	}
	t.Logf("%s: refused by %v", what, guard.RuleNames(ev.Violations))
}

type violation struct {
	rule, bug string
	commit    int // number of commits after which the bug is armed
}

// isNamedBy reports whether an event, which may be nil, names the rule that the bug violates.
func (v violation) isNamedBy(ev *guard.Event) bool {
	return ev != nil && slices.Contains(guard.RuleNames(ev.Violations), v.rule)
}

var orphanViolations = []violation{
	{"ext3/14", "superblock.last_orphan=0", 2},
	{"ext3/22", "superblock.feature_compat^0x10", 2},
	{"ext3/26", "superblock.min_extra_isize=30", 2},
	{"ext3/29", "superblock.creator_os=1", 2},
	{"ext3/29", "superblock.jnl_backup_type=0", 2},
	{"ext3/29", "superblock.hash_seed+1", 2},
}

var linkViolations = []violation{
	{"ext3/25", "inode.links_count=0@id=7", 2},
	{"ext3/27", "inode.size+4096@id=8", 2},
	{"ext3/30", "inode.size+3@kind=slow_link", 2},
}

// violations lists for each rule how to violate it.
var violations = map[string][]violation{
	"btrfs": {
		{"btrfs/6", "extent_item.key.offset+1048576", 2},
		// the whole leaf is referenced, and its file has new data
		{"btrfs/10", "metadata_item.flags^0x100@tree_block_ref.root=5,offset=0", 2},
		{"btrfs/12", "inode_item!delete@nlink=1", 2},
		{"btrfs/13", "inode_item.mode=0o100644@objectid=256", 2},
		{"btrfs/14", "inode_item.nlink+1@mode=0o100644", 2},
		{"btrfs/16", "dir_item.type=7@type=1", 2},
		{"btrfs/17", "inode_ref.index+100000", 2},
	},
	"ext3": {
		{"ext3/1", "block_bitmap!unset_new", 2},
		{"ext3/2", "block_bitmap!set_freed", 4},
		{"ext3/3", "inode.block0=0", 2},
		{"ext3/4", "block_bitmap!unset", 2},
		{"ext3/5", "inode.block1-1", 2},
		{"ext3/6", "inode_bitmap!unset_new", 2},
		{"ext3/7", "inode.links_count+1", 2},
		{"ext3/8", "dirent.inode=20000", 2},
		{"ext3/9", "dirent.file_type=2", 2},
		{"ext3/10", "group.free_blocks_count+1", 2},
		{"ext3/12", "xattr_block.refcount+1", 2},
		{"ext3/13", "inode.blocks+8", 2},
		{"ext3/15", "inode.dtime=5", 2},
		{"ext3/16", "inode.size+4096", 2},
		{"ext3/17", "inode.faddr=1", 2},
		{"ext3/18", "inode.mode^0x6000", 2},
		{"ext3/19", "dirent.inode=2", 2},
		{"ext3/23", "group.flags=3", 2},
	},
}

// TestSuperblockCounts violates a rule that no commit can violate, since the superblock's free
// counts are not kept up to date while the file system is mounted. The rule is for whole images.
func TestSuperblockCounts(t *testing.T) {
	image := guardtest.Mkfs(t, "ext3", 64<<20)
	if ev, err := offline.Check(context.Background(), []string{image}, detect.Auto,
		guard.RulesConfig{}); err != nil || ev.Outcome != change.Holds {
		t.Fatalf("a new file system: %v, %v", err, ev)
	}
	guardtest.Run(t, "debugfs", "-w", "-R", "set_super_value free_blocks_count 12345", image)
	ev, err := offline.Check(context.Background(), []string{image}, detect.Auto, guard.RulesConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if names := guard.RuleNames(ev.Violations); !slices.Equal(names, []string{"ext3/11"}) {
		t.Errorf("violated %v, want ext3/11 alone", names)
	}
}
