package checkers

import (
	"context"
	"os"
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
}

var unseenBugs = []unseenBug{
	// Calls that promise durability, after some operations only.
	{"fsync of a file with two names does nothing", "sync", true},
	{"fsync of a file after a hole was punched does nothing", "sync", true},
	{"fsync of a file after it was truncated does nothing", "sync", true},
	{"fsync of a directory after a directory was renamed in it does nothing", "sync", true},
	{"the second fsync of a file does nothing", "sync", false},
	{"msync does nothing", "sync", false},
	{"fsync of an unlinked name loses the other name", "sync", true},
	// What the journal lacks.
	{"chown not journaled", "sync", false},
	{"utimes not journaled", "sync", false},
	{"removexattr not journaled", "sync", false},
	{"setxattr of a value in place of another not journaled", "sync", false},
	{"mknod not journaled", "sync", false},
	{"appending write not journaled", "sync", false},
	{"exchange not journaled", "sync", false},
	{"whiteout not journaled", "sync", false},
	{"collapsed range not journaled", "sync", false},
	{"long names not journaled", "sync", false},
	{"an exchange in three renames", "reasonable", false},
	// Live results.
	{"a larger file shows old bytes", "sync", true},
	{"a collapsed range becomes zeros", "sync", false},
	{"a whiteout is a file", "sync", false},
	{"a name is listed twice", "sync", true},
	{"a link count is too high", "sync", true},
	{"a recovered file was last changed in 1970", "sync", true},
	{"a write sets the time of its file back", "sync", true},
	{"chmod does not change the time of status", "sync", true},
	{"a directory keeps its time of modification", "sync", true},
	{"a hole has data", "sync", true},
	{"a punched block keeps its bytes", "sync", false},
	{"bytes behind the end appear", "sync", false},
	{"a recovered file takes no space", "sync", true},
	// A full disk.
	{"fsync on a full disk does nothing", "sync", false},
	{"space does not become free", "sync", false},
	{"a write that finds no space changes the file", "sync", false},
	{"more is free than there is", "sync", false},
	// Errors.
	{"mkdir finds no space", "sync", true},
	{"fsync fails without a cause", "sync", true},
	{"a file system becomes read-only", "sync", false},
	// Recovery.
	{"recovery leaves errors", "sync", false},
	{"a recovered directory cannot be removed", "sync", false},
	{"a recovered file cannot be removed", "sync", false},
	{"nothing can be made after a recovery", "sync", false},
}

// An unseenState has what the planted bugs remember.
type unseenState struct {
	synced  map[string]int  // number of fsyncs by path
	spoiled map[string]bool // paths whose fsync does nothing
	steps   int             // number of changes
	tail    model.Op        // the last write behind the end of a file; Len 0: none
	full    bool            // the disk is full
	freed   bool            // it was full
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
	const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	kind, _ := f.fs.Observed().Kind(o.Path)
	switch o.Code {
	case model.FillDisk, model.FreeDisk:
		u.full, u.freed = o.Code == model.FillDisk, o.Code == model.FreeDisk
	case model.Mmaptail:
		u.tail = o
		u.tail.Off, _ = f.fs.Size(f.path(o.Slot))
	}
	switch {
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
	return o
}

// unseenSync reports whether a call that promises durability does nothing.
func (f *fake) unseenSync(o model.Op) bool {
	p := f.path(o.Slot)
	if o.Code != model.Fsync && o.Code != model.Fdatasync {
		return false
	}
	if f.bug == "fsync on a full disk does nothing" && f.unseen.full {
		return true
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
	return false
}

// unseenEntries changes what is read of a tree.
func (f *fake) unseenEntries(list []agent.Entry) []agent.Entry {
	last := &list[len(list)-1]
	switch is := last.Mode&unix.S_IFMT == unix.S_IFREG; {
	case f.bug == "a name is listed twice" && is:
		list = append(list, *last)
	case f.bug == "a link count is too high" && is:
		last.Links++
	case f.bug == "a recovered file was last changed in 1970" && is && f.recovered:
		last.Mtime = 0
	case f.bug == "a write sets the time of its file back" && is && last.Size > 0:
		last.Mtime = 1e9
	case f.bug == "a recovered file takes no space" && is && f.recovered:
		last.Blocks = 0
	case f.bug == "a hole has data" && is && last.Size > 10_000:
		last.InHole = 1
	case f.bug == "chmod does not change the time of status" && last.Mode&0o777 == 0o700:
		last.Ctime = model.ClockOf(0)
	case f.bug == "a directory keeps its time of modification":
		list[0].Mtime = model.ClockOf(0)
	}
	return list
}

// unseenWrong returns the wrong result of an operation.
func (f *fake) unseenWrong(o model.Op) (errno unix.Errno) {
	kind, _ := f.fs.Observed().Kind(o.Path)
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
	}
	return 0
}

// unseenRuns is the number of steps, beside tours and the workloads of known bugs, after which the
// search for an unseen bug ends.
const unseenRuns = 400

// find looks for the bug. With later, it does so with the defaults of fsward explore run; else with
// the basic operations alone and without inspections.
func (b unseenBug) find(t *testing.T, later bool) (e *explore.Error, runs uint64) {
	t.Helper()
	cfg, _ := config(t, b.checker, b.bug, none, 0)
	limits := &cfg.Stack.Checker.(interface{ core() *Core }).core().Limits
	cfg.Runs = unseenRuns
	if later {
		limits.Later = LaterGroups()
		if c, is := cfg.Stack.Checker.(*Sync); is {
			known, err := c.known()
			if err != nil {
				t.Fatal(err)
			}
			cfg.Runs += uint64(len(known) + 2*len(c.tours()))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cfg.Strategy, cfg.Inspect = explore.Cover, later
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

// TestUnseen looks for each bug with the defaults of fsward explore run. With $FSWARD_UNSEEN it
// also does so without later operations and inspections, and logs a table of
// docs/results/unseen.md.
func TestUnseen(t *testing.T) {
	compare := os.Getenv("FSWARD_UNSEEN") != ""
	for _, b := range unseenBugs {
		t.Run(b.bug, func(t *testing.T) {
			t.Parallel()
			e, runs := b.find(t, true)
			if e == nil {
				t.Fatalf("not found in %d steps", runs)
			}
			if e.Replays != e.Shown {
				t.Errorf("%d of %d replays show the failure", e.Shown, e.Replays)
			}
			before := "–"
			if compare {
				was, steps := b.find(t, false)
				if (was != nil) != b.basic {
					t.Errorf("with the basic operations: found %+v, want %v", was, b.basic)
				}
				if was != nil {
					before = strconv.FormatUint(steps, 10)
				}
			}
			t.Logf("| %s | %s | %s | %s | %d |", b.bug, b.checker, e.Kind, before, runs)
		})
	}
}
