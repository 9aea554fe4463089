#!/usr/bin/env bash
# Shows that vfat leaves a renamed file empty after a crash, although its data was on the disk. Needs
# root, a loop device, a kernel with vfat, dosfstools, and xfs_io of xfsprogs. Exits 1 if the file is
# empty.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 16M a.img
mkfs.fat a.img >/dev/null
mount -t vfat -o loop a.img m
yes old | head -c 32768 >m/foo || true
sync
mv m/foo m/bar
echo new >m/foo
xfs_io -c fsync m/foo
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount m
fsck.fat -a b.img || true
mount -t vfat -o loop b.img m
uname -r
ls -l m
[ -s m/bar ]
