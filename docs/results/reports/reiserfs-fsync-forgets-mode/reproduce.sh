#!/usr/bin/env bash
# Shows that fsync of ReiserFS does not write a new mode, owner or extended attribute. Needs root, a
# loop device, a kernel with ReiserFS, reiserfsprogs, attr, and xfs_io of xfsprogs. Exits 1 if a file
# is as before after a crash.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 64M a.img
mkreiserfs -q -f a.img >/dev/null 2>&1
mount -t reiserfs -o loop,user_xattr a.img m
touch m/mode m/owner m/attribute m/other
sync
# The first fsync after a mount commits nothing, which is another error.
for i in 1 2 3; do
	echo "$i" >>m/other
	xfs_io -c fsync m/other
done

look() {
	stat -c '%n: mode %a, owner %u' m/mode m/owner m/attribute
	getfattr -d m/attribute
}
chmod 700 m/mode
xfs_io -c fsync m/mode
chown 7 m/owner
xfs_io -c fsync m/owner
setfattr -n user.a -v 1 m/attribute
xfs_io -c fsync m/attribute
cp a.img b.img # what a crash leaves
look >before
[ -z "${KEEP:-}" ] || cp b.img "$KEEP"
umount m
mount -t reiserfs -o loop,user_xattr b.img m
uname -r
look >after
echo "before the crash:"
cat before
echo "after it:"
cat after
cmp -s before after
