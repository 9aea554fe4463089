#!/usr/bin/env bash
# Shows that an fsync of a renamed subvolume of Btrfs writes nothing: after a crash it has its old
# name. "reproduce.sh directory" renames a directory in place of the subvolume, which has its new
# name then. Needs root, a loop device and btrfs-progs. Exits 1 if the old name is there, 0 if not.
set -euo pipefail
kind=${1:-subvolume}
[ "${2:-}" = inside ] || exec unshare --mount "$0" "$kind" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 256M a.img
mkfs.btrfs -q a.img >/dev/null
mount -o loop a.img m
(
	cd m
	if [ "$kind" = directory ]; then mkdir old; else btrfs subvolume create old >/dev/null; fi
	sync -f .
	mv old new
	sync new # fsync(2)
)
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount m
mount -o loop b.img m
uname -r
ls m
[ ! -e m/old ]
