package ext3

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// An imageFault is a change of a sound file system, and what has to be found then.
type imageFault struct {
	name    string
	mkfs    []string
	debugfs string
	alter   func(b []byte, m *Mounted) // after debugfs
	e2fsck  string                     // says this; "": it says nothing
	rule    string
}

// altered makes an image with a fault.
func altered(t *testing.T, tc imageFault) string {
	t.Helper()
	image := Mkfs(t, "20M", tc.mkfs...)
	if tc.debugfs != "" {
		commands := filepath.Join(t.TempDir(), "commands")
		if err := os.WriteFile(commands, []byte(tc.debugfs), 0o600); err != nil {
			t.Fatal(err)
		}
		peer(t, "debugfs", "-w", "-f", commands, image)
	}
	if tc.alter != nil {
		b := ReadFile(t, image)
		m, err := Mount(OpenImage(t, image), uint64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		tc.alter(b, m)
		if err := os.WriteFile(image, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return image
}

// judgedImage returns the rules and checks that do not hold in an image.
func judgedImage(t *testing.T, image string) (found []string) {
	t.Helper()
	obs, err := Image(OpenImage(t, image))
	var bad *interp.CorruptError
	if errors.As(err, &bad) {
		return []string{checkBaseline.name}
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range Judge(Engine(t), obs) {
		if rule, _, _ := strings.Cut(line, " "); !slices.Contains(found, rule) {
			found = append(found, rule)
		}
	}
	return found
}

// Faults in reserved inodes and in the superblock: fsward finds what e2fsck finds.
func TestAlteredImages(t *testing.T) {
	one := []string{"-b", "1024", "-I", "128"}
	large := []string{"-b", "1024", "-I", "256"}
	resize := func(b []byte, m *Mounted) []byte { return b[m.Layout.inodeAddr(ondisk.ResizeIno):] }
	dind := func(b []byte, m *Mounted) []byte {
		return b[m.Geo.Addr(ondisk.Inode(resize(b, m)).Pointer(13)):]
	}
	firstReserved := func(b []byte, m *Mounted) (off int) {
		for off = 0; ondisk.LE32(dind(b, m), off) == 0; off += 4 {
		}
		return off
	}
	for _, tc := range []imageFault{
		{"resize inode without blocks", one, "sif <7> block[DIND] 0", nil, "Resize inode not valid",
			"ext3/13"},
		{"resize inode with a block of data", one, "sif <7> block[0] 5000", nil, "Resize inode not valid",
			"ext3/24"},
		{"resize inode that is a pipe", one, "sif <7> mode 010600", nil, "Resize inode not valid",
			"ext3/25"},
		{"resize inode without links", one, "sif <7> links_count 0", nil, "Resize inode not valid",
			"ext3/25"},
		{"reserved blocks of descriptors in another order", one, "", func(b []byte, m *Mounted) {
			d, at := dind(b, m), firstReserved(b, m)
			x, y := ondisk.LE32(d, at), ondisk.LE32(d, at+4)
			put32(d, at, y)
			put32(d, at+4, x)
		}, "Resize inode not valid", "ext3/24"},
		{"reserved block of a copy in another place", one, "", func(b []byte, m *Mounted) {
			first := b[m.Geo.Addr(ondisk.LE32(dind(b, m), firstReserved(b, m))):]
			put32(first, 0, ondisk.LE32(first, 0)+700)
		}, "Resize inode not valid", "ext3/24"},
		{"one block is reserved less", one, "ssv reserved_gdt_blocks 50", nil,
			"Block bitmap differences:  -(53--81)", "ext3/24"},
		{"one block is reserved more", one, "", func(b []byte,
			_ *Mounted) {
			b[ondisk.SuperOff+ondisk.SuperReservedGDTBlocksAt]++
		}, "", "ext3/25"},
		{"more blocks are reserved than a block can name", one, "ssv reserved_gdt_blocks 257", nil,
			"Corrupt group descriptor", "ext3/26"},
		{"pointers of the resize inode without the feature", append(one, "-O", "^resize_inode"),
			"sif <7> block[0] 5000", nil, "", "ext3/reserved-inode"},
		{"resize inode and descriptors with their groups", one, "feature +meta_bg", nil,
			"Resize_inode and meta_bg features are enabled", "ext3/22"},
		{"recovery without a journal", one,
			"feature -has_journal +needs_recovery\nssv journal_inum 0\nclri <8>", nil,
			"needs_recovery flag is set, but no journal is present", "ext3/22"},
		{"most blocks are for root", one, "ssv r_blocks_count 15000", nil, "r_blocks_count = 15000",
			"ext3/26"},
		{"fields of large inodes", large, "ssv min_extra_isize 30", nil, "Bad required extra isize",
			"ext3/26"},
		{"wanted fields of large inodes", large, "ssv want_extra_isize 200", nil,
			"Bad desired extra isize", "ext3/26"},
		{"clusters of another number", one, "", func(b []byte,
			_ *Mounted) {
			b[ondisk.SuperOff+ondisk.SuperClustersPerGroupAt] ^= 8
		}, "Superblock invalid",
			"ext3/baseline"},
		{"few inodes in a group", one, "", func(b []byte, _ *Mounted) {
			put32(b,
				ondisk.SuperOff+ondisk.SuperInodesPerGroupAt, 4)
		}, "Superblock invalid", "ext3/baseline"},
		{"large file without the feature", one,
			"feature -large_file\nmkdir d\nwrite /etc/passwd f\nsif f size 0x90000000", nil,
			"lacks LARGE_FILE flag", "ext3/28"},
		{"reserved inode of no use with a count of blocks", one, "sif <9> blocks 8", nil,
			"Inode 9, i_blocks is 8, should be 0", "ext3/reserved-inode"},
		{"reserved inode of no use with attributes", one, "sif <9> file_acl 5000", nil,
			"Inode 9 has a bad extended attribute block 5000", "ext3/reserved-inode"},
		{"reserved inode of no use with an index", one, "sif <9> flags 0x1000", nil,
			"Inode 9 has INDEX_FL flag set but is not a directory", "ext3/reserved-inode"},
		{"bad blocks inode with a mode", one, "sif <1> mode 0100644", nil,
			"bad block inode looks invalid", "ext3/reserved-inode"},
		{"bad blocks inode with an owner", one, "sif <1> uid 5", nil, "bad block inode looks invalid",
			"ext3/reserved-inode"},
		{"bad blocks inode with links", one, "sif <1> links_count 1", nil,
			"bad block inode looks invalid", "ext3/reserved-inode"},
		{"bad block that counts as free", one, "sif <1> block[0] 15000", nil, "Block bitmap differences",
			"ext3/1"},
		{"bad block outside", one, "sif <1> block[0] 150000", nil, "Illegal block", "ext3/block-pointer"},
		{"bad block in the block bitmap", one, "", func(b []byte, m *Mounted) {
			put32(b[m.Layout.inodeAddr(ondisk.BadIno):], ondisk.InodeBlock0At,
				m.Layout.Places[0].BlockBitmap)
		}, "block bitmap (82) is bad", "ext3/block-pointer"},
		{"bad block in a directory", one, "", func(b []byte, m *Mounted) {
			put32(b[m.Layout.inodeAddr(ondisk.BadIno):], ondisk.InodeBlock0At,
				ondisk.LE32(b[m.Layout.inodeAddr(ondisk.RootIno):], ondisk.InodeBlock0At))
		}, "multiply-claimed", "ext3/5"},
		{"copy of the superblock is a bad block", one, "sif <1> block[0] 8193", nil, "is bad",
			"ext3/block-pointer"},
		{"copy of the journal's pointers", one, "", func(b []byte,
			_ *Mounted) {
			b[ondisk.SuperOff+ondisk.SuperJnlBlocksAt]++
		}, "", "ext3/journal-backup"},
		{"journal with a size beyond its blocks", one, "sif <8> size 30000000", nil, "ournal",
			"ext3/baseline"},
		{". that is not ended", one, "", func(b []byte, m *Mounted) {
			b[m.Geo.Addr(ondisk.LE32(b[m.Layout.inodeAddr(ondisk.RootIno):], ondisk.InodeBlock0At))+9] = 'x'
		}, "not NULL terminated", "ext3/directory-dots"},
		{".. that is not ended", one, "", func(b []byte, m *Mounted) {
			b[m.Geo.Addr(ondisk.LE32(b[m.Layout.inodeAddr(ondisk.RootIno):], ondisk.InodeBlock0At))+22] = 'x'
		}, "not NULL terminated", "ext3/directory-dots"},
		{". with room for more", one, "mkdir d\nsif d flags 0", func(b []byte, m *Mounted) {
			dir := b[m.Geo.Addr(ondisk.LE32(b[m.Layout.inodeAddr(12):], ondisk.InodeBlock0At)):]
			dir[ondisk.DirentRecLenAt] = 36 // .. is moved behind the room
			copy(dir[36:48], dir[12:24])
			n := ondisk.LE16(dir, 12+ondisk.DirentRecLenAt) - 24
			dir[36+ondisk.DirentRecLenAt], dir[36+ondisk.DirentRecLenAt+1] = byte(n), byte(n>>8)
		}, "is big", "ext3/directory-dots"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			image := altered(t, tc)
			out, err := exec.CommandContext(t.Context(), "e2fsck", "-fn", image).CombinedOutput()
			if !strings.Contains(string(out), tc.e2fsck) {
				t.Errorf("e2fsck (%v) does not say %q:\n%s", err, tc.e2fsck, out)
			}
			if found := judgedImage(t, image); !slices.Contains(found, tc.rule) {
				t.Errorf("want %s, found %v", tc.rule, found)
			}
		})
	}
}
