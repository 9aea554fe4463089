#!/bin/sh
# The superblock names an unknown system. e2fsck calls it clean, Linux writes inodes without
# checksums, and the next e2fsck deletes them. This needs root, for the mount.
[ "$1" = inside ] || exec unshare --mount sh "$0" inside
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir m
truncate -s 16M disk.img
mke2fs -q -t ext4 disk.img
debugfs -w -R 'set_super_value creator_os 5' disk.img >/dev/null 2>&1
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
e2fsck -fy disk.img >/dev/null 2>&1
echo "before the mount: status $?"
mount -o loop disk.img m
mkdir m/d
ln -s target m/d/link
for n in 1 2 3; do echo "important data" >m/d/file$n; done
find m -mindepth 1 | grep -vc lost+found | sed 's/$/ files/'
umount m
e2fsck -fy disk.img >out 2>&1
echo "after it: status $?"
grep -E 'garbage|does not match' out
mount -o loop disk.img m
find m -mindepth 1 | grep -vc lost+found | sed 's/$/ files/'
umount m
