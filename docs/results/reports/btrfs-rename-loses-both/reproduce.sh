#!/usr/bin/env bash
# Shows that a rename over an fsynced file of Btrfs can leave neither file after a crash. Needs root,
# a loop device and btrfs-progs. Exits 1 if both are lost, and 0 if one is there.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 256M a.img
mkfs.btrfs -q a.img >/dev/null
mount -o loop a.img m
(
	cd m
	echo "old data" >file
	sync file # fsync(2)
	echo "new data" >temporary
	mv temporary file
	touch other
	sync other
)
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount m
mount -o loop b.img m
uname -r
find m -printf '%P %y %s bytes\n'
if grep -q data m/file; then
	echo "one of the files is there"
else
	echo "both files are lost"
	exit 1
fi
