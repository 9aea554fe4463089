package matrix

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

var btrfs = &format{
	name: "btrfs", title: "Btrfs", checker: "btrfs check", linux: "Linux 6.1",
	size: 320 << 20, mkfs: []string{"mkfs.btrfs", "-q", "-f"},
	variants: Variants,
	stages:   []int{5, 4, 3, 2},
	wheres:   slices.Concat(btrfsTrees, blocksOf),
	wheresOf: func(object string) []string {
		if object == "super_block" {
			return []string{""}
		}
		return names(btrfsTrees)
	},
	more: fullBackrefs(),
	groups: []string{"superblock", "structure", "root tree", "extents", "free space",
		"chunks and devices", "file trees", "quota", "log"},
	group: btrfsGroup,
	ask:   askBtrfs,
}

// btrfsTrees are the trees of the recordings. Subvolumes are numbered in the order in which the
// workload makes them.
var btrfsTrees = []where{
	{"root", "tree=1"},
	{"extent", "tree=2"},
	{"block group", "tree=11"},
	{"chunk", "tree=3"},
	{"dev", "tree=4"},
	{"csum", "tree=7"},
	{"free space", "tree=10"},
	{"quota", "tree=8"},
	{"uuid", "tree=9"},
	{"default tree", "tree=5"},
	{"volume", "tree=256"},
	{"snapshot", "tree=260"},
	{"fresh", "tree=259"},
	{logTree, "tree=-6"},
}

// blocksOf distinguishes the extent items of metadata blocks by the tree that owns the block and by
// its level. The last two distinguish them by BTRFS_BLOCK_FLAG_FULL_BACKREF.
var blocksOf = []where{
	{"leaf of root", "tree=2,tree_block_ref.root=1,offset=0"},
	{"leaf of extent", "tree=2,tree_block_ref.root=2,offset=0"},
	{"leaf of csum", "tree=2,tree_block_ref.root=7,offset=0"},
	{"leaf of default tree", "tree=2,tree_block_ref.root=5,offset=0"},
	{"node of default tree", "tree=2,tree_block_ref.root=5,offset=1"},
	{"leaf of volume", "tree=2,tree_block_ref.root=256,offset=0"},
	{"node of volume", "tree=2,tree_block_ref.root=256,offset=1"},
	{"leaf of snapshot", "tree=2,tree_block_ref.root=260,offset=0"},
	{"block that counts as a whole", "tree=2,flags=0x102"},
	{"block that does not", "tree=2,flags=2"},
}

// fullBackrefs returns the cells that flip BTRFS_BLOCK_FLAG_FULL_BACKREF in an extent item: its
// references are those of a whole block. No change of offline.Changes flips this bit alone.
func fullBackrefs() (cells []Cell) {
	for _, object := range []string{"metadata_item", "extent_item"} {
		for _, w := range blocksOf {
			cells = append(cells, Cell{Object: object, Where: w.name, Field: "flags", Change: "^0x100"})
		}
	}
	return cells
}

// logTree is the place of the objects in a log tree. Only log commits have cells there.
const logTree = "log"

func btrfsGroup(c *Cell) string {
	switch {
	case c.Where == logTree:
		return "log"
	case c.Object == "super_block":
		return "superblock"
	case c.Object == "header" || c.Object == "key_ptr" || strings.HasPrefix(c.Field, "item."):
		return "structure"
	case slices.Contains([]string{"default tree", "volume", "snapshot", "fresh"}, c.Where):
		return "file trees"
	case strings.HasPrefix(c.Object, "free_space") || c.Where == "free space":
		return "free space"
	case strings.HasPrefix(c.Object, "qgroup"):
		return "quota"
	case c.Where == "root":
		return "root tree"
	case c.Where == "chunk" || c.Where == "dev":
		return "chunks and devices"
	default:
		return "extents"
	}
}

// btrfsNoise matches the lines that `btrfs check` prints about a sound file system too.
var btrfsNoise = regexp.MustCompile(`^(\[\d/\d\]|Opening filesystem|Checking filesystem|UUID:|` +
	`found \d+ bytes|total |btree space|file data blocks| referenced |cache and super|` +
	`no error|extent buffer leak|No device size|\s*$)`)

