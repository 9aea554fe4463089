package guard_test

import (
	"hash/crc32"
	"strings"
	"testing"
)

// sameHash are two names with one btrfs_name_hash.
var sameHash = [2]string{"czjtyhies", "ijzdzcsss"}

func TestSameHash(t *testing.T) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	a, b := crc32.Checksum([]byte(sameHash[0]), castagnoli), crc32.Checksum([]byte(sameHash[1]),
		castagnoli)
	if a != b { // for names of one length the initial value of the sum does not matter
		t.Errorf("%s has %#x, %s has %#x", sameHash[0], a, sameHash[1], b)
	}
}

// A load is a workload with the size of its image, the options of mkfs, and the ways to violate
// rules in its commits.
type load struct {
	size    int64
	options []string
	script  string
	bugs    []violation
}

// fileLoads are for rules on files, directories, subvolumes and quota that variety does not reach.
// Each script says which objects its commits change.
var fileLoads = []load{
	// Names come and go beside names that stay: inodes 257 to 260 are of the first commit.
	{256 << 20, nil, `
		mkdir d; echo one > d/a; echo two > d/b; ln -s a d/soft; sync -f .
		for i in 1 2 3; do
			echo $i > d/new$i; ln -s new$i d/soft$i; mkfifo d/pipe$i; mknod d/null$i c 1 3; mkdir d/x$i
			exec 3> d/gone; echo data >&3; rm d/gone
			touch d/a d/b; sync -f .
			exec 3>&-
			sync -f .
		done`, []violation{
		{"btrfs/11", "orphan_item!delete@tree=5", 1},
		{"btrfs/11", "inode_item.nlink=0@mode=0o100644", 1},
		{"btrfs/15", "inode_item.size+1@mode=0o40755", 1},
		{"btrfs/15", "inode_item.nbytes=4096@mode=0o40755", 1},
		{"btrfs/15", "dir_index!delete@location.objectid=258", 1},
		{"btrfs/18", "dir_index!delete@location.objectid=258", 1},
		{"btrfs/18", "dir_item!delete@location.objectid=259", 1},
		{"btrfs/18", "inode_ref!delete@objectid=258", 1},
		{"btrfs/20", "inode_item.mode=0o10644@mode=0o100644", 1},
		{"btrfs/24", "inode_item.nbytes+4096@mode=0o100644", 1},
		{"btrfs/24", "extent_data!delete@objectid=258", 1},
		{"btrfs/51", "inode_item.rdev=5@mode=0o100644", 1},
		{"btrfs/52", "inode_item.size+1@mode=0o120777", 1},
		{"btrfs/52", "inode_item.flags=64@mode=0o120777", 1},
		{"btrfs/53", "inode_item.flags=0x100000000@mode=0o100644", 1},
		{"btrfs/54", "dir_index.key.offset=1@objectid=257,offset=2", 1},
		{"btrfs/54", "dir_index.name=0x2e@location.objectid=258", 1},
	}},
	// A file of several extents that stay apart, and one that grows; holes are written as extents.
	{256 << 20, []string{"-O", "^no-holes", "-R", "^free-space-tree"}, `
		for i in 1 2 3 4; do
			for at in 0 1 2 3; do
				dd if=/dev/urandom of=file bs=64k count=1 seek=$((i * 8 + at * 2)) \
					conv=notrunc status=none
				sync file
			done
			truncate -s $((i * 1000000)) sparse; head -c 30000 /dev/urandom > small$i
			sync -f .
		done`, []violation{
		{"btrfs/25", "extent_data!delete@type=1", 2},
		{"btrfs/25", "inode_item.size+1000000@mode=0o100644", 2},
		{"btrfs/55", "extent_data.key.offset-4096@offset=786432", 1},
	}},
	// Block groups of 100 MiB and more have a cache of free space.
	{2 << 30, []string{"-R", "^free-space-tree"}, `
		for i in 1 2 3; do head -c 3000000 /dev/urandom > file$i; sync -f .; done`, []violation{
		{"btrfs/60", "inode_item.mode=0o100644@tree=1,mode=0o100600", 1},
		{"btrfs/60", "free_space_header.location.objectid+100000@tree=1", 1},
	}},
	// Two names with one hash share a dir_item: the entry of the first leads to the file of the
	// second.
	{256 << 20, nil, strings.NewReplacer("ONE", sameHash[0], "TWO", sameHash[1]).Replace(`
		echo one > ONE; echo two > TWO; sync -f .
		echo other > other; sync -f .
		mv ONE old; mv TWO ONE; mv old TWO; sync -f .
		ln ONE third; rm ONE; sync -f .
		mkdir ONE; mv third ONE/TWO; rm TWO; mv ONE/TWO .; sync -f .`), []violation{
		{"btrfs/17", "dir_item.location.objectid=258@tree=5,offset=562183697", 1},
	}},
	// Subvolumes and snapshots with quota: 256 is made first and stays; one is deleted in each round.
	{256 << 20, nil, `
		btrfs -q quota enable .; btrfs -q subvolume create sub; btrfs -q qgroup create 1/7 .
		btrfs -q subvolume create inner; sync -f .
		for i in 1 2 3; do
			head -c 30000 /dev/urandom > sub/data$i
			btrfs -q subvolume snapshot -r sub snap$i; btrfs -q subvolume create new$i; sync -f .
			btrfs -q qgroup assign --no-rescan 0/$(btrfs inspect-internal rootid new$i) 1/7 .
			[ $i = 1 ] || btrfs -q subvolume delete snap$((i - 1)); mv inner inner.new; mv inner.new inner
			btrfs -q subvolume set-default $(btrfs inspect-internal rootid new$i) .
			sync -f .
		done`, []violation{
		{"btrfs/2", "root_item.refs+1@objectid=256", 2},
		{"btrfs/2", "root_backref!delete", 2},
		{"btrfs/3", "orphan_item!delete@tree=1", 1},
		{"btrfs/4", "root_ref.sequence+1", 2},
		{"btrfs/4", "root_ref!delete", 2},
		{"btrfs/4", "root_backref.dirid+1", 2},
		{"btrfs/4", "root_ref.name+1", 2},
		{"btrfs/4", "dir_index!delete@location.type=132", 2},
		{"btrfs/4", "dir_item.location.objectid+1@location.type=132,tree=5", 2},
		{"btrfs/16", "dir_index.type=1@location.type=132", 2},
		{"btrfs/56", "root_item.root_dirid+1@objectid=256", 2},
		{"btrfs/57", "root_item.drop_progress.objectid=257@objectid=256", 2},
		{"btrfs/58", "root_item.ctransid+1000@objectid=256", 2},
		{"btrfs/58", "root_item.last_snapshot+1000@objectid=256", 2},
		{"btrfs/59", "dir_item.location.objectid=9999@tree=1", 2},
		{"btrfs/61", "root_item.uuid+1@objectid=256", 2},
		{"btrfs/61", "uuid_key_subvol!delete", 2},
		{"btrfs/62", "qgroup_limit!delete", 2},
		{"btrfs/63", "qgroup_relation!delete", 2},
		{"btrfs/64", "qgroup_info.excl+1", 2},
		{"btrfs/64", "qgroup_info.rfer+1", 2},
		{"btrfs/65", "qgroup_info!delete@offset=258", 1},
		{"btrfs/67", "qgroup_info.excl-4096", 2},
		{"btrfs/67", "qgroup_info.rfer+16384", 2},
		{"btrfs/99", "qgroup_info.rfer+1099511627776@offset=256", 4},
	}},
}
