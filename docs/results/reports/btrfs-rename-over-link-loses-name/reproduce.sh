#!/usr/bin/env bash
# Shows that a rename over one of two names of a file of Btrfs, and an fsync of its other name, can
# leave nothing under the first name after a crash. "reproduce.sh ext4" and "reproduce.sh xfs" show
# the same commands elsewhere. Needs root, a loop device, 320 MiB in /tmp, and the mkfs of the file
# system. Exits 1 if the name is lost, and 0 if it is there.
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
	echo "old data" >file
	ln file backup
	sync -f .
	echo "new data" >temporary
	mv temporary file
	sync backup # fsync(2)
)
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount m
mount -o loop b.img m
uname -r
find m -name lost+found -prune -o -mindepth 1 -printf '%P %y %s bytes\n'
if [ -e m/file ]; then
	echo "the name is there"
else
	echo "the name is lost"
	exit 1
fi
