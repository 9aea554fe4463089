package main

// oneBlock makes a file of one extent, of 4 KiB.
const oneBlock = `head -c 4096 /dev/urandom > one; sync -f .
	`

// extentShapes are those of shared extents and checksums of Btrfs.
var extentShapes = []shape{
	{
		name: "btrfs: snapshot of a compressed log of n MiB", fs: "btrfs", smallest: 128, full: 8 * kib,
		mount: []string{"compress=zstd"},
		prepare: `btrfs -q subvolume create s
			perl -e '$l = join("\n", 1..150000) . "\n"; $left = $ARGV[0] << 20;
				while ($left > 0) { print substr($l, 0, $left); $left -= length $l }' $N > s/log`,
		script: `btrfs -q subvolume snapshot s t`,
	},
	{
		name: "btrfs: snapshot of a file with n random writes", fs: "btrfs", smallest: 2000,
		full: 1_000_000, each: 20 * kib,
		prepare: `btrfs -q subvolume create s; head -c ${N}0000 /dev/zero | tr '\0' x > s/db; sync -f .
			` + randomWrites("s/db"),
		script: `btrfs -q subvolume snapshot s t`,
	},
	{
		name: "btrfs: deletion of a file with n random writes", fs: "btrfs", smallest: 2000,
		full: 1_000_000, each: 20 * kib,
		prepare: `head -c ${N}0000 /dev/zero | tr '\0' x > db; sync -f .` + "\n" + randomWrites("db"),
		script:  `rm db`,
	},
	{
		name: "btrfs: n reflinks of one extent", fs: "btrfs", smallest: 2000, full: 300_000, least: 4,
		script: oneBlock + reflinks,
	},
	{
		name: "btrfs: deletion of n reflinks of one extent", fs: "btrfs", smallest: 2000, full: 300_000,
		least: 4, prepare: oneBlock + reflinks, script: `rm all`,
	},
	{
		name: "btrfs: one extent in n files", fs: "btrfs", smallest: 2000, full: 300_000, each: 4 * kib,
		least: 8,
		script: oneBlock + `mkdir d; perl -e 'open $f, "<", "one" or die; # FICLONE
			for (1..$ARGV[0]) { open $g, "+>", "d/$_" or die $!;
				ioctl($g, 0x40049409, fileno $f) or die $! }' $N`,
	},
	{
		name: "btrfs: n dedupes of one extent", fs: "btrfs", smallest: 500, full: 300_000,
		each: 8 * kib, least: 4,
		prepare: oneBlock + `perl -e 'open $f, "<", "one"; read $f, $b, 4096; open $g, ">", "all";
			print $g $b for 1..$ARGV[0]' $N`,
		script: `perl -e 'open $f, "<", "one" or die; open $g, "+<", "all" or die; # FIDEDUPERANGE
			for (0..$ARGV[0] - 1) { $r = pack("Q<Q<S<S<L<q<Q<Q<l<L<", 0, 4096, 1, 0, 0, fileno $g,
				4096 * $_, 0, 0, 0); ioctl($f, 0xc0189436, $r) or die $! }' $N`,
	},
	{
		name: "btrfs: snapshot of a file of n extents", fs: "btrfs", smallest: 4000, full: 1_000_000,
		each:    8 * kib,
		prepare: `btrfs -q subvolume create s; cd s; ` + sparse + `; cd ..`,
		script:  `btrfs -q subvolume snapshot s t`,
	},
	{
		name: "btrfs: deletion of a file of n GiB, unwritten", fs: "btrfs", smallest: 16, full: kib,
		each: gib, prepare: `fallocate -l ${N}G f`, script: `rm f`,
	},
	{
		name: "btrfs: n names, 32 to a hash", fs: "btrfs", smallest: 1600, full: 100_000, least: 8,
		script: `mkdir d; $LOAD/d -collide $N`,
	},
	{
		name: "btrfs: deletion of n names, 32 to a hash", fs: "btrfs", smallest: 1600, full: 100_000,
		least: 8, prepare: `mkdir d; $LOAD/d -collide $N`, script: `rm -r d`,
	},
	{
		name: "btrfs: n xattrs of a file", fs: "btrfs", smallest: 1600, full: 100_000, least: 1,
		script: `perl -e 'open $f, ">", "f" or die $!; for (1..$ARGV[0]) { $n = "user.x$_"; $v = "v$_";
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
var treeShapes = []shape{
	{
		name: "btrfs: snapshot of n small files", fs: "btrfs", smallest: 5000, full: 1_000_000,
		each: 4 * kib, prepare: volume, script: `btrfs -q subvolume snapshot s t`,
	},
	{
		name: "btrfs: snapshot of n small files, changed", fs: "btrfs", smallest: 5000,
		full: 1_000_000, each: 4 * kib, least: 1,
		prepare: volume + `; btrfs -q subvolume snapshot s t`, script: `chown -R 7:7 t`,
	},
	{
		name: "btrfs: snapshot of n small files, changed and deleted", fs: "btrfs", smallest: 5000,
		full: 1_000_000, each: 4 * kib,
		prepare: volume + `; btrfs -q subvolume snapshot s t; chown -R 7:7 t`,
		script:  `btrfs -q subvolume delete t; ` + cleaned,
	},
	{
		name: "btrfs: n snapshots at once", fs: "btrfs", smallest: 40, full: 5000,
		prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch`,
		script:  takeSnapshots,
	},
	{
		name: "btrfs: deletion of n snapshots at once", fs: "btrfs", smallest: 40, full: 5000,
		prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch; ` + takeSnapshots,
		script:  `btrfs -q subvolume delete d/*/s; ` + cleaned,
	},
	{
		name: "btrfs: 100 files changed in each of n snapshots", fs: "btrfs", smallest: 40, full: 2560,
		least: 50, prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch; ` +
			takeSnapshots, script: `echo d/*/s/* | xargs chown 7:7`,
	},
	{
		name: "btrfs: n nested subvolumes", fs: "btrfs", smallest: 15, full: 1000,
		script: nested,
	},
	{
		name: "btrfs: deletion of n nested subvolumes", fs: "btrfs", smallest: 15, full: 1000,
		prepare: nested,
		script: `perl -e 'push @d, "s" and chdir "s" for 1..$ARGV[0]; for (@d) { chdir ".." or die $!;
			system qw(btrfs -q subvolume delete s) and die }' $N`,
	},
	{
		name: "btrfs: n snapshots, each of the one before and in it", fs: "btrfs", smallest: 40,
		full: 5000, prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch`,
		script: snapshotChain,
	},
	{
		name: "btrfs: deletion of n snapshots, each in the one before", fs: "btrfs", smallest: 40,
		full: 5000, prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch
			` + snapshotChain,
		script: `perl -e 'chdir "s" or die $!; chdir "t" or die $! for 1..$ARGV[0] - 1;
			for (1..$ARGV[0]) { ` + destroy("t") + ` chdir ".." or die $! }' $N; ` + cleaned,
	},
	{
		name: "btrfs: a snapshot in each of n nested subvolumes", fs: "btrfs", smallest: 40, full: 5000,
		prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch`,
		script:  `$LOAD -snapshots s -nested -n $N`,
	},
	{
		name: "btrfs: deletion of n nested subvolumes with a snapshot in each", fs: "btrfs",
		smallest: 40, full: 5000,
		prepare: `btrfs -q subvolume create s; seq 100 | sed s,^,s/, | xargs touch
			$LOAD -snapshots s -nested -n $N`,
		script: `perl -e 'chdir "n" or die $! for 1..$ARGV[0]; for (1..$ARGV[0]) {
			` + destroy("s") + ` chdir ".." or die $!; ` + destroy("n") + ` }' $N; ` + cleaned,
	},
	{
		name: "btrfs: n quota groups in three levels", fs: "btrfs", smallest: 15, full: 1000,
		prepare: `for i in $(seq $N); do btrfs -q subvolume create s$i; done`,
		script: `btrfs quota enable .; for i in $(seq $N); do
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
var deviceShapes = []shape{
	{
		name: "btrfs: balance of n extents", fs: "btrfs", smallest: 2000, full: 400_000, each: 24 * kib,
		prepare: extents, script: `btrfs -q balance start --full-balance .`,
	},
	{
		name: "btrfs: conversion of n extents", fs: "btrfs", smallest: 2000, full: 400_000,
		each: 32 * kib, prepare: extents,
		script: `btrfs -q balance start -f -dconvert=dup -mconvert=single .`,
	},
	{
		name: "btrfs: removal of a device with n extents", fs: "btrfs", smallest: 2000, full: 400_000,
		each: 24 * kib, disks: 2, mkfs: []string{"-d", "single", "-m", "single"},
		script: extents + `; sync -f .; btrfs -q device remove 1 .`,
	},
	{
		name: "btrfs: balance of n MiB", fs: "btrfs", smallest: 32, full: 50 * kib, each: 2 * mib,
		prepare: contents, script: `btrfs -q balance start --full-balance .`,
	},
	{
		name: "btrfs: conversion of n MiB", fs: "btrfs", smallest: 32, full: 50 * kib, each: 3 * mib,
		prepare: contents, script: `btrfs -q balance start -f -dconvert=dup -mconvert=single .`,
	},
	{
		name: "btrfs: removal of a device with n MiB", fs: "btrfs", smallest: 32, full: 50 * kib,
		each: 2 * mib, disks: 2, mkfs: []string{"-d", "single", "-m", "single"},
		script: contents + `; sync -f .; btrfs -q device remove 1 .`,
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
var convertedShapes = []shape{
	{
		name: "btrfs: first commit of n converted files", fs: "btrfs", smallest: 5000, full: 1_000_000,
		each: 20 * kib, converted: true, prepare: smallFiles, script: `touch new`,
	},
	{
		name: "btrfs: balance of n converted MiB", fs: "btrfs", smallest: 32, full: 50 * kib,
		each: 3 * mib, converted: true, prepare: contents,
		script: `btrfs -q balance start --full-balance .`,
	},
	{
		name: "btrfs: deletion of the saved image of n converted files", fs: "btrfs", smallest: 5000,
		full: 1_000_000, each: 20 * kib, converted: true, prepare: smallFiles,
		script: `btrfs -q subvolume delete ext2_saved; ` + cleaned,
	},
}
