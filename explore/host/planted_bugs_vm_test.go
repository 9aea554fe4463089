//go:build vmtest

package host

import (
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/component"
	"fsward/explore/ramdisk"
	"fsward/explore/spec"
)

// plants are the bugs, and at the end controls without a bug, for each way in which bugs are looked
// for. docs/results/planted.md has the results.
var plants = []plant{
	// Below: the disk.
	{bug: "flushes are dropped", checker: "sync", rules: always(ramdisk.DropFlush, 0), cut: true},
	{bug: "every second flush is dropped", checker: "sync", run: spec.Run{Depth: 2},
		rules: secondFlushes()},
	{bug: "a write goes past the flush after it", checker: "sync", records: pastFlush},
	{bug: "FUA is ignored", checker: "sync", records: noFUA},
	{bug: "of a write only the first sector is written", checker: "sync",
		rules: always(ramdisk.Tear, 1, ramdisk.Write)},
	{bug: "one write is lost, and said to be done", checker: "sync", rules: lostWrite(8)},
	{bug: "flushes are dropped", checker: "sync", account: true, rules: always(ramdisk.DropFlush, 0)},
	{bug: "FUA is ignored", checker: "sync", account: true, records: noFUA},
	{bug: "one write is lost, and said to be done", checker: "sync", account: true,
		rules: lostWrite(8), cut: true},
	{bug: "a write that fails is said to be done", checker: "silent", ops: untold,
		by: "account of flushes"},
	{bug: "nobarrier on a disk with a cache", checker: "sync", mount: "nobarrier"},

	// How it is mounted and recovered.
	{bug: "nothing is journalled", checker: "sync", ops: mounted(0, "noload")},
	{bug: "metadata before its data", checker: "reasonable", run: spec.Run{Depth: 2},
		ops: mounted(0, "data=writeback")},
	{bug: "-o sync is ignored", checker: "sync", mount: "sync", ops: mounted(unix.MS_SYNCHRONOUS, "")},
	{bug: "-o dirsync is ignored", checker: "sync", mount: "dirsync",
		ops: mounted(unix.MS_DIRSYNC, "")},
	{bug: "the journal is thrown away, not replayed", checker: "sync", recover: forgetJournal},
	{bug: "recovery does not flush", checker: "sync", run: spec.Run{Recovery: true},
		recovery: always(ramdisk.DropFlush, 0)},
	{bug: "recovery loses a write", checker: "sync", run: spec.Run{Verify: true},
		recovery: lostWrite(3)},
	{bug: "what was recovered has a wrong bitmap", checker: "sync", run: spec.Run{Verify: true},
		spoil: wrongBitmap, by: "fsck", cut: true},
	{bug: "recovery removes what was never synced", checker: "reasonable", run: spec.Run{Verify: true},
		recover: emptied, by: "fsck", cut: true},
	{bug: "an unmount does not flush", checker: "unmount", ops: unflushedUnmount},
	{bug: "a mount leaves another", checker: "sync", ops: leaving("/tmp", 1), by: "kernel"},
	{bug: "a mount leaves objects in the kernel", checker: "leaks", ops: leaving("/tmp", 1)},

	// Calls that promise durability.
	{bug: "sync does nothing", checker: "sync", ops: not(agent.Sync())},
	{bug: "syncfs does nothing", checker: "sync", ops: not(agent.Syncfs(0))},
	{bug: "fsync does nothing", checker: "sync", ops: not(agent.Fsync(0))},
	{bug: "fsync returns early", checker: "sync", ops: earlyFsync, cut: true},
	{bug: "fsync of directories does nothing", checker: "sync", ops: noDirFsync},
	{bug: "fdatasync does nothing", checker: "sync", run: spec.Run{Depth: 2},
		ops: not(agent.Fdatasync(0))},
	{bug: "O_SYNC is ignored", checker: "sync", run: spec.Run{Depth: 2}, ops: without(unix.O_SYNC)},
	{bug: "O_DSYNC is ignored", checker: "sync", run: spec.Run{Depth: 2}, ops: without(unix.O_DSYNC)},
	{bug: "fsync of a file that was renamed does nothing", checker: "sync", run: spec.Run{Depth: 3},
		ops: noRenamedFsync},
	{bug: "the end of a write comes after its fsync", checker: "sync", run: spec.Run{Depth: 2},
		ops: lateTail, result: wholeWrite},

	// The contents of a transaction, and atomicity.
	{bug: "a rename is not journalled with what follows", checker: "sync", run: spec.Run{Depth: 2},
		ops: putOff(agent.Rename("", "", 0))},
	{bug: "an unlink is not journalled with what follows", checker: "sync", run: spec.Run{Depth: 2},
		ops: putOff(agent.Unlink(""))},
	{bug: "a chmod is not journalled with what follows", checker: "sync", run: spec.Run{Depth: 2},
		ops: putOff(agent.Chmod("", 0))},
	{bug: "a rename in two steps", checker: "reasonable", run: spec.Run{Depth: 2}, ops: inSteps},

	// Single calls.
	{bug: "a rename fails and is done", checker: "failed-syscalls", run: spec.Run{Depth: 2},
		result: says(agent.Rename("", "", 0), unix.ENOSPC), cut: true},
	{bug: "an unlink says that it is done", checker: "failed-syscalls", run: spec.Run{Depth: 2},
		ops: not(agent.Unlink(""))},
	{bug: "a truncation says that it is done", checker: "failed-syscalls", run: spec.Run{Depth: 2},
		ops: not(agent.Ftruncate(0, 0))},
	{bug: "a rename makes the kernel panic", checker: "failed-syscalls", run: spec.Run{Depth: 2},
		ops: panics(agent.Rename("", "", 0)), by: "kernel"},
	{bug: "a chmod of another bit", checker: "failed-syscalls", run: spec.Run{Depth: 2},
		ops: otherMode},

	// Bugs that no checker looks for, or not so far.
	{bug: "the twentieth flush is dropped", checker: "sync", rules: twentiethFlush, missed: true},
	{bug: "a write sets the times of its file back", checker: "unmount", run: spec.Run{Depth: 2},
		ops: oldTimes, result: wholeWrite, missed: true},
	{bug: "every tenth mount leaves objects in the kernel", checker: "leaks", runs: 1,
		ops: leaving("/tmp", 10), missed: true},

	// silent needs no bug: it shows that syncfs of stock ext3 does not report a failure.
	{checker: "sync", cut: true},
	{checker: "sync", account: true},
	{checker: "sync", run: spec.Run{Depth: 3}, runs: 240},
	{checker: "sync", mount: "sync"},
	{checker: "sync", mount: "dirsync"},
	{checker: "sync", run: spec.Run{Recovery: true, Verify: true}},
	{checker: "reasonable", run: spec.Run{Depth: 2}, runs: 40},
	{checker: "unmount", run: spec.Run{Depth: 2}},
	{checker: "leaks", runs: 2},
	{checker: "failed-syscalls", run: spec.Run{Depth: 2}},
}

