#!/bin/sh
# s_rev_level is 0: e2fsck sets the size of inodes to 128, and all files are lost.
set -eu
dir=$(mktemp -d) && cd "$dir"
trap 'rm -rf "$dir"' EXIT
mke2fs -q -F -t ext3 -J size=1 -b 1024 -N 256 disk.img 4096 >/dev/null
echo hello >f
for name in a b c d; do debugfs -w -R "write f $name" disk.img >/dev/null 2>&1; done
debugfs -w -R "ssv rev_level 0" disk.img >/dev/null 2>&1
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for run in 1 2 3; do e2fsck -fy disk.img >log 2>&1 || echo "run $run: status $?"; done
debugfs -R "ls -p /" disk.img 2>/dev/null
dumpe2fs -h disk.img 2>/dev/null | grep "Inode size"