// askBtrfs runs `btrfs check`.
func askBtrfs(ctx context.Context, d disks) (Peer, error) {
	// --force skips the test whether a device is mounted
	command := []string{"btrfs", "check", "--force", d.paths[0]}
	if len(d.paths) > 1 {
		env := []string{"env", "LD_PRELOAD=" + d.blkidShim,
			"FSWARD_DISKS=" + strings.Join(d.paths, " "), "BLKID_FILE=/dev/null"}
		command = append(env, command...)
	}
	out, exit, ended, err := runChecker(ctx, checkTime, command[0], command[1:]...)
	switch {
	case err != nil:
		return Peer{}, err
	case ended != "":
		return Peer{ended, message(out, btrfsNoise)}, nil
	case exit == 0:
		return Peer{Verdict: "ok"}, nil
	}
	return Peer{"reports", message(out, btrfsNoise)}, nil
}

// Variants are the Btrfs file systems of the matrix. Together they have every kind of object that
// the host's kernel makes, except those of RAID5 and RAID6.
var Variants = []Variant{
	{Name: "default", Script: "quota=1\n" + workload},
	{
		Name: "old",
		Mkfs: []string{"-n", "4096", "-m", "single", "-O", "^no-holes,^skinny-metadata",
			"-R", "^free-space-tree"},
		Mount:  []string{"space_cache=v1"},
		Script: "quota=0\n" + workload,
	},
	{Name: "mixed", Mkfs: []string{"--mixed", "-n", "4096"}, Script: "quota=1\n" + workload},
	{
		Name:   "disks",
		Mkfs:   []string{"-m", "raid1", "-d", "raid0"},
		Script: disksWorkload,
		Disks:  2,
		Spare:  1,
		Stages: []int{6, 5, 4, 3, 2},
	},
	{Name: "log", Script: logWorkload, Log: true},
}

// disksWorkload makes a file system on two disks, and changes its devices until devices 1 and 3 are
// left. It then makes five commits: of new chunks in both profiles, of files, of an added device,
// and two of its removal. The first disk belongs to the file system at all times.
const disksWorkload = filesOfEveryKind + `
	btrfs -q quota enable .
	btrfs -q subvolume create volume
	for i in 1 2 3 4; do files tree/d$i $i; files volume/d$i $i; done
	for i in $(seq 400); do echo $i > volume/d1/small$i; done
	mkdir links; echo many > links/many; for i in $(seq 90); do ln links/many links/$long$i; done
	btrfs -q device add -f $DISK2 .
	btrfs -q device remove $DISK1 .
	dd if=/dev/zero of=$DISK1 bs=1M count=1 oflag=direct status=none # no superblock is left
	sync -f .
	btrfs -q filesystem resize 3:-8M .
	btrfs -q subvolume snapshot volume first
	files tree/e1 9; files volume/e1 9; btrfs -q subvolume create fresh; files fresh/d 1
	sync -f .
	# 1: the kernel commits to make room for the large file, in new chunks.
	fallocate -l 60M big
	# 2: files.
	for i in 1 2 3; do cp -r tree/d$i volume/new$i; done
	mv tree/e1/sub tree/moved; cp --reflink=always tree/d1/regular fresh/reflinked
	for i in 1 2 3; do echo $i >> volume/d$i/inline; rm volume/d$i/regular; done
	for i in $(seq 20); do ln links/many links/more$long$i; done; rm -r tree/d3 links/more${long}7
	exec 9> volume/open; echo held >&9; rm volume/open
	for i in 2 3 4; do
		head -c 9000 /dev/urandom | dd of=volume/d$i/nocow bs=4k conv=notrunc status=none
	done
	sync -f .
	# 3: an added device.
	btrfs -q device add -f $DISK1 .
	# 4 and 5: its removal. It has no chunks yet, which the kernel would have to move first.
	echo x >> tree/d1/inline; mkdir volume/new
	btrfs -q device remove $DISK1 .
	exec 9>&-`

