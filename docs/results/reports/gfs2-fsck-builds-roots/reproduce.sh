#!/bin/sh
# The superblock's number of the root directory is 0: each run of fsck.gfs2 makes another root.
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
truncate -s 32M disk.img
mkfs.gfs2 -q -O -p lock_nolock -J 8 -j 1 disk.img >/dev/null
dd if=/dev/zero of=disk.img bs=1 seek=$((65536 + 88)) count=8 conv=notrunc status=none
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for run in 1 2 3; do
  fsck.gfs2 -y disk.img >out 2>&1
  status=$?
  echo "run $run: status $status, $(grep -c 'Rebuilding system file "root"' out) root made," \
    "$(sed -n 's/^Added inode \(#[0-9]*\) .*/\1 moved to lost+found/p' out)"
done
