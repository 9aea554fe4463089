package model_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// host performs operations on the kernel of the machine that runs the test.
func host(t testing.TB) model.Perform {
	t.Helper()
	here, there := net.Pipe()
	served := make(chan error, 1)
	go func() { served <- agent.NewServer(there).Serve() }()
	c := agent.NewClient(here)
	t.Cleanup(func() {
		c.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return func(ops ...agent.Op) ([]agent.Result, error) {
		d, err := c.Do(context.Background(), agent.Batch{Ops: ops, Timeout: time.Minute})
		if err == nil && len(d.Results) != len(ops) {
			err = fmt.Errorf("%d operations gave %d results", len(ops), len(d.Results))
		}
		return d.Results, err
	}
}

// mounted mounts an empty file system: tmpfs, or another one in an image file through a loop
// device.
func mounted(t *testing.T, fs string) string {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	if fs == "tmpfs" {
		run("mount", "-t", "tmpfs", "none", dir)
	} else {
		image := filepath.Join(t.TempDir(), "image")
		if err := os.WriteFile(image, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(image, 320<<20); err != nil {
			t.Fatal(err)
		}
		run("mkfs."+fs, "-q", image)
		run("mount", "-o", "loop", "-t", fs, image, dir)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// mustOccur are results that the random operations have to produce.
var mustOccur = []string{
	"rename ENOTEMPTY", "rename EINVAL", "link EEXIST", "open ELOOP", "rmdir ENOTEMPTY", "write ok",
	"fallocate ok", "setxattr EEXIST", "truncate EISDIR", "read ok", "rename ok", "mmapwrite ok",
	"mmapwrite EFAULT", "mmapwrite EACCES", "msync ok", "dwrite ok", "dwrite EBADF", "linkat ok",
	"linkat ENOENT", "setxattr EACCES", "mkdir inherits", "mknod ok", "mknod EEXIST", "sync_file_range ok", "open ENXIO",
}

// hostFeatures are the features of the file systems of this machine's kernel, and the results that
// they have to produce.
var hostFeatures = map[string][]model.Feature{
	"tmpfs": {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL},
	"ext2":  {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL},
	"ext3":  {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL},
	"ext4": {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL, model.ZeroRange,
		model.Shift},
	"btrfs": {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL, model.ZeroRange,
		model.Reflink},
	"xfs": {model.Nodes, model.Tmpfile, model.Direct, model.Whiteout, model.ACL, model.ZeroRange,
		model.Shift, model.Reflink},
}

var featuresOccur = map[model.Feature][]string{
	model.Shift:     {"collapse ok", "insert ok", "collapse EINVAL"},
	model.ZeroRange: {"zero ok"},
	model.Reflink:   {"clone ok", "dedupe ok", "clone EINVAL"},
}

// TestAsLinux: each operation gives the same result on real file systems as in the model, and
// leaves the same tree.
func TestAsLinux(t *testing.T) {
	for _, fs := range []string{"tmpfs", "ext2", "ext3", "ext4", "btrfs", "xfs"} {
		t.Run(fs, func(t *testing.T) {
			do, dir := host(t), mounted(t, fs)
			promises := model.Promises{NoFallocate: fs == "ext2" || fs == "ext3",
				Features: hostFeatures[fs]}
			lists := 120
			if testing.Short() {
				lists = 10
			}
			codes := make(map[string]int)
			for seed := range uint64(lists) {
				compare(t, do, dir, promises, seed, codes)
				if t.Failed() {
					return
				}
			}
			t.Logf("%d lists; results by operation: %v", lists, codes)
			must := mustOccur
			for _, f := range promises.Features {
				must = slices.Concat(must, featuresOccur[f])
			}
			for _, must := range must {
				if codes[must] == 0 && !testing.Short() {
					t.Errorf("no operation gave %s", must)
				}
			}
		})
	}
}

// filled are operations after which two slots have files with several blocks.
var filled = [4]model.Op{
	{Code: model.Open, Slot: 0, Path: "/e", Flags: unix.O_RDWR | unix.O_CREAT, Mode: 0o644},
	{Code: model.Write, Slot: 0, Len: 5 * model.Block, Seed: 1},
	{Code: model.Open, Slot: 1, Path: "/f", Flags: unix.O_RDWR | unix.O_CREAT, Mode: 0o644},
	{Code: model.Write, Slot: 1, Len: 4 * model.Block, Seed: 1},
}

// compare performs 12 rounds of 25 random operations in a new directory below dir and on a model.
// It compares all results, and the tree after each round. It counts the results in codes.
func compare(
	t *testing.T, do model.Perform, dir string, p model.Promises, seed uint64, codes map[string]int,
) {
	t.Helper()
	base := filepath.Join(dir, fmt.Sprint("list", seed))
	if err := os.Mkdir(base, 0o755); err != nil {
		t.Fatal(err)
	}
	f := model.New(p)
	g := newGenerator(seed)
	defer func() { performed(t, do, base, []model.Op{{Code: model.Close, Slot: agent.FirstHeld}}) }()
	var all []model.Op
	for round := range 12 {
		var ops []model.Op
		var want []model.Result
		for i := range 25 {
			o := g.op()
			if round%2 == 1 && i < 4 {
				o = filled[i]
			}
			ops, want = append(ops, o), append(want, f.Apply(o))
			if o.Code == model.Mkdir && want[i].Errno == 0 && f.Inherits(filepath.Dir(o.Path)) {
				codes["mkdir inherits"]++
			}
		}
		f.CloseAll()
		got := performed(t, do, base, ops)
		for i, o := range ops {
			all = append(all, o)
			if is := got[i]; is != want[i] && !sameRename(o, is, want[i]) {
				t.Errorf("seed %d, round %d: %v gives %v %d %.40q, the model %v %d %.40q\n%s",
					seed, round, o, is.Errno, is.Value, is.Data,
					want[i].Errno, want[i].Value, want[i].Data, listed(all))
				return
			}
			codes[o.Code.String()+" "+errnoName(got[i].Errno)]++
			if name := modeNames[o.Flags]; o.Code == model.Fallocate && name != "" {
				codes[name+" "+errnoName(got[i].Errno)]++
			}
		}
		seen, err := model.Look(do, base, f)
		if err == nil {
			err = f.Equal(seen)
		}
		if err == nil {
			err = f.Allowed(seen) // a crash may always leave the current tree
		}
		if err != nil {
			t.Errorf("seed %d, round %d: %v\n%s", seed, round, err, listed(all))
			return
		}
	}
}

// sameRename reports whether both results refuse to rename a directory over another one that is not
// empty. POSIX leaves the choice between the two errors, and XFS makes the other one.
func sameRename(o model.Op, is, want model.Result) bool {
	return o.Code == model.Rename && is.Errno == unix.EEXIST && want.Errno == unix.ENOTEMPTY
}

// performed performs operations below base, and returns their results as the model has them.
func performed(t *testing.T, do model.Perform, base string, ops []model.Op) []model.Result {
	t.Helper()
	calls := make([]agent.Op, len(ops))
	for i, o := range ops {
		calls[i] = o.Call(base)
	}
	got, err := do(calls...)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]model.Result, len(ops))
	for i, r := range got {
		if out[i].Errno = r.Errno; r.Errno == 0 {
			out[i].Value, out[i].Data = r.Value, string(r.Data)
		}
	}
	return out
}

func errnoName(e unix.Errno) string {
	if e == 0 {
		return "ok"
	}
	return unix.ErrnoName(e)
}

func listed(ops []model.Op) string {
	var b strings.Builder
	for i, o := range ops {
		fmt.Fprintf(&b, "%4d %v\n", i+1, o)
	}
	return b.String()
}

// A generator makes random operations on a few names, so that operations often affect each other.
type generator struct {
	*rand.Rand
	whiteouts bool // makes whiteouts, and no default lists, which file systems give them or not
}

func newGenerator(seed uint64) *generator {
	return &generator{rand.New(rand.NewPCG(seed, 7)), seed%2 == 0}
}

func (g *generator) one(s ...string) string { return s[g.IntN(len(s))] }

func (g *generator) path() string {
	p := ""
	for range 1 + g.IntN(3) {
		p += "/" + g.one("a", "b", "c", "d")
	}
	switch g.IntN(40) {
	case 0:
		return p + "/."
	case 1:
		return p + "/" + strings.Repeat("n", 256)
	}
	return p
}

var (
	openFlags = [12]int{
		unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR, unix.O_RDWR | unix.O_CREAT,
		unix.O_RDWR | unix.O_CREAT | unix.O_EXCL, unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC,
		unix.O_RDONLY | unix.O_DIRECTORY, unix.O_RDONLY | unix.O_NOFOLLOW,
		unix.O_RDWR | unix.O_SYNC, unix.O_WRONLY | unix.O_CREAT | unix.O_DSYNC,
		unix.O_RDWR | unix.O_TMPFILE, unix.O_WRONLY | unix.O_TMPFILE | unix.O_EXCL,
	}
	fallocateModes = [8]int{
		0, unix.FALLOC_FL_KEEP_SIZE, unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE,
		unix.FALLOC_FL_PUNCH_HOLE, unix.FALLOC_FL_ZERO_RANGE,
		unix.FALLOC_FL_ZERO_RANGE | unix.FALLOC_FL_KEEP_SIZE,
		unix.FALLOC_FL_COLLAPSE_RANGE, unix.FALLOC_FL_INSERT_RANGE,
	}
	modeNames = map[int]string{unix.FALLOC_FL_COLLAPSE_RANGE: "collapse",
		unix.FALLOC_FL_INSERT_RANGE: "insert", unix.FALLOC_FL_ZERO_RANGE: "zero"}
	nodeTypes = [4]uint32{unix.S_IFIFO, unix.S_IFSOCK, unix.S_IFCHR, unix.S_IFBLK}
)

// slot returns a slot, one in five times one that outlasts its batch.
func (g *generator) slot() uint32 { return []uint32{0, 1, 2, 3, agent.FirstHeld}[g.IntN(5)] }

// attribute makes an operation one on an extended attribute.
func (g *generator) attribute(o *model.Op) {
	o.Code = []model.Code{model.Setxattr, model.Getxattr, model.Removexattr}[g.IntN(3)]
	if g.IntN(4) > 0 {
		o.Path = g.one("/e", o.Path[:2])
	}
	o.Name, o.Value = g.one("user.x", "user.x", "user.y", "strange"), g.one("", "v", "value")
	if g.IntN(4) == 0 {
		o.Name = g.one("system.posix_acl_access", "system.posix_acl_default")
		if o.Name == "system.posix_acl_default" && g.whiteouts {
			o.Name = "system.posix_acl_access"
		}
		o.Value = model.AccessList(o.Mode, 7, uint32(g.IntN(8)))
	}
	if o.Code == model.Setxattr {
		o.Flags = []int{0, unix.XATTR_CREATE, unix.XATTR_REPLACE}[g.IntN(3)]
	}
}

// op returns a random operation.
func (g *generator) op() model.Op {
	if g.IntN(4) == 0 {
		return g.dataOp()
	}
	o := model.Op{Path: g.path(), To: g.path(), Slot: g.slot(), From: g.slot(), Seed: 1 + g.Uint64N(2)}
	o.Mode = []uint32{0o755, 0o700, 0o644, 0o600}[g.IntN(4)]
	o.Off = []uint64{0, 1, 511, 4096, 5000, 300_000}[g.IntN(6)]
	o.Len = []uint64{0, 1, 100, 4096, 10_000}[g.IntN(5)]
	switch g.IntN(24) {
	case 0, 1, 2:
		o.Code = model.Mkdir
	case 3:
		o.Code = model.Rmdir
	case 4:
		o.Code = model.Unlink
	case 5, 6, 7:
		o.Code = model.Rename
		o.Flags = []int{0, 0, 0, unix.RENAME_NOREPLACE, unix.RENAME_EXCHANGE, 3, 4, 5, 6}[g.IntN(9)]
		if o.Flags >= unix.RENAME_WHITEOUT && !g.whiteouts {
			o.Flags = 0
		}
	case 8, 9:
		o.Code = model.Link
	case 10:
		o.Code, o.To = model.Symlink, g.one("a", "b/c", "../b", ".", "x", "../../../../../c")
		if o.To == "../../../../../c" {
			o.To = "d"
		}
		if strings.Count(o.Path, "/") < 2 && o.To == "../b" {
			o.To = "c"
		}
	case 11:
		o.Code = []model.Code{model.Chmod, model.Chown, model.Readlink}[g.IntN(3)]
		o.UID, o.GID = uint32(g.IntN(3)), uint32(g.IntN(3))
	case 12:
		o.Code = model.Truncate
	case 13, 14:
		g.attribute(&o)
	case 15:
		o.Code = model.Readdir
		if g.IntN(4) == 0 {
			o.Path = "/"
		}
	case 16, 17, 18:
		o.Code, o.Flags = model.Open, openFlags[g.IntN(12)]
	case 19:
		o.Code = []model.Code{model.Close, model.Read, model.Fsync, model.Fdatasync}[g.IntN(4)]
	case 20, 21:
		o.Code = model.Write
	case 22:
		o.Code = model.Ftruncate
	case 23:
		o.Code, o.Flags = model.Fallocate, fallocateModes[g.IntN(8)]
		if o.Flags&(unix.FALLOC_FL_COLLAPSE_RANGE|unix.FALLOC_FL_INSERT_RANGE) != 0 {
			o.Off, o.Len = g.blocks(0), g.blocks(1)
		}
	}
	return o
}

// blocks returns a multiple of a block, from least blocks on.
func (g *generator) blocks(least uint64) uint64 { return (least + g.Uint64N(3)) * model.Block }

// dataOp returns a random operation on open files, or one that makes something to open.
func (g *generator) dataOp() model.Op {
	o := model.Op{Slot: g.slot(), Seed: 1 + g.Uint64N(2)}
	switch g.IntN(18) {
	case 0, 1:
		o.Code, o.Off, o.Len = model.Mmapwrite, uint64(g.IntN(5000)), uint64(g.IntN(5000))
	case 2:
		o.Code, o.Off, o.Len = model.Msync, uint64(g.IntN(5000)), uint64(g.IntN(5000))
	case 3, 4:
		o.Code, o.Off, o.Len = model.Dwrite, g.blocks(0), g.blocks(0)
	case 5:
		o.Code, o.Off, o.Len, o.Flags = model.SyncFileRange, g.blocks(0), g.blocks(0), g.IntN(9)
	case 6, 7:
		o.Code, o.From = []model.Code{model.Clone, model.Dedupe}[g.IntN(2)], g.slot()
		o.Off, o.FromOff, o.Len = g.blocks(0), g.blocks(0), g.blocks(1)
	case 8, 9:
		o.Code, o.To = model.Linkat, g.path()
	case 10:
		o.Code, o.Path, o.Mode = model.Mknod, g.path(), nodeTypes[g.IntN(4)]|0o600
	default:
		o.Code, o.Path, o.Mode = model.Open, "/"+g.one("a", "b", "c", "d", "e", "f"), 0o644
		o.Flags = []int{unix.O_RDWR, unix.O_RDWR | unix.O_CREAT, openFlags[g.IntN(12)]}[g.IntN(3)]
	}
	return o
}
