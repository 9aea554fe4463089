#!/usr/bin/env bash
# Shows that a new file of Btrfs which was made in a renamed directory and fsynced is under the old
# path of the directory after a crash. "reproduce.sh ext4" and "reproduce.sh xfs" show the same
# commands elsewhere. Needs root, a loop device, 320 MiB in /tmp, and the mkfs of the file system.
# Exits 1 if the file is not under its path, and 0 if it is.
set -euo pipefail
fs=${1:-btrfs}
[ "${2:-}" = inside ] || exec unshare --mount "$0" "$fs" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 320M a.img
"mkfs.$fs" -q a.img >/dev/null
mount -o loop a.img m
(
	cd m
	mkdir old
	sync -f .
	mv old new
	echo "important data" >new/file
	sync new/file # fsync(2)
)
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount m
mount -o loop b.img m
uname -r
find m -name lost+found -prune -o -mindepth 1 -printf '%P %y\n'
[ -e m/new/file ]
