package modeltest

import (
	"math/rand/v2"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/model"
)

// A Generator makes random operations on a few names, so that operations often affect each other.
type Generator struct {
	*rand.Rand
	Subvolumes bool // Op also makes and deletes subvolumes
	Flags      bool // Op also sets flags of files and directories
	whiteouts  bool // makes whiteouts, and no default lists, which file systems give them or not
}

// NewGenerator returns a generator of the operations that a seed selects.
func NewGenerator(seed uint64) *Generator {
	return &Generator{Rand: rand.New(rand.NewPCG(seed, 7)), whiteouts: seed%2 == 0}
}

func (g *Generator) one(s ...string) string { return s[g.IntN(len(s))] }

func (g *Generator) path() string {
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
func (g *Generator) slot() uint32 { return []uint32{0, 1, 2, 3, agent.FirstHeld}[g.IntN(5)] }

// attribute makes an operation one on an extended attribute.
func (g *Generator) attribute(o *model.Op) {
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
		if g.IntN(2) == 0 {
			o.Path = g.one("/a", "/b", "/c", "/d") // which may be directories
		}
		o.Value = model.AccessList(o.Mode, 7, uint32(g.IntN(8)))
	}
	if o.Code == model.Setxattr {
		o.Flags = []int{0, unix.XATTR_CREATE, unix.XATTR_REPLACE}[g.IntN(3)]
	}
}

// Op returns a random operation.
func (g *Generator) Op() model.Op {
	switch {
	case g.Subvolumes && g.IntN(8) == 0:
		return g.subvolume()
	case g.Flags && g.IntN(20) == 0:
		return g.flags()
	case g.IntN(4) == 0:
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
		o.Code, o.To = model.Symlink, g.target(o.Path)
	case 11:
		o.Code = []model.Code{model.Chmod, model.Chown, model.Readlink, model.Utimes}[g.IntN(4)]
		o.Mtime = 1e18
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

// subvolume returns a random operation on subvolumes.
func (g *Generator) subvolume() model.Op {
	o := model.Op{Path: g.path(), To: g.path()}
	o.Code = []model.Code{model.Subvolume, model.Snapshot, model.Snapshot, model.SetReadOnly,
		model.DeleteSubvolume}[g.IntN(5)]
	switch top := g.one("/a", "/b", "/c", "/d"); {
	case o.Code == model.Snapshot:
		o.Path, o.Flags = g.one("/", top, o.Path), g.IntN(2)*agent.ReadOnly
	case o.Code == model.SetReadOnly:
		o.Path, o.Flags = g.one(top, o.Path), []int{0, 0, 0, agent.ReadOnly}[g.IntN(4)]
	case g.IntN(2) == 0:
		o.Path = top
	}
	return o
}

// target returns a target of a symbolic link with a path.
func (g *Generator) target(link string) string {
	switch to := g.one("a", "b/c", "../b", ".", "x", "d"); {
	case strings.Count(link, "/") < 2 && to == "../b":
		return "c"
	default:
		return to
	}
}

// flags returns an operation that sets flags of a file or a directory.
func (g *Generator) flags() model.Op {
	sets := [7]int{0, agent.NoDump, agent.NoAccessTime, agent.Synchronous, agent.Compressed,
		agent.NoCOW, agent.NoDump | agent.NoAccessTime | agent.Synchronous}
	p := g.one("/e", "/f", "/", g.path()) // subvolumes get the compression of "/"
	o := model.Op{Code: model.Setflags, Path: p, Flags: sets[g.IntN(7)]}
	if g.IntN(4) == 0 {
		o.Path = g.one("/a", "/b", "/c", g.path())
		o.Flags = []int{agent.Immutable, agent.AppendOnly}[g.IntN(2)]
	}
	return o
}

// blocks returns a multiple of a block, from least blocks on.
func (g *Generator) blocks(least uint64) uint64 { return (least + g.Uint64N(3)) * model.Block }

// dataOp returns a random operation on open files, or one that makes something to open.
func (g *Generator) dataOp() model.Op {
	o := model.Op{Slot: g.slot(), Seed: 1 + g.Uint64N(2)}
	switch g.IntN(19) {
	case 18:
		o.Code, o.Path = model.Fiemap, g.one("/a", "/b", "/e", "/f")
	case 0, 1:
		o.Code, o.Off, o.Len = model.Mmapwrite, uint64(g.IntN(5000)), uint64(g.IntN(5000))
	case 2:
		o.Code, o.Off, o.Len = model.Msync, uint64(g.IntN(5000)), uint64(g.IntN(5000))
	case 3, 4:
		o.Code, o.Off, o.Len = model.Dwrite, g.blocks(0), g.blocks(0)
		if g.IntN(2) == 0 {
			o.Code, o.Len = model.Dwrites, 2*o.Len
		}
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
