#!/bin/sh
# A file without a type, and an entry without a name: fsck.minix calls both clean, and Linux does not
# read them.
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
for case in 'no type' 'no name'; do
  truncate -s 1M disk.img
  mkfs.minix -1 -n 14 disk.img >/dev/null
  python3 - "$case" <<'END'
import struct, sys
f = open('disk.img', 'r+b')
def at(off, form):
    f.seek(off)
    return struct.unpack(form, f.read(struct.calcsize(form)))
imap, zmap = at(1028, '<HH')
inodes = (2 + imap + zmap) * 1024
root, = at(inodes + 14, '<H')
mode = 0 if sys.argv[1] == 'no type' else 0o100644
name = b'' if sys.argv[1] == 'no name' else b'file'
f.seek(2048)
f.write(bytes([7]))                                   # inodes 1 and 2 are used
f.seek(inodes + 4)
f.write(struct.pack('<I', 48))                        # the size of the root
f.seek(inodes + 32)
f.write(struct.pack('<HHIIBB', mode, 0, 0, 0, 0, 1))  # inode 2
f.seek(root * 1024 + 32)
f.write(struct.pack('<H14s', 2, name))
f.close()
END
  [ -z "${KEEP:-}" ] || cp disk.img "$KEEP/${case#no }.img"
  fsck.minix -f disk.img >out 2>&1
  echo "$case: status $?"
  grep mode out
  rm disk.img
done
