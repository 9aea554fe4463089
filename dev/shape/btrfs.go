package shape

// oneBlock makes a file of one extent, of 4 KiB.
const oneBlock = `head -c 4096 /dev/urandom > one; sync -f .
	`

// extentShapes are those of shared extents and checksums of Btrfs.
var extentShapes = []Shape{
	{
		Name: "btrfs: snapshot of a compressed log of n MiB", FS: "btrfs", Smallest: 128, Full: 8 * kib,
		Mount: []string{"compress=zstd"},
		Prepare: `btrfs -q subvolume create s
			perl -e '$l = join("\n", 1..150000) . "\n"; $left = $ARGV[0] << 20;
				while ($left > 0) { print substr($l, 0, $left); $left -= length $l }' $N > s/log`,
		Script: `btrfs -q subvolume snapshot s t`,
	},
	{
		Name: "btrfs: snapshot of a file with n random writes", FS: "btrfs", Smallest: 2000,
		Full: 1_000_000, Each: 20 * kib,
		Prepare: `btrfs -q subvolume create s; head -c ${N}0000 /dev/zero | tr '\0' x > s/db; sync -f .
			` + randomWrites("s/db"),
		Script: `btrfs -q subvolume snapshot s t`,
	},
	{
		Name: "btrfs: deletion of a file with n random writes", FS: "btrfs", Smallest: 2000,
		Full: 1_000_000, Each: 20 * kib,
		Prepare: `head -c ${N}0000 /dev/zero | tr '\0' x > db; sync -f .` + "\n" + randomWrites("db"),
		Script:  `rm db`,
	},
	{
		Name: "btrfs: n reflinks of one extent", FS: "btrfs", Smallest: 2000, Full: 300_000, Least: 4,
		Script: oneBlock + reflinks,
	},
	{
		Name: "btrfs: deletion of n reflinks of one extent", FS: "btrfs", Smallest: 2000, Full: 300_000,
		Least: 4, Prepare: oneBlock + reflinks, Script: `rm all`,
	},
	{
		Name: "btrfs: one extent in n files", FS: "btrfs", Smallest: 2000, Full: 300_000, Each: 4 * kib,
		Least: 8,
		Script: oneBlock + `mkdir d; perl -e 'open $f, "<", "one" or die; # FICLONE
			for (1..$ARGV[0]) { open $g, "+>", "d/$_" or die $!;
				ioctl($g, 0x40049409, fileno $f) or die $! }' $N`,
	},
	{
		Name: "btrfs: n dedupes of one extent", FS: "btrfs", Smallest: 500, Full: 300_000,
		Each: 8 * kib, Least: 4,
		Prepare: oneBlock + `perl -e 'open $f, "<", "one"; read $f, $b, 4096; open $g, ">", "all";
			print $g $b for 1..$ARGV[0]' $N`,
		Script: `perl -e 'open $f, "<", "one" or die; open $g, "+<", "all" or die; # FIDEDUPERANGE
			for (0..$ARGV[0] - 1) { $r = pack("Q<Q<S<S<L<q<Q<Q<l<L<", 0, 4096, 1, 0, 0, fileno $g,
				4096 * $_, 0, 0, 0); ioctl($f, 0xc0189436, $r) or die $! }' $N`,
	},
	{
		Name: "btrfs: snapshot of a file of n extents", FS: "btrfs", Smallest: 4000, Full: 1_000_000,
		Each:    8 * kib,
		Prepare: `btrfs -q subvolume create s; cd s; ` + sparse + `; cd ..`,
		Script:  `btrfs -q subvolume snapshot s t`,
	},
	{
		Name: "btrfs: deletion of a file of n GiB, unwritten", FS: "btrfs", Smallest: 16, Full: kib,
		Each: gib, Prepare: `fallocate -l ${N}G f`, Script: `rm f`,
	},
	{
		Name: "btrfs: n names, 32 to a hash", FS: "btrfs", Smallest: 1600, Full: 100_000, Least: 8,
		Script: `mkdir d; $LOAD/d -collide $N`,
	},
	{
		Name: "btrfs: deletion of n names, 32 to a hash", FS: "btrfs", Smallest: 1600, Full: 100_000,
		Least: 8, Prepare: `mkdir d; $LOAD/d -collide $N`, Script: `rm -r d`,
	},
	{
		Name: "btrfs: n xattrs of a file", FS: "btrfs", Smallest: 1600, Full: 100_000, Least: 1,
		Script: `perl -e 'open $f, ">", "f" or die $!; for (1..$ARGV[0]) { $n = "user.x$_"; $v = "v$_";
			syscall(190, fileno $f, $n, $v, length $v, 0) and die $! }' $N`, // fsetxattr
	},
}

