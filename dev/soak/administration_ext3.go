package main

var onExt3 = []workload{
	{name: "tune2fs", fs: "ext3", script: `$LOAD`, sessions: 2, between: once(`
		for o in "-m 1" "-L under-guard" "-U random" "-U time" "-r 100" "-g 7" "-u 7" \
			"-o acl,user_xattr" "-o ^acl" "-E stride=16,stripe-width=32" "-E hash_alg=tea" \
			"-E mount_opts=nodelalloc" "-e continue" "-C 5" "-c 0 -i 0" "-O ^ext_attr" "-O ext_attr" \
			"-E test_fs" "-E ^test_fs" "-E clear_mmp" "-T now" "-M /mnt/x"; do
			tune2fs $o $FIRST || true; e2fsck -fn $FIRST
		done`)},
	{name: "larger inodes", fs: "ext3", script: `$LOAD`, sessions: 2, between: once(`
		e2fsck -fp $FIRST; tune2fs -I 256 $FIRST || true; e2fsck -fy $FIRST || [ $? -le 2 ]
		tune2fs -I 512 $FIRST || true; e2fsck -fy $FIRST || [ $? -le 2 ]`)},
	{name: "debugfs", fs: "ext3", script: `$LOAD`, sessions: 2, between: once(`
		for c in "write /etc/passwd p" "mkdir dd" "symlink dd/l /etc" "mknod n p" \
			"write /etc/group dd/g" "ln p q" "ea_set p user.a b" "rm dd/g" "unlink q" \
			"sif p mode 0100600" "sif p mtime 20200101" "ssv volume_name by-debugfs" "rmdir dd" \
			"kill_file n" "dirty" "ssv state 1"; do debugfs -w -R "$c" $FIRST; done
		dumpe2fs $FIRST > /dev/null; dumpe2fs -h $FIRST > /dev/null; e2image -r $FIRST - > /dev/null
		e2fsck -fy $FIRST || [ $? -le 2 ]; e2freefrag $FIRST > /dev/null; e2label $FIRST again`)},
	{name: "packed directories", fs: "ext3", sessions: 2, script: `
		mkdir -p d; for i in $(seq 1500); do : > d/some-long-name-in-a-directory-$i; done
		for i in $(seq 1 2 1500); do rm d/some-long-name-in-a-directory-$i; done; sync -f .
		e4defrag -c . > /dev/null 2>&1 || true; e4defrag . > /dev/null 2>&1 || true
		filefrag d > /dev/null || true; $LOAD -seconds 3`,
		between: once(`e2fsck -fyD $FIRST || [ $? = 1 ]; e2fsck -fn $FIRST; debugfs -R htree $FIRST`)},
	{name: "data in the journal", fs: "ext3", journal: true, mount: []string{"data=journal"}, script: `
		fio --name=a --rw=randwrite --bs=4k --size=16m --direct=1 --fdatasync=8 --runtime=6 \
			--time_based --ioengine=psync > /dev/null
		fio --name=b --rw=randrw --bs=1k-20k --size=16m --fsync=20 --runtime=6 --time_based > /dev/null
		chattr +j a.* || true; sqlite3 s.db "create table t(a); insert into t values(1)"; $LOAD`},
	{name: "journal modes", fs: "ext3", journal: true, sessions: 5, script: `
		chattr +j . || true; $LOAD; touch j; chattr +j j || true; seq 9999 > j; sync -f .`,
		between: func(r *round) string {
			modes := []string{"journal_data", "journal_data_writeback", "journal_data_ordered"}
			return "tune2fs -o ^journal_data $FIRST; tune2fs -o " + modes[r.random.IntN(3)] + " $FIRST"
		}},
	{name: "another journal", fs: "ext3", journal: true, sessions: 2, script: `$LOAD`, between: once(`
		tune2fs -O ^has_journal $FIRST; e2fsck -fp $FIRST || [ $? = 1 ]; tune2fs -J size=6 $FIRST
		e2fsck -fn $FIRST; tune2fs -O ^has_journal $FIRST; mke2fs -q -F -t ext3 -J size=4 $FIRST`)},
	{name: "offline sizes", fs: "ext3", sessions: 2, script: `$LOAD`, between: once(`
		for s in "-M" 300M 200M 333M ""; do
			e2fsck -fp $FIRST || [ $? = 1 ]
			case "$s" in -M) resize2fs -M $FIRST ;; *) resize2fs $FIRST $s || true ;; esac
			e2fsck -fn $FIRST
		done`)},
	{name: "undo files", fs: "ext3", sessions: 2, script: `$LOAD`, between: once(`
		export T=$(mktemp -d); tune2fs -z $T/u1 -L one $FIRST; e2undo -f $T/u1 $FIRST || true
		e2fsck -fy -z $T/u2 $FIRST || [ $? -le 2 ]; e2fsck -fn $FIRST; rm -r $T`)},
	{name: "attributes", fs: "ext3", script: `
		v=$(head -c 700 /dev/zero | tr '\0' v)
		for i in $(seq 200); do
			: > f$i; setfattr -n user.a -v "$v" f$i; setfattr -n user.b -v $i f$i || true
			[ $((i % 4)) != 0 ] || setfattr -n user.a -v "$v" f$((i - 1)); setfacl -m u:7:r f$i || true
			[ $((i % 9)) != 0 ] || sync -f .; setfattr -x user.b f$i || true; ln f$i l$i
		done; cp -a f2 c2; sync -f .; rm f*; lsattr . > /dev/null; chattr +i l1; chattr -i l1
		chattr +a l2; echo x >> l2; chattr -a l2; chattr +dSDs l3; sync -f .`},
}

// once returns a workload.between that always gives the same script.
func once(script string) func(*round) string { return func(*round) string { return script } }