// is reports whether two operations have the same code.
func is(a, b agent.Op) bool { return a.Code == b.Code }

// fixed returns a rewrite without a memory.
func fixed(f rewrite) func() rewrite { return func() rewrite { return f } }

// nothing stands for an operation that reports success.
func nothing() []agent.Op { return []agent.Op{agent.DiskMark("nothing")} }

// not replaces an operation by nothing, and reports success.
func not(what agent.Op) func() rewrite {
	return fixed(func(o agent.Op) []agent.Op {
		if is(o, what) {
			return nothing()
		}
		return []agent.Op{o}
	})
}

// without opens files without flags, if they have all of these.
func without(flags uint64) func() rewrite {
	return fixed(func(o agent.Op) []agent.Op {
		if slot, numbers, texts, _ := o.Fields(); is(o, agent.Open(0, "", 0, 0)) &&
			numbers[0]&unix.O_SYNC == flags {
			o = agent.Open(slot, texts[0], int(numbers[0]&^flags), uint32(numbers[1]))
		}
		return []agent.Op{o}
	})
}

// mounted mounts without flags, and with more options.
func mounted(clear uint64, options string) func() rewrite {
	return fixed(func(o agent.Op) []agent.Op {
		if _, numbers, texts, data := o.Fields(); is(o, agent.Mount("", "", "", 0, "")) {
			all := strings.Trim(string(data)+","+options, ",")
			o = agent.Mount(texts[0], texts[1], texts[2], uintptr(numbers[0]&^clear), all)
		}
		return []agent.Op{o}
	})
}

