package checkers

import (
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/exploretest"
	"fsward/explore/model"
	"fsward/explore/ramdisk"
)

func (f *fake) closeAll() {
	for i := range agent.FirstHeld {
		f.slots[i] = -1
	}
	if f.fs != nil {
		f.fs.CloseAll()
	}
}

// perform performs a system call.
func (f *fake) perform(s *exploretest.System, call agent.Op) agent.Result {
	_, _, texts, _ := call.Fields()
	if at, ok := call.FailsAt(); ok {
		f.failAt, f.hits = at, nil
		return agent.Result{}
	}
	switch call.Code {
	case agent.FailEnd().Code:
		f.failAt = nil
		return agent.Result{Data: agent.EncodeHits(f.hits)}
	case agent.DiskInject(0, ramdisk.Rule{}).Code:
		_, n, _, _ := call.Fields()
		f.fault, f.writes = &ramdisk.Rule{Nth: n[0], Times: n[1]}, 0
		return agent.Result{}
	case agent.DropCaches().Code, agent.Writeback().Code:
		return agent.Result{}
	case agent.Clock().Code:
		return agent.Result{Value: f.clock()}
	case agent.DiskClear(0).Code:
		f.fault = nil
		return agent.Result{}
	}
	switch {
	case f.fs == nil:
		return agent.Result{Errno: unix.ENOENT}
	case f.stopped:
		return agent.Result{Errno: unix.EIO}
	}
	switch call.Code {
	case agent.Tree("").Code:
		return f.tree()
	case agent.Listxattr("").Code:
		return f.listxattr(texts[0])
	}
	if first, second, both := call.Both(); both {
		if r, wrong := f.atOnceWrong(s, first, second); wrong {
			return r
		}
		return agent.Result{Data: agent.EncodeBoth(f.perform(s, first), f.perform(s, second))}
	}
	o, ok := model.FromCall(fakeAt, call)
	if !ok {
		return agent.Result{Errno: unix.ENOSYS}
	}
	if r, failed := f.failedCall(o); failed {
		return r
	}
	do := f.do
	f.warm = f.recovered
	if f.bug == "a direct write leaves the position in the file" && o.Code == model.Dwrites {
		do = f.firstHalf
	}
	r := do(s, o)
	return agent.Result{Errno: r.Errno, Value: r.Value, Data: []byte(r.Data)}
}

// tree is agent.Tree.
func (f *fake) tree() agent.Result {
	list := f.unseenEntries(f.observed().Entries())
	f.warm = true
	return agent.Result{Data: agent.EncodeTree(list)}
}

// listxattr is listxattr(2).
func (f *fake) listxattr(path string) agent.Result {
	x := f.observed().Xattrs(strings.TrimPrefix(path, fakeAt))
	names := ""
	for _, name := range slices.Sorted(maps.Keys(x)) {
		names += name + "\x00"
	}
	return agent.Result{Data: []byte(names)}
}

// failedCall counts a call inside the kernel for an operation, and reports whether it fails.
func (f *fake) failedCall(o model.Op) (r agent.Result, failed bool) {
	if f.failAt == nil || o.Code == model.Close {
		return r, false
	}
	failed = slices.Contains(f.failAt, uint32(len(f.hits)))
	f.hits = append(f.hits, agent.Hit{Failed: failed, Stack: uint64(o.Code),
		Site: o.Code.String() + "+0x10"})
	if failed && f.bug != "failed allocations succeed" {
		r.Errno = unix.ENOMEM
	}
	return r, failed
}

// clock returns the time of the next operation; 0 while nothing is mounted.
func (f *fake) clock() uint64 {
	if f.fs == nil {
		return 0
	}
	return uint64(model.ClockOf(f.fs.Moment() + 1))
}

