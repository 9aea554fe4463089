//go:build vmtest

package host

import (
	"path"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// delayed holds delayed operations. They run before the next operation that is not in passing.
type delayed struct {
	ops     []agent.Op
	files   map[uint32]string // open files by slot
	dirs    map[string]bool   // directories that were made, and mount points
	renamed map[string]bool   // names that a rename gave to files
}

// passing are the operations that do not make the delayed operations run.
var passing = []agent.Op{agent.Open(0, "", 0, 0), agent.Close(0), agent.Fsync(0),
	agent.Fdatasync(0), agent.Syncfs(0), agent.Sync(), agent.DiskMark("")}

// rewriting returns a constructor of a rewrite that may delay operations. instead returns the
// replacement of an operation; ok is false if it is not replaced.
func rewriting(instead func(w *delayed, o agent.Op) (now []agent.Op, ok bool)) func() rewrite {
	return func() rewrite {
		w := &delayed{files: make(map[uint32]string), dirs: make(map[string]bool),
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
				// The machine was restored, which drops the delayed operations.
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

// concerns reports whether a delayed operation changes a file.
func (w *delayed) concerns(file string) bool {
	return slices.ContainsFunc(w.ops, func(o agent.Op) bool {
		_, _, texts, _ := o.Fields()
		return !is(o, agent.Open(0, "", 0, 0)) && (texts[0] == file || texts[1] == file)
	})
}

// delay makes an operation run after the syncs that follow it.
func delay(what agent.Op) func() rewrite {
	return rewriting(func(w *delayed, o agent.Op) ([]agent.Op, bool) {
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
var earlyFsync = rewriting(func(w *delayed, o agent.Op) ([]agent.Op, bool) {
	slot, _, _, _ := o.Fields()
	if !is(o, agent.Fsync(0)) {
		return nil, false
	}
	w.ops = append(w.ops, agent.Open(spare, w.files[slot], unix.O_RDONLY, 0), agent.Fsync(spare),
		agent.Close(spare))
	return nothing(), true
})

// noDirFsync makes fsync of directories do nothing.
var noDirFsync = rewriting(func(w *delayed, o agent.Op) ([]agent.Op, bool) {
	slot, _, _, _ := o.Fields()
	return nothing(), is(o, agent.Fsync(0)) && w.dirs[path.Clean(w.files[slot])]
})

// noRenamedFsync makes fsync and fdatasync of renamed files do nothing.
var noRenamedFsync = rewriting(func(w *delayed, o agent.Op) ([]agent.Op, bool) {
	slot, _, _, _ := o.Fields()
	return nothing(), (is(o, agent.Fsync(0)) || is(o, agent.Fdatasync(0))) && w.renamed[w.files[slot]]
})

// oldTimes makes a write set the times of its file back to 1970.
var oldTimes = rewriting(func(w *delayed, o agent.Op) ([]agent.Op, bool) {
	slot, _, _, _ := o.Fields()
	return []agent.Op{o, agent.Utimes(w.files[slot], time.Unix(1, 0), time.Unix(1, 0))},
		is(o, agent.Fill(0, 0, 0, 0))
})

// tail is the number of bytes at the end of a write that come late.
const tail = 1000

// lateTail makes the end of a long write come after the syncs that follow it.
var lateTail = rewriting(func(w *delayed, o agent.Op) ([]agent.Op, bool) {
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
