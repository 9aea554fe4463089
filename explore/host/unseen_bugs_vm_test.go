//go:build vmtest

package host

import (
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/component"
)

// unseenBugs are bugs that file systems have had, planted above a file system for a user who knows
// nothing of them. docs/results/unseen.md has the results.
var unseenBugs = []plant{
	{bug: "fsync after a rename of a subdirectory does nothing", ops: noFsyncOf(func(o agent.Op,
		texts [3]string, w *delayed) string {
		if is(o, agent.Rename("", "", 0)) && w.dirs[texts[0]] {
			return path.Dir(texts[1])
		}
		return ""
	})},
	{bug: "fsync of a file with two names does nothing", ops: noFsyncOf(func(o agent.Op,
		texts [3]string, _ *delayed) string {
		if is(o, agent.Link("", "")) {
			return texts[0]
		}
		return ""
	})},
	{bug: "fsync after a punched hole does nothing",
		ops: noFsyncOfSlot(agent.Fallocate(0, 0, 0, 0), unix.FALLOC_FL_PUNCH_HOLE)},
	{bug: "fsync and fdatasync after a truncation do nothing",
		ops: noFsyncOfSlot(agent.Ftruncate(0, 0), 0)},
	{bug: "the second fsync of a file does nothing", ops: secondFsync},
	{bug: "a larger file shows old bytes", ops: staleTail},
	{bug: "an attribute is not journaled with the operations after it",
		ops: delay(agent.Setxattr("", "", nil, 0))},
	{bug: "a symbolic link is not journaled with the operations after it",
		ops: delay(agent.Symlink("", ""))},
	{bug: "an allocation is not journaled with the operations after it",
		ops: delay(agent.Fallocate(0, 0, 0, 0))},

	// Operations that only groups have.
	{bug: "a removed attribute returns", ops: delay(agent.Removexattr("", ""))},
	{bug: "a change of the owner is lost", ops: delay(agent.Chown("", 0, 0))},
	{bug: "a whiteout rename leaves no whiteout", ops: renameFlags(unix.RENAME_WHITEOUT, false)},
	{bug: "an exchange in three renames", checker: "reasonable",
		ops: renameFlags(unix.RENAME_EXCHANGE, true)},
	{bug: "a collapsed range is zeroed", ops: wrongCollapse},
	{bug: "msync does nothing", ops: not(agent.Msync(0, 0, 0))},
	{bug: "a direct write comes late", ops: delay(agent.Dwrite(0, 0, 0, 0))},
	{bug: "linkat of a nameless file comes late", ops: delay(agent.Linkat(0, ""))},
	{bug: "a clone is lost", fs: "xfs", ops: delay(agent.Clone(0, 0, 0, 0, 0))},
	{bug: "bytes written behind the end by a mapping appear", fs: "btrfs", surprise: true,
		ops: beyondEnd},
	{bug: "a punched range keeps the bytes of its first block", ops: wrongPunch},
	{bug: "fsync on a full disk does nothing", ops: noFsyncAfter(agent.FillDisk(""))},
	{bug: "fsync on a full disk without fallocate does nothing", fs: "ext3",
		ops: noFsyncAfter(agent.FillDisk(""))},
	{bug: "fsync without free inodes does nothing", fs: "ext3",
		ops: noFsyncAfter(agent.FillInodes(""))},
	{bug: "a write without free inodes finds no space", result: noSpaceAfter(agent.FillInodes(""))},
	{bug: "an appending write comes late", ops: lateAppend},

	// What no operation changes.
	{bug: "fsync does not keep times",
		recover: afterRecovery("find $AT -type f -exec touch -d @1 {} +")},
	{bug: "a write sets the times of its file back", ops: oldTimes, result: wholeWrite},
	{bug: "a recovered directory cannot be removed",
		after: says(agent.Rmdir(""), unix.ENOTEMPTY)},
	{bug: "recovery leaks blocks", mkfs: "-O ^metadata_csum", spoil: wrongBitmap64},
	{bug: "recovery frees blocks in use", mkfs: "-O ^metadata_csum,^flex_bg",
		recover: afterRecovery(":", freedBlocks)},
	{bug: "setxattr gives EIO though nothing failed",
		result: says(agent.Setxattr("", "", nil, 0), unix.EIO)},
	{bug: "symlink gives ENOSPC though there is space",
		result: says(agent.Symlink("", ""), unix.ENOSPC)},
	{bug: "close gives EIO though nothing failed", result: says(agent.Close(0), unix.EIO)},
	{bug: "the space of removed files is not free", result: noSpaceAfter(agent.FreeDisk("")),
		after: noSpaceAfter(agent.FreeDisk(""))},
	{bug: "chmod does not change the time of status", result: rewrittenFiles(func(e *agent.Entry) {
		if e.Mode&0o777 == 0o700 {
			e.Ctime = 1e18
		}
	})},
	{bug: "a directory keeps its time of modification", result: rewrittenFiles(func(e *agent.Entry) {
		if e.Path == "." {
			e.Mtime = 1e18
		}
	})},
	{bug: "a hole has data", result: rewrittenFiles(func(e *agent.Entry) {
		if e.Size > 100_000 {
			e.InHole = 1
		}
	})},
	{bug: "a failed write is reported to one descriptor", checker: "silent",
		result: toldOnce()},
	{bug: "a recovered file takes no space", surprise: true, after: noBlocks},
	{bug: "readdir gives a name twice", result: twiceListed},
	{bug: "a link count is wrong", result: extraLink},
}

