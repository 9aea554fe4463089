package checkers

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

type callOp = agent.Op

// topology is what there is now: paths in order.
type topology struct {
	dirs, files, links []string // directories begin with "/"
	empty              map[string]bool
}

func (c *Core) topology() topology {
	t := topology{empty: make(map[string]bool)}
	c.fs.Walk(func(p string, k model.Kind, empty bool) {
		switch k {
		case model.Dir:
			t.dirs, t.empty[p] = append(t.dirs, p), empty
		case model.File:
			t.files = append(t.files, p)
		case model.Symbolic:
			t.links = append(t.links, p)
		}
	})
	return t
}

// free is the first name that a directory does not have. Which one is taken does not matter: topologies that differ only in names
// have one signature.
func (t *topology) free(d string) string {
	for i := 0; ; i++ {
		p := path.Join(d, "n"+string(rune('a'+i%26))+strings.Repeat("x", i/26))
		_, is := t.empty[p]
		if !is && !contains(t.files, p) && !contains(t.links, p) {
			return p
		}
	}
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// below says whether a path is another one or beneath it.
func below(p, d string) bool { return p == d || strings.HasPrefix(p, strings.TrimSuffix(d, "/")+"/") }

// The sizes and places of writes: part of a block, and several of them.
const (
	small = 100
	large = 9000
)

// opened is a step that opens a file, does something to it, and closes it.
func opened(p string, flags int, o model.Op) []model.Op {
	return []model.Op{{Code: model.Open, Path: p, Flags: flags, Mode: 0o644}, o, {Code: model.Close}}
}

// Steps are all operations that can succeed: each of the system calls on each node.
func (c *Core) Steps() (out [][]model.Op) {
	t := c.topology()
	add := func(ops ...model.Op) { out = append(out, ops) }
	moreFiles, moreDirs := len(t.files)+len(t.links) < c.Limits.Files, len(t.dirs)-1 < c.Limits.Dirs
	for _, d := range t.dirs {
		n := t.free(d)
		if moreFiles {
			out = append(out, []model.Op{{Code: model.Open, Path: n, Flags: unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY, Mode: 0o644}, {Code: model.Close}})
			if !c.Promises.NoSymlinks {
				add(model.Op{Code: model.Symlink, Path: n, To: "nowhere"})
			}
		}
		if moreDirs {
			add(model.Op{Code: model.Mkdir, Path: n, Mode: 0o755})
		}
	}
	for _, p := range append(append([]string(nil), t.files...), t.links...) {
		add(model.Op{Code: model.Unlink, Path: p})
		for _, d := range t.dirs {
			if moreFiles && !c.Promises.NoLinks {
				add(model.Op{Code: model.Link, Path: p, To: t.free(d)})
			}
			add(model.Op{Code: model.Rename, Path: p, To: t.free(d)})
		}
		for _, over := range append(append([]string(nil), t.files...), t.links...) {
			if over != p {
				add(model.Op{Code: model.Rename, Path: p, To: over})
			}
		}
	}
	for _, p := range t.dirs[1:] {
		if t.empty[p] {
			add(model.Op{Code: model.Rmdir, Path: p})
		}
		for _, d := range t.dirs {
			if below(d, p) {
				continue
			}
			add(model.Op{Code: model.Rename, Path: p, To: t.free(d)})
			if d != "/" && t.empty[d] && d != p {
				add(model.Op{Code: model.Rename, Path: p, To: d})
			}
		}
	}
	for _, p := range t.files {
		out = append(out, c.writes(p)...)
	}
	for _, p := range append(append([]string(nil), t.files...), t.dirs[1:]...) {
		if !c.Promises.NoXattrs {
			add(model.Op{Code: model.Setxattr, Path: p, Name: "user.fsward", Value: "1"})
		}
		if !c.Promises.NoModes {
			add(model.Op{Code: model.Chmod, Path: p, Mode: 0o700})
		}
	}
	return out
}

// writes are what changes the contents of a file. Two seeds are enough to tell old from new (FiSC, 4.1).
func (c *Core) writes(p string) (out [][]model.Op) {
	const rw = unix.O_RDWR
	for _, flags := range []int{rw, rw | unix.O_SYNC, rw | unix.O_DSYNC} {
		out = append(out, opened(p, flags, model.Op{Code: model.Write, Len: large, Seed: 1}), opened(p, flags, model.Op{Code: model.Write, Off: 50, Len: small, Seed: 2}))
	}
	out = append(out, opened(p, rw, model.Op{Code: model.Write, Off: c.Limits.Far, Len: small, Seed: 1}),
		opened(p, rw, model.Op{Code: model.Ftruncate, Len: 0}), opened(p, rw, model.Op{Code: model.Ftruncate, Len: 5000}))
	if !c.Promises.NoFallocate {
		out = append(out, opened(p, rw, model.Op{Code: model.Fallocate, Len: large}))
	}
	if !c.Promises.NoPunch {
		out = append(out, opened(p, rw, model.Op{Code: model.Fallocate, Len: 4096, Flags: unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE}))
	}
	return out
}

// refused are operations that have to fail and to do nothing.
func (c *Core) refused() (out [][]model.Op) {
	t := c.topology()
	add := func(o model.Op) { out = append(out, []model.Op{o}) }
	add(model.Op{Code: model.Unlink, Path: "/none"})
	for _, d := range t.dirs[1:] {
		add(model.Op{Code: model.Mkdir, Path: d, Mode: 0o755})
		add(model.Op{Code: model.Unlink, Path: d})
		add(model.Op{Code: model.Rename, Path: d, To: path.Join(d, "below")})
		if !t.empty[d] {
			add(model.Op{Code: model.Rmdir, Path: d})
		}
		for _, p := range t.files {
			add(model.Op{Code: model.Rename, Path: p, To: d})
		}
	}
	for _, p := range t.files {
		add(model.Op{Code: model.Rmdir, Path: p})
		add(model.Op{Code: model.Mkdir, Path: p + "/below", Mode: 0o755})
	}
	return out
}

// touched is the file or directory that a step was about, where it is after it; "" where it is gone.
func touched(ops []model.Op) string {
	switch o := ops[0]; o.Code {
	case model.Unlink, model.Rmdir:
		return ""
	case model.Rename, model.Link:
		return o.To
	default:
		return o.Path
	}
}

// parents are the directories above a path, the nearest first.
func parents(p string) (out []string) {
	for p != "/" {
		p = path.Dir(p)
		out = append(out, p)
	}
	return out
}

// syncing are the ways to have what a step did on the disk: each a list of steps.
func (c *Core) syncing(ops []model.Op) (out [][]model.Op) {
	out = [][]model.Op{{{Code: model.Sync}}, opened("/", unix.O_RDONLY, model.Op{Code: model.Syncfs})}
	p := touched(ops)
	if c.Promises.NoDirFsync {
		if ops[0].Code == model.Open { // else it may be a directory
			out = append(out, opened(p, unix.O_RDONLY, model.Op{Code: model.Fsync}), opened(p, unix.O_RDONLY, model.Op{Code: model.Fdatasync}))
		}
		return out
	}
	dirs := parents(ops[0].Path)
	if p != "" {
		dirs = append(dirs, parents(p)...)
	}
	slot := uint32(0)
	var rest []model.Op
	done := map[string]bool{}
	for _, d := range dirs {
		// The directories on the way, each once: neither fsync nor O_SYNC keeps the entries that lead to a file (EXPLODE, 7.3).
		if !done[d] {
			slot++
			rest = append(rest, model.Op{Code: model.Open, Slot: slot, Path: d}, model.Op{Code: model.Fsync, Slot: slot})
			done[d] = true
		}
	}
	out = append(out, rest)
	if p == "" || ops[0].Code == model.Symlink || ops[0].Code == model.Rename && len(ops) == 1 {
		return out // what is gone, and a symbolic link, cannot be opened; a renamed file is the same as before
	}
	// The file alone, whose name may be on the disk already: in many file systems fsync of a directory would bring all with it.
	for _, code := range []model.Code{model.Fsync, model.Fdatasync} {
		out = append(out, opened(p, unix.O_RDONLY, model.Op{Code: code}))
	}
	return append(out, append(opened(p, unix.O_RDONLY, model.Op{Code: model.Fsync}), rest...))
}