// leaving makes every n-th mount bring a mount of tmpfs that stays.
func leaving(at string, every int) func() rewrite {
	return func() rewrite {
		mounts := 0
		return func(o agent.Op) []agent.Op {
			if is(o, agent.Mount("", "", "", 0, "")) {
				if mounts++; mounts%every == 0 {
					return []agent.Op{agent.Mount("left", at, "tmpfs", 0, ""), o}
				}
			}
			return []agent.Op{o}
		}
	}
}

// unflushedUnmount makes the disk drop the flushes of an unmount.
var unflushedUnmount = fixed(func(o agent.Op) []agent.Op {
	if is(o, agent.Unmount("", 0)) {
		return []agent.Op{agent.DiskInject(0, always(ramdisk.DropFlush, 0)[0]), o}
	}
	return []agent.Op{o}
})

// panics makes the kernel panic instead of an operation.
func panics(what agent.Op) func() rewrite {
	return fixed(func(o agent.Op) []agent.Op {
		if is(o, what) {
			return []agent.Op{agent.Open(spare, "/proc/sysrq-trigger", unix.O_WRONLY, 0),
				agent.Write(spare, 0, []byte("c"))}
		}
		return []agent.Op{o}
	})
}

// untold drops a write that should fail, and reports nothing.
var untold = fixed(func(o agent.Op) []agent.Op {
	if disk, numbers, _, _ := o.Fields(); is(o, agent.DiskInject(0, ramdisk.Rule{})) {
		o = agent.DiskInject(disk, ramdisk.Rule{Action: ramdisk.Tear, Ops: []ramdisk.Op{ramdisk.Write},
			Nth: numbers[0], Times: numbers[1]})
	}
	return []agent.Op{o}
})

// inSteps does a rename in two steps, and syncs each.
var inSteps = fixed(func(o agent.Op) []agent.Op {
	if _, _, texts, _ := o.Fields(); is(o, agent.Rename("", "", 0)) {
		return []agent.Op{agent.Link(texts[0], texts[1]), agent.Sync(), agent.Unlink(texts[0])}
	}
	return []agent.Op{o}
})

// otherMode sets a mode with one more bit.
var otherMode = fixed(func(o agent.Op) []agent.Op {
	if _, numbers, texts, _ := o.Fields(); is(o, agent.Chmod("", 0)) {
		o = agent.Chmod(texts[0], uint32(numbers[0])|unix.S_IXOTH)
	}
	return []agent.Op{o}
})

// says changes the result of operations that succeed.
func says(of agent.Op, errno unix.Errno) func(agent.Op, agent.Result) agent.Result {
	return func(o agent.Op, r agent.Result) agent.Result {
		if is(o, of) && r.Errno == 0 {
			r.Errno = errno
		}
		return r
	}
}

// waiting holds operations that were put off. They run before the next operation other than fsync
// and its companions.
type waiting struct {
	ops   []agent.Op
	files map[uint32]string // open files by slot
	dirs  map[string]bool   // directories that were made, and mount points
	// names that rename gave to files
	renamed map[string]bool
}

// passing are the operations before which no operation that was put off runs.
var passing = []agent.Op{agent.Open(0, "", 0, 0), agent.Close(0), agent.Fsync(0),
	agent.Fdatasync(0), agent.Syncfs(0), agent.Sync(), agent.DiskMark("")}