// reflinks shares the first block of a file n times with another one (FICLONERANGE).
const reflinks = `perl -e 'open $f, "<", "one" or die; open $g, "+>", "all" or die;
	ioctl($g, 0x4020940d, pack("q<Q<Q<Q<", fileno $f, 0, 4096, 4096 * $_)) or die $!
	for 0..$ARGV[0] - 1' $N`

// cleaned waits until the kernel has dropped deleted subvolumes; its thread wakes up with that of
// commits.
const cleaned = `sync -f .; mount -o remount,commit=3 $PWD; btrfs subvolume sync .`

// treeShapes are those of subvolumes, snapshots and quota groups.
var treeShapes = []Shape{
	{
		Name: "btrfs: snapshot of n small files", FS: "btrfs", Smallest: 5000, Full: 1_000_000,
		Each: 4 * kib, Prepare: volume, Script: `btrfs -q subvolume snapshot s t`,
	},
	{
		Name: "btrfs: snapshot of n small files, changed", FS: "btrfs", Smallest: 5000,
		Full: 1_000_000, Each: 4 * kib, Least: 1,
		Prepare: volume + `; btrfs -q subvolume snapshot s t`, Script: `chown -R 7:7 t`,
	},
	{
		Name: "btrfs: snapshot of n small files, changed and deleted", FS: "btrfs", Smallest: 5000,
		Full: 1_000_000, Each: 4 * kib,
		Prepare: volume + `; btrfs -q subvolume snapshot s t; chown -R 7:7 t`,
		Script:  `btrfs -q subvolume delete t; ` + cleaned,
	},
	{
		Name: "btrfs: n snapshots at once", FS: "btrfs", Smallest: 40, Full: 5000,
		Prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch`,
		Script:  takeSnapshots,
	},
	{
		Name: "btrfs: deletion of n snapshots at once", FS: "btrfs", Smallest: 40, Full: 5000,
		Prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch; ` + takeSnapshots,
		Script:  `btrfs -q subvolume delete d/*/s; ` + cleaned,
	},
	{
		Name: "btrfs: 100 files changed in each of n snapshots", FS: "btrfs", Smallest: 40, Full: 2560,
		Least: 50, Prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch; ` +
			takeSnapshots, Script: `echo d/*/s/* | xargs chown 7:7`,
	},
	{
		Name: "btrfs: n nested subvolumes", FS: "btrfs", Smallest: 15, Full: 1000,
		Script: nested,
	},
	{
		Name: "btrfs: deletion of n nested subvolumes", FS: "btrfs", Smallest: 15, Full: 1000,
		Prepare: nested,
		Script: `perl -e 'push @d, "s" and chdir "s" for 1..$ARGV[0]; for (@d) { chdir ".." or die $!;
			system qw(btrfs -q subvolume delete s) and die }' $N`,
	},
	{
		Name: "btrfs: n snapshots, each of the one before and in it", FS: "btrfs", Smallest: 40,
		Full: 5000, Prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch`,
		Script: snapshotChain,
	},
	{
		Name: "btrfs: deletion of n snapshots, each in the one before", FS: "btrfs", Smallest: 40,
		Full: 5000, Prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch
			` + snapshotChain,
		Script: `perl -e 'chdir "s" or die $!; chdir "t" or die $! for 1..$ARGV[0] - 1;
			for (1..$ARGV[0]) { ` + destroy("t") + ` chdir ".." or die $! }' $N; ` + cleaned,
	},
	{
		Name: "btrfs: a snapshot in each of n nested subvolumes", FS: "btrfs", Smallest: 40, Full: 5000,
		Prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch`,
		Script:  `$LOAD -snapshots s -nested -n $N`,
	},
	{
		Name: "btrfs: deletion of n nested subvolumes with a snapshot in each", FS: "btrfs",
		Smallest: 40, Full: 5000,
		Prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch
			$LOAD -snapshots s -nested -n $N`,
		Script: `perl -e 'chdir "n" or die $! for 1..$ARGV[0]; for (1..$ARGV[0]) {
			` + destroy("s") + ` chdir ".." or die $!; ` + destroy("n") + ` }' $N; ` + cleaned,
	},
	{
		Name: "btrfs: n quota groups in three levels", FS: "btrfs", Smallest: 15, Full: 1000,
		Prepare: `for i in $(seq $N); do btrfs -q subvolume create s$i; done`,
		Script: `btrfs quota enable .; for i in $(seq $N); do
				btrfs qgroup create 1/$i .; btrfs qgroup create 2/$i .; btrfs qgroup create 3/$i .
				btrfs qgroup assign --no-rescan 0/$((i + 255)) 1/$i . || true
				btrfs qgroup assign --no-rescan 1/$i 2/$((i % 20 + 1)) . || true
				btrfs qgroup assign --no-rescan 2/$i 3/$((i % 4 + 1)) . || true
			done
			btrfs quota rescan -w .`,
	},
}

// snapshotChain takes n snapshots, each of the one before and in it (BTRFS_IOC_SNAP_CREATE). Each
// is a commit of its own.
const snapshotChain = `perl -e 'chdir "s" or die $!; for (1..$ARGV[0]) {
	open $d, "<", "." or die $!;
	ioctl($d, 0x50009401, pack("q<a4088", fileno $d, "t")) or die $!; chdir "t" or die $! }' $N`

// destroy deletes a subvolume of the working directory in perl (BTRFS_IOC_SNAP_DESTROY).
func destroy(name string) string {
	return `open $d, "<", "." or die $!; $args = pack("q<a4088", 0, "` + name + `");
			ioctl($d, 0x5000940f, $args) or die $!;`
}

const (
	volume        = `btrfs -q subvolume create s; cd s; ` + smallFiles + `; cd ..`
	takeSnapshots = `mkdir d; $LOAD/d -snapshots s -n $N`
	nested        = `perl -e 'for (1..$ARGV[0]) {
		system qw(btrfs -q subvolume create s) and die; chdir "s"; system "seq 20 | xargs touch" }' $N`
)

// deviceShapes move data and metadata. Half of n MiB is small files. What counts is the number of
// extents, so that n extents are as small as they can be: 50 GiB in files of 64 KiB and a large one
// are 400,000.
var deviceShapes = []Shape{
	{
		Name: "btrfs: balance of n extents", FS: "btrfs", Smallest: 2000, Full: 400_000, Each: 24 * kib,
		Prepare: extents, Script: `btrfs -q balance start --full-balance .`,
	},
	{
		Name: "btrfs: conversion of n extents", FS: "btrfs", Smallest: 2000, Full: 400_000,
		Each: 32 * kib, Prepare: extents,
		Script: `btrfs -q balance start -f -dconvert=dup -mconvert=single .`,
	},
	{
		Name: "btrfs: removal of a device with n extents", FS: "btrfs", Smallest: 2000, Full: 400_000,
		Each: 24 * kib, Disks: 2, Mkfs: []string{"-d", "single", "-m", "single"},
		Script: extents + `; sync -f .; btrfs -q device remove 1 .`,
	},
	{
		Name: "btrfs: balance of n MiB", FS: "btrfs", Smallest: 32, Full: 50 * kib, Each: 2 * mib,
		Prepare: contents, Script: `btrfs -q balance start --full-balance .`,
	},
	{
		Name: "btrfs: conversion of n MiB", FS: "btrfs", Smallest: 32, Full: 50 * kib, Each: 3 * mib,
		Prepare: contents, Script: `btrfs -q balance start -f -dconvert=dup -mconvert=single .`,
	},
	{
		Name: "btrfs: removal of a device with n MiB", FS: "btrfs", Smallest: 32, Full: 50 * kib,
		Each: 2 * mib, Disks: 2, Mkfs: []string{"-d", "single", "-m", "single"},
		Script: contents + `; sync -f .; btrfs -q device remove 1 .`,
	},
}

// extents makes n files of an extent of 4 KiB each.
const extents = `mkdir d; perl -e 'for (1..$ARGV[0]) { $d = "d/" . int($_ / 1000);
	-d $d or mkdir $d or die $!; open $f, ">", "$d/$_" or die $!; print $f "x" x 4096 }' $N`

// contents fills n MiB, half of it with files of 64 KiB. From 16 GiB on the other half is
// preallocated if the file system can: a balance moves it as if it was written.
const contents = `{ [ $N -ge 16384 ] && fallocate -l $((N / 2))M f; } ||
		head -c $((N / 2))M /dev/zero > f
	mkdir d
	perl -e 'for (1..$ARGV[0] * 8) { open $f, ">", "d/$_" or die $!; print $f "x" x 65536 }' $N`

// convertedShapes are those of file systems that btrfs-convert made.
var convertedShapes = []Shape{
	{
		Name: "btrfs: first commit of n converted files", FS: "btrfs", Smallest: 5000, Full: 1_000_000,
		Each: 20 * kib, Converted: true, Prepare: smallFiles, Script: `touch new`,
	},
	{
		Name: "btrfs: balance of n converted MiB", FS: "btrfs", Smallest: 32, Full: 50 * kib,
		Each: 3 * mib, Converted: true, Prepare: contents,
		Script: `btrfs -q balance start --full-balance .`,
	},
	{
		Name: "btrfs: deletion of the saved image of n converted files", FS: "btrfs", Smallest: 5000,
		Full: 1_000_000, Each: 20 * kib, Converted: true, Prepare: smallFiles,
		Script: `btrfs -q subvolume delete ext2_saved; ` + cleaned,
	},
}