// logWorkload leaves a log with all kinds of items: names that were added and removed, links,
// attributes, and files of two subvolumes that have several extents, are compressed, are
// preallocated or have no checksums.
const logWorkload = `
	btrfs -q subvolume create volume
	mkdir dir; for i in 1 2 3 4; do echo $i > dir/old$i; head -c 30000 /dev/urandom > dir/data$i; done
	echo many > dir/links
	for i in $(seq 90); do ln dir/links dir/$(head -c 200 /dev/zero | tr '\0' n)$i; done
	sync -f .
	head -c 20000 /dev/urandom > dir/new
	dd if=/dev/urandom of=dir/new bs=4k seek=9 count=4 conv=notrunc status=none; sync dir/new
	dd if=/dev/urandom of=dir/data1 bs=4k seek=2 count=2 conv=notrunc status=none; sync dir/data1
	ln dir/new dir/link; setfattr -n user.a -v value dir/new; ln -s new dir/soft; sync dir/new dir
	fallocate -l 1M dir/prealloc
	dd if=/dev/urandom of=dir/prealloc bs=4k seek=9 count=2 conv=notrunc status=none
	sync dir/prealloc
	touch dir/nocow; chattr +C dir/nocow; head -c 9000 /dev/urandom > dir/nocow; sync dir/nocow
	touch dir/compressed; btrfs property set dir/compressed compression zstd
	head -c 200000 /dev/zero | tr '\0' c > dir/compressed; sync dir/compressed
	ln dir/links dir/$(head -c 200 /dev/zero | tr '\0' m); sync dir/links
	head -c 9000 /dev/urandom > volume/file; sync volume/file
	rm dir/old1 dir/old2; mv dir/old3 dir/moved; echo small > dir/small; sync dir/small dir
	truncate -s 10000 dir/data2; sync dir/data2`

// filesOfEveryKind defines a shell function that makes files of every kind.
const filesOfEveryKind = `
	long=$(head -c 200 /dev/zero | tr '\0' n)
	files() { # DIR NUMBER: files of every kind
		mkdir -p $1/sub
		echo $2 > $1/inline
		head -c 30000 /dev/urandom > $1/regular
		touch $1/compressed; btrfs property set $1/compressed compression zstd
		head -c 200000 /dev/zero | tr '\0' c > $1/compressed
		fallocate -l 1M $1/prealloc
		head -c 20000 /dev/urandom | dd of=$1/prealloc bs=4k seek=9 conv=notrunc status=none
		truncate -s 3M $1/sparse
		head -c 9000 /dev/urandom | dd of=$1/sparse bs=4k seek=200 conv=notrunc status=none
		cp --reflink=always $1/regular $1/reflinked
		touch $1/nocow; chattr +C $1/nocow; head -c 50000 /dev/urandom > $1/nocow
		ln $1/inline $1/sub/link; ln -s ../inline $1/sub/soft; mkfifo $1/pipe; mknod $1/null c 1 3
		setfattr -n user.fsward -v "value $2" $1/inline
		setfattr -n user.large -v "$(head -c 900 /dev/zero | tr '\0' x)" $1/regular
	}`

// workload makes a file system with trees of several levels, and then four commits that change as
// much as possible: a snapshot, changes after it, deletions, and small changes. $quota is 1 if
// quotas are enabled, else 0.
const workload = filesOfEveryKind + `
	[ $quota = 0 ] || btrfs -q quota enable .
	btrfs -q subvolume create volume
	btrfs -q subvolume create volume/inner
	for i in 1 2 3 4 5 6 7 8; do files tree/d$i $i; files volume/d$i $i; done
	for i in $(seq 400); do echo $i > volume/d1/small$i; done
	mkdir links; echo many > links/many; for i in $(seq 90); do ln links/many links/$long$i; done
	btrfs -q subvolume snapshot volume first
	sync -f .
	# 1: a snapshot commits, with all changes before it. The file of 90 MiB makes new chunks.
	files tree/e1 9; files volume/e1 9
	for i in 1 2 3; do echo $i >> volume/d$i/inline; rm volume/d$i/regular; done
	fallocate -l 90M big
	for i in $(seq 20); do ln links/many links/more$long$i; done
	btrfs -q subvolume create fresh; files fresh/d 1
	[ $quota = 0 ] || btrfs qgroup limit 200M fresh
	btrfs -q subvolume snapshot -r volume second
	# 2: one of two trees writes to the blocks that they share.
	for i in 4 5 6 7 8; do
		echo $i >> volume/d$i/inline
		head -c 9000 /dev/urandom | dd of=volume/d$i/regular bs=4k conv=notrunc status=none
	done
	files volume/f1 1; files tree/f1 1; mv tree/d1/sub tree/d2/moved
	btrfs -q filesystem resize -8M .
	sync -f .
	# 3: deletions, and a file that is open without a name.
	rm -r tree/d3 volume/d3 big
	for i in $(seq 30); do rm links/more$long$((i % 20 + 1)) || true; done 2> /dev/null
	btrfs -q subvolume delete first
	exec 9> volume/open; echo held >&9; rm volume/open
	sync -f .
	# 4: small changes.
	echo x >> tree/d5/inline; touch volume/d5/regular; files tree/g1 1; mkdir volume/new
	sync -f .
	exec 9>&-`
