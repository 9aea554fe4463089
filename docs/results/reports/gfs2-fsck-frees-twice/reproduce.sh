#!/bin/sh
# A word of a resource group's header is wrong, and so its checksum: fsck.gfs2 frees a buffer twice.
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
truncate -s 32M disk.img
mkfs.gfs2 -q -O -p lock_nolock -J 8 -j 1 disk.img >/dev/null
printf '\000\000\000\000' | dd of=disk.img bs=1 seek=$((0x11010)) conv=notrunc status=none
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for mode in -n -y; do
  fsck.gfs2 $mode disk.img >out 2>&1
  status=$?
  grep free out
  echo "$mode: status $status"
done
