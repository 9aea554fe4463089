package ext3

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A copied block is a block in a coming commit: its place in the file system, and its contents,
// which can be changed.
type copied struct {
	fs   *FS
	home uint32
	b    []byte
}

// inode returns an inode in the block, nil if it is not there.
func (c copied) inode(ino uint32) []byte {
	if block, off := c.fs.m.Layout.inodePlace(ino); block == c.home {
		return c.b[off:]
	}
	return nil
}

// alterScript runs a script on a small file system and records its writes. It judges the first
// commit in which alter changes a block, and expects the rule.
func alterScript(t *testing.T, mkfsOpts []string, script, rule string, alter func(copied) bool) {
	t.Helper()
	image := Mkfs(t, "8M", append([]string{"-b", "1024"}, mkfsOpts...)...)
	base := ReadFile(t, image)
	f := Follow(t, image, 0, nil, nil, script)
	d := NewDisk(bytes.NewReader(base), uint64(len(base)))
	fs, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range f.Writes {
		changed := false
		if fs.m != nil && !fs.m.Log.idle && fs.m.Log.holdsCommit(w, fs.m.Log.nextSeq) {
			tr, err := fs.m.Log.Read(PendingDevice{d, w}, fs.m.Log.head, fs.m.Log.nextSeq)
			if err != nil {
				t.Fatal(err)
			}
			for home, p := range tr.Copies {
				b, err := ReadBlock(PendingDevice{d, w}, fs.geo, p.Block)
				if err != nil {
					t.Fatal(err)
				}
				if !alter(copied{fs, home, b}) {
					continue
				}
				changed = true
				at := fs.geo.Addr(p.Block)
				if touches(w, at, 1) {
					w.Data = bytes.Clone(w.Data)
					copy(w.Data[at-w.Off:], b)
				} else {
					d.Apply(interp.Write{Off: at, Len: uint64(len(b)), Data: b})
				}
			}
		}
		obs := fs.Observe(w)
		if changed {
			if found := strings.Join(Judge(f.Rules, obs), "\n"); !strings.Contains(found, rule+" ") {
				t.Errorf("want %s, found %s", rule, found)
			}
			return
		}
		d.Apply(w)
		fs.Settle(true)
	}
	t.Error("nothing was altered")
}

func put32(b []byte, off int, n uint32) { binary.LittleEndian.PutUint32(b[off:], n) }

const manyFiles = `mkdir d; i=0
	while [ $i -lt 400 ]; do
		: > d/name-of-some-length-$i; i=$((i + 1)); [ $((i % 50)) != 0 ] || sync -f .
	done
	sync -f .`

// twoNames makes many names, and in another commit a name of the same length.
const twoNames = `i=0; mkdir d
	while [ $i -lt 99 ]; do : > d/name-of-some-length-$i; i=$((i + 1)); done
	sync -f .; : > d/other-of-some-length; sync -f .`

// A scriptCase alters the first commit of a script that has the object, and names the rule that
// must report it. alter reports whether it has altered the block.
type scriptCase struct {
	name, script, rule string
	alter              func(copied) bool
}

// openUnlinked makes an orphan: an open file without a name.
const openUnlinked = "exec 3> open; echo x >&3; sync -f .; rm open; sync -f .; exec 3>&-; sync -f ."

// super returns the superblock in the block, nil if it is not there.
func (c copied) super() []byte {
	if c.home != c.fs.geo.SuperBlock() {
		return nil
	}
	return c.b[ondisk.SuperOff%len(c.b):]
}

