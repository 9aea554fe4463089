#!/bin/sh
# The superblock has a wrong address of the first copy of the system chunk. btrfs check calls the file
# system clean, and Linux does not mount it. This needs root, for the mount.
[ "$1" = inside ] || exec unshare --mount sh "$0" inside
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir m
truncate -s 128M disk.img
mkfs.btrfs -q disk.img >/dev/null
python3 - <<'END'
import struct
table = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
    table.append(n)
f = open('disk.img', 'r+b')
for at in (1 << 16, 1 << 26):
    f.seek(at)
    sb = bytearray(f.read(4096))
    struct.pack_into('<Q', sb, 811 + 17 + 48 + 8, 0)  # offset of the first stripe
    crc = 0xffffffff
    for b in sb[32:]:
        crc = table[(crc ^ b) & 255] ^ crc >> 8
    struct.pack_into('<I', sb, 0, crc ^ 0xffffffff)
    f.seek(at)
    f.write(sb)
END
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for mode in '' --repair; do
  btrfs check $mode --force disk.img >out 2>&1
  echo "check $mode: status $?"
  grep -E 'no error found' out
done
mount -o loop disk.img m 2>/dev/null
echo "mount: status $?"
umount m 2>/dev/null
