#!/bin/sh
# The magic number of the first superblock is 0: fsck.f2fs says so, repairs nothing, and ends with 0.
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
truncate -s 64M disk.img
mkfs.f2fs -q disk.img >/dev/null
printf '\000\000\000\000' | dd of=disk.img bs=1 seek=1024 conv=notrunc status=none
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for run in 1 2; do
  fsck.f2fs -f -y disk.img >out 2>&1
  status=$?
  grep 'valid F2FS superblock' out
  echo "run $run: status $status, magic number $(od -An -tx4 -j1024 -N4 disk.img)"
done