// superblockCases alter the superblock and bitmaps.
var superblockCases = []scriptCase{
	{"orphan not on the list", openUnlinked, "ext3/14", func(c copied) bool {
		sb := c.super()
		if sb == nil || ondisk.LE32(sb, ondisk.SuperLastOrphanAt) == 0 {
			return false
		}
		put32(sb, ondisk.SuperLastOrphanAt, 0)
		return true
	}},
	{"orphan list to nowhere", openUnlinked, "ext3/orphan-list", func(c copied) bool {
		sb := c.super()
		if sb == nil || ondisk.LE32(sb, ondisk.SuperLastOrphanAt) == 0 {
			return false
		}
		put32(sb, ondisk.SuperLastOrphanAt, 3)
		return true
	}},
	{"revision 0", openUnlinked, "ext3/22", func(c copied) bool {
		sb := c.super()
		if sb == nil {
			return false
		}
		put32(sb, ondisk.SuperRevLevelAt, 0)
		return true
	}},
	{"grown without its blocks", openUnlinked, "ext3/superblock", func(c copied) bool {
		sb := c.super()
		if sb == nil {
			return false
		}
		put32(sb, ondisk.SuperBlocksCountAt, ondisk.LE32(sb, ondisk.SuperBlocksCountAt)-1)
		return true
	}},
	{"padding of a bitmap", ": > f; sync -f .", "ext3/bitmap-padding", func(c copied) bool {
		if c.home != c.fs.m.Layout.Places[0].InodeBitmap {
			return false
		}
		c.b[1000] = 0
		return true
	}},
}

// inodeCases alter the fields of inodes.
var inodeCases = []scriptCase{
	{"deleted without a time", "echo x > f; sync -f .; rm f; sync -f .", "ext3/inode-deleted",
		func(c copied) bool {
			i := c.inode(12)
			if i == nil || ondisk.LE32(i, ondisk.InodeDtimeAt) == 0 {
				return false
			}
			put32(i, ondisk.InodeDtimeAt, 0)
			return true
		}},
	{"root without its type", "chmod 700 .; sync -f .", "ext3/21", func(c copied) bool {
		i := c.inode(ondisk.RootIno)
		if i == nil {
			return false
		}
		binary.LittleEndian.PutUint16(i, ondisk.ModeRegular|0o700)
		return true
	}},
	{"reserved inode of no use with blocks", "echo x > f; sync -f .", "ext3/reserved-inode",
		func(c copied) bool {
			i := c.inode(9)
			if i == nil {
				return false
			}
			put32(i, ondisk.InodeBlocksAt, 8)
			return true
		}},
	{"reserved inode of no use with a pointer", "echo x > f; sync -f .", "ext3/reserved-inode",
		func(c copied) bool {
			i := c.inode(9)
			if i == nil {
				return false
			}
			put32(i, ondisk.InodeBlock0At, 5000)
			return true
		}},
}

// directoryCases alter entries and indexes of directories.
var directoryCases = []scriptCase{
	{"directory below itself", "mkdir a b; mkdir a/x; sync -f .; mv b a/x/y; sync -f .", "ext3/20",
		func(c copied) bool {
			// .. of the former b, moved below a/x, names itself.
			if len(c.b) < 24 || string(c.b[8:10]) != ".\x00" || string(c.b[20:22]) != ".." ||
				ondisk.LE32(c.b, 12) == 2 {
				return false
			}
			if r, _ := c.fs.m.Roles.Get(c.home); r.Level != RoleDir || ondisk.LE32(c.b, 12) == 12 {
				return false
			}
			put32(c.b, 12, ondisk.LE32(c.b, 0))
			return true
		}},
	{"circle of new directories", "mkdir a a/x; sync -f .", "ext3/20", func(c copied) bool {
		// .. of a names a/x.
		if len(c.b) < 33 || ondisk.LE32(c.b, 0) != 12 || string(c.b[8:10]) != ".\x00" || ondisk.LE32(c.b,
			12) != 2 || string(c.b[32:33]) != "x" {
			return false
		}
		put32(c.b, 12, ondisk.LE32(c.b, 24))
		return true
	}},
	{".. to another place", "mkdir a b; sync -f .; mv b a/y; sync -f .", "ext3/19",
		func(c copied) bool {
			if r, ok := c.fs.m.Roles.Get(c.home); !ok || r.Level != RoleDir || string(c.b[20:22]) != ".." ||
				ondisk.LE32(c.b, 12) == 2 {
				return false
			}
			put32(c.b, 12, 2)
			return true
		}},
	{"hash of a block of names", manyFiles, "ext3/htree", func(c copied) bool {
		if r, ok := c.fs.m.Roles.Get(c.home); !ok || r.Level != RoleDir || r.Start != 0 ||
			r.Ino == ondisk.RootIno || ondisk.LE16(c.b, ondisk.IndexRootEntries+2) < 3 {
			return false
		}
		at := ondisk.IndexRootEntries + 2*ondisk.IndexEntryLen
		put32(c.b, at, ondisk.LE32(c.b, at)+2) // the block began with this hash when it was split off
		return true
	}},
	{"two entries of an index for a block", manyFiles, "ext3/htree", func(c copied) bool {
		if r, ok := c.fs.m.Roles.Get(c.home); !ok || r.Level != RoleDir || r.Start != 0 ||
			r.Ino == ondisk.RootIno || ondisk.LE16(c.b, ondisk.IndexRootEntries+2) < 3 {
			return false
		}
		at := ondisk.IndexRootEntries + ondisk.IndexEntryLen
		put32(c.b, at+4, ondisk.LE32(c.b, at+ondisk.IndexEntryLen+4))
		return true
	}},
	{"a name twice, without an index", twoNames, "ext3/dirent-name", func(c copied) bool {
		at := bytes.Index(c.b, []byte("other-of-some-length"))
		if r, ok := c.fs.m.Roles.Get(c.home); !ok || r.Level != RoleDir || r.Start == 0 || at < 0 {
			return false
		}
		copy(c.b[at:], "name-of-some-length-")
		c.b[at+20], c.b[at-ondisk.DirentLen+ondisk.DirentNameLenAt] = '1', 21
		return true
	}},
}

