#!/usr/bin/env bash
# Shows that fsync of NILFS2 does not write a new mode. Needs root, a loop device, a kernel with
# NILFS2, nilfs-tools and xfs_io of xfsprogs. Exits 1 if the file has its old mode after a crash.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 256M a.img
mkfs.nilfs2 -q a.img
mount -i -t nilfs2 -o loop a.img m
echo data >m/f
chmod 644 m/f
sync
chmod 700 m/f
xfs_io -c fsync m/f
before=$(stat -c %a m/f)
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount -i m
mount -i -t nilfs2 -o loop b.img m
uname -r
after=$(stat -c %a m/f)
echo "before the crash: mode $before; after it: $after"
[ "$before" = "$after" ]
