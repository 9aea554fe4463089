package checkers

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// together is the group of two operations at the same time.
const together Group = "together"

// A Group is a set of operations that a checker performs on request.
type Group string

// The groups, each with what its steps do.
var groups = []struct {
	name  Group
	about string
	steps func(t *topology) [][]model.Op
}{
	{"exchange", "rename with RENAME_EXCHANGE and RENAME_WHITEOUT", (*topology).exchanges},
	{"held", "use descriptors that stay open when the name is gone, renamed or replaced",
		(*topology).heldSteps},
	{"persist", "fsync and fdatasync any file or directory at any later step",
		(*topology).persistence},
	{"direct", "write with O_DIRECT", (*topology).directWrites},
	{"mmap", "write through a mapping, and msync parts of it", (*topology).mappedWrites},
	{"ranges", "punch, zero, collapse, insert and allocate ranges, and sync_file_range",
		(*topology).rangeSteps},
	{"fiemap", "compare contents with the extents that FIEMAP lists, after changes of all kinds",
		mapped},
	{"reflink", "clone and deduplicate ranges", (*topology).reflinks},
	{"nodes", "make FIFOs and device nodes", (*topology).nodes},
	{"tmpfile", "O_TMPFILE, with and without linkat", (*topology).tmpfiles},
	{"acl", "set and remove access control lists, also default ones of directories",
		(*topology).accessLists},
	{together, "let two processes act at once: one syncs what the other changes, or both rename, " +
		"link, make, remove or list the same names", (*topology).together},
	{"flags", "set flags of files and directories, as chattr does", setsFlags},
	{"immutable", "set the flags of files and directories that forbid changes, and try all changes",
		forbids},
	{"subvolumes", "make subvolumes and snapshots of Btrfs, read-only ones and such with others in " +
		"them, and delete them", onSubvolumes},
	{"again", "fsync a file, change it, and fsync it again", (*topology).again},
	{"append", "write through O_APPEND, also with O_DIRECT and O_DSYNC", (*topology).appends},
	{"attributes", "set times, change the owner, and replace and remove extended attributes",
		(*topology).attributes},
	{"long", "names of 200 bytes, and directories longer than a block", (*topology).longNames},
	{"sizes", "contents, attributes and targets at the limits of what an inode holds",
		(*topology).thresholds},
	{"edges", "punch, zero, allocate and truncate in the middle of blocks; write behind the end " +
		"through a mapping, and make the file larger", (*topology).edges},
	{fullDisk, "fill the disk, write and remove files, and free the space", (*topology).onFullDisk},
	{noInodes, "use all inodes, write, make, link and remove files, and free the inodes",
		withoutInodes},
	{knownBugs, "with the checker sync: first run the workloads of known bugs, one in each first step",
		func(*topology) [][]model.Op { return nil }},
	{tours, "with the checker sync: first perform the operations of each group one after the other, " +
		"a group in each first step", func(*topology) [][]model.Op { return nil }},
	{many, "with the checker sync: first repeat one kind of operation some hundred times, one kind " +
		"in each first step", func(*topology) [][]model.Op { return nil }},
	{"wait", "wait until the kernel writes back by itself, and drop its caches", waits},
}

// Groups returns the names of the groups and what their steps do.
func Groups() (out [][2]string) {
	for _, g := range groups {
		out = append(out, [2]string{string(g.name), g.about})
	}
	return out
}

// LaterGroups are the groups that a checker performs after all others if nobody asks for groups:
// all but those that wait, that depend on which of two processes is faster, or that take long.
func LaterGroups() (out []Group) {
	for _, g := range groups {
		if g.name != "wait" && g.name != together && g.name != many {
			out = append(out, g.name)
		}
	}
	return out
}

