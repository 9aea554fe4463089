#!/usr/bin/env bash
# Shows that Btrfs loses the rename of a symbolic link whose directory was fsynced. Needs root, a
# loop device and btrfs-progs. Exits 1 if the new name is lost, and 0 if it is there.
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
	ln -s target foo
	sync . # fsync(2) of the directory
	mv foo bar
	sync .
)
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount m
mount -o loop b.img m
uname -r
find m -mindepth 1 -printf '%P %y\n'
if [ -L m/bar ]; then
	echo "the new name is there"
else
	echo "the new name is lost"
	exit 1
fi
