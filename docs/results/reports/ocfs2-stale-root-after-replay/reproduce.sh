#!/usr/bin/env bash
# Shows that OCFS2 has no readable root directory at the first mount after a crash. Needs root, a
# loop device, a kernel with OCFS2, ocfs2-tools, and xfs_io of xfsprogs. Exits 1 if the
# directory is unreadable.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 64M a.img
loop=$(losetup -f --show a.img) # mkfs.ocfs2 needs O_DIRECT
mkfs.ocfs2 -q -F -x -M local "$loop" </dev/null >/dev/null 2>&1
mount -i -t ocfs2 -o heartbeat=none,barrier=1 "$loop" m
for i in $(seq 24); do
	: >"m/$i-$(printf 'x%.0s' $(seq 200))"
done
xfs_io -c fsync m # the journal has it, and its place on the disk does not yet
cp a.img b.img # what a crash leaves
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount m
losetup -d "$loop"
uname -r
result=0
for mount in first second; do
	mount -i -t ocfs2 -o loop,heartbeat=none b.img m
	names=$(find m -mindepth 1 -maxdepth 1 | wc -l)
	umount m
	echo "$mount mount after the crash: $names names"
	[ "$names" = 25 ] || result=1
done
exit $result
