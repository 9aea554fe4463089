package main

import "slices"

// administration has what administrators and programs do with a disk. Each script runs on one
// variant. $T is a folder outside the file system.
var administration = slices.Concat(onAny, onBtrfs, onExt3)

// reformats returns scripts for the unmounted disk, which end with another file system of the same
// type.
func reformats(r *round) string {
	again := "mkfs.ext3 -q -F $FIRST"
	switch {
	case r.fs == "btrfs":
		again = "mkfs.btrfs -q -f $DISKS"
	case r.variant.noJournal:
		again = "mkfs.ext2 -q -F $FIRST"
	}
	scripts := []string{
		"wipefs -qa $FIRST; ",
		"mkfs.xfs -q -f $FIRST; wipefs -qa $FIRST; ",
		"mkfs.ext3 -q -F $FIRST; mkfs.btrfs -q -f $FIRST; mkfs.ext3 -q -F $FIRST; ",
		"mkswap -f $FIRST; ",
		"blkdiscard -f $FIRST; ",
		"head -c 1M /dev/zero | dd of=$FIRST conv=notrunc,fsync status=none; ",
		"mkfs.ext4 -q -F $FIRST; ",
	}
	return scripts[r.random.IntN(len(scripts))] + again
}

var onAny = []workload{
	{name: "another file system", sessions: 4, script: `$LOAD`, between: reformats},
	{name: "unnamed files", script: `
		for i in $(seq 60); do
			xfs_io -T -c "pwrite -q 0 $((i * 900))" -c "flink named$i" .
			xfs_io -T -c "pwrite -q 0 99999" -c fsync . & [ $((i % 9)) != 0 ] || sync -f .
		done; wait; sync -f .; rm named*`},
	{name: "holes", script: `
		for i in $(seq 40); do
			xfs_io -f -c "pwrite -q 0 $((i * 3000))" -c "falloc -k $((i * 3000)) 1m" \
				-c "fpunch 4096 $((i * 1000))" -c "fzero -k 100 9000" -c fsync \
				-c "truncate $((i * 1500))" -c "fpunch 0 2m" h$i || true
			[ $((i % 8)) != 0 ] || sync -f .
		done
		fallocate -d h5 || true; fallocate -c -o 4096 -l 4096 h6 || true
		fallocate -i -o 4096 -l 4096 h7 || true; cp --sparse=always h8 h9; sync -f .`},
	{name: "long names", script: names},
	{name: "layers", script: `
		mkdir low top work m; cp -r /etc/default low/d
		mkdir low/e; echo a > low/e/a; ln -s a low/l
		mount -t overlay overlay -o lowerdir=$PWD/low,upperdir=$PWD/top,workdir=$PWD/work $PWD/m
		(cd m; rm -r d; mkdir d; echo b > d/b; mv e/a e/c; chmod 600 e/c; rm l; ln -s c l
			ln e/c e/f; mv e g 2> /dev/null || cp -r e g
			for i in $(seq 200); do echo $i > g/$i; done; sync -f .; rm -r g
			touch low; mv low e/low; mknod n p; setfattr -n user.a -v b e/c || true) || bad=1
		umount m; [ -z "$bad" ]; sync -f .; cp -a top copy; sync -f .; rm -r top`},
	{name: "database", script: `
		for mode in wal delete truncate persist; do
			sqlite3 $mode.db "pragma journal_mode=$mode; pragma synchronous=full;
				create table t(a, b)"
			for i in $(seq 25); do
				sqlite3 $mode.db "insert into t select value, hex(randomblob(300))
					from generate_series(1,60); delete from t where a % 7 = $i % 7"
			done
			sqlite3 $mode.db "vacuum; pragma integrity_check" | grep -q ok
		done > /dev/null; sync -f .`},
	{name: "direct writes", script: `
		fio --name=a --rw=randwrite --bs=4k --size=16m --direct=1 --fdatasync=8 --runtime=5 \
			--time_based --ioengine=psync --verify=crc32c --verify_fatal=1 > /dev/null
		fio --name=b --rw=randrw --bs=4k-64k --size=16m --direct=1 --fsync=20 --runtime=5 \
			--time_based --ioengine=libaio --iodepth=8 > /dev/null
		fio --name=c --rw=randwrite --size=8m --ioengine=mmap --runtime=3 --time_based > /dev/null
		sync -f .; rm a.* b.*`},
	{name: "packages", script: `
		mkdir lib; for round in 1 2 3; do
			for f in $(seq 120); do
				head -c $((f * 97)) /dev/urandom > lib/$f.new; sync -d lib/$f.new
				[ $round = 1 ] || ln -f lib/$f lib/$f.old; mv lib/$f.new lib/$f
			done; sync -f lib; rm -f lib/*.old
		done`},
	{name: "git", script: `
		git init -q r; cd r; git config user.email a@b; git config user.name a
		for i in $(seq 12); do
			for f in $(seq 30); do echo $i $f $((i * f)) >> f$f; done
			git add .; git -c core.fsync=all commit -qm $i
		done; git gc -q --prune=now; git clone -q . ../c; git repack -qad; rm -rf ../c; sync -f .`},
	{name: "logs", script: `
		for i in $(seq 30); do
			head -c 40000 /dev/urandom >> log; seq 3000 >> log; sync -d log
			case $((i % 3)) in
			0) mv log log.$i; : > log ;;
			1) cp log log.$i; truncate -s 0 log ;;
			*) gzip < log > log.$i.gz; rm log ;;
			esac
		done; rm log.*; sync -f .`},
	{name: "mail", script: `
		mkdir tmp new cur; for i in $(seq 150); do
			head -c $((i * 40)) /dev/zero | tr '\0' m > tmp/$i; sync tmp/$i; ln tmp/$i new/$i
			rm tmp/$i; sync new; [ $((i % 3)) != 0 ] || mv new/$i cur/$i:2,S
			[ $((i % 10)) != 0 ] || rm cur/*
		done`},
	{name: "archives", script: `
		mkdir a; cp -a /etc/default /usr/share/doc/b* a/; truncate -s 3M a/sparse; echo x >> a/sparse
		ln a/sparse a/hard; ln -s sparse a/soft; mkfifo a/fifo
		tar --xattrs --sparse -cf a.tar a; mkdir b; tar -C b --xattrs -xpf a.tar; sync -f .
		cp -a --sparse=always b/a c; rm -r a; mv b/a a; sync -f .; rm -r a b c`},
	{name: "trim", script: `
		for i in 1 2 3 4; do
			head -c 20M /dev/urandom > f$i; cp f$i g$i; rm -f f$((i - 1)); sync -f .; fstrim . || true
			fstrim -o 10M -l 50M . || true
		done`},
	{name: "remounts", script: `
		for o in ro rw noatime,nodiratime strictatime lazytime nolazytime sync async ro rw \
			commit=1 commit=300; do
			mount -o remount,$o . || continue; if [ $o != ro ]; then echo $o >> f; mkdir -p d$o; fi
		done; $LOAD -seconds 3`},
}

