#!/usr/bin/env bash
# Shows that GFS2 forgets the numbers of device nodes when it reads them again. No crash is needed.
# Needs root, a loop device, a kernel with GFS2, gfs2-utils, and 64 MiB in /tmp, where files may be
# sparse. Exits 1 if a number is lost.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
modprobe -a loop gfs2 2>/dev/null || true
truncate -s 64M disk.img
mkfs.gfs2 -q -O -p lock_nolock -j 1 disk.img >/dev/null 2>&1
mount -o loop disk.img m
mknod m/null c 1 3
mknod m/disk b 60 5
uname -r
before=$(stat -c '%n: %F %Hr,%Lr' m/null m/disk)
umount m
mount -o loop disk.img m
after=$(stat -c '%n: %F %Hr,%Lr' m/null m/disk)
printf 'before the second mount:\n%s\nafter it:\n%s\n' "$before" "$after"
[ -z "${KEEP:-}" ] || { sync && cp --sparse=always disk.img "$KEEP"; }
[ "$before" = "$after" ]
