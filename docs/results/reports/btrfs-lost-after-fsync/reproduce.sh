#!/usr/bin/env bash
# Shows that an fsync of Btrfs makes a synced file disappear after a crash. Needs root, a loop
# device and btrfs-progs. Exits 1 if the file is lost, and 0 if it is there.
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
	echo "important data" >foo
	mv foo bar
	sync -f .
	mkdir A
	mv bar A/bar
	touch bar
	sync bar # fsync(2)
)
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount m
mount -o loop b.img m
uname -r
find m -printf '%P %y %s bytes\n'
if grep -qr important m; then
	echo "the file is there"
else
	echo "the file is lost"
	exit 1
fi
