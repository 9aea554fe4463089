#!/bin/sh
# One byte of the name "." in the root directory is changed: fsck.minix -a frees the root's block.
set -eu
dir=$(mktemp -d) && cd "$dir"
trap 'rm -rf "$dir"' EXIT
truncate -s 1M disk.img
mkfs.minix -1 disk.img >/dev/null
block=$(od -An -tu2 -j 1032 -N 2 disk.img | tr -d ' ')    # s_firstdatazone
printf '\377' | dd of=disk.img bs=1 seek=$((block * 1024 + 3)) conv=notrunc status=none
inode=$((2048 + 1024 * $(od -An -tu2 -j 1028 -N 2 disk.img) + 1024 * $(od -An -tu2 -j 1030 -N 2 disk.img)))
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for run in 1 2 3; do
	status=0
	fsck.minix -f -a disk.img >log 2>&1 || status=$?
	echo "run $run: status $status, the root's block is$(od -An -tu2 -j $((inode + 14)) -N 2 disk.img)"
done