// noFsyncOf makes fsync and fdatasync of paths do nothing. spoiled returns the path that an
// operation adds to them, or "".
func noFsyncOf(spoiled func(o agent.Op, texts [3]string, w *delayed) string) func() rewrite {
	return func() rewrite {
		paths := make(map[string]bool)
		return rewriting(func(w *delayed, o agent.Op) ([]agent.Op, bool) {
			slot, _, texts, _ := o.Fields()
			if is(o, agent.Mount("", "", "", 0, "")) {
				clear(paths)
			}
			if p := spoiled(o, texts, w); p != "" {
				paths[path.Clean(p)] = true
			}
			forces := is(o, agent.Fsync(0)) || is(o, agent.Fdatasync(0))
			return nothing(), forces && paths[path.Clean(w.files[slot])]
		})()
	}
}

// noFsyncOfSlot makes fsync and fdatasync of files do nothing on whose descriptors an operation
// with some flags was performed.
func noFsyncOfSlot(what agent.Op, flags uint64) func() rewrite {
	return noFsyncOf(func(o agent.Op, _ [3]string, w *delayed) string {
		slot, numbers, _, _ := o.Fields()
		if is(o, what) && (flags == 0 || numbers[0]&flags != 0) {
			return w.files[slot]
		}
		return ""
	})
}

// secondFsync makes all fsyncs of a path but the first do nothing.
func secondFsync() rewrite {
	count := make(map[string]int)
	return rewriting(func(w *delayed, o agent.Op) ([]agent.Op, bool) {
		slot, _, _, _ := o.Fields()
		switch {
		case is(o, agent.Mount("", "", "", 0, "")):
			clear(count)
		case is(o, agent.Fsync(0)):
			count[w.files[slot]]++
			return nothing(), count[w.files[slot]] > 1
		}
		return nil, false
	})()
}

// staleTail writes the last bytes of a file that a truncation has made longer.
var staleTail = fixed(func(o agent.Op) []agent.Op {
	slot, numbers, _, _ := o.Fields()
	if size := numbers[0]; is(o, agent.Ftruncate(0, 0)) && size > tail {
		return []agent.Op{o, agent.Fill(slot, size-tail, tail, 77)}
	}
	return []agent.Op{o}
})