// do performs an operation in memory, and adds it to the pending operations or to the journal.
func (f *fake) do(s *exploretest.System, o model.Op) model.Result {
	if r, is := f.doWrong(o); is {
		return r
	}
	o = f.unseenChange(o)
	created := false
	if o.Code == model.Open {
		_, had := f.observed().Kind(o.Path)
		created = !had
	}
	r := f.fs.Apply(o)
	if r.Errno != 0 {
		return r
	}
	if o.Code == model.Link {
		f.leakOfLink()
	}
	switch o.Code {
	case model.Open:
		f.slots[o.Slot], f.inodes[o.Slot] = o.Flags, f.inode(o.Path)
		f.unreported[o.Slot] = false
		if created {
			f.log(model.Op{Code: model.Open, Path: o.Path, Flags: o.Flags &^ unix.O_SYNC, Mode: o.Mode})
		} else if o.Flags&unix.O_TRUNC != 0 {
			f.log(model.Op{Code: model.Ftruncate, Path: o.Path})
		}
	case model.Write, model.Dwrite, model.Dwrites, model.Mmapwrite, model.Ftruncate, model.Fallocate:
		if o.Path = f.path(o.Slot); o.Path == "" {
			return r // the file has no name, and is gone after a crash
		}
		if o.Slot = 0; o.Code == model.Dwrite || o.Code == model.Dwrites || o.Code == model.Mmapwrite {
			o.Code = model.Write
		}
		f.log(o)
	case model.Close, model.Read, model.Readdir, model.Readlink, model.Getxattr,
		model.SyncFileRange, model.FillDisk, model.FreeDisk, model.FillInodes, model.FreeInodes,
		model.Mmaptail:
	case model.Fiemap:
		r.Value = f.wrongExtents(o)
	case model.Fsync, model.Fdatasync, model.Syncfs, model.Sync, model.Msync:
		return f.sync(s, o, r)
	default:
		f.log(o)
	}
	flags, synchronous := 0, false
	if o.Code == model.Write {
		flags = f.flags(o.Path)
		synchronous = f.fs.Flags(o.Path)&agent.Synchronous != 0
	}
	switch {
	case f.options.Sync && f.bug != "-o sync ignored",
		f.options.Dirsync && f.bug != "-o dirsync ignored" && changesDirectory(o.Code),
		synchronous && f.bug != "a write to a synchronous file is lost",
		flags&unix.O_SYNC == unix.O_SYNC && f.bug != "O_SYNC ignored",
		flags&unix.O_SYNC == unix.O_DSYNC && f.bug != "O_DSYNC ignored":
		return f.sync(s, o, r)
	}
	return r
}

// leakOfLink loses an object at a link, or at each tenth one, if the planted bug is such a leak.
func (f *fake) leakOfLink() {
	f.links++
	if prefix, where, is := strings.Cut(f.bug, "link leaks an object of "); is &&
		(prefix == "" || f.links%10 == 0) {
		f.lost[where]++
	}
}

// firstHalf performs the first half of a write, and says that it was all of it.
func (f *fake) firstHalf(_ *exploretest.System, o model.Op) model.Result {
	all := o.Len
	o.Len /= 2
	r := f.fs.Apply(o)
	r.Value = all
	return r
}

// observed returns the present tree, which it computes once after each operation.
func (f *fake) observed() *model.Observed {
	if f.seen == nil || f.seenOf != f.fs || f.seenAt != f.fs.Moment() {
		f.seen, f.seenOf, f.seenAt = f.fs.Observed(), f.fs, f.fs.Moment()
	}
	return f.seen
}

// inode returns the inode number of a path; 0: there is none.
func (f *fake) inode(path string) uint64 {
	for _, e := range f.observed().Entries() {
		if e.Path == strings.TrimPrefix(path, "/") || path == "/" && e.Path == "." {
			return e.Inode
		}
	}
	return 0
}

// path returns the first path of an open file; "": it has none.
func (f *fake) path(slot uint32) string {
	for _, e := range f.observed().Entries() {
		if e.Inode == f.inodes[slot] {
			return "/" + strings.TrimPrefix(e.Path, ".")
		}
	}
	return ""
}

func (f *fake) log(o model.Op) { f.pending = append(f.pending, o) }

// flags returns the flags with which a path is open.
func (f *fake) flags(path string) int {
	for i := range f.slots {
		if f.slots[i] >= 0 && f.path(uint32(i)) == path {
			return f.slots[i]
		}
	}
	return 0
}

// changesDirectory reports whether -o dirsync applies to a system call.
func changesDirectory(c model.Code) bool {
	return slices.Contains([]model.Code{
		model.Mkdir, model.Rmdir, model.Unlink, model.Rename, model.Link, model.Symlink, model.Open,
	}, c)
}

