package matrix

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"

	"fsward/interp/detect"
)

var ext3 = &format{
	name: "ext3", title: "ext3", checker: "e2fsck", linux: "Linux 6.1",
	size: 24 << 20, mkfs: []string{"mkfs.ext3", "-q", "-F"},
	variants: []Variant{
		// Debian's defaults: blocks of 1 KiB, since the disk is small; three groups, dir_index,
		// resize_inode.
		{Name: "default", Script: ext3Workload},
		// The size of a block is that of a page. The reserved inodes share a block with the root.
		{
			Name:   "4k",
			Mkfs:   []string{"-b", "4096", "-g", "2048", "-N", "1152", "-J", "size=4"},
			Script: ext3Workload,
		},
		{
			Name:   "old",
			Mkfs:   []string{"-b", "1024", "-I", "128", "-O", "^dir_index,^filetype,^resize_inode"},
			Script: ext3Workload,
		},
	},
	stages:   []int{5, 4, 3, 2, 1},
	wheres:   ext3Kinds(),
	wheresOf: ext3KindsOf,
	groups: []string{"superblock", "groups and bitmaps", "inodes", "indirect blocks", "directories",
		"attributes", "journal"},
	group: ext3Group,
	ask:   askE2fsck,
}

// ext3Workload makes a file system with every kind of object, and then four commits that change as
// much as possible. Names are long, so that a directory of a few hundred has an index of two
// levels.
const ext3Workload = `
	long=$(head -c 200 /dev/zero | tr '\0' n)
	some() { head -c $1 /dev/urandom; }
	files() { # DIR NUMBER: files of every kind
		mkdir -p $1/sub/inner
		echo $2 > $1/small; some 30000 > $1/single
		some 9000 > $1/sparse
		some 5000 | dd of=$1/sparse bs=1k seek=5000 conv=notrunc status=none # double indirect
		some 5000 | dd of=$1/sparse bs=1k seek=4400000 conv=notrunc status=none # triple indirect
		ln $1/small $1/sub/link; ln -s ../small $1/fast; ln -s $long $1/slow
		mkfifo $1/pipe; mknod $1/null c 1 3; mknod $1/disk b 7 99
		perl -MIO::Socket::UNIX -e \
			'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die' $1/socket
		setfattr -n user.one -v "value $2" $1/small; setfattr -n user.two -v two $1/small
		setfattr -n user.large -v "$(head -c 300 /dev/zero | tr '\0' x)" $1/single
		setfattr -n user.more -v more $1/single; setfacl -m u:1000:rw $1/single
		setfacl -m u:1000:rw$(printf ,u:%d:r $(seq 1001 1011)) $1/small $1/sub
	}
	names() { for i in $(seq $2 $3); do ln many/one $1/$long$i; done; }
	mkdir tree many; echo x > many/one
	for i in 1 2 3 4; do files tree/d$i $i; done
	for i in $(seq 40); do echo $i > tree/f$i; done
	names many 1 650
	sync -f .
	# 1: additions. The freeze empties the journal, so that the commit writes its superblock too.
	fsfreeze -f .; fsfreeze -u .
	files tree/e1 9; files e2 10; names many 651 700
	touch tree/d1/* tree/d2/*; mv tree/d1/sub tree/d2/moved
	chmod 600 many/one; touch . lost+found tree many; some 3000 >> tree/d2/single
	sync -f .
	# 2: deletions.
	rm -r tree/d3 tree/d4/single; for i in $(seq 1 30); do rm many/$long$i; done; rm tree/f1*
	touch lost+found
	sync -f .
	# 3: open files without a name.
	exec 8> open8; exec 9> open9; some 20000 >&8; echo held >&9; rm open8 open9
	files tree/g1 11; mkdir a; mkdir a/b; mkdir a/b/c; touch a/b/c/d
	sync -f .
	# 4: small changes.
	echo x >> tree/d1/small; mkdir tree/new; mv tree/f2 tree/new; echo y > y
	sync -f .
	exec 8>&- 9>&-`

func ext3Kinds() (list []where) {
	for _, a := range detect.Alterables("ext3") {
		for _, k := range a.Kinds {
			if w := (where{k, "kind=" + k}); !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return list
}

func ext3KindsOf(object string) []string {
	for _, a := range detect.Alterables("ext3") {
		if a.Object == object && len(a.Kinds) > 0 {
			return a.Kinds
		}
	}
	return []string{""}
}

func ext3Group(c *Cell) string {
	switch c.Object {
	case "superblock":
		return "superblock"
	case "group", "block_bitmap", "inode_bitmap":
		return "groups and bitmaps"
	case "inode", "link_name":
		return "inodes"
	case "pointer":
		return "indirect blocks"
	case "dirent", "index", "index_entry":
		return "directories"
	case "xattr_block", "xattr_entry":
		return "attributes"
	}
	return "journal"
}

// e2fsckNoise matches the lines that e2fsck prints about a sound file system too. In the first run
// these are the replay of the journal and the processing of orphans, as at any boot after a crash.
var e2fsckNoise = regexp.MustCompile(`^(\S+: recovering journal|\S+: clean, .*|` +
	`\S+: \d+/\d+ files .*|(\S+: )?Clearing orphaned inode \d+ .*|` +
	`(\S+: )?Truncating orphaned inode \d+ .*|Pass \d.*|e2fsck \d.*|` +
	`.*WARNING: PROGRAMMING BUG IN E2FSCK.*|\s*$)`)

// askE2fsck replays the journal of a copy of an image with e2fsck, as at a boot after a crash, and
// then checks the whole image. In both runs each repair counts as a report.
func askE2fsck(ctx context.Context, d disks) (p Peer, err error) {
	image := d.paths[0]
	work := image + ".replayed"
	if err := run(ctx, "cp", "--sparse=always", image, work); err != nil {
		return Peer{}, err
	}
	defer func() { err = errors.Join(err, os.Remove(work)) }()
	for _, args := range [][]string{{"-p", work}, {"-f", "-n", work}} {
		out, exit, ended, err := runChecker(ctx, checkTime, "e2fsck", args...)
		if err != nil {
			return Peer{}, err
		}
		report := message(out, e2fsckNoise)
		switch {
		case ended != "":
			return Peer{ended, report}, nil
		case exit > 1 || report != "":
			return Peer{"reports", report}, nil
		}
	}
	return Peer{Verdict: "ok"}, nil
}
