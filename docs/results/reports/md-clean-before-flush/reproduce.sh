#!/bin/sh
# Shows that one power failure can leave wrong parity in a new RAID5 of md that calls itself clean: a
# disk that is lost later takes a block with it that nobody wrote. A flush of the third disk takes
# five seconds, by dm-delay. A block is written, and nothing flushes it. As soon as the superblock
# of the first disk calls the array clean, the script takes the disks as a failure would leave them:
# the third one without what it has not flushed. Needs root, loop devices, dmsetup, dm-delay, mdadm,
# and 40 MiB in /tmp. Exits 1 if a block is damaged.
set -eu
dir=$(mktemp -d)
cd "$dir"
for m in loop dm-delay raid456; do modprobe $m 2>/dev/null || true; done
uname -r

at=2048 # the sector where the data begins, on each disk
attach() { # FILE
	loop=$(losetup -f)
	losetup "$loop" "$1"
	loops="${loops:-} $loop"
}
show() { # BLOCK
	dd if=/dev/md9 bs=4k count=1 skip="$1" iflag=direct 2>/dev/null | tr -d '\0' | uniq |
		head -c 40 | tr -c 'a-z0-9 \n' '?'
}
# dirty succeeds if the superblock in a file calls the array dirty: resync_offset is not MaxSector.
dirty() { [ "$(od -A n -t x8 -j $((4096 + 208)) -N 8 "$1" | tr -d ' ')" != ffffffffffffffff ]; }

for i in 0 1 2; do dd if=/dev/zero of=disk$i bs=1M count=4 2>/dev/null; done
# The data are zeros on disk 0. Disk 1 and disk 2 have the same, so that the parity is right.
for i in 1 2; do
	yes one | dd of=disk$i bs=512 seek=$at count=512 iflag=fullblock conv=notrunc 2>/dev/null
done
cp disk2 before
attach disk0
disks=$loop
attach disk1
disks="$disks $loop"
attach disk2
dmsetup create slow --table "0 8192 delay $loop 0 0 $loop 0 0 $loop 0 5000"
dmsetup mknodes
mdadm --create --quiet --run --assume-clean --metadata=1.2 --data-offset=1M --size=256 \
	--bitmap=none -c 4 /dev/md9 -l 5 -n 3 $disks /dev/mapper/slow
# Block 0 is on disk 0, block 1 on disk 1, and their parity on disk 2.
echo "Block 1: $(show 1). Block 0 is written."
yes new | dd of=/dev/md9 bs=4k count=1 iflag=fullblock oflag=direct 2>/dev/null
while dirty disk0; do sleep 0.05; done
for i in 0 1 2; do cp disk$i crash$i; done
dirty crash2 && echo "Disk 0 calls the array clean. Disk 2 is still flushing. The power fails."
dd if=before of=crash2 bs=512 skip=$at seek=$at count=512 conv=notrunc 2>/dev/null
while dirty disk2; do sleep 0.1; done
mdadm --stop --quiet /dev/md9
dmsetup remove slow
[ -z "${KEEP:-}" ] || cp crash0 crash1 crash2 "$KEEP"

disks=
for i in 0 1 2; do
	attach crash$i
	disks="$disks $loop"
done
mdadm --assemble --quiet --run /dev/md9 $disks
mdadm --wait /dev/md9 || true
md=/sys/block/md9/md
echo "The array starts: $(cat $md/array_state), resync: $(cat $md/sync_action)"
echo check >$md/sync_action
mdadm --wait /dev/md9 || true
echo "A check finds $(cat $md/mismatch_cnt) sectors that differ."
mdadm --stop --quiet /dev/md9
set -- $disks
mdadm --assemble --quiet --run /dev/md9 "$1" "$3"
echo "Disk 1 is lost. Block 1: $(show 1)"
[ "$(show 1)" = one ] && damaged=0 || damaged=1

mdadm --stop --quiet /dev/md9
for loop in $loops; do losetup -d "$loop"; done
cd /
rm -r "$dir"
exit $damaged