// rewriting returns a rewrite of a bug that puts operations off. instead returns the replacement of
// an operation, and ok if there is one.
func rewriting(instead func(w *waiting, o agent.Op) (now []agent.Op, ok bool)) func() rewrite {
	return func() rewrite {
		w := &waiting{files: make(map[uint32]string), dirs: make(map[string]bool),
			renamed: make(map[string]bool)}
		return func(o agent.Op) (out []agent.Op) {
			slot, _, texts, _ := o.Fields()
			switch {
			case is(o, agent.Open(0, "", 0, 0)):
				w.files[slot] = texts[0]
			case is(o, agent.Mkdir("", 0)):
				w.dirs[path.Clean(texts[0])] = true
			case is(o, agent.Rename("", "", 0)):
				w.renamed[texts[1]] = true
			case is(o, agent.Mount("", "", "", 0, "")):
				// operations that a restored machine had not run yet
				w.dirs[path.Clean(texts[1])], w.ops = true, nil
				clear(w.renamed)
			}
			if !slices.ContainsFunc(passing, func(p agent.Op) bool { return is(o, p) }) ||
				w.concerns(texts[0]) && is(o, agent.Open(0, "", 0, 0)) {
				out, w.ops = w.ops, nil
			}
			if now, ok := instead(w, o); ok {
				return append(out, now...)
			}
			return append(out, o)
		}
	}
}

// concerns reports whether a waiting operation is about a file.
func (w *waiting) concerns(file string) bool {
	return slices.ContainsFunc(w.ops, func(o agent.Op) bool {
		_, _, texts, _ := o.Fields()
		return !is(o, agent.Open(0, "", 0, 0)) && (texts[0] == file || texts[1] == file)
	})
}

// putOff makes an operation run after the syncs that follow it.
func putOff(what agent.Op) func() rewrite {
	return rewriting(func(w *waiting, o agent.Op) ([]agent.Op, bool) {
		if !is(o, what) {
			return nil, false
		}
		w.ops = append(w.ops, o)
		return nothing(), true
	})
}

// spare is a slot that no checker uses.
const spare = agent.MaxSlots - 1

// earlyFsync makes fsync do its work after it has returned.
var earlyFsync = rewriting(func(w *waiting, o agent.Op) ([]agent.Op, bool) {
	slot, _, _, _ := o.Fields()
	if !is(o, agent.Fsync(0)) {
		return nil, false
	}
	w.ops = append(w.ops, agent.Open(spare, w.files[slot], unix.O_RDONLY, 0), agent.Fsync(spare),
		agent.Close(spare))
	return nothing(), true
})

// noDirFsync makes fsync of directories do nothing.
var noDirFsync = rewriting(func(w *waiting, o agent.Op) ([]agent.Op, bool) {
	slot, _, _, _ := o.Fields()
	return nothing(), is(o, agent.Fsync(0)) && w.dirs[path.Clean(w.files[slot])]
})

// noRenamedFsync makes fsync and fdatasync of renamed files do nothing.
var noRenamedFsync = rewriting(func(w *waiting, o agent.Op) ([]agent.Op, bool) {
	slot, _, _, _ := o.Fields()
	return nothing(), (is(o, agent.Fsync(0)) || is(o, agent.Fdatasync(0))) && w.renamed[w.files[slot]]
})

// oldTimes makes a write set the times of its file back to 1970.
var oldTimes = rewriting(func(w *waiting, o agent.Op) ([]agent.Op, bool) {
	slot, _, _, _ := o.Fields()
	return []agent.Op{o, agent.Utimes(w.files[slot], time.Unix(1, 0), time.Unix(1, 0))},
		is(o, agent.Fill(0, 0, 0, 0))
})

// tail is the number of bytes at the end of a write that come late.
const tail = 1000

// lateTail makes the end of a long write come after the syncs that follow it.
var lateTail = rewriting(func(w *waiting, o agent.Op) ([]agent.Op, bool) {
	slot, numbers, _, _ := o.Fields()
	off, n, seed := numbers[0], numbers[1], numbers[2]
	if !is(o, agent.Fill(0, 0, 0, 0)) || n <= tail {
		return nil, false
	}
	n -= tail
	w.ops = append(w.ops, agent.Open(spare, w.files[slot], unix.O_WRONLY, 0),
		agent.Fill(spare, off+n, tail, seed), agent.Close(spare))
	return []agent.Op{agent.Fill(slot, off, uint32(n), seed)}, true
})