// names makes names of 255 bytes, and names with one hash of Btrfs (crc32c).
const names = `
	for i in $(seq 100 199); do : > $(printf %0252d 0)$i; mkdir -p d; ln $(printf %0252d 0)$i d/; done
	sync -f .
	for n in mnopqrstmnopqrst mnopquwpjiovtpwp mnopprvqikktpssq mnopsqtwklkvuwus \
		mnopurqqoniqspur mnoqqprtomkwuprp mnorqqvpjjiptrvr mnotqpvvmhnrstut mnnpqptuhhlrwvqs \
		mnmpqsqqlhoqqqwr mnkpqsrsjjirvsqw moopqqqvjhivtwvw; do
		n=name-with-a-hash-that-others-have-too-mnopqrstmnopqrst$n
		echo a > $n; ln $n d/; sync $n; mkdir -p e; mkdir e/$n; setfattr -n user.$n -v b d || true
	done
	sync -f .; mv d f; rm -r e; rm name-*rvr name-*ust || true; sync -f .; rm -r f; rm 0*`

// withFolder returns a script in which $T is a new folder, which is removed at the end.
func withFolder(script string) string {
	return "export T=$(mktemp -d); trap 'rm -rf $T' EXIT\n" + script
}

// administrationPairs combines each script with a variant that it can run on. The seed decides with
// which.
func administrationPairs(c *config, chosen []variant, loads []workload) (pairs []pair) {
	for i, l := range loads {
		l.script = withFolder(l.script)
		for k := range chosen {
			v := chosen[(int(c.seed%uint64(len(chosen)))+i+k)%len(chosen)]
			if (!l.journal || !v.noJournal) && (!l.spare || v.spare > 0) {
				pairs = append(pairs, pair{v, l})
				break
			}
		}
	}
	return pairs
}
