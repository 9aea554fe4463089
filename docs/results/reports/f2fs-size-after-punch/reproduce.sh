#!/usr/bin/env bash
# Shows that a hole which is punched across the end of a file makes the file larger after a crash of
# F2FS. Needs root, a loop device, f2fs-tools and xfs_io of xfsprogs. Exits 1 if the file has another
# size, and 0 if it has the one that it had before the crash.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 64M a.img
mkfs.f2fs -q a.img >/dev/null
mount -t f2fs -o loop a.img m
xfs_io -f -c "pwrite -q 0 32768" -c "fpunch 30768 5000" -c fsync m/foo
before=$(stat -c %s m/foo)
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount m
mount -t f2fs -o loop b.img m
uname -r
after=$(stat -c %s m/foo)
echo "before the crash: $before bytes; after it: $after"
[ "$before" = "$after" ]
