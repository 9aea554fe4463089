package checkers

import (
	"context"
	"os"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
)

// An unseenBug is one that file systems have had. It is looked for with the defaults of fsward
// explore run, as by a user who knows nothing of it.
type unseenBug struct {
	bug     string
	checker string
	// basic: the basic operations find it, too, without an inspection.
	basic bool
	// needs is the group that finds it alone, and without which the defaults miss it; "": the
	// defaults find it.
	needs Group
	// only is the group without which the defaults miss it, with no tours; "": others find it, too.
	only Group
}

var unseenBugs = slices.Concat(someBugs, manyBugs, atOnceBugs, subvolumeBugs, extentBugs)

var someBugs = []unseenBug{
	// Calls that promise durability, after some operations only.
	{bug: "fsync of a file with two names does nothing", checker: "sync", basic: true},
	{bug: "fsync of a file after a hole was punched does nothing", checker: "sync", basic: true},
	{bug: "fsync of a file after it was truncated does nothing", checker: "sync", basic: true},
	{bug: "fsync of a directory after a directory was renamed in it does nothing", checker: "sync",
		basic: true},
	{bug: "the second fsync of a file does nothing", checker: "sync"},
	{bug: "msync does nothing", checker: "sync"},
	{bug: "fsync of an unlinked name loses the other name", checker: "sync", basic: true},
	// What the journal lacks.
	{bug: "chown not journaled", checker: "sync"},
	{bug: "utimes not journaled", checker: "sync"},
	{bug: "removexattr not journaled", checker: "sync"},
	{bug: "setxattr of a value in place of another not journaled", checker: "sync"},
	{bug: "mknod not journaled", checker: "sync"},
	{bug: "appending write not journaled", checker: "sync"},
	{bug: "exchange not journaled", checker: "sync"},
	{bug: "whiteout not journaled", checker: "sync"},
	{bug: "collapsed range not journaled", checker: "sync"},
	{bug: "long names not journaled", checker: "sync"},
	{bug: "an exchange in three renames", checker: "reasonable"},
	// Live results.
	{bug: "a larger file shows old bytes", checker: "sync", basic: true},
	{bug: "a collapsed range becomes zeros", checker: "sync"},
	{bug: "a whiteout is a file", checker: "sync"},
	{bug: "a name is listed twice", checker: "sync", basic: true},
	{bug: "a link count is too high", checker: "sync", basic: true},
	{bug: "a recovered file was last changed in 1970", checker: "sync", basic: true},
	{bug: "a write sets the time of its file back", checker: "sync", basic: true},
	{bug: "chmod does not change the time of status", checker: "sync", basic: true},
	{bug: "a directory keeps its time of modification", checker: "sync", basic: true},
	{bug: "a hole has data", checker: "sync", basic: true},
	{bug: "a hole has data until it is read", checker: "sync", basic: true},
	{bug: "a file is read otherwise at first", checker: "sync", basic: true},
	{bug: "a punched block keeps its bytes", checker: "sync"},
	{bug: "bytes behind the end appear", checker: "sync"},
	{bug: "a recovered file takes no space", checker: "sync", basic: true},
	// A full disk.
	{bug: "fsync on a full disk does nothing", checker: "sync"},
	{bug: "space does not become free", checker: "sync"},
	{bug: "a write that finds no space changes the file", checker: "sync"},
	{bug: "more is free than there is", checker: "sync"},
	{bug: "an unmount of a full disk writes nothing", checker: "unmount", needs: fullDisk},
	{bug: "an unmount of a full disk does not flush", checker: "unmount", needs: fullDisk},
	// No free inodes.
	{bug: "fsync without free inodes does nothing", checker: "sync", only: noInodes},
	{bug: "a file in the inode of a removed one not journaled", checker: "sync", only: noInodes},
	{bug: "a refused mkdir leaves its name", checker: "sync", only: noInodes},
	{bug: "a write needs a free inode", checker: "sync", only: noInodes},
	{bug: "inodes do not become free", checker: "sync", only: noInodes},
	// Classes of bugs that Linux has had since 6.1.
	{bug: "a direct write leaves the position in the file", checker: "sync", only: "direct"},
	{bug: "fsync of a removed directory brings it back", checker: "sync", only: "held"},
	// Errors.
	{bug: "mkdir finds no space", checker: "sync", basic: true},
	{bug: "fsync fails without a cause", checker: "sync", basic: true},
	{bug: "a file system becomes read-only", checker: "sync"},
	// Recovery.
	{bug: "recovery leaves errors", checker: "sync"},
	{bug: "a recovered directory cannot be removed", checker: "sync"},
	{bug: "a recovered file cannot be removed", checker: "sync"},
	{bug: "nothing can be made after a recovery", checker: "sync"},
}