// xattrCases alter extended attributes and the additional fields of inodes.
var xattrCases = []scriptCase{
	{"value of an attribute", ": > f; setfattr -n user.a -v some-value f; sync -f .",
		"ext3/xattr-block", func(c copied) bool {
			if ondisk.LE32(c.b, 0) != ondisk.XattrMagic {
				return false
			}
			c.b[len(c.b)-12] ^= 1 // values are at the end
			return true
		}},
	{"attribute without its hash", ": > f; setfattr -n user.a -v some-value f; sync -f .",
		"ext3/xattr-block", func(c copied) bool {
			if ondisk.LE32(c.b, 0) != ondisk.XattrMagic {
				return false
			}
			put32(c.b, ondisk.XattrHeadLen+ondisk.XattrEntryHashAt, 0)
			return true
		}},
	{"attribute in a large inode", ": > f; setfattr -n user.a -v some-value f; sync -f .",
		"ext3/inode-xattr", func(c copied) bool {
			i := c.inode(12)
			if i == nil {
				return false
			}
			put32(i, ondisk.InodeLen+int(ondisk.LE16(i,
				ondisk.InodeLargeExtraIsizeAt))+ondisk.XattrBodyHead+ondisk.XattrEntryValueSizeAt, 1000)
			return true
		}},
	{"attribute in a large inode whose name has a zero byte",
		": > f; setfattr -n user.abc -v some-value f; sync -f .", "ext3/inode-xattr",
		func(c copied) bool {
			i := c.inode(12)
			if i == nil {
				return false
			}
			// of 3 bytes, with one of padding after them
			i[ondisk.InodeLen+int(ondisk.LE16(i, ondisk.InodeLargeExtraIsizeAt))+ondisk.XattrBodyHead]++
			return true
		}},
	{"extra size of a large inode", ": > f; sync -f .", "ext3/inode-xattr", func(c copied) bool {
		i := c.inode(12)
		if i == nil {
			return false
		}
		binary.LittleEndian.PutUint16(i[ondisk.InodeLargeExtraIsizeAt:], 30)
		return true
	}},
}

// TestAlteredScripts alters objects that only certain commits have.
func TestAlteredScripts(t *testing.T) {
	for _, tc := range slices.Concat(superblockCases, inodeCases, directoryCases, xattrCases) {
		t.Run(tc.name, func(t *testing.T) {
			opts := []string{"-I", "128"}
			switch {
			case strings.Contains(tc.name, "large inode"):
				opts = []string{"-I", "256"}
			case strings.Contains(tc.name, "without an index"):
				opts = append(opts, "-O", "^dir_index")
			}
			alterScript(t, opts, tc.script, tc.rule, tc.alter)
		})
	}
}
