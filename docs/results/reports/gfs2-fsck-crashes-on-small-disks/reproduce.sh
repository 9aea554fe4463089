#!/bin/sh
# The magic number of the superblock is 0: fsck.gfs2 reads beyond the end of the device.
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
truncate -s 32M disk.img
mkfs.gfs2 -q -O -p lock_nolock -J 8 -j 1 disk.img >/dev/null
printf '\000\000\000\000' | dd of=disk.img bs=1 seek=65536 conv=notrunc status=none
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
fsck.gfs2 -y disk.img 2>&1 | tail -n 1
fsck.gfs2 -y disk.img >/dev/null 2>&1
echo "status $?"
