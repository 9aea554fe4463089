#!/bin/sh
# s_first_meta_bg is too large: e2fsck repairs that, and crashes with an undo file.
set -eu
dir=$(mktemp -d) && cd "$dir"
trap 'rm -rf "$dir"' EXIT
mke2fs -q -F -O meta_bg,^resize_inode disk.img 1M 2>/dev/null
debugfs -w -R 'ssv first_meta_bg 2' disk.img 2>/dev/null
cp disk.img other.img
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
status=0
e2fsck -fy -z undo disk.img >log 2>&1 || status=$?
echo "with -z: status $status"
grep SIGSEGV log || true
status=0
e2fsck -fy other.img >log 2>&1 || status=$?
echo "without: status $status"
