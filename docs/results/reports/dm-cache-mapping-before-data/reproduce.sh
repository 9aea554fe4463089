#!/bin/sh
# Shows that dm-cache can lose data that was written and flushed long ago, if it was read since, and
# the power fails during a flush: also in the mode writethrough. A flush of the cache's disk takes
# five seconds, by dm-delay. As soon as the metadata are written, the script takes the three disks
# as a failure would leave them: the cache's disk without what it has not flushed. Needs root, loop
# devices, dmsetup, dm-cache, dm-delay, and 80 MiB in /tmp. Exits 1 if a block is lost.
set -eu
dir=$(mktemp -d)
cd "$dir"
for m in loop dm-delay dm-cache dm-cache-smq; do modprobe $m 2>/dev/null || true; done
uname -r

attach() { # FILE
	loop=$(losetup -f)
	losetup "$loop" "$1"
	loops="${loops:-} $loop"
}
cached() { # ORIGIN CACHE METADATA DELAY
	attach "$1"
	origin=$loop
	attach "$2"
	dmsetup create slow --table "0 32768 delay $loop 0 0 $loop 0 0 $loop 0 $4"
	attach "$3"
	dmsetup mknodes
	dmsetup create cached --table \
		"0 32768 cache $loop /dev/mapper/slow $origin 64 1 writethrough smq 0"
	dmsetup mknodes
}
show() { # BLOCK
	dd if=/dev/mapper/cached bs=4k count=1 skip=$((8 * $1)) iflag=direct 2>/dev/null |
		tr -d '\0' | uniq
}

for f in origin cache metadata; do dd if=/dev/zero of=$f bs=1M count=16 2>/dev/null; done
for i in 0 1 2; do
	yes block $i | dd of=origin bs=4k count=1 seek=$((8 * i)) iflag=fullblock \
		conv=notrunc,fsync 2>/dev/null
done
cp cache cache.crash
cached origin cache metadata 5000
echo "Three blocks are on the disk. They are read until they are in the cache, too."
n=0
while [ $n -lt 16 ]; do
	for i in 0 1 2; do show $i >/dev/null; done
	n=$((n + 1))
done
dmsetup status --noflush cached | awk '{print $7, "blocks are in the cache,", $14, "are dirty"}'

cp metadata metadata.before
echo "Another block is written and flushed."
yes new | dd of=/dev/mapper/cached bs=4k count=1 seek=80 iflag=fullblock conv=fsync 2>/dev/null &
while cmp -s -n 4096 metadata metadata.before; do sleep 0.05; done
sleep 0.5
cp origin origin.crash
cp metadata metadata.crash
kill -0 $! && echo "The flush has not ended. The power fails."
wait $!
dmsetup remove cached
dmsetup remove slow
[ -z "${KEEP:-}" ] || cp origin.crash cache.crash metadata.crash "$KEEP"

cached origin.crash cache.crash metadata.crash 0
lost=0
for i in 0 1 2; do
	now=$(show $i)
	echo "block $i: ${now:-zeros}"
	[ "$now" = "block $i" ] || lost=1
done
dmsetup remove cached
dmsetup remove slow
for loop in $loops; do losetup -d "$loop"; done
cd /
rm -r "$dir"
exit $lost