// sync commits, unless the bug is that this call does not. It returns r, or EIO.
func (f *fake) sync(s *exploretest.System, o model.Op, r model.Result) model.Result {
	k, _ := f.observed().Kind(f.path(o.Slot))
	isFsync := o.Code == model.Fsync
	switch {
	case f.bug == o.Code.String()+" does nothing", f.unseenSync(o),
		f.bug == "fsync of directories does nothing" && isFsync && k == model.Dir:
		return r
	case f.bug == "fsync returns early" && isFsync && len(f.pending) > 0:
		// The last operation stays out of the journal.
		last := f.pending[len(f.pending)-1]
		f.pending = f.pending[:len(f.pending)-1]
		defer func() { f.pending = append(f.pending, last) }()
	}
	if err := f.commit(s); err != nil {
		for i := range f.unreported {
			f.unreported[i] = f.bug != "a failed write is reported to one descriptor"
		}
		r = model.Result{Errno: unix.EIO}
	}
	if f.unreported[o.Slot] {
		r = model.Result{Errno: unix.EIO}
	}
	f.unreported[o.Slot] = false
	return r
}

// logThreeRenames journals an exchange as three renames.
func (f *fake) logThreeRenames(o model.Op) {
	const via = "/via"
	f.log(model.Op{Code: model.Rename, Path: o.Path, To: via})
	f.log(model.Op{Code: model.Rename, Path: o.To, To: o.Path})
	f.log(model.Op{Code: model.Rename, Path: via, To: o.To})
}

// doWrong performs an operation if the planted bug applies to it. ok reports whether it does.
func (f *fake) doWrong(o model.Op) (r model.Result, ok bool) {
	tree := f.observed()
	k, is := tree.Kind(o.Path)
	if errno := f.unseenWrong(o); errno != 0 {
		return model.Result{Errno: errno}, true
	}
	if f.permits(o) {
		return f.fs.Apply(o), true
	}
	switch {
	case f.bug == "a write to an unlinked file fails" && o.Code == model.Write:
		if f.path(o.Slot) == "" {
			return model.Result{Errno: unix.EBADF}, true
		}
	case f.bug == "a recovered directory cannot be removed" && o.Code == model.Rmdir && f.recovered:
		return model.Result{Errno: unix.ENOTEMPTY}, true
	case f.bug == "rmdir returns ENOENT for a file" && o.Code == model.Rmdir && is && k != model.Dir:
		return model.Result{Errno: unix.ENOENT}, true
	case f.bug == "mkdir fails but takes effect" && o.Code == model.Mkdir && !is:
		f.fs.Apply(o)
		return model.Result{Errno: unix.ENOMEM}, true
	case f.bug == "a larger file shows old bytes" && o.Code == model.Ftruncate && o.Len > 1000:
		f.fs.Apply(o)
		return f.do(nil, model.Op{Code: model.Write, Slot: o.Slot, Off: o.Len - 500, Len: 500, Seed: 77}),
			true
	case f.bug == "an exchange in three renames" && o.Code == model.Rename &&
		o.Flags == unix.RENAME_EXCHANGE:
		f.logThreeRenames(o)
		return f.fs.Apply(o), true
	case strings.HasPrefix(f.bug, "a stop ") && o.Code == model.Mkdir && f.fault != nil:
		f.stopped = true
		return model.Result{Errno: unix.EIO}, true
	case f.bug == fewInodes && makesName(o) && !is && len(tree.Paths()) > 20,
		f.bug == "mkdir finds no space" && o.Code == model.Mkdir:
		return model.Result{Errno: unix.ENOSPC}, true
	case f.bug == "fsync fails without a cause" && o.Code == model.Fsync:
		return model.Result{Errno: unix.EIO}, true
	case f.bug == "truncate fails with half its effect" && o.Code == model.Ftruncate && o.Len > 0:
		o.Len /= 2
		f.fs.Apply(o)
		return model.Result{Errno: unix.ENOMEM}, true
	case f.bug == "unlink returns success without effect" && o.Code == model.Unlink && is,
		f.bug == "nothing is removed of a large directory" && o.Code == model.Unlink && is &&
			f.names(path.Dir(o.Path)) > 200:
		return model.Result{}, true
	case f.bug == "rename over a file is refused" && o.Code == model.Rename:
		if _, over := tree.Kind(o.To); over && is && k != model.Dir {
			return model.Result{Errno: unix.EEXIST}, true
		}
	case f.bug == "chmod changes all files" && o.Code == model.Chmod && is:
		for _, e := range tree.Entries() {
			f.fs.Apply(model.Op{Code: model.Chmod, Path: "/" + e.Path, Mode: o.Mode})
		}
		return model.Result{}, true
	case f.bug == "punching a hole truncates the file" && o.Code == model.Fallocate && o.Flags != 0:
		f.fs.Apply(o)
		return f.fs.Apply(model.Op{Code: model.Ftruncate, Slot: o.Slot, Len: 0}), true
	}
	return model.Result{}, false
}
