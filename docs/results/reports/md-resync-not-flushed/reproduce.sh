#!/bin/sh
# Shows that a power failure in the resync of a RAID1 of md can leave mirrors that differ, in an
# array that no longer knows it. A flush of the second disk takes five seconds, by dm-delay. When
# the superblock of the first disk says that blocks are resynced, the script takes both disks as a
# failure would leave them: of the second one, without what it has not flushed. Needs root, loop
# devices, dmsetup, mdadm, and 20 MiB in /tmp. Exits 1 if the mirrors differ in the end.
set -eu
dir=$(mktemp -d)
cd "$dir"
for m in loop dm-delay raid1; do modprobe $m 2>/dev/null || true; done
uname -r

# The data begins at sector 2048. The mirrors differ, as after a crash in the middle of a write.
at=2048
attach() { # FILE
	loop=$(losetup -f)
	losetup "$loop" "$1"
	loops="${loops:-} $loop"
}
make() { # FILE TEXT
	dd if=/dev/zero of="$1" bs=1M count=4 2>/dev/null
	yes "$2" | dd of="$1" bs=512 seek=$at count=512 iflag=fullblock conv=notrunc 2>/dev/null
}
make disk0 new
make disk1 old
attach disk0
first=$loop
attach disk1
dmsetup create slow --table "0 8192 delay $loop 0 0 $loop 0 0 $loop 0 5000"
dmsetup mknodes slow

yes | mdadm --create --quiet --run --metadata=1.2 --data-offset=1M --size=256 --bitmap=none \
	/dev/md9 -l 1 -n 2 "$first" /dev/mapper/slow 2>/dev/null

# resynced prints how many sectors of the array need no resync, from the superblock in a file.
resynced() { od -A n -t u8 -j $((4096 + 208)) -N 8 "$1" | tr -d ' '; }
while [ "$(resynced disk0)" = 0 ]; do sleep 0.05; done
cp disk0 crash0
cp disk1 crash1
yes old | dd of=crash1 bs=512 seek=$at count=512 iflag=fullblock conv=notrunc 2>/dev/null
[ -z "${KEEP:-}" ] || cp crash0 crash1 "$KEEP"
echo "superblock of disk 0: $(resynced crash0) sectors are resynced"
echo "superblock of disk 1: $(resynced crash1) sectors are resynced"

mdadm --wait /dev/md9 || true
mdadm --stop --quiet /dev/md9
dmsetup remove slow
echo "The power fails, and the array starts again."
attach crash0
first=$loop
attach crash1
mdadm --assemble --quiet --run /dev/md9 "$first" "$loop"
mdadm --wait /dev/md9 || true
md=/sys/block/md9/md
echo "the array is $(cat $md/array_state)"
echo check > $md/sync_action
mdadm --wait /dev/md9 || true
n=$(cat $md/mismatch_cnt)
echo "a check finds $n sectors that differ"

mdadm --stop --quiet /dev/md9
for loop in $loops; do losetup -d "$loop"; done
cd /
rm -r "$dir"
[ "$n" = 0 ]
