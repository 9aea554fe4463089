package main

const gib = 1 << 30

// shapes are the operations that are measured. perl makes many files, links and ranges without a
// process for each.
var shapes = []shape{
	{
		name: "btrfs: snapshot of a compressed log of n MiB", fs: "btrfs", smallest: 128,
		disk: 16 * gib, mount: []string{"compress=zstd"},
		prepare: `btrfs -q subvolume create s
			perl -e '$l = join("\n", 1..150000) . "\n"; $left = $ARGV[0] << 20;
				while ($left > 0) { print substr($l, 0, $left); $left -= length $l }' $N > s/log`,
		script: `btrfs -q subvolume snapshot s t`,
	},
	{
		name: "btrfs: snapshot of a file with n random writes", fs: "btrfs", smallest: 2000,
		disk: 16 * gib,
		prepare: `btrfs -q subvolume create s; head -c ${N}0000 /dev/zero | tr '\0' x > s/db; sync -f .
			` + randomWrites("s/db"),
		script: `btrfs -q subvolume snapshot s t`,
	},
	{
		name: "btrfs: deletion of a file with n random writes", fs: "btrfs", smallest: 2000,
		disk:    16 * gib,
		prepare: `head -c ${N}0000 /dev/zero | tr '\0' x > db; sync -f .` + "\n" + randomWrites("db"),
		script:  `rm db`,
	},
	{
		name: "btrfs: snapshot of n small files", fs: "btrfs", smallest: 5000, disk: 16 * gib,
		prepare: `btrfs -q subvolume create s; cd s; ` + smallFiles + `; cd ..`,
		script:  `btrfs -q subvolume snapshot s t`,
	},
	{
		name: "btrfs: n new small files", fs: "btrfs", smallest: 5000, disk: 16 * gib,
		script: smallFiles,
	},
	{
		name: "btrfs: deletion of n small files", fs: "btrfs", smallest: 5000, disk: 16 * gib,
		prepare: smallFiles, script: `rm -r d`,
	},
	{
		name: "btrfs: n names, 32 to a hash", fs: "btrfs", smallest: 1600, disk: 16 * gib,
		script: `mkdir d; $SHAPES -collide $N d`,
	},
	{
		name: "btrfs: n hard links to a file", fs: "btrfs", smallest: 4000, disk: 16 * gib,
		script: `touch f; perl -e 'link("f", "link$_") or die $! for 1..$ARGV[0]' $N`,
	},
	{
		name: "btrfs: n reflinks of one extent", fs: "btrfs", smallest: 4000, disk: 16 * gib,
		script: `head -c 4096 /dev/urandom > one; sync -f .
			perl -e 'open $f, "<", "one" or die; open $g, "+>", "all" or die; # FICLONERANGE
				ioctl($g, 0x4020940d, pack("q<Q<Q<Q<", fileno $f, 0, 4096, 4096 * $_)) or die $!
				for 0..$ARGV[0] - 1' $N`,
	},
	{
		name: "btrfs: deletion of n nested subvolumes", fs: "btrfs", smallest: 15, disk: 16 * gib,
		prepare: `for i in $(seq $N); do btrfs -q subvolume create s; cd s; seq 20 | xargs touch; done`,
		script: `p=s; for i in $(seq 2 $N); do p=$p/s; done
			while [ $p != . ]; do btrfs -q subvolume delete $p; p=$(dirname $p); done`,
	},
	{
		name: "ext3: n new small files", fs: "ext3", smallest: 5000, disk: 16 * gib, mkfs: bigJournal,
		script: smallFiles,
	},
	{
		name: "ext3: deletion of n small files", fs: "ext3", smallest: 5000, disk: 16 * gib,
		mkfs: bigJournal, prepare: smallFiles, script: `rm -r d`,
	},
	{
		name: "ext3: n directories in one", fs: "ext3", smallest: 1000, disk: 16 * gib, mkfs: bigJournal,
		script: `perl -e 'mkdir "d$_" or die $! for 1..$ARGV[0]' $N`,
	},
	{
		name: "ext3: deletion of a file of n MiB", fs: "ext3", smallest: 128, disk: 16 * gib,
		mkfs: bigJournal, prepare: `head -c ${N}M /dev/zero > f`, script: `rm f`,
	},
}

// bigJournal lets one transaction of ext3 hold all of a shape.
var bigJournal = []string{"-J", "size=1024"}

// smallFiles makes n files of some bytes, a thousand to a directory.
const smallFiles = `mkdir d; perl -e 'for (1..$ARGV[0]) { $d = "d/" . int($_ / 1000);
	-d $d or mkdir $d or die $!; open $f, ">", "$d/file$_" or die $!; print $f "contents $_" }' $N`

// randomWrites overwrites n random blocks of a file, so that each gets an extent of its own.
func randomWrites(file string) string {
	return `perl -e 'use IO::Handle; open $f, "+<", "` + file + `" or die $!;
		$blocks = int((-s $f) / 4096); srand(1);
		for (1..$ARGV[0]) { seek($f, 4096 * int(rand($blocks)), 0);
			print $f chr(97 + $_ % 26) x 4096; $f->flush; $_ % 500 or $f->sync }' $N`
}
