package checkers

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// A topology lists the paths of the current tree, in order. It makes the steps that can follow.
type topology struct {
	fs       *model.FS
	promises model.Promises
	limits   Limits
	lacks    shortage

	// dirs begins with "/". links are symbolic links and special files.
	dirs, files, links []string
	empty              map[string]bool     // by directory, also those in the place of a subvolume
	placeholders       []string            // directories in the place of a subvolume; not in dirs
	long               map[string][]string // the paths of longName, by directory; not in files
}

// topology returns the paths of the model.
func (c *Core) topology() topology {
	t := topology{fs: c.fs, promises: c.Promises, limits: c.Limits, lacks: c.lacks,
		empty: make(map[string]bool), long: make(map[string][]string)}
	c.fs.Walk(func(p string, k model.Kind, empty bool) {
		switch d := path.Dir(p); {
		case len(p)-len(d) >= len(longName(0)):
			t.long[d] = append(t.long[d], p)
		case c.fs.Flags(p)&agent.Placeholder != 0:
			t.placeholders, t.empty[p] = append(t.placeholders, p), true
		case k == model.Dir:
			t.dirs, t.empty[p] = append(t.dirs, p), empty
		case k == model.File:
			t.files = append(t.files, p)
		default:
			t.links = append(t.links, p)
		}
	})
	return t
}

// free returns the first unused name in a directory. The choice does not matter: trees that differ
// only in names have the same signature.
func (t *topology) free(d string) string {
	for i := 0; ; i++ {
		p := path.Join(d, "n"+string(rune('a'+i%26))+strings.Repeat("x", i/26))
		_, is := t.empty[p]
		if !is && !slices.Contains(t.files, p) && !slices.Contains(t.links, p) {
			return p
		}
	}
}

// below reports whether path p is d or below it.
func below(p, d string) bool {
	return p == d || strings.HasPrefix(p, strings.TrimSuffix(d, "/")+"/")
}

// The lengths of writes, in bytes.
const (
	small = 100  // a part of a block
	large = 9000 // several blocks
)

// opened returns a step that opens a file, performs an operation on it, and closes it.
func opened(p string, flags int, o model.Op) []model.Op {
	return []model.Op{{Code: model.Open, Path: p, Flags: flags, Mode: 0o644}, o, {Code: model.Close}}
}

// Steps returns all operations that can succeed: each of the system calls on each file and
// directory, but only once where files are alike. The first common ones are not of Limits.Later.
func (c *Core) Steps() (out [][]model.Op, common int) {
	t := c.topology()
	out = append(t.basicSteps(), t.groupSteps(c.Limits.Groups)...)
	common = len(c.distinct(slices.Clone(out)))
	return c.distinct(append(out, t.groupSteps(c.Limits.Later)...)), common
}

// basicSteps returns the operations that are of no group.
func (t *topology) basicSteps() [][]model.Op { return append(t.nameSteps(), t.contentSteps()...) }

// nameSteps returns the basic operations on names.
func (t *topology) nameSteps() (out [][]model.Op) {
	moreFiles := len(t.files)+len(t.links) < t.limits.Files
	moreDirs := len(t.dirs)-1 < t.limits.Dirs
	for _, d := range t.dirs {
		out = append(out, t.creations(t.free(d), moreFiles, moreDirs)...)
	}
	for _, p := range slices.Concat(t.files, t.links) {
		out = append(out, t.fileNames(p, moreFiles)...)
	}
	for _, p := range t.dirs[1:] {
		out = append(out, t.dirNames(p)...)
	}
	return out
}

// contentSteps returns the basic operations on contents and attributes.
func (t *topology) contentSteps() (out [][]model.Op) {
	for _, p := range t.files {
		out = append(out, t.writes(p)...)
	}
	for _, p := range slices.Concat(t.files, t.dirs[1:]) {
		if !t.promises.NoXattrs {
			out = append(out, step(model.Op{
				Code: model.Setxattr, Path: p, Name: attribute, Value: "1",
			}))
		}
		if !t.promises.NoModes {
			out = append(out, step(model.Op{Code: model.Chmod, Path: p, Mode: 0o700}))
		}
	}
	return out
}

// distinct returns one of several steps that differ only in the names of files that are alike. The
// others would lead to equal states, and to equal crash states but for names.
func (c *Core) distinct(steps [][]model.Op) [][]model.Op {
	alike, seen := c.fs.Symmetry(), make(map[string]bool)
	return slices.DeleteFunc(steps, func(ops []model.Op) bool {
		key := alike.Key(ops)
		was := seen[key]
		seen[key] = true
		return was
	})
}

// step returns a step of some operations.
func step(ops ...model.Op) []model.Op { return ops }

// creations returns the steps that create a file, symbolic link or directory with path n.
func (t *topology) creations(n string, moreFiles, moreDirs bool) (out [][]model.Op) {
	if moreFiles {
		const flags = unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY
		out = append(out, step(
			model.Op{Code: model.Open, Path: n, Flags: flags, Mode: 0o644},
			model.Op{Code: model.Close},
		))
		if !t.promises.NoSymlinks {
			out = append(out, step(model.Op{Code: model.Symlink, Path: n, To: "nowhere"}))
		}
	}
	if moreDirs {
		out = append(out, step(model.Op{Code: model.Mkdir, Path: n, Mode: 0o755}))
	}
	return out
}

// fileNames returns the steps that remove, link or rename the file or symbolic link p.
func (t *topology) fileNames(p string, moreFiles bool) (out [][]model.Op) {
	out = append(out, step(model.Op{Code: model.Unlink, Path: p}))
	for _, d := range t.dirs {
		if moreFiles && !t.promises.NoLinks {
			out = append(out, step(model.Op{Code: model.Link, Path: p, To: t.free(d)}))
		}
		out = append(out, step(model.Op{Code: model.Rename, Path: p, To: t.free(d)}))
	}
	for _, over := range slices.Concat(t.files, t.links) {
		if over != p {
			out = append(out, step(model.Op{Code: model.Rename, Path: p, To: over}))
		}
	}
	return out
}

