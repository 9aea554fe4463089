#!/bin/sh
# cp_pack_start_sum of the checkpoint is 0: fsck.f2fs makes both superblocks useless.
set -eu
dir=$(mktemp -d) && cd "$dir"
trap 'rm -rf "$dir"' EXIT
truncate -s 64M disk.img
mkfs.f2fs -q disk.img >/dev/null
python3 - <<'END'
import struct, zlib
f = open('disk.img', 'r+b')
for at in (512 * 4096, 1024 * 4096):    # both checkpoints
    f.seek(at)
    b = bytearray(f.read(4096))
    if struct.unpack_from('<I', b, 4092)[0] == 0:
        continue
    struct.pack_into('<I', b, 140, 0)   # cp_pack_start_sum
    crc = zlib.crc32(bytes(b[:4092]), 0xf2f52010 ^ 0xffffffff) ^ 0xffffffff
    struct.pack_into('<I', b, 4092, crc)
    f.seek(at)
    f.write(b)
END
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for run in 1 2; do
	status=0
	fsck.f2fs -f -y disk.img >log 2>&1 || status=$?
	echo "run $run: status $status"
	grep -E 'Wrong cp_pack|Done to update|Insane|valid F2FS' log || true
done