// renameFlags leaves out a flag of a rename. With exchange, the rename becomes three.
func renameFlags(flag uint64, exchange bool) func() rewrite {
	return fixed(func(o agent.Op) []agent.Op {
		_, numbers, texts, _ := o.Fields()
		if !is(o, agent.Rename("", "", 0)) || numbers[0]&flag == 0 {
			return []agent.Op{o}
		}
		if !exchange {
			return []agent.Op{agent.Rename(texts[0], texts[1], 0)}
		}
		via := path.Join(path.Dir(texts[0]), "via")
		return []agent.Op{agent.Rename(texts[0], via, 0), agent.Rename(texts[1], texts[0], 0),
			agent.Sync(), agent.Rename(via, texts[1], 0)}
	})
}

// wrongCollapse punches the range that should be collapsed.
var wrongCollapse = fixed(func(o agent.Op) []agent.Op {
	slot, n, _, _ := o.Fields()
	if is(o, agent.Fallocate(0, 0, 0, 0)) && n[0] == unix.FALLOC_FL_COLLAPSE_RANGE {
		return []agent.Op{agent.Fallocate(slot, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE,
			n[1], n[2])}
	}
	return []agent.Op{o}
})

// beyondEnd makes bytes visible that a mapping has written behind the end of its file, when
// ftruncate makes the file longer.
func beyondEnd() rewrite {
	size := make(map[uint32]uint64)
	tail := make(map[uint32][2]uint64) // length and seed
	return fixed(func(o agent.Op) []agent.Op {
		slot, n, _, _ := o.Fields()
		switch {
		case is(o, agent.Open(0, "", 0, 0)):
			delete(tail, slot)
		case is(o, agent.Mmaptail(0, 0, 0)):
			tail[slot] = [2]uint64{n[1], n[2]}
		case is(o, agent.Ftruncate(0, 0)):
			was, t := size[slot], tail[slot]
			size[slot] = n[0]
			if t[0] > 0 && n[0] > was {
				return []agent.Op{o, agent.Fill(slot, was, uint32(t[0]), t[1])}
			}
		}
		return []agent.Op{o}
	})()
}

// wrongPunch punches only the whole blocks of a range.
var wrongPunch = fixed(func(o agent.Op) []agent.Op {
	slot, n, _, _ := o.Fields()
	const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	if begin := (n[1] + 4095) / 4096 * 4096; is(o, agent.Fallocate(0, 0, 0, 0)) && n[0] == punch &&
		begin > n[1] {
		if end := n[1] + n[2]; begin < end {
			return []agent.Op{agent.Fallocate(slot, punch, begin, end-begin)}
		}
		return nothing()
	}
	return []agent.Op{o}
})

// noFsyncAfter makes fsync do nothing after an operation that fills something, until it is freed.
func noFsyncAfter(fill agent.Op) func() rewrite {
	return func() rewrite {
		full := false
		return fixed(func(o agent.Op) []agent.Op {
			switch {
			case is(o, fill):
				full = true
			case is(o, agent.FreeDisk("")), is(o, agent.FreeInodes("")),
				is(o, agent.Mount("", "", "", 0, "")):
				full = false
			case is(o, agent.Fsync(0)) && full:
				return nothing()
			}
			return []agent.Op{o}
		})()
	}
}

// noSpaceAfter lets writes find no space after an operation.
func noSpaceAfter(what agent.Op) func(o agent.Op, r agent.Result) agent.Result {
	after := false
	return func(o agent.Op, r agent.Result) agent.Result {
		switch {
		case is(o, agent.Mount("", "", "", 0, "")):
			after = false
		case is(o, what) && r.Errno == 0:
			after = true
		case is(o, agent.Fill(0, 0, 0, 0)) && after:
			return agent.Result{Errno: unix.ENOSPC}
		}
		return r
	}
}

// toldOnce hides all errors of a file's write-back but the first.
func toldOnce() func(o agent.Op, r agent.Result) agent.Result {
	told := false
	return func(o agent.Op, r agent.Result) agent.Result {
		switch {
		case is(o, agent.Open(0, "", 0, 0)):
			told = false
		case r.Errno == 0:
		case is(o, agent.Fsync(0)) && told:
			return agent.Result{}
		case is(o, agent.Fsync(0)), is(o, agent.Fdatasync(0)), is(o, agent.Msync(0, 0, 0)),
			is(o, agent.SyncFileRange(0, 0, 0, 0)):
			told = true
		}
		return r
	}
}