// dirNames returns the steps that remove or rename directory p.
func (t *topology) dirNames(p string) (out [][]model.Op) {
	if t.empty[p] {
		out = append(out, step(model.Op{Code: model.Rmdir, Path: p}))
	}
	for _, d := range t.dirs {
		if below(d, p) {
			continue
		}
		out = append(out, step(model.Op{Code: model.Rename, Path: p, To: t.free(d)}))
		if d != "/" && t.empty[d] && d != p {
			out = append(out, step(model.Op{Code: model.Rename, Path: p, To: d}))
		}
	}
	return out
}

// writes returns the steps that change the content of a file. Two seeds are enough to tell old data
// from new (FiSC 4.1).
func (t *topology) writes(p string) (out [][]model.Op) {
	const rw = unix.O_RDWR
	write := func(flags int, off, n, seed uint64) []model.Op {
		return opened(p, flags, model.Op{Code: model.Write, Off: off, Len: n, Seed: seed})
	}
	for _, flags := range []int{rw, rw | unix.O_SYNC, rw | unix.O_DSYNC} {
		out = append(out, write(flags, 0, large, 1), write(flags, 50, small, 2))
	}
	out = append(out,
		write(rw, t.limits.Far, small, 1),
		opened(p, rw, model.Op{Code: model.Ftruncate, Len: 0}),
		opened(p, rw, model.Op{Code: model.Ftruncate, Len: 5000}),
	)
	if !t.promises.NoFallocate {
		out = append(out, opened(p, rw, model.Op{Code: model.Fallocate, Len: large}))
	}
	if !t.promises.NoPunch {
		const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
		out = append(out, opened(p, rw, model.Op{Code: model.Fallocate, Len: 4096, Flags: punch}))
	}
	return out
}

// invalid returns operations that have to fail without an effect.
func (t *topology) invalid() (out [][]model.Op) {
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

// subject returns the path of the file or directory that a step was about, after the step. It is ""
// if the step removed it, or was about no path.
func subject(ops []model.Op) string {
	switch o, last := ops[0], ops[len(ops)-1]; {
	case o.Code == model.Unlink || o.Code == model.Rmdir || o.Code == model.DeleteSubvolume ||
		last.Code == model.Rmdir && last.Path == o.Path:
		return ""
	case o.Code == model.Rename || o.Code == model.Link || o.Code == model.Snapshot:
		return o.To
	case o.Code == model.Open && o.Flags&unix.O_TMPFILE == unix.O_TMPFILE:
		to := ""
		for _, o := range ops {
			to += o.To // of linkat
		}
		return to
	default:
		return o.Path
	}
}

// parents returns the directories above a path, the nearest first.
func parents(p string) (out []string) {
	for p != "/" && p != "" {
		p = path.Dir(p)
		out = append(out, p)
	}
	return out
}

// syncs returns the ways to make the effect of a step durable, each as a step.
func (c *Core) syncs(ops []model.Op) (out [][]model.Op) {
	fsync, fdatasync := model.Op{Code: model.Fsync}, model.Op{Code: model.Fdatasync}
	out = [][]model.Op{
		step(model.Op{Code: model.Sync}),
		opened("/", unix.O_RDONLY, model.Op{Code: model.Syncfs}),
	}
	if inAnyOrder(ops) { // fsync would keep what the order of the two decides
		return out
	}
	p := subject(ops)
	switch first := ops[0]; {
	case first.Code == model.Close || first.Code == model.DropCaches ||
		first.Code == model.Writeback || first.Code == model.FillDisk ||
		first.Code == model.FillInodes:
		return out
	case first.Path == "": // on a held file
		return append(out, step(model.Op{Code: model.Fsync, Slot: first.Slot}),
			step(model.Op{Code: model.Fdatasync, Slot: first.Slot}))
	}
	if c.Promises.NoDirFsync {
		if ops[0].Code == model.Open { // otherwise p may be a directory
			out = append(out, opened(p, unix.O_RDONLY, fsync), opened(p, unix.O_RDONLY, fdatasync))
		}
		return out
	}
	dirs := parents(ops[0].Path)
	if p != "" {
		dirs = append(dirs, parents(p)...)
	}
	syncDirs := fsyncEach(dirs)
	if len(syncDirs) > 0 { // the root has no parent
		out = append(out, syncDirs)
	}
	if p == "" || ops[0].Code == model.Symlink || ops[0].Code == model.Mknod ||
		ops[0].Code == model.Rename && len(ops) == 1 {
		// A removed file and a symbolic link cannot be opened. A rename does not change the file.
		return out
	}
	// The file alone: its name may be durable already, and in many file systems fsync of a directory
	// would make everything durable.
	for _, o := range []model.Op{fsync, fdatasync} {
		out = append(out, opened(p, unix.O_RDONLY, o))
	}
	return append(out, append(opened(p, unix.O_RDONLY, fsync), syncDirs...))
}

// fsyncEach returns a step that opens and syncs each directory once. Neither fsync of a file nor
// O_SYNC makes the directory entries on its path durable (EXPLODE 7.3).
func fsyncEach(dirs []string) (out []model.Op) {
	slot := uint32(0)
	done := map[string]bool{}
	for _, d := range dirs {
		if !done[d] {
			slot++
			out = append(out,
				model.Op{Code: model.Open, Slot: slot, Path: d},
				model.Op{Code: model.Fsync, Slot: slot})
			done[d] = true
		}
	}
	return out
}
