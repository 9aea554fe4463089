#!/bin/sh
# Shows that a file which an NFS client has made is not on the disk of a server that exports Btrfs
# with "sync". After the client's call returned, the script copies the server's disk, as a power
# failure would leave it, and mounts the copy. "reproduce.sh ext4" exports ext4, which has the file.
# Needs root, loop devices, nfs-kernel-server, and 300 MiB in /tmp. Exits 1 if the file is lost.
set -eu
fs=${1:-btrfs}
dir=$(mktemp -d)
cd "$dir"
for m in loop nfsd "$fs"; do modprobe "$m" 2>/dev/null || true; done
uname -r

mkdir server client after
dd if=/dev/zero of=disk bs=1M count=120 2>/dev/null
if [ "$fs" = btrfs ]; then mkfs.btrfs -q disk >/dev/null; else mke2fs -q -F -t "$fs" disk; fi
mount -o loop disk server
mount -t nfsd nfsd /proc/fs/nfsd 2>/dev/null || true
pidof rpcbind >/dev/null || rpcbind
pidof rpc.mountd >/dev/null || rpc.mountd
rpc.nfsd 2
exportfs -i -o rw,sync,no_root_squash,fsid=1,insecure "127.0.0.1:$dir/server"
mount.nfs "127.0.0.1:$dir/server" client -o vers=3,nolock,proto=tcp

: >client/file
cp disk crash
[ -z "${KEEP:-}" ] || cp crash "$KEEP"
echo "the client has made the file"

umount client
exportfs -u "127.0.0.1:$dir/server"
rpc.nfsd 0
umount server
mount -o loop crash after
status=0
[ -e after/file ] || status=1
umount after
cd /
rm -r "$dir"
if [ $status = 0 ]; then echo "after a power failure it is there"; else
	echo "after a power failure it is gone"; fi
exit $status
