// Package shape lists operations whose commits could make the guard slow or large: a snapshot of a
// fragmented file, thousands of names with one hash, and others. dev/shapes measures them at
// growing sizes, and dev/soak mixes them into its loads.
package shape

import "slices"

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// A Shape is an operation whose commit has a size n.
type Shape struct {
	Name     string
	FS       string // "btrfs" or "ext3"
	Smallest int    // the first n
	Full     int    // the largest n
	Disks    int    // 0 selects 1
	Each     int64  // bytes of disk for each of n, beside those of an empty file system
	Start    int64  // size of the file system at first, bytes; 0: the disk's size
	BigFile  bool   // ext3: the disk has a file f of n GiB
	// Guest runs the scripts in user-mode Linux, whose root has capabilities that a container's root
	// may lack.
	Guest bool
	// Converted has Prepare run on an ext3, which btrfs-convert converts afterwards.
	Converted bool
	// Least is the number of change records of the largest commit for each of n, at least. If there
	// are fewer, a sync(2) of another process split the commit. 0: any number.
	Least int
	Mkfs  []string
	Mount []string // options of mount
	// sh -e runs both in the root of the mounted file system, with n in $N and an fsload command for
	// the directory in $LOAD: Prepare makes what Script works on.
	Prepare, Script string
}

// Sizes returns a number of sizes of a shape, a factor of four apart. They begin with the smallest,
// or end with the largest if full.
func (s *Shape) Sizes(number int, full bool) (list []int) {
	n := s.Smallest
	if full {
		n = s.Full >> (2 * (number - 1))
	}
	for range number {
		list, n = append(list, n), n*4
	}
	return list
}