// ParseGroups reads names of groups, separated by commas. "all" stands for all of them, "" for
// none.
func ParseGroups(text string) (out []Group, err error) {
	for name := range strings.SplitSeq(text, ",") {
		is := false
		for _, g := range groups {
			if name == "all" || name == string(g.name) {
				out, is = append(out, g.name), true
			}
		}
		if !is && text != "" {
			var names []string
			for _, g := range groups {
				names = append(names, string(g.name))
			}
			return nil, fmt.Errorf("there are no operations %q; there are %s, and all", name,
				strings.Join(names, ", "))
		}
	}
	return out, nil
}

// groupSteps returns the steps of some groups.
func (t *topology) groupSteps(of []Group) (out [][]model.Op) {
	for _, g := range groups {
		if slices.Contains(of, g.name) {
			out = append(out, g.steps(t)...)
		}
	}
	return out
}

// exchanges returns steps that exchange two names, or leave a whiteout.
func (t *topology) exchanges() (out [][]model.Op) {
	rename := func(p, q string, flags int) {
		out = append(out, step(model.Op{Code: model.Rename, Path: p, To: q, Flags: flags}))
	}
	all := slices.Concat(t.files, t.links, t.dirs[1:])
	for _, p := range all {
		for _, q := range all {
			if p < q && !t.promises.NoExchange && !below(q, p) {
				rename(p, q, unix.RENAME_EXCHANGE)
			}
		}
	}
	if more := len(t.files)+len(t.links) < t.limits.Files; more && !t.promises.NoExchange &&
		len(all) == 1 { // an exchange needs another name
		q := t.free("/")
		out = append(out, step(model.Op{Code: model.Open, Path: q, Flags: unix.O_CREAT | unix.O_EXCL |
			unix.O_WRONLY, Mode: 0o644}, model.Op{Code: model.Fsync}, model.Op{Code: model.Rename,
			Path: all[0], To: q, Flags: unix.RENAME_EXCHANGE}))
	}
	if t.promises.Has(model.Whiteout) && len(t.files)+len(t.links) < t.limits.Files {
		for _, p := range t.files {
			if !t.fs.Inherits(path.Dir(p)) { // file systems differ in the list of the whiteout
				rename(p, t.free("/"), unix.RENAME_WHITEOUT)
			}
		}
	}
	return out
}

// held is the slot of the file that stays open.
const held = agent.FirstHeld

// heldSteps returns steps that open a file, change its name, use the descriptor, and close it. They
// also open a file that stays open, and use it in later steps.
func (t *topology) heldSteps() (out [][]model.Op) {
	for _, p := range t.files {
		out = append(out, t.heldOpen(p)...)
	}
	out = append(out, removedDirs(t)...)
	if _, is := t.fs.Held()[held]; is {
		for _, o := range []model.Op{
			{Code: model.Write, Len: large, Seed: 2}, {Code: model.Ftruncate}, {Code: model.Fsync},
			{Code: model.Fdatasync}, {Code: model.Close},
		} {
			o.Slot = held
			out = append(out, step(o))
		}
		return out
	}
	for _, p := range t.files {
		out = append(out, step(model.Op{Code: model.Open, Slot: held, Path: p, Flags: unix.O_RDWR}))
	}
	return out
}

// removedDirs returns steps that remove a directory, with the only file in it, and sync it by a
// descriptor that was open before.
func removedDirs(t *topology) (out [][]model.Op) {
	if t.promises.NoDirFsync {
		return nil
	}
	for _, d := range t.dirs[1:] {
		inside := slices.DeleteFunc(slices.Concat(t.files, t.links, t.dirs[1:], t.long[d]),
			func(p string) bool { return path.Dir(p) != d })
		ops := step(model.Op{Code: model.Open, Path: d})
		switch {
		case len(inside) == 1 && !slices.Contains(t.dirs, inside[0]):
			ops = append(ops, model.Op{Code: model.Unlink, Path: inside[0]})
		case len(inside) > 0:
			continue
		}
		out = append(out, append(ops, model.Op{Code: model.Rmdir, Path: d},
			model.Op{Code: model.Fsync}, model.Op{Code: model.Close}))
	}
	return out
}

