package main

import "slices"

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// shapes are the operations that are measured.
var shapes = slices.Concat(fileShapes("btrfs", nil), fileShapes("ext3", bigJournal), extentShapes,
	treeShapes, deviceShapes, convertedShapes, ext3Shapes)

// bigJournal lets one transaction of ext3 hold all of a shape.
var bigJournal = []string{"-J", "size=1024"}

// smallFiles makes n files of some bytes, a thousand to a directory. perl makes many files, links
// and ranges without a process for each.
const smallFiles = `mkdir d; perl -e 'for (1..$ARGV[0]) { $d = "d/" . int($_ / 1000);
	-d $d or mkdir $d or die $!; open $f, ">", "$d/file$_" or die $!; print $f "contents $_" }' $N`

// names makes n names in one directory, 30,000 of each file.
const names = `mkdir d; perl -e 'for (0..$ARGV[0] - 1) { $_ % 30000 or $f = "d/$_";
	if ($f eq "d/$_") { open $h, ">", $f or die $! } else { link($f, "d/$_") or die $! } }' $N`

// files makes n files of some bytes in one directory.
const files = `mkdir d; perl -e 'for (1..$ARGV[0]) {
	open $f, ">", "d/$_" or die $!; print $f "contents $_" }' $N`

// sparse writes n blocks to a file, each beside a hole, so that each is an extent of its own.
const sparse = `perl -e 'open $f, "+>", "f" or die $!; for (1..$ARGV[0]) {
	sysseek $f, 8192 * $_, 0; syswrite $f, chr(97 + $_ % 26) x 4096 or die $! }' $N`

// randomWrites overwrites n random blocks of a file, so that each gets an extent of its own.
func randomWrites(file string) string {
	return `perl -e 'use IO::Handle; open $f, "+<", "` + file + `" or die $!;
		$blocks = int((-s $f) / 4096); srand(1);
		for (1..$ARGV[0]) { seek($f, 4096 * int(rand($blocks)), 0);
			print $f chr(97 + $_ % 26) x 4096; $f->flush; $_ % 500 or $f->sync }' $N`
}

// fileShapes are those of files and names that both file systems have.
func fileShapes(fs string, mkfs []string) (list []shape) {
	for _, s := range slices.Concat(directoryShapes(fs), []shape{
		{name: "n new small files", smallest: 5000, full: 2_000_000, each: 20 * kib, least: 20,
			script: smallFiles},
		{name: "deletion of n small files", smallest: 5000, full: 2_000_000, each: 20 * kib, least: 20,
			prepare: smallFiles, script: `rm -r d`},
		{name: "n hard links to a file", smallest: 4000, full: 64_000, least: 3,
			script: `touch f; perl -e 'link("f", "link$_") or die $! for 1..$ARGV[0]' $N`},
		{name: "deletion of n hard links to a file", smallest: 4000, full: 64_000, least: 3,
			prepare: `touch f; perl -e 'link("f", "link$_") or die $! for 1..$ARGV[0]' $N`,
			script:  `rm link*`},
		{name: "n hard links to each of 16 files", smallest: 500, full: 32_000, each: 12 * kib, least: 3,
			script: `perl -e 'for $f (1..16) { open $h, ">", "f$f" or die $! } for $i (1..$ARGV[0]) {
				for $f (1..16) { link("f$f", "link$f-$i") or die $! } }' $N`},
		{name: "deletion of n hard links to each of 16 files", smallest: 500, full: 32_000,
			each: 24 * kib, least: 3,
			prepare: `perl -e 'for $f (1..16) { open $h, ">", "f$f" or die $! } for $i (1..$ARGV[0]) {
				for $f (1..16) { link("f$f", "link$f-$i") or die $! } }' $N`,
			script: `perl -e 'for $i (1..$ARGV[0]/2) { for $f (1..16) {
				unlink("link$f-$i") or die $! } }' $N`},
		{name: "n extents of a file, written", smallest: 4000, full: 1_000_000, each: 8 * kib, least: 1,
			script: sparse},
		{name: "n extents of a file, written and synced", smallest: 4000, full: 1_000_000, each: 8 * kib,
			least: 1, script: sparse + "\nsync f"},
		{name: "n extents of a file, overwritten", smallest: 4000, full: 1_000_000, each: 16 * kib,
			prepare: sparse, script: overwrite},
		{name: "n extents of a file, punched", smallest: 4000, full: 1_000_000, each: 8 * kib, least: 1,
			prepare: `touch f; ` + overwrite, script: punch},
		{name: "n extents of a file, cut off", smallest: 4000, full: 1_000_000, each: 8 * kib, least: 1,
			prepare: sparse, script: `truncate -s 4096 f`},
		{name: "n extents of a file, deleted", smallest: 4000, full: 1_000_000, each: 8 * kib, least: 1,
			prepare: sparse, script: `rm f`},
		{name: "deletion of a file of n MiB", smallest: 128, full: 100 * kib, each: mib,
			prepare: `head -c ${N}M /dev/zero > f`, script: `rm f`},
	}) {
		s.name, s.fs, s.mkfs = fs+": "+s.name, fs, mkfs
		list = append(list, s)
	}
	return list
}