// wholeWrite reports a write as complete.
func wholeWrite(o agent.Op, r agent.Result) agent.Result {
	if _, numbers, _, _ := o.Fields(); is(o, agent.Fill(0, 0, 0, 0)) && r.Errno == 0 {
		r.Value = numbers[1]
	}
	return r
}

// always returns a rule that applies to each bio.
func always(a ramdisk.Action, arg uint64, ops ...ramdisk.Op) []ramdisk.Rule {
	return []ramdisk.Rule{{Action: a, Ops: ops, Nth: 1, Times: 1 << 40, Arg: arg}}
}

// lostWrite drops one write and reports nothing.
func lostWrite(nth uint64) []ramdisk.Rule {
	return []ramdisk.Rule{{Action: ramdisk.Tear, Ops: []ramdisk.Op{ramdisk.Write}, Nth: nth, Times: 1}}
}

// twentiethFlush drops a flush that short sequences of operations do not reach.
var twentiethFlush = []ramdisk.Rule{{Action: ramdisk.DropFlush, Nth: 20, Times: 1}}

// secondFlushes drop every second flush, as far as there are rules.
func secondFlushes() (out []ramdisk.Rule) {
	for i := range uint64(ramdisk.MaxRules) {
		out = append(out, ramdisk.Rule{Action: ramdisk.DropFlush, Nth: 2 * (i + 1), Times: 1})
	}
	return out
}

// pastFlush moves the write before each flush past it.
func pastFlush(list []ramdisk.Record) []ramdisk.Record {
	list = slices.Clone(list)
	for i := 2; i+1 < len(list); i++ {
		w, f := list[i-2:i], list[i:i+2]
		write := w[0].Type == ramdisk.Submit && w[0].Op == ramdisk.Write &&
			w[1].Type == ramdisk.Complete && w[1].ID == w[0].ID
		flush := f[0].Type == ramdisk.Submit && f[0].Flags&ramdisk.Preflush != 0 &&
			f[1].Type == ramdisk.Complete && f[1].ID == f[0].ID
		if write && flush {
			copy(list[i-2:], []ramdisk.Record{f[0], f[1], w[0], w[1]})
			i += 2
		}
	}
	return list
}

// noFUA writes FUA writes like all others.
func noFUA(list []ramdisk.Record) []ramdisk.Record {
	list = slices.Clone(list)
	for i := range list {
		list[i].Flags &^= ramdisk.FUA
	}
	return list
}

// forgetJournal clears the flag for a journal replay (EXT4_FEATURE_INCOMPAT_RECOVER,
// fs/ext4/ext4.h, in the superblock's s_feature_incompat), so that jbd2 starts an empty journal.
// The rest of the word is EXT4_FEATURE_INCOMPAT_FILETYPE.
func forgetJournal(e *explore.Env, c *component.Component) error {
	const incompat = 1024 + 0x60
	return e.Sh(`printf '\002' | dd of=%s bs=1 seek=%d conv=notrunc,fsync 2>/dev/null`, c.On[0].Path(),
		incompat)
}

// emptied removes all files after a recovery. If no sync covered them, no checker misses them, and
// the rest is sound.
func emptied(e *explore.Env, c *component.Component) error {
	if err := errors.Join(c.Recover(e), c.Mount(e)); err != nil {
		return err
	}
	return errors.Join(e.Sh("find %s -mindepth 1 -maxdepth 1 ! -name lost+found -exec rm -rf {} +",
		c.At), c.Unmount(e))
}

// wrongBitmap marks unused blocks as used: some of the last blocks of the second group, whose
// descriptor is the second one in the block after the superblock (bg_block_bitmap, fs/ext4/ext4.h).
func wrongBitmap(e *explore.Env, device string) error {
	const block = 1024
	return e.Sh(`set -e
		b=$(dd if=%[1]s bs=1 skip=%[2]d count=4 2>/dev/null | od -An -tu4 | tr -d ' ')
		printf '\377' | dd of=%[1]s bs=1 seek=$((b * %[3]d + 800)) conv=notrunc,fsync 2>/dev/null`, device, 2*block+32, block)
}