// heldOpen returns steps that open a file, change its name, use the descriptor, and close it.
func (t *topology) heldOpen(p string) (out [][]model.Op) {
	open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR}
	write := model.Op{Code: model.Write, Len: large, Seed: 2}
	fsync, closing := model.Op{Code: model.Fsync}, model.Op{Code: model.Close}
	free := t.free(parents(p)[0])
	changes := []model.Op{
		{Code: model.Unlink, Path: p},
		{Code: model.Rename, Path: p, To: free},
	}
	for _, over := range t.files {
		if over != p {
			changes = append(changes, model.Op{Code: model.Rename, Path: over, To: p})
		}
	}
	for _, change := range changes {
		out = append(out, step(open, change, write, closing), step(open, change, write, fsync, closing))
	}
	return append(out,
		step(open, write, fsync, model.Op{Code: model.Rename, Path: p, To: free}, fsync, closing))
}

// persistence returns steps that sync a file or a directory, and change nothing.
func (t *topology) persistence() (out [][]model.Op) {
	for _, p := range t.files {
		out = append(out, opened(p, unix.O_RDONLY, model.Op{Code: model.Fsync}),
			opened(p, unix.O_RDONLY, model.Op{Code: model.Fdatasync}))
	}
	for _, p := range t.dirs {
		if !t.promises.NoDirFsync {
			out = append(out, opened(p, unix.O_RDONLY, model.Op{Code: model.Fsync}))
		}
	}
	return out
}

// nodes returns steps that make special files.
func (t *topology) nodes() (out [][]model.Op) {
	if !t.promises.Has(model.Nodes) || len(t.files)+len(t.links) >= t.limits.Files {
		return nil
	}
	// A device of the numbers that are for experiments (devices.txt): no driver has it.
	const major, minor = 60, 5
	for _, d := range t.dirs {
		out = append(out,
			step(model.Op{Code: model.Mknod, Path: t.free(d), Mode: unix.S_IFIFO | 0o600}),
			step(model.Op{Code: model.Mknod, Path: t.free(d), Mode: unix.S_IFBLK | 0o600,
				Dev: unix.Mkdev(major, minor)}))
	}
	return out
}

// tmpfiles returns steps that make a file without a name, and give it one, or write it over a name
// through a rename.
func (t *topology) tmpfiles() (out [][]model.Op) {
	if !t.promises.Has(model.Tmpfile) {
		return nil
	}
	write, closing := model.Op{Code: model.Write, Len: large, Seed: 1}, model.Op{Code: model.Close}
	for _, d := range t.dirs {
		open := model.Op{Code: model.Open, Path: d, Flags: unix.O_TMPFILE | unix.O_RDWR, Mode: 0o644}
		out = append(out, step(open, write, closing))
		if len(t.files)+len(t.links) < t.limits.Files && !t.promises.NoLinks {
			link := model.Op{Code: model.Linkat, To: t.free(d)}
			out = append(out, step(open, write, link, closing),
				step(open, write, model.Op{Code: model.Fsync}, link, closing))
		}
	}
	return out
}

// accessLists returns steps that set and remove access control lists, and those which directories
// give to what is made in them.
func (t *topology) accessLists() (out [][]model.Op) {
	if !t.promises.Has(model.ACL) {
		return nil
	}
	add := func(p, name string) {
		out = append(out,
			step(model.Op{Code: model.Setxattr, Path: p, Name: name, Value: model.AccessList(0o640, 7, 6)}),
			step(model.Op{Code: model.Removexattr, Path: p, Name: name}))
	}
	for _, p := range slices.Concat(t.files, t.dirs[1:]) {
		add(p, "system.posix_acl_access")
	}
	for _, p := range t.dirs[1:] {
		add(p, "system.posix_acl_default")
	}
	return out
}

// waits returns steps that let the kernel act by itself.
func waits(*topology) [][]model.Op {
	return [][]model.Op{step(model.Op{Code: model.Writeback}), step(model.Op{Code: model.DropCaches})}
}