// directoryShapes are those of entries and directories.
func directoryShapes(fs string) []shape {
	return []shape{
		{name: "n entries in one directory", smallest: 5000, full: 5_000_000, each: 20 * kib, least: 8,
			script: `mkdir d; perl -e 'for (1..$ARGV[0]) { open $f, ">", "d/$_" or die $! }' $N`},
		{name: "deletion of n entries in one directory", smallest: 5000, full: 1_000_000,
			each: 20 * kib, least: 20, prepare: files, script: `rm -r d`},
		{name: "n entries in one directory moved to another", smallest: 5000, full: 1_000_000,
			each: 20 * kib, least: 8, prepare: files, script: `mkdir e; perl -e 'for (1..$ARGV[0]) {
				rename "d/$_", "e/$_" or die $! }' $N`},
		{name: "n entries in one directory replaced", smallest: 5000, full: 1_000_000, each: 20 * kib,
			least: 20, prepare: files, script: `perl -e 'for (1..$ARGV[0]) {
				open $f, ">", "d/new" or die $!; print $f "new $_"; close $f;
				rename "d/new", "d/$_" or die $! }' $N`},
		{name: "1000 new entries in a directory of n", smallest: 20_000, full: 5_000_000, each: kib,
			prepare: names, script: `perl -e 'for (1..1000) { link("d/0", "d/new$_") or die $! }'`},
		{name: "every 50th of n entries in one directory renamed", smallest: 20_000, full: 5_000_000,
			each: kib, prepare: names, script: `perl -e 'for (0..$ARGV[0] / 50 - 1) { $_ *= 50;
				rename "d/$_", "d/new$_" or die $! }' $N`},
		{name: "n directories in one", smallest: 1000, full: map[string]int{"btrfs": 1_000_000,
			"ext3": 64_000}[fs], each: 20 * kib, least: 8,
			script: `perl -e 'mkdir "d$_" or die $! for 1..$ARGV[0]' $N`},
		{name: "n directories, one in the other", smallest: 2500, full: 40_000, each: 20 * kib, least: 8,
			script: chain},
		{name: "n directories, one in the other, turned over", smallest: 2500, full: 40_000,
			each: 20 * kib, least: 2, prepare: chain, script: turnOver},
	}
}

// overwrite writes every other block of a file.
const overwrite = `perl -e 'open $f, "+<", "f" or die $!; for (1..$ARGV[0]) {
	sysseek $f, 8192 * $_, 0; syswrite $f, "X" x 4096 or die $! }' $N`

// punch makes a hole of every other block (fallocate, 285 on x86-64; FALLOC_FL_PUNCH_HOLE and
// KEEP_SIZE).
const punch = `perl -e 'open $f, "+<", "f" or die $!; for (1..$ARGV[0]) {
	syscall(285, fileno $f, 3, 8192 * $_, 4096) and die $! }' $N`

// ext3Shapes are those of ext3's journal and orphans.
var ext3Shapes = []shape{
	// jbd2 commits a transaction at a quarter of its journal.
	{
		name: "ext3: n MiB in one transaction, data=journal", fs: "ext3", smallest: 14, full: 250,
		mkfs: bigJournal, mount: []string{"data=journal"},
		script: `head -c ${N}M /dev/urandom > f`,
	},
	{
		name: "ext3: n orphans", fs: "ext3", smallest: 1000, full: 100_000, each: 20 * kib,
		mkfs: bigJournal, least: 8,
		script: `perl -e 'pipe R, W or die $!; for $c (1..$ARGV[0] / 1000) {
			if (!($p = fork)) { for (1..1000) {
				open $f[$_], ">", "f$c-$_" or die $!; unlink "f$c-$_" or die $! } syswrite W, "x"; sleep }
			push @p, $p } close W; read R, $b, @p; system "sync -f ." and die;
			kill 9, @p; waitpid $_, 0 for @p' $N`,
	},
	{
		name: "ext3: files with n large xattrs", fs: "ext3", smallest: 1000, full: 100_000,
		each: 20 * kib, mkfs: bigJournal, least: 8,
		script: `perl -e 'for (1..$ARGV[0]) { open $f, ">", "f$_" or die $!;
			$n = "user.x"; $v = $_ . "v" x 2000;
			syscall(190, fileno $f, $n, $v, length $v, 0) and die $! }' $N`, // fsetxattr
	},
	{
		name: "ext3: grown by n MiB", fs: "ext3", smallest: 1024, full: 256 * kib, each: mib,
		guest: true, // CAP_SYS_RESOURCE
		start: 2 * gib, mkfs: []string{"-J", "size=256"}, script: `resize2fs $FIRST $((2048 + N))M`,
	},
	{
		name: "ext3: deletion of a file of n GiB", fs: "ext3", smallest: 16, full: 1024,
		each: gib + 2*mib, mkfs: append([]string{"-i", "4194304"}, bigJournal...),
		bigFile: true, script: `rm f`,
	},
	{
		name: "ext3: truncation of a file of n GiB, small blocks", fs: "ext3", smallest: 1, full: 16,
		each: gib + 8*mib, mkfs: append([]string{"-b", "1024"}, bigJournal...),
		bigFile: true, script: `truncate -s 1000 f`,
	},
}

// chain makes n directories, each in the one before.
const chain = `perl -e 'for (1..$ARGV[0]) { mkdir "d" or die $!; chdir "d" or die $! }' $N`

// turnOver moves each directory of a chain into the one that was in it.
const turnOver = `perl -e '$n = $ARGV[0]; rename "d", "t1" or die $!;
	for (2..$n) { rename "t" . ($_ - 1) . "/d", "t$_" or die $! }
	for (1..$n - 1) { rename "t$_", "t" . ($_ + 1) . "/d" or die $! }' $N`
