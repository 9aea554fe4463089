#!/bin/sh
# The item of the root directory's inode has the size 0: btrfs check --repair writes beyond its leaf.
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir tree && touch tree/file
truncate -s 128M disk.img
mkfs.btrfs -q --mixed -r tree disk.img >/dev/null
leaf=$(btrfs inspect-internal dump-tree -t 5 disk.img | sed -n 's/^leaf \([0-9]*\) items.*/\1/p')
btrfs-map-logical -l "$leaf" disk.img | sed -n 's/.* physical \([0-9]*\) .*/\1/p' >copies
python3 - <<'END'
import struct
table = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
    table.append(n)
f = open('disk.img', 'r+b')
for at in map(int, open('copies')):
    f.seek(at)
    leaf = bytearray(f.read(4096))
    struct.pack_into('<I', leaf, 101 + 21, 0)      # the size of item 0: its inode
    crc = 0xffffffff
    for b in leaf[32:]:
        crc = table[(crc ^ b) & 255] ^ crc >> 8
    struct.pack_into('<I', leaf, 0, crc ^ 0xffffffff)
    f.seek(at)
    f.write(leaf)
END
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
btrfs check --repair --force disk.img >out 2>&1
status=$?
grep -v Shifting out | tail -n 3
echo "status $status"
