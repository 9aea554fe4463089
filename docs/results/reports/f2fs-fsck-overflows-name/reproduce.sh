#!/bin/sh
# i_namelen of the root is 4294967295: fsck.f2fs copies as many bytes.
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
truncate -s 64M disk.img
mkfs.f2fs -q disk.img >/dev/null
python3 - <<'END'
import struct
f = open('disk.img', 'r+b')
data = f.read()
for at in range(0, len(data), 4096):    # the root's node: its footer has twice the number 3
    node, inode = struct.unpack_from('<II', data, at + 4072)
    if node == inode == 3 and data[at:at + 2] == b'\xed\x41':
        f.seek(at + 88)                  # i_namelen
        f.write(b'\xff\xff\xff\xff')
END
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
fsck.f2fs -f --dry-run disk.img 2>&1 | grep overflow
fsck.f2fs -f --dry-run disk.img >/dev/null 2>&1
echo "status $?"
