#!/usr/bin/env bash
# Shows that setting a POSIX ACL changes a file in a read-only subvolume of Btrfs, its mode
# included, and that its owner needs no privilege. Needs root, a loop device, btrfs-progs, acl,
# attr, util-linux, and 10 MiB in /tmp. Exits 1 if something was changed.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
end() {
	cd /
	! mountpoint -q "$dir/m" || umount "$dir/m"
	rm -r "$dir"
}
trap end EXIT
chmod 755 "$dir"
cd "$dir"
mkdir m
uname -r
truncate -s 256M a.img
mkfs.btrfs -q a.img >/dev/null
mount -o loop a.img m
btrfs -q subvolume create m/s
echo text >m/s/f
mkdir m/s/d
chmod 600 m/s/f
chown -R nobody m/s
btrfs -q subvolume snapshot -r m/s m/backup
echo "read-only: $(btrfs property get m/backup ro)"

changed=0
try() { # as the owner, who is not root
	if setpriv --reuid nobody --clear-groups "$@" 2>/dev/null; then
		echo "done:    $*"
		changed=1
	else
		echo "refused: $*"
	fi
}
try chmod 606 m/backup/f
try setfattr -n user.x -v y m/backup/f
try touch m/backup/f
try setfacl -m o::rw m/backup/f
try setfacl -m u:1000:rw m/backup/f
try setfacl -d -m u:1000:rw m/backup/d
umount m
mount -o loop a.img m
echo "after another mount: $(stat -c %A m/backup/f), $(getfacl -cpn m/backup/f | grep 1000 || true)"
umount m
exit $changed