// All are the shapes of both file systems. Each has a name of its own.
var All = slices.Concat(fileShapes("btrfs", nil), fileShapes("ext3", bigJournal), extentShapes,
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
func fileShapes(fs string, mkfs []string) (list []Shape) {
	for _, s := range slices.Concat(directoryShapes(fs), []Shape{
		{Name: "n new small files", Smallest: 5000, Full: 2_000_000, Each: 20 * kib, Least: 20,
			Script: smallFiles},
		{Name: "deletion of n small files", Smallest: 5000, Full: 2_000_000, Each: 20 * kib, Least: 20,
			Prepare: smallFiles, Script: `rm -r d`},
		{Name: "n hard links to a file", Smallest: 4000, Full: 64_000, Least: 3,
			Script: `touch f; perl -e 'link("f", "link$_") or die $! for 1..$ARGV[0]' $N`},
		{Name: "deletion of n hard links to a file", Smallest: 4000, Full: 64_000, Least: 3,
			Prepare: `touch f; perl -e 'link("f", "link$_") or die $! for 1..$ARGV[0]' $N`,
			Script:  `rm link*`},
		{Name: "n hard links to each of 16 files", Smallest: 500, Full: 32_000, Each: 12 * kib, Least: 3,
			Script: `perl -e 'for $f (1..16) { open $h, ">", "f$f" or die $! } for $i (1..$ARGV[0]) {
				for $f (1..16) { link("f$f", "link$f-$i") or die $! } }' $N`},
		{Name: "deletion of n hard links to each of 16 files", Smallest: 500, Full: 32_000,
			Each: 24 * kib, Least: 3,
			Prepare: `perl -e 'for $f (1..16) { open $h, ">", "f$f" or die $! } for $i (1..$ARGV[0]) {
				for $f (1..16) { link("f$f", "link$f-$i") or die $! } }' $N`,
			Script: `perl -e 'for $i (1..$ARGV[0]/2) { for $f (1..16) {
				unlink("link$f-$i") or die $! } }' $N`},
		{Name: "n extents of a file, written", Smallest: 4000, Full: 1_000_000, Each: 8 * kib, Least: 1,
			Script: sparse},
		{Name: "n extents of a file, written and synced", Smallest: 4000, Full: 1_000_000, Each: 8 * kib,
			Least: 1, Script: sparse + "\nsync f"},
		{Name: "n extents of a file, overwritten", Smallest: 4000, Full: 1_000_000, Each: 16 * kib,
			Prepare: sparse, Script: overwrite},
		{Name: "n extents of a file, punched", Smallest: 4000, Full: 1_000_000, Each: 8 * kib, Least: 1,
			Prepare: `touch f; ` + overwrite, Script: punch},
		{Name: "n extents of a file, cut off", Smallest: 4000, Full: 1_000_000, Each: 8 * kib, Least: 1,
			Prepare: sparse, Script: `truncate -s 4096 f`},
		{Name: "n extents of a file, deleted", Smallest: 4000, Full: 1_000_000, Each: 8 * kib, Least: 1,
			Prepare: sparse, Script: `rm f`},
		{Name: "deletion of a file of n MiB", Smallest: 128, Full: 100 * kib, Each: mib,
			Prepare: `head -c ${N}M /dev/zero > f`, Script: `rm f`},
	}) {
		s.Name, s.FS, s.Mkfs = fs+": "+s.Name, fs, mkfs
		list = append(list, s)
	}
	return list
}

// directoryShapes are those of entries and directories.
func directoryShapes(fs string) []Shape {
	return []Shape{
		{Name: "n entries in one directory", Smallest: 5000, Full: 5_000_000, Each: 20 * kib, Least: 8,
			Script: `mkdir d; perl -e 'for (1..$ARGV[0]) { open $f, ">", "d/$_" or die $! }' $N`},
		{Name: "deletion of n entries in one directory", Smallest: 5000, Full: 1_000_000,
			Each: 20 * kib, Least: 20, Prepare: files, Script: `rm -r d`},
		{Name: "n entries in one directory moved to another", Smallest: 5000, Full: 1_000_000,
			Each: 20 * kib, Least: 8, Prepare: files, Script: `mkdir e; perl -e 'for (1..$ARGV[0]) {
				rename "d/$_", "e/$_" or die $! }' $N`},
		{Name: "n entries in one directory replaced", Smallest: 5000, Full: 1_000_000, Each: 20 * kib,
			Least: 20, Prepare: files, Script: `perl -e 'for (1..$ARGV[0]) {
				open $f, ">", "d/new" or die $!; print $f "new $_"; close $f;
				rename "d/new", "d/$_" or die $! }' $N`},
		{Name: "1000 new entries in a directory of n", Smallest: 20_000, Full: 5_000_000, Each: kib,
			Prepare: names, Script: `perl -e 'for (1..1000) { link("d/0", "d/new$_") or die $! }'`},
		{Name: "every 50th of n entries in one directory renamed", Smallest: 20_000, Full: 5_000_000,
			Each: kib, Prepare: names, Script: `perl -e 'for (0..$ARGV[0] / 50 - 1) { $_ *= 50;
				rename "d/$_", "d/new$_" or die $! }' $N`},
		{Name: "n directories in one", Smallest: 1000, Full: map[string]int{"btrfs": 1_000_000,
			"ext3": 64_000}[fs], Each: 20 * kib, Least: 8,
			Script: `perl -e 'mkdir "d$_" or die $! for 1..$ARGV[0]' $N`},
		{Name: "n directories, one in the other", Smallest: 2500, Full: 40_000, Each: 20 * kib, Least: 8,
			Script: chain},
		{Name: "n directories, one in the other, turned over", Smallest: 2500, Full: 40_000,
			Each: 20 * kib, Least: 2, Prepare: chain, Script: turnOver},
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
var ext3Shapes = []Shape{
	// jbd2 commits a transaction at a quarter of its journal.
	{
		Name: "ext3: n MiB in one transaction, data=journal", FS: "ext3", Smallest: 14, Full: 250,
		Mkfs: bigJournal, Mount: []string{"data=journal"},
		Script: `head -c ${N}M /dev/urandom > f`,
	},
	{
		Name: "ext3: n orphans", FS: "ext3", Smallest: 1000, Full: 100_000, Each: 20 * kib,
		Mkfs: bigJournal, Least: 8,
		Script: `perl -e 'pipe R, W or die $!; for $c (1..$ARGV[0] / 1000) {
			if (!($p = fork)) { for (1..1000) {
				open $f[$_], ">", "f$c-$_" or die $!; unlink "f$c-$_" or die $! } syswrite W, "x"; sleep }
			push @p, $p } close W; read R, $b, @p; system "sync -f ." and die;
			kill 9, @p; waitpid $_, 0 for @p' $N`,
	},
	{
		Name: "ext3: files with n large xattrs", FS: "ext3", Smallest: 1000, Full: 100_000,
		Each: 20 * kib, Mkfs: bigJournal, Least: 8,
		Script: `perl -e 'for (1..$ARGV[0]) { open $f, ">", "f$_" or die $!;
			$n = "user.x"; $v = $_ . "v" x 2000;
			syscall(190, fileno $f, $n, $v, length $v, 0) and die $! }' $N`, // fsetxattr
	},
	{
		Name: "ext3: grown by n MiB", FS: "ext3", Smallest: 1024, Full: 256 * kib, Each: mib,
		Guest: true, // CAP_SYS_RESOURCE
		Start: 2 * gib, Mkfs: []string{"-J", "size=256"}, Script: `resize2fs $FIRST $((2048 + N))M`,
	},
	{
		Name: "ext3: deletion of a file of n GiB", FS: "ext3", Smallest: 16, Full: 1024,
		Each: gib + 2*mib, Mkfs: append([]string{"-i", "4194304"}, bigJournal...),
		BigFile: true, Script: `rm f`,
	},
	{
		Name: "ext3: truncation of a file of n GiB, small blocks", FS: "ext3", Smallest: 1, Full: 16,
		Each: gib + 8*mib, Mkfs: append([]string{"-b", "1024"}, bigJournal...),
		BigFile: true, Script: `truncate -s 1000 f`,
	},
}

// chain makes n directories, each in the one before.
const chain = `perl -e 'for (1..$ARGV[0]) { mkdir "d" or die $!; chdir "d" or die $! }' $N`

// turnOver moves each directory of a chain into the one that was in it.
const turnOver = `perl -e '$n = $ARGV[0]; rename "d", "t1" or die $!;
	for (2..$n) { rename "t" . ($_ - 1) . "/d", "t$_" or die $! }
	for (1..$n - 1) { rename "t$_", "t" . ($_ + 1) . "/d" or die $! }' $N`