// lateAppend delays writes through descriptors that append.
func lateAppend() rewrite {
	appends := make(map[uint32]bool)
	return rewriting(func(w *delayed, o agent.Op) ([]agent.Op, bool) {
		slot, n, _, _ := o.Fields()
		if is(o, agent.Open(0, "", 0, 0)) {
			appends[slot] = n[0]&unix.O_APPEND != 0
		}
		if !is(o, agent.Fill(0, 0, 0, 0)) || !appends[slot] {
			return nil, false
		}
		w.ops = append(w.ops, agent.Open(spare, w.files[slot], unix.O_WRONLY|unix.O_APPEND, 0),
			agent.Fill(spare, n[0], uint32(n[1]), n[2]), agent.Close(spare))
		return nothing(), true
	})()
}

// afterRecovery recovers and mounts a file system, runs a shell line there, and unmounts it. Then
// it runs a line with $DEVICE.
func afterRecovery(mounted string,
	then ...string) func(e *explore.Env, c *component.Component) error {
	return func(e *explore.Env, c *component.Component) error {
		if err := c.Recover(e); err != nil {
			return err
		}
		if err := c.Mount(e); err != nil {
			return err
		}
		line := "AT=" + c.At + "; DEVICE=" + c.On[0].Path() + "; "
		if err := e.Sh("%s", line+mounted); err != nil {
			return err
		}
		if err := c.Unmount(e); err != nil {
			return err
		}
		return e.Sh("%s", line+strings.Join(then, "; "))
	}
}

// freedBlocks marks the blocks 600 to 4095 of the first group of an ext4 of 1 KiB blocks as free,
// where its files and directories are.
const freedBlocks = `b=$(dd if=$DEVICE bs=1 skip=2048 count=4 2>/dev/null | od -An -tu4 | tr -d ' ')
dd if=/dev/zero of=$DEVICE bs=1 seek=$((b * 1024 + 75)) count=437 conv=notrunc,fsync 2>/dev/null`

// wrongBitmap64 marks unused blocks of an ext4 as used, whose descriptors have 64 bytes.
func wrongBitmap64(e *explore.Env, device string) error {
	return e.Sh(`b=$(dd if=%[1]s bs=1 skip=2112 count=4 2>/dev/null | od -An -tu4 | tr -d ' ')
		printf '\377' | dd of=%[1]s bs=1 seek=$((b * 1024 + 900)) conv=notrunc,fsync 2>/dev/null`, device)
}

// rewrittenTree returns a result rewriter for the entries of agent.Tree.
func rewrittenTree(f func(list []agent.Entry) []agent.Entry,
) func(o agent.Op, r agent.Result) agent.Result {
	return func(o agent.Op, r agent.Result) agent.Result {
		if !is(o, agent.Tree("")) || r.Errno != 0 {
			return r
		}
		list, err := agent.DecodeTree(r.Data)
		if err != nil {
			panic(fmt.Sprintf("the agent's tree: %v", err))
		}
		r.Data = agent.EncodeTree(f(list))
		return r
	}
}

// rewrittenFiles returns a result rewriter for each entry of agent.Tree.
func rewrittenFiles(f func(e *agent.Entry)) func(o agent.Op, r agent.Result) agent.Result {
	return rewrittenTree(func(list []agent.Entry) []agent.Entry {
		for i := range list {
			f(&list[i])
		}
		return list
	})
}

var twiceListed = rewrittenTree(func(list []agent.Entry) []agent.Entry {
	if last := list[len(list)-1]; strings.HasPrefix(last.Path, "n") {
		list = append(list, last)
	}
	return list
})

var noBlocks = rewrittenFiles(func(e *agent.Entry) {
	if e.Mode&unix.S_IFMT == unix.S_IFREG {
		e.Blocks = 0
	}
})

var extraLink = rewrittenFiles(func(e *agent.Entry) {
	if e.Mode&unix.S_IFMT == unix.S_IFREG {
		e.Links++
	}
})