// An unseenState has what the planted bugs remember.
type unseenState struct {
	synced  map[string]int  // number of fsyncs by path
	spoiled map[string]bool // paths whose fsync does nothing
	steps   int             // number of changes
	tail    model.Op        // the last write behind the end of a file; Len 0: none
	full    bool            // the disk is full
	freed   bool            // it was full
	inodes  inodeState
	rmdir   string // the directory that was removed last
	above   string // the directory of the subvolume that was deleted last
	many    manyState
	ranges  map[string]int // the mode of the last fallocate, plus 1, by path
}

// spoil makes fsync of a path do nothing.
func (u *unseenState) spoil(path string) {
	if u.spoiled == nil {
		u.spoiled = make(map[string]bool)
	}
	u.spoiled[path] = true
}

// unseenChange notes an operation, and returns that which is done in its place.
func (f *fake) unseenChange(o model.Op) model.Op {
	u := &f.unseen
	u.many.note(o)
	u.inodes.note(o)
	f.noteRange(o)
	const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	kind, _ := f.observed().Kind(o.Path)
	switch o.Code {
	case model.FillDisk, model.FreeDisk:
		u.full, u.freed = o.Code == model.FillDisk, o.Code == model.FreeDisk
	case model.Mmaptail:
		u.tail = o
		u.tail.Off, _ = f.fs.Size(f.path(o.Slot))
	}
	switch {
	case o.Code == model.Rmdir:
		u.rmdir = o.Path
	case f.bug == "fsync of a removed directory brings it back" && o.Code == model.Fsync &&
		u.rmdir != "" && f.path(o.Slot) == "":
		f.log(model.Op{Code: model.Mkdir, Path: u.rmdir, Mode: 0o755})
	case f.bug == "a punched block keeps its bytes" && o.Flags == punch && o.Off%model.Block != 0:
		o.Flags = unix.FALLOC_FL_KEEP_SIZE
	case f.bug == "bytes behind the end appear" && o.Code == model.Ftruncate && u.tail.Len > 0:
		u.tail.Code = model.Write
		f.do(nil, u.tail)
		u.tail.Len = 0
	case f.bug == "fsync of a file with two names does nothing" && o.Code == model.Link,
		f.bug == "fsync of an unlinked name loses the other name" && o.Code == model.Link:
		u.spoil(o.Path)
	case f.bug == "fsync of a file after a hole was punched does nothing" &&
		o.Code == model.Fallocate && o.Flags == punch,
		f.bug == "fsync of a file after it was truncated does nothing" && o.Code == model.Ftruncate:
		u.spoil(f.path(o.Slot))
	case f.bug == "fsync of a directory after a directory was renamed in it does nothing" &&
		o.Code == model.Rename && kind == model.Dir:
		u.spoil("/")
	case f.bug == "a collapsed range becomes zeros" && o.Code == model.Fallocate &&
		o.Flags == unix.FALLOC_FL_COLLAPSE_RANGE:
		o.Flags = unix.FALLOC_FL_ZERO_RANGE
	case f.bug == "a whiteout is a file" && o.Code == model.Rename && o.Flags == unix.RENAME_WHITEOUT:
		f.fs.Apply(model.Op{Code: model.Link, Path: o.Path, To: o.To})
		o = model.Op{Code: model.Chmod, Path: o.Path, Mode: 0o644}
	}
	return f.volumeChange(o)
}

