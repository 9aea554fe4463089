//go:build vmtest

package host

import (
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/ramdisk"
)

// is reports whether two operations have the same code.
func is(a, b agent.Op) bool { return a.Code == b.Code }

// fixed returns a constructor of a rewrite that has no state.
func fixed(f rewrite) func() rewrite { return func() rewrite { return f } }

// nothing returns an operation that has no effect and succeeds.
func nothing() []agent.Op { return []agent.Op{agent.DiskMark("nothing")} }

// not replaces an operation by nothing.
func not(what agent.Op) func() rewrite {
	return fixed(func(o agent.Op) []agent.Op {
		if is(o, what) {
			return nothing()
		}
		return []agent.Op{o}
	})
}

// without removes flags from each open whose synchronization flags are exactly these.
func without(flags uint64) func() rewrite {
	return fixed(func(o agent.Op) []agent.Op {
		if slot, numbers, texts, _ := o.Fields(); is(o, agent.Open(0, "", 0, 0)) &&
			numbers[0]&unix.O_SYNC == flags {
			o = agent.Open(slot, texts[0], int(numbers[0]&^flags), uint32(numbers[1]))
		}
		return []agent.Op{o}
	})
}

// mounted removes flags from each mount, and adds options.
func mounted(clear uint64, options string) func() rewrite {
	return fixed(func(o agent.Op) []agent.Op {
		if _, numbers, texts, data := o.Fields(); is(o, agent.Mount("", "", "", 0, "")) {
			all := strings.Trim(string(data)+","+options, ",")
			o = agent.Mount(texts[0], texts[1], texts[2], uintptr(numbers[0]&^clear), all)
		}
		return []agent.Op{o}
	})
}

// leaving adds a mount of a tmpfs at a folder before every n-th mount. Nothing unmounts it.
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

// unreported makes the writes that should fail succeed without effect.
var unreported = fixed(func(o agent.Op) []agent.Op {
	if disk, numbers, _, _ := o.Fields(); is(o, agent.DiskInject(0, ramdisk.Rule{})) {
		o = agent.DiskInject(disk, ramdisk.Rule{Action: ramdisk.Tear, Ops: []ramdisk.Op{ramdisk.Write},
			Nth: numbers[0], Times: numbers[1]})
	}
	return []agent.Op{o}
})

// inSteps replaces a rename by a link and an unlink, with a sync between them.
var inSteps = fixed(func(o agent.Op) []agent.Op {
	if _, _, texts, _ := o.Fields(); is(o, agent.Rename("", "", 0)) {
		return []agent.Op{agent.Link(texts[0], texts[1]), agent.Sync(), agent.Unlink(texts[0])}
	}
	return []agent.Op{o}
})

// otherMode adds a bit to the mode of a chmod.
var otherMode = fixed(func(o agent.Op) []agent.Op {
	if _, numbers, texts, _ := o.Fields(); is(o, agent.Chmod("", 0)) {
		o = agent.Chmod(texts[0], uint32(numbers[0])|unix.S_IXOTH)
	}
	return []agent.Op{o}
})

// says replaces the result of each operation of a code that succeeds.
func says(of agent.Op, errno unix.Errno) func(agent.Op, agent.Result) agent.Result {
	return func(o agent.Op, r agent.Result) agent.Result {
		if is(o, of) && r.Errno == 0 {
			r.Errno = errno
		}
		return r
	}
}
