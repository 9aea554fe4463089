#!/usr/bin/env bash
# Shows that fdatasync of GFS2 sends no flush to the disk after a file was written over. Needs root,
# a loop device, a kernel with GFS2, gfs2-utils and xfs_io of xfsprogs. Exits 1 if fdatasync sends
# fewer flushes than one.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; losetup -d "$loop"; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 256M a.img
mkfs.gfs2 -q -O -p lock_nolock -j 1 -J 32 a.img
loop=$(losetup -f --show a.img)
mount -t gfs2 "$loop" m

# The number of flushes that the device has completed: Documentation/block/stat.rst.
flushes() { awk '{ print $16 }' "/sys/block/${loop#/dev/}/stat"; }
written() { awk '{ print $7 }' "/sys/block/${loop#/dev/}/stat"; }

xfs_io -f -c "pwrite -q -S 1 0 8192" -c fsync m/f
sync
uname -r
result=0
for call in fsync fdatasync; do
	f=$(flushes) w=$(written)
	xfs_io -c "pwrite -q -S 2 0 8192" -c $call m/f
	echo "$call: $(($(written) - w)) sectors written, $(($(flushes) - f)) flushes"
	[ "$(flushes)" -gt "$f" ] || result=1
done
exit $result
