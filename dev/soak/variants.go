package main

// A variant is a way to make and mount a file system: the options of mkfs and mount, and the disks.
type variant struct {
	name      string
	mkfs      []string
	mount     []string
	size      int64  // bytes, of each disk
	disks     int    // 0 selects 1
	spare     int    // number of blank disks that the load may add
	needs     string // a feature of mkfs that not every version has; "" for none
	newer     bool   // needs a newer kernel than the guest's 6.1
	mountType string // type for mount; "" selects the plan's file system
	noJournal bool
}

const gib = 1 << 30

var variants = map[string][]variant{
	"btrfs": {
		{name: "default", size: 2 * gib},
		{name: "single, 4k nodes, no free-space tree",
			mkfs: []string{"-d", "single", "-m", "single", "-n", "4096", "-O", "^no-holes", "-R",
				"^free-space-tree"}, mount: []string{"compress=zlib"}, size: 2 * gib},
		{name: "64k nodes, xxhash, zstd", mkfs: []string{"-n", "65536", "--csum", "xxhash"},
			mount: []string{"compress-force=zstd", "discard=async"}, size: 2 * gib},
		{name: "mixed, sha256", mkfs: []string{"--mixed", "--csum", "sha256"},
			mount: []string{"autodefrag"}, size: gib},
		{name: "32k nodes, blake2b, lzo", mkfs: []string{"-n", "32768", "-m", "dup", "--csum", "blake2"},
			mount: []string{"compress=lzo", "flushoncommit", "discard=sync"}, size: 2 * gib},
		{name: "quota, no cow", mkfs: []string{"-R", "quota"}, mount: []string{"nodatacow"},
			size: 2 * gib},
		{name: "no checksums, no log, nothing inline", mkfs: []string{"-n", "4096", "-d", "dup"},
			mount: []string{"nodatasum", "notreelog", "max_inline=0", "commit=2"}, size: 2 * gib},
		{name: "block-group tree, quota", mkfs: []string{"-O", "block-group-tree", "-R", "quota", "-n",
			"4096"}, size: 2 * gib, needs: "block-group-tree"},
		{name: "block-group tree, simple quota", mkfs: []string{"-O", "block-group-tree,squota"},
			size: 2 * gib, needs: "squota", newer: true},
		{name: "2 disks, raid1", mkfs: []string{"-d", "raid1", "-m", "raid1"}, size: 4 * gib, disks: 2,
			spare: 1},
		{name: "2 disks, raid0, 4k nodes", mkfs: []string{"-d", "raid0", "-m", "raid0", "-n", "4096"},
			mount: []string{"compress=zstd"}, size: 4 * gib, disks: 2, spare: 2},
		{name: "4 disks, raid10", mkfs: []string{"-d", "raid10", "-m", "raid10"},
			mount: []string{"discard=async"}, size: 4 * gib, disks: 4},
		{name: "3 disks, raid1c3, quota", mkfs: []string{"-d", "raid0", "-m", "raid1c3", "-R", "quota",
			"--csum", "xxhash"}, size: 4 * gib, disks: 3, spare: 1},
		{name: "3 disks, single, mixed", mkfs: []string{"--mixed", "-d", "single", "-m", "single", "-R",
			"^free-space-tree"}, mount: []string{"space_cache=v1"}, size: 4 * gib, disks: 3},
		{name: "2 disks, block-group tree, simple quota",
			mkfs:  []string{"-O", "block-group-tree,squota", "-d", "raid1", "-m", "raid1", "-n", "4096"},
			mount: []string{"compress=zstd"}, size: 4 * gib, disks: 2, spare: 1, needs: "squota",
			newer: true},
	},
	"ext3": {
		{name: "default", size: gib},
		{name: "1k blocks, data=journal", mkfs: []string{"-b", "1024", "-J", "size=16"},
			mount: []string{"data=journal"}, size: gib / 2},
		{name: "4k blocks, data=writeback", mkfs: []string{"-b", "4096", "-I", "256"},
			mount: []string{"data=writeback"}, size: gib},
		{name: "1k blocks, 128-byte inodes, small journal",
			mkfs:  []string{"-b", "1024", "-I", "128", "-J", "size=2"},
			mount: []string{"data=ordered", "commit=1"}, size: gib / 2},
		{name: "4k blocks, journal checksum, data=journal", mkfs: []string{"-b", "4096"},
			mount: []string{"journal_checksum", "data=journal"}, size: gib, mountType: "ext4"},
		{name: "1k blocks, journal checksum", mkfs: []string{"-b", "1024"},
			mount: []string{"journal_checksum"}, size: gib / 2, mountType: "ext4"},
		{name: "2k blocks, no index, no resize inode",
			mkfs: []string{"-b", "2048", "-O", "^dir_index,^resize_inode"}, size: gib},
		{name: "descriptors with their groups, data=writeback",
			mkfs:  []string{"-b", "1024", "-O", "meta_bg,^resize_inode"},
			mount: []string{"data=writeback", "nobarrier"}, size: gib / 2},
		{name: "ext2, 1k blocks", mkfs: []string{"-b", "1024", "-O", "^has_journal"}, size: gib / 2,
			mountType: "ext2", noJournal: true},
		{name: "ext2, 4k blocks", mkfs: []string{"-b", "4096", "-O", "^has_journal"}, size: gib,
			mountType: "ext2", noJournal: true},
	},
}