// unseenSync reports whether a call that promises durability does nothing.
func (f *fake) unseenSync(o model.Op) bool {
	if f.bug == "the thirtieth commit does nothing" && o.Code == model.Syncfs {
		return f.unseen.many.commits == 30
	}
	p := f.path(o.Slot)
	if o.Code != model.Fsync && o.Code != model.Fdatasync {
		return false
	}
	if f.bug == "fsync on a full disk does nothing" && f.unseen.full ||
		f.bug == "fsync without free inodes does nothing" && f.unseen.inodes.used {
		return true
	}
	if f.bug == "fsync does nothing after a hundred others" {
		return f.unseen.many.fsyncs > 100
	}
	if f.bug == "the second fsync of a file does nothing" {
		if f.unseen.synced == nil {
			f.unseen.synced = make(map[string]int)
		}
		f.unseen.synced[p]++
		return f.unseen.synced[p] > 1
	}
	return f.unseen.spoiled[p]
}

// unseenUnlogged reports whether the journal lacks an operation.
func (f *fake) unseenUnlogged(o model.Op) bool {
	switch f.bug {
	case "exchange not journaled":
		return o.Code == model.Rename && o.Flags == unix.RENAME_EXCHANGE
	case "appending write not journaled":
		return o.Code == model.Write && f.flags(o.Path)&unix.O_APPEND != 0
	case "whiteout not journaled":
		return o.Code == model.Rename && o.Flags == unix.RENAME_WHITEOUT
	case "collapsed range not journaled":
		return o.Code == model.Fallocate && o.Flags == unix.FALLOC_FL_COLLAPSE_RANGE
	case "long names not journaled":
		return o.Code == model.Link && len(o.To) > 100
	case "setxattr of a value in place of another not journaled":
		return o.Code == model.Setxattr && o.Flags == unix.XATTR_REPLACE
	}
	return f.inodesUnlogged(o) || f.manyUnlogged(o) || f.volumeUnlogged(o)
}

// unseenEntries changes what is read of a tree.
func (f *fake) unseenEntries(list []agent.Entry) []agent.Entry {
	last := &list[len(list)-1]
	switch is := last.Mode&unix.S_IFMT == unix.S_IFREG; {
	case f.bug == "a name is listed twice" && is:
		list = append(list, *last)
	case f.bug == "a link count is too high" && is:
		last.Links++
	case f.bug == "a link count has seven bits":
		for i := range list {
			list[i].Links &= 0x7f
		}
	case f.bug == "a recovered file was last changed in 1970" && is && f.recovered:
		last.Mtime = 0
	case f.bug == "a write sets the time of its file back" && is && last.Size > 0:
		last.Mtime = 1e9
	case f.bug == "a recovered file takes no space" && is && f.recovered:
		last.Blocks = 0
	case f.bug == "a hole has data" && is && last.Size > 10_000:
		last.InHole = 1
	case f.bug == "a hole has data until it is read" && is && last.Size > 10_000 && !f.warm:
		last.InHole = 1
	case f.bug == "a file is read otherwise at first" && is && last.Size > 10_000 && !f.warm:
		last.Sum[0]++
	case f.bug == "chmod does not change the time of status" && last.Mode&0o777 == 0o700:
		last.Ctime = model.ClockOf(0)
	case f.bug == "a directory keeps its time of modification":
		list[0].Mtime = model.ClockOf(0)
	}
	return list
}

