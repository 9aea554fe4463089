#!/bin/sh
# A file of four extents: the second one is invalid, and the third one begins at block 0 as the first
# does. e2fsck removes the sound ones, and frees the block of the extent that it keeps.
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir files
for block in 0 2 4 6; do
  echo $block | dd of=files/f bs=1k seek=$block conv=sync,notrunc status=none
done
truncate -s 2M disk.img
mke2fs -q -F -t ext4 -b 1024 -O ^metadata_csum,^has_journal -d files disk.img
show() {
  debugfs -R 'ex /f' disk.img 2>/dev/null | grep -c '^ 0/ 0' | sed "s/^/$1: extents: /"
  debugfs -R 'testb 36' disk.img 2>/dev/null
}
show 'before the damage'
inode=$(debugfs -R 'imap /f' disk.img 2>/dev/null |
  sed -n 's/.*block \([0-9]*\), offset 0x\([0-9a-f]*\)/\1*1024+0x\2/p')
extents=$(($inode + 40 + 12))
printf '\377\377\377\377' | dd of=disk.img bs=1 seek=$((extents + 12 + 8)) conv=notrunc status=none
printf '\000\000\000\000' | dd of=disk.img bs=1 seek=$((extents + 24)) conv=notrunc status=none
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for run in 1 2; do
  e2fsck -fy disk.img >out 2>&1
  status=$?
  grep -E 'logical block|differences' out
  show "run $run: status $status"
done
