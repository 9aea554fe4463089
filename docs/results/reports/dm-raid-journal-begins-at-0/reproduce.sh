#!/bin/sh
# Shows that dm-raid does not know where the journal of a RAID5 begins: old data comes back when the
# array is started again, and a flushed write is gone after a crash. "reproduce.sh md" starts an
# array of mdadm again, which is sound. Needs root, loop devices, dmsetup or mdadm, and 100 MiB in
# /tmp. Exits 1 if something is lost.
set -eu
how=${1:-dm}
dir=$(mktemp -d)
cd "$dir"
modprobe loop 2>/dev/null || true
modprobe dm-raid 2>/dev/null || true

for f in disk0 disk1 disk2 journal; do
	dd if=/dev/zero of=$f bs=1M count=12 2>/dev/null
	loop=$(losetup -f)
	losetup "$loop" $f
	loops="${loops:-} $loop"
done
# shellcheck disable=SC2086  # four words
set -- $loops

start() {
	if [ "$how" = md ]; then
		mdadm --assemble --quiet --run /dev/md9 "$@"
		at=/dev/md9
	else
		dmsetup create broken --table "0 49152 raid raid5_ls 6 8 nosync \
			journal_dev $4 journal_mode writethrough 3 - $1 - $2 - $3"
		dmsetup mknodes broken
		at=/dev/mapper/broken
	fi
}
stop() { if [ "$how" = md ]; then mdadm --stop --quiet /dev/md9; else dmsetup remove broken; fi; }
write() { echo "$2" | dd of=$at bs=4k count=1 seek="$1" conv=sync,fsync,notrunc 2>/dev/null; }
status=0
# has BLOCK TEXT reads a block.
has() {
	now=$(dd if=$at bs=4k count=1 skip="$1" 2>/dev/null | tr -d '\0')
	echo "block $1 is '$now', and should be '$2'"
	[ "$now" = "$2" ] || status=1
}

if [ "$how" = md ]; then
	mdadm --create --quiet --run --assume-clean /dev/md9 -l 5 -c 4 -n 3 "$1" "$2" "$3" \
		--write-journal "$4"
	stop
fi
uname -r

echo "No crash: the array is stopped and started between all writes."
start "$@"
write 0 old
stop
start "$@"
write 0 new
stop
start "$@"
has 0 new

if [ "$how" = dm ]; then
	echo "A crash: the journal is as after the fsync, and the disks are as before the write."
	for f in disk0 disk1 disk2; do cp $f $f.before; done
	write 8 important
	cp journal journal.crash
	[ -z "${KEEP:-}" ] || cp disk?.before journal.crash "$KEEP"
	stop
	for f in disk0 disk1 disk2; do cp $f.before $f; done
	cp journal.crash journal
	for loop in "$@"; do blockdev --flushbufs "$loop"; done
	start "$@"
	has 8 important
fi

stop
for loop in "$@"; do losetup -d "$loop"; done
cd /
rm -r "$dir"
exit $status
