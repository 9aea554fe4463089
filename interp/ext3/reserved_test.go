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

// An imageFault is a change of a sound file system, with the expected violations.
type imageFault struct {
	name    string
	mkfs    []string
	debugfs string
	alter   func(b []byte, m *Mounted) // runs after debugfs; may be nil
	e2fsck  string                     // is part of its output
	rule    string                     // reports the fault
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

// Options of mke2fs.
var (
	smallInodes = []string{"-b", "1024", "-I", "128"}
	largeInodes = []string{"-b", "1024", "-I", "256"}
	quotas      = []string{"-b", "1024", "-O", "quota"}
)

// resizeDind returns the double indirect block of the resize inode.
func resizeDind(b []byte, m *Mounted) []byte {
	resize := b[m.Layout.inodeAddr(ondisk.ResizeIno):]
	return b[m.Geo.Addr(ondisk.Inode(resize).Pointer(13)):]
}

// firstReserved returns the offset of the first pointer in that block.
func firstReserved(b []byte, m *Mounted) (off int) {
	for off = 0; ondisk.LE32(resizeDind(b, m), off) == 0; off += 4 {
	}
	return off
}

// resizeFaults are faults of the resize inode.
var resizeFaults = []imageFault{
	{"resize inode without blocks", smallInodes, "sif <7> block[DIND] 0", nil,
		"Resize inode not valid", "ext3/13"},
	{"resize inode with a block of data", smallInodes, "sif <7> block[0] 5000", nil,
		"Resize inode not valid", "ext3/24"},
	{"resize inode that is a pipe", smallInodes, "sif <7> mode 010600", nil, "Resize inode not valid",
		"ext3/25"},
	{"resize inode without links", smallInodes, "sif <7> links_count 0", nil, "Resize inode not valid",
		"ext3/25"},
	{"reserved blocks of descriptors in another order", smallInodes, "", func(b []byte, m *Mounted) {
		d, at := resizeDind(b, m), firstReserved(b, m)
		x, y := ondisk.LE32(d, at), ondisk.LE32(d, at+4)
		put32(d, at, y)
		put32(d, at+4, x)
	}, "Resize inode not valid", "ext3/24"},
	{"reserved block of a copy in another place", smallInodes, "", func(b []byte, m *Mounted) {
		first := b[m.Geo.Addr(ondisk.LE32(resizeDind(b, m), firstReserved(b, m))):]
		put32(first, 0, ondisk.LE32(first, 0)+700)
	}, "Resize inode not valid", "ext3/24"},
	{"one block is reserved less", smallInodes, "ssv reserved_gdt_blocks 50", nil,
		"Block bitmap differences:  -(53--81)", "ext3/24"},
	{"one block is reserved more", smallInodes, "", func(b []byte, _ *Mounted) {
		b[ondisk.SuperOff+ondisk.SuperReservedGDTBlocksAt]++
	}, "", "ext3/25"},
	{"more blocks are reserved than a block can name", smallInodes, "ssv reserved_gdt_blocks 257", nil,
		"Corrupt group descriptor", "ext3/26"},
	{"pointers of the resize inode without the feature", append(smallInodes, "-O", "^resize_inode"),
		"sif <7> block[0] 5000", nil, "", "ext3/reserved-inode"},
	{"resize inode and descriptors with their groups", smallInodes, "feature +meta_bg", nil,
		"Resize_inode and meta_bg features are enabled", "ext3/22"},
}

// superFaults are faults of the superblock and of fields that depend on it.
var superFaults = []imageFault{
	{"recovery without a journal", smallInodes,
		"feature -has_journal +needs_recovery\nssv journal_inum 0\nclri <8>", nil,
		"needs_recovery flag is set, but no journal is present", "ext3/22"},
	{"most blocks are for root", smallInodes, "ssv r_blocks_count 15000", nil,
		"r_blocks_count = 15000", "ext3/26"},
	{"fields of large inodes", largeInodes, "ssv min_extra_isize 30", nil, "Bad required extra isize",
		"ext3/26"},
	{"wanted fields of large inodes", largeInodes, "ssv want_extra_isize 200", nil,
		"Bad desired extra isize", "ext3/26"},
	{"clusters of another number", smallInodes, "", func(b []byte, _ *Mounted) {
		b[ondisk.SuperOff+ondisk.SuperClustersPerGroupAt] ^= 8
	}, "Superblock invalid",
		"ext3/baseline"},
	{"few inodes in a group", smallInodes, "", func(b []byte, _ *Mounted) {
		put32(b, ondisk.SuperOff+ondisk.SuperInodesPerGroupAt, 4)
	}, "Superblock invalid", "ext3/baseline"},
	{"large file without the feature", smallInodes,
		"feature -large_file\nmkdir d\nwrite /etc/passwd f\nsif f size 0x90000000", nil,
		"lacks LARGE_FILE flag", "ext3/28"},
	{"journal with a size beyond its blocks", smallInodes, "sif <8> size 30000000", nil, "ournal",
		"ext3/baseline"},
}

// quotaFaults are faults of the files of quotas.
var quotaFaults = []imageFault{
	{"quota file that is a pipe", quotas, "sif <3> mode 010600", nil,
		"Quota inode is not a regular file", "ext3/21"},
	{"quota file of groups without an inode", quotas, "clri <4>", nil,
		"Quota inode is not a regular file", "ext3/31"},
	{"quota file that is not named", quotas, "ssv usr_quota_inum 0", nil,
		"Quota inode is not in use, but contains data", "ext3/21"},
	{"quota file in another inode", quotas, "ssv usr_quota_inum 12", nil,
		"Quota inode is not in use, but contains data", "ext3/31"},
	{"quota file that is the journal", quotas, "ssv grp_quota_inum 8", nil,
		"Invalid group quota inode", "ext3/31"},
	{"quota file without links", quotas, "sif <3> links_count 0", nil, "", "ext3/31"},
	{"quota file of projects", quotas, "ssv prj_quota_inum 12", nil,
		"Quota inode is not a regular file", "ext3/31"},
	{"quota files without the feature", quotas, "feature -quota", nil,
		"Quota inode is not in use, but contains data", "ext3/21"},
	{"quota file with a name", quotas, "ln <3> name", nil, "invalid inode #: 3",
		"ext3/dirent-inode"},
}

// inodeFaults are faults of other reserved inodes.
var inodeFaults = []imageFault{
	{"reserved inode of no use with a count of blocks", smallInodes, "sif <9> blocks 8", nil,
		"Inode 9, i_blocks is 8, should be 0", "ext3/reserved-inode"},
	{"reserved inode of no use with attributes", smallInodes, "sif <9> file_acl 5000", nil,
		"Inode 9 has a bad extended attribute block 5000", "ext3/reserved-inode"},
	{"reserved inode of no use with an index", smallInodes, "sif <9> flags 0x1000", nil,
		"Inode 9 has INDEX_FL flag set but is not a directory", "ext3/reserved-inode"},
	{"bad blocks inode with a mode", smallInodes, "sif <1> mode 0100644", nil,
		"bad block inode looks invalid", "ext3/reserved-inode"},
	{"bad blocks inode with an owner", smallInodes, "sif <1> uid 5", nil,
		"bad block inode looks invalid", "ext3/reserved-inode"},
	{"bad blocks inode with links", smallInodes, "sif <1> links_count 1", nil,
		"bad block inode looks invalid", "ext3/reserved-inode"},
	{"bad block that counts as free", smallInodes, "sif <1> block[0] 15000", nil,
		"Block bitmap differences", "ext3/1"},
	{"bad block outside", smallInodes, "sif <1> block[0] 150000", nil,
		"Illegal block", "ext3/block-pointer"},
	{"bad block in the block bitmap", smallInodes, "", func(b []byte, m *Mounted) {
		put32(b[m.Layout.inodeAddr(ondisk.BadIno):], ondisk.InodeBlock0At,
			m.Layout.Places[0].BlockBitmap)
	}, "block bitmap (82) is bad", "ext3/block-pointer"},
	{"bad block in a directory", smallInodes, "", func(b []byte, m *Mounted) {
		put32(b[m.Layout.inodeAddr(ondisk.BadIno):], ondisk.InodeBlock0At,
			ondisk.LE32(b[m.Layout.inodeAddr(ondisk.RootIno):], ondisk.InodeBlock0At))
	}, "multiply-claimed", "ext3/5"},
	{"copy of the superblock is a bad block", smallInodes, "sif <1> block[0] 8193", nil, "is bad",
		"ext3/block-pointer"},
}

// dotFaults are faults of the entries . and .. of a directory.
var dotFaults = []imageFault{
	{". that is not ended", smallInodes, "", func(b []byte, m *Mounted) {
		b[m.Geo.Addr(ondisk.LE32(b[m.Layout.inodeAddr(ondisk.RootIno):], ondisk.InodeBlock0At))+9] = 'x'
	}, "not NULL terminated", "ext3/directory-dots"},
	{".. that is not ended", smallInodes, "", func(b []byte, m *Mounted) {
		b[m.Geo.Addr(ondisk.LE32(b[m.Layout.inodeAddr(ondisk.RootIno):], ondisk.InodeBlock0At))+22] = 'x'
	}, "not NULL terminated", "ext3/directory-dots"},
	{". with room for more", smallInodes, "mkdir d\nsif d flags 0", func(b []byte, m *Mounted) {
		dir := b[m.Geo.Addr(ondisk.LE32(b[m.Layout.inodeAddr(12):], ondisk.InodeBlock0At)):]
		dir[ondisk.DirentRecLenAt] = 36 // .. is moved behind the room
		copy(dir[36:48], dir[12:24])
		n := ondisk.LE16(dir, 12+ondisk.DirentRecLenAt) - 24
		dir[36+ondisk.DirentRecLenAt], dir[36+ondisk.DirentRecLenAt+1] = byte(n), byte(n>>8)
	}, "is big", "ext3/directory-dots"},
}

// TestAlteredImages checks that fsward reports the faults in reserved inodes, the superblock and
// directories that e2fsck reports.
func TestAlteredImages(t *testing.T) {
	for _, tc := range slices.Concat(resizeFaults, superFaults, quotaFaults, inodeFaults, dotFaults) {
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