// unseenWrong returns the wrong result of an operation.
func (f *fake) unseenWrong(o model.Op) (errno unix.Errno) {
	if errno := f.inodesWrong(o); errno != 0 {
		return errno
	}
	kind, _ := f.observed().Kind(o.Path)
	creates := o.Code == model.Open && o.Flags&unix.O_CREAT != 0
	switch {
	case f.bug == "a file system becomes read-only" && o.Code != model.Close:
		if f.unseen.steps++; f.unseen.steps > 20 {
			return unix.EROFS
		}
	case f.bug == "space does not become free" && o.Code == model.Write && f.unseen.freed:
		return unix.ENOSPC
	case f.bug == "a write that finds no space changes the file" && o.Code == model.Write &&
		f.unseen.full:
		f.fs.Apply(o)
		return unix.ENOSPC
	case f.bug == "a recovered file cannot be removed" && f.recovered && o.Code == model.Unlink &&
		kind == model.File:
		return unix.EIO
	case f.bug == "nothing can be made after a recovery" && f.recovered && creates:
		return unix.ENOSPC
	case f.bug == "a refused link leaves its name" && o.Code == model.Link && f.fs.Links(o.Path) > 100:
		f.fs.Apply(o)
		return unix.EMLINK
	}
	return 0
}

// unseenRuns is the number of steps, beside those that only the first step does, after which the
// search for an unseen bug ends.
const unseenRuns = 400

// find looks for the bug. With groups, it does so as fsward explore run does with them after the
// basic operations; else with these alone and without inspections.
func (b unseenBug) find(t *testing.T, groups []Group) (e *explore.Error, runs uint64) {
	t.Helper()
	cfg, _ := config(t, b.checker, b.bug, none, 0)
	limits := &cfg.Stack.Checker.(interface{ core() *Core }).core().Limits
	cfg.Runs = unseenRuns
	limits.Later = groups
	if c, is := cfg.Stack.Checker.(*Sync); is {
		begins, err := c.firstSteps()
		if err != nil {
			t.Fatal(err)
		}
		cfg.Runs += uint64(len(begins.early) + len(begins.late))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.Strategy, cfg.Inspect = explore.Cover, len(groups) > 0
	cfg.OnEvent = func(e explore.Event) {
		if e.Event == "error" || e.Event == "surprise" {
			cancel()
		}
	}
	sum, err := explore.Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Errors) > 0 {
		e = &sum.Errors[0]
	}
	return e, sum.Runs
}

// missedWithout fails the test if the defaults find the bug without the group that it needs.
func (b unseenBug) missedWithout(t *testing.T) {
	t.Helper()
	if b.needs == "" && b.only == "" {
		return
	}
	others := slices.DeleteFunc(LaterGroups(), func(g Group) bool {
		return g == b.needs || g == b.only || b.only != "" && g == tours // a tour has all groups
	})
	if was, steps := b.find(t, others); was != nil {
		t.Errorf("found without %s%s in %d steps: %+v", b.needs, b.only, steps, was)
	}
}

// TestUnseen looks for each bug with the defaults of fsward explore run, or with the group that it
// needs. With $FSWARD_UNSEEN it also does so without later operations and inspections, and with the
// defaults without that group, and logs a table of docs/results/unseen.md.
func TestUnseen(t *testing.T) {
	compare := os.Getenv("FSWARD_UNSEEN") != ""
	for _, b := range unseenBugs {
		t.Run(b.bug, func(t *testing.T) {
			t.Parallel()
			groups := LaterGroups()
			if b.needs != "" {
				groups = []Group{b.needs}
			}
			e, runs := b.find(t, groups)
			if e == nil {
				t.Fatalf("not found in %d steps", runs)
			}
			if e.Replays != e.Shown {
				t.Errorf("%d of %d replays show the failure", e.Shown, e.Replays)
			}
			before := "–"
			if compare {
				was, steps := b.find(t, nil)
				if (was != nil) != b.basic {
					t.Errorf("with the basic operations: found %+v, want %v", was, b.basic)
				}
				if was != nil {
					before = strconv.FormatUint(steps, 10)
				}
				b.missedWithout(t)
			}
			t.Logf("| %s | %s | %s | %s | %d |", b.bug, b.checker, e.Kind, before, runs)
		})
	}
}
