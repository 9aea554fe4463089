package main

var onBtrfs = []workload{
	{name: "send", fs: "btrfs", script: `
		btrfs -q subvolume create a; btrfs property set a compression zstd; mkdir a/d r
		for i in $(seq 40); do seq $i $((i * 900)) > a/z$i; cp --reflink=always a/z$i a/d/c$i; done
		head -c 3M /dev/urandom > a/big; btrfs -q subvolume snapshot -r a s1
		xfs_io -c "reflink big 0 65536 65536" -c "pwrite -q 1m 9999" a/big || true
		cp --reflink=always a/big a/clone; mv a/z1 a/y1; truncate -s 5000 a/z2; rm a/z3; ln a/z4 a/l4
		setfattr -n user.x -v y a/z5; chmod 600 a/z6; xfs_io -c "falloc -k 2m 1m" a/z7
		btrfs -q subvolume snapshot -r a s2; btrfs -q subvolume snapshot -r a s3
		btrfs -q send --proto 2 --compressed-data -f $T/1 s1
		btrfs -q send --proto 2 --compressed-data -p s1 -f $T/2 s2
		btrfs -q send -c s1 -c s2 -f $T/3 s3; btrfs -q send --no-data -p s1 -f $T/4 s2
		btrfs -q receive -f $T/1 r; sync -f .; btrfs -q receive -f $T/2 r
		btrfs -q receive -f $T/3 r; mkdir q; btrfs -q receive --force-decompress -f $T/1 q
		sync -f .; btrfs property set -f r/s1 ro false; echo x > r/s1/x
		btrfs -q subvolume delete -c r/s1 r/s2 q/s1`},
	{name: "verity", fs: "btrfs", script: `$LOAD -profile verity`},
	{name: "swap file", fs: "btrfs", script: `
		truncate -s 0 swap; chattr +C swap; fallocate -l 48M swap; chmod 600 swap; mkswap -q swap
		swapon swap && on=1 || true; $LOAD -seconds 4
		btrfs -q subvolume snapshot . s || true; btrfs -q balance start -musage=90 . || true
		btrfs filesystem defragment swap || true; [ -z "$on" ] || swapoff swap; sync -f .; rm swap`},
	{name: "dedupe", fs: "btrfs", script: `
		yes abcdefg | head -c 2M > a; cp a b; cp a c; head -c 100001 a > d; sync -f .
		for i in $(seq 0 15); do
			xfs_io -c "dedupe a $((i * 65536)) $((i * 65536)) 65536" b > /dev/null
			xfs_io -c "dedupe a 0 $((i * 65536)) 4096" c > /dev/null
		done; xfs_io -c "dedupe a 0 0 100001" d > /dev/null || true; sync -f .
		xfs_io -c "dedupe a 65536 0 65536" a > /dev/null || true; sync -f .
		xfs_io -c "pwrite -q 30000 9" a; btrfs filesystem defragment -czstd b; rm c; sync -f .`},
	{name: "clones", fs: "btrfs", script: `
		for i in $(seq 60); do head -c $((i * 70)) /dev/zero | tr '\0' c > i$i; done; sync -f .
		for i in $(seq 60); do
			cp --reflink=always i$i j$i; xfs_io -f -c "reflink i$i 0 4096 0" k$i || true
			xfs_io -f -c "reflink i$i 0 0 0" -c "pwrite -q 2000 5000" l$i || true
		done; head -c 1M /dev/urandom > s; sync -f .
		for i in $(seq 15 -1 1); do
			xfs_io -c "reflink s $((i * 4096)) $((i * 4096 + 65536)) 65536" s > /dev/null
		done; sync -f .; truncate -s 70000 s; sync -f .; rm i* k*`},
	{name: "replace", fs: "btrfs", spare: true, script: `
		set -- $DISKS; for last in "$@"; do :; done
		LOAD="$FSLOAD -dir . -seed $SEED" # $LOAD changes devices
		$LOAD -seconds 5; btrfs -q filesystem resize 1:-700m .
		btrfs -q replace start -Bf 1 $last . ; sync -f .; btrfs -q filesystem resize 1:max .
		btrfs -q replace status -1 .; $LOAD -seconds 2; btrfs -q replace start -Bf 1 $1 .
		btrfs -q filesystem resize 1:max .; btrfs -q balance start -dusage=50 .; sync -f .`},
	{name: "resize and balance", fs: "btrfs", script: `
		head -c 90M /dev/urandom > big; (btrfs -q balance start --full-balance . || true) & work=$!
		for s in -200m -100m +50m -30m max; do
			btrfs -q filesystem resize 1:$s . || true; sync -f .; seq 9999 > f$s
		done; wait $work; btrfs -q balance start -musage=80 -dusage=80 . || true; sync -f .`},
	{name: "scrub", fs: "btrfs", script: `
		$LOAD -seconds 4; btrfs -q scrub start -B . > /dev/null; btrfs -q scrub start -Br . > /dev/null
		btrfs -q scrub start . > /dev/null; btrfs -q scrub cancel . > /dev/null 2>&1 || true
		btrfs -q scrub resume -B . > /dev/null 2>&1 || true; $LOAD -seconds 3`},
	{name: "quota groups", fs: "btrfs", script: `
		btrfs -q quota enable .; for i in 1 2 3 4; do btrfs -q subvolume create v$i; done
		for g in 1/1 1/2 2/1; do btrfs -q qgroup create $g .; done
		id() { btrfs inspect-internal rootid $1; }
		for i in 1 2 3; do btrfs -q qgroup assign --rescan 0/$(id v$i) 1/1 . || true; done
		btrfs -q qgroup assign 1/1 2/1 . || true
		btrfs -q qgroup limit 20m v1; btrfs -q qgroup limit -e 9m v2
		for i in 1 2 3; do head -c 30M /dev/urandom > v$i/f || true; sync -f .; done
		btrfs -q qgroup remove 0/$(id v1) 1/1 . || true; btrfs -q qgroup assign 0/$(id v1) 1/2 . || true
		btrfs -q subvolume snapshot -i 1/2 v2 w; btrfs -q quota rescan -w .; cp --reflink=always v3/f w/g
		btrfs -q subvolume delete -c v2 v1; btrfs -q subvolume sync . || true; sync -f .
		btrfs -q quota rescan -w .; btrfs -q quota disable .; sync -f .`},
	{name: "properties", fs: "btrfs", script: `
		for i in 1 2 3 4 5; do
			btrfs -q subvolume create p$i; seq 9000 > p$i/f; btrfs property set p$i ro true; sync -f .
			btrfs property set p$i ro false; echo more >> p$i/f
			for c in zlib lzo zstd none ""; do
				btrfs property set p$i/f compression "$c"; seq $i 5000 > p$i/f$c; sync -f p$i
			done
		done; btrfs property set . label under-guard; btrfs filesystem label . again; sync -f .`},
	{name: "no copy-on-write", fs: "btrfs", script: `
		mkdir n; chattr +C n; fallocate -l 8M n/pre; head -c 8M /dev/zero > n/db; sync -f .
		for i in $(seq 12); do
			[ $((i % 3)) != 0 ] || btrfs -q subvolume snapshot . s$i
			for o in $(seq 0 200000 6000000); do
				xfs_io -c "pwrite -q $((o + i * 4096)) 8192" n/db
			done
			xfs_io -d -c "pwrite -q $((i * 65536)) 65536" n/pre; sync n/pre; cp --reflink=always n/db n/c$i
		done; btrfs -q subvolume delete s3 s6; chattr -C n; seq 999 > n/cow; sync -f .; rm -r n`},
	{name: "defragmentation", fs: "btrfs", script: `
		for i in 1 2 3 4; do
			head -c 2M /dev/zero | tr '\0' $i > f$i; for o in $(seq 0 150000 1900000); do
				xfs_io -c "pwrite -q $o 5000" -c fsync f$i; done
			cp --reflink=always f$i g$i
		done; btrfs -q subvolume snapshot . s
		btrfs filesystem defragment -czlib f1; btrfs filesystem defragment -clzo f2 g1
		btrfs filesystem defragment -czstd -t 64K f3; sync -f .
		btrfs filesystem defragment -r -f . || true
		btrfs filesystem defragment -s 4096 -l 500000 g4; sync -f .; btrfs -q subvolume delete s; rm f*`},
	{name: "attributes", fs: "btrfs", script: `
		v=$(head -c 3900 /dev/zero | tr '\0' v); big=$(head -c 12000 /dev/zero | tr '\0' w)
		for i in $(seq 60); do
			: > f$i; setfattr -n user.a -v "$v" f$i; setfattr -n user.big -v "$big" f$i || true
			for k in 1 2 3 4 5; do setfattr -n user.k$k -v $i$k f$i; done
			[ $((i % 9)) != 0 ] || sync -f .; setfattr -n user.a -v short f$i; setfacl -m u:7:r f$i
			setfattr -x user.k$((i % 5 + 1)) f$i; setfattr -n trusted.t -v "$v" f$i; sync f$i
		done; btrfs property set f1 compression zstd || true; cp -a f2 c2; sync -f .; rm f*`},
	{name: "subvolumes", fs: "btrfs", script: `
		btrfs -q subvolume create a; for i in 1 2 3 4 5 6; do
			btrfs -q subvolume create a/n$i; seq 999 > a/n$i/f; btrfs -q subvolume snapshot a/n$i a/n$i/s
			btrfs -q subvolume snapshot -r a a$i; mv a/n$i/s a/moved$i
		done; sync -f .; btrfs subvolume list . > /dev/null
		btrfs -q subvolume set-default $(btrfs inspect-internal rootid a1) .; sync -f .
		btrfs -q subvolume set-default 5 .; btrfs -q subvolume delete -C a1 a2
		btrfs -q subvolume delete --subvolid $(btrfs inspect-internal rootid a3) . || true
		mv a old; btrfs -q subvolume snapshot a4 a; rm -rf old/n1 || true
		btrfs -q subvolume delete old/moved*; btrfs -q subvolume sync . || true; sync -f .`},
	{name: "profiles", fs: "btrfs", script: `
		head -c 50M /dev/urandom > f; sync -f .
		btrfs -q balance start -f -mconvert=single . || true
		btrfs -q balance start -dconvert=dup . || true
		btrfs -q balance start -mconvert=dup -sconvert=dup -f . || true
		btrfs -q balance start -dlimit=1 -mlimit=1..2 . || true; rm f; sync -f .
		btrfs -q balance start -dusage=0 -musage=0 . || true
		btrfs -q balance start -dconvert=single,soft . || true
		btrfs -q device usage . ; sync -f .`},
	{name: "changed mounts", fs: "btrfs", script: `
		for o in compress=zstd:9 compress-force=lzo compress=no nodatasum datasum autodefrag \
			noautodefrag max_inline=0 max_inline=2048 discard=async nodiscard thread_pool=2 \
			flushoncommit noflushoncommit notreelog treelog noacl acl ssd nossd clear_cache \
			user_subvol_rm_allowed commit=1; do
			mount -o remount,$o . || true; seq 4000 > f$o; head -c 3000 f$o > g$o; sync g$o
			cp --reflink=always f$o h 2> /dev/null || true; sync -f .
		done`},
	{name: "cut inline data", fs: "btrfs", script: `$LOAD -profile inline -workers 4`},
	{name: "btrfs-progs", fs: "btrfs", sessions: 6, script: `$LOAD`, between: btrfsTools},
}
