package volume_test

import (
	"testing"

	"fsward/interp/volume"
)

// TestIdentify checks that the contents that tools make are identified by name.
func TestIdentify(t *testing.T) {
	for _, c := range []struct{ want, script string }{
		{"", "true"},
		{"swap", "mkswap -q $D"},
		{"ext2", "mke2fs -q -t ext2 $D"},
		{"ext3", "mke2fs -q -t ext3 $D"},
		{"ext4", "mke2fs -q -t ext4 $D"},
		{"external journal of ext3 or ext4", "mke2fs -q -O journal_dev $D"},
		{"btrfs", "mkfs.btrfs -q -f $D"},
		{"qcow2 image", "qemu-img create -q -f qcow2 $D 1G"},
		{"VMDK image", "qemu-img create -q -f vmdk $D 1G"},
		{"VDI image", "qemu-img create -q -f vdi $D 1G"},
		{"VHDX image", "qemu-img create -q -f vhdx $D 1G"},
		{"VHD image", "qemu-img create -q -f vpc -o subformat=fixed $D 16M"},
		{"QED image", "qemu-img create -q -f qed $D 1G"},
		{"gzip-compressed file", "echo x | gzip >$D"},
		{"xz-compressed file", "echo x | xz >$D"},
		{"zstd-compressed file", "echo x | zstd -q >$D"},
	} {
		t.Run(c.want, func(t *testing.T) {
			i := newImage(t, 128<<20)
			i.sh(t, c.script)
			if stat, err := i.Stat(); err == nil {
				i.size = uint64(stat.Size())
			}
			if got := volume.Identify(i); got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestIdentifyMagic checks that other contents are identified by a magic with zeros around it. A
// file that ends with the magic is read too.
func TestIdentifyMagic(t *testing.T) {
	for _, c := range []struct {
		want string
		off  int64
		text string
	}{
		{"XFS", 0, "XFSB"},
		{"LUKS1", 0, "LUKS\xba\xbe\x00\x01"},
		{"LUKS2", 0, "LUKS\xba\xbe\x00\x02"},
		{"f2fs", 1024, "\x10\x20\xf5\xf2"},
		{"jfs", 32 << 10, "JFS1"},
		{"reiserfs", 64<<10 + 52, "ReIsEr2Fs"},
		{"iso9660", 32<<10 + 1, "CD001"},
		{"squashfs", 0, "hsqs"},
		{"nilfs2", 1024 + 6, "\x34\x34"},
		{"exfat", 0, "\xeb\x76\x90EXFAT   "},
		{"NTFS", 0, "\xeb\x52\x90NTFS    "},
		{"vfat", 0, "\xeb\x58\x90mkfs.fat\x00\x02\x01\x20\x00\x02\x00\x02\x00\x00\xf8"},
		{"bcache", 4096 + 24, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"},
		{"ZFS member", 128<<10 + 4096, "\x0c\xb1\xba\x00\x00\x00\x00\x00"},
		{"swap", 64<<10 - 10, "SWAPSPACE2"},
		{"md member (1.1)", 0, "\xfc\x4e\x2b\xa9\x01\x00\x00\x00"},
		{"md member (0.90)", 128<<20 - 64<<10, "\xfc\x4e\x2b\xa9\x00\x00\x00\x00"},
	} {
		i := newImage(t, 128<<20)
		if _, err := i.WriteAt([]byte(c.text), c.off); err != nil {
			t.Fatal(err)
		}
		if got := volume.Identify(i); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		if err := i.Truncate(int64(len(c.text))); err != nil {
			t.Fatal(err)
		}
		i.size = uint64(len(c.text))
		volume.Identify(i)
	}
}
