#!/bin/sh
# The directory d is moved below its own subdirectory d2. e2fsck mends the entry ".." and the counts
# of links, claims that all is corrected, and leaves both directories without a way from the root.
set -eu
dir=$(mktemp -d) && cd "$dir"
trap 'rm -rf "$dir"' EXIT
mke2fs -q -F -t ext3 -J size=1 -b 1024 -N 256 disk.img 4096 >/dev/null
echo important >f
for command in "mkdir d" "mkdir d/d2" "write f d/file" "link d d/d2/d" "unlink d"; do
	debugfs -w -R "$command" disk.img >/dev/null 2>&1
done
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for run in 1 2; do
	status=0
	e2fsck -fy disk.img >log 2>&1 || status=$?
	echo "run $run: status $status"
	grep -E "^'\.\.'|ref count|onnect|lost|files" log || true
done
echo "names in the root:"
debugfs -R "ls -p /" disk.img 2>/dev/null | grep .
echo "names in inode 12, which was d:"
debugfs -R "ls -p <12>" disk.img 2>/dev/null | grep .
