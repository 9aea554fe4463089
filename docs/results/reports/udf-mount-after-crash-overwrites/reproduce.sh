#!/usr/bin/env bash
# Shows that UDF of Linux mounts a volume after a crash, and lets new files overwrite one that was
# fsynced before the crash. Needs root, a loop device, a kernel with UDF, udftools, and xfs_io of
# xfsprogs. Exits 1 if the old file is damaged.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 16M a.img
mkudffs -b 512 a.img >/dev/null 2>&1
mount -t udf -o loop a.img m
yes 'the old file' | head -c 9000 >m/old || true
xfs_io -c fsync m/old
xfs_io -c fsync m
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
md5sum m/old >sum
umount m

mount -t udf -o loop b.img m
uname -r
md5sum -c sum
echo "after the crash, a new file:"
touch m/new || true
umount m
mount -t udf -o loop b.img m
yes 'a new file' | head -c 9000 >m/new1 || true
yes 'a new file' | head -c 9000 >m/new2 || true
umount m
mount -t udf -o loop b.img m
ls -l m
md5sum -c sum
