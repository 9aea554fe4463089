#!/bin/sh
# s_first_ino is 230: e2fsck clears the inodes before it, and all files are lost.
set -eu
dir=$(mktemp -d) && cd "$dir"
trap 'rm -rf "$dir"' EXIT
mke2fs -q -F -t ext3 -J size=1 -b 1024 -N 256 disk.img 4096 >/dev/null
echo hello >f
for name in a b c d; do debugfs -w -R "write f $name" disk.img >/dev/null 2>&1; done
debugfs -w -R "ssv first_ino 230" disk.img >/dev/null 2>&1
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for run in 1 2; do
	status=0
	e2fsck -fy disk.img >log 2>&1 || status=$?
	echo "run $run: status $status, $(grep -c 'Reserved inode' log || true) inodes cleared"
done
debugfs -R "ls -p /" disk.img 2>/dev/null
