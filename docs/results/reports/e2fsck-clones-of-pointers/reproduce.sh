#!/bin/sh
# A double indirect block whose pointers are equal: e2fsck claims "modified" in each run.
set -eu
dir=$(mktemp -d) && cd "$dir"
trap 'rm -rf "$dir"' EXIT
mke2fs -q -F -t ext2 -b 1024 disk.img 4096 >/dev/null
debugfs -w disk.img 2>/dev/null >/dev/null <<END
write /dev/null f
sif f block[DIND] 1000
sif f size 1000000
sif f blocks 8
setb 1000
setb 1001
END
# Block 1000: 15 times the number 1001.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do printf '\351\003\000\000'; done |
	dd of=disk.img bs=1024 seek=1000 conv=notrunc status=none
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for run in 1 2 3 4 5; do
	e2fsck -fy disk.img >log 2>&1 || echo "run $run: status $?, $(grep '^Multiply' log || true)"
done
