#!/bin/sh
# The allocation bitmap's entry names the cluster of the up-case table: fsck.exfat overwrites it.
set -eu
dir=$(mktemp -d) && cd "$dir"
trap 'rm -rf "$dir"' EXIT
truncate -s 4M disk.img
mkfs.exfat -b 4K disk.img >/dev/null
python3 - <<'END'
import struct
f = open('disk.img', 'r+b')
b = f.read(512)
heap, root = struct.unpack_from('<I', b, 88)[0], struct.unpack_from('<I', b, 96)[0]
sector, cluster = 1 << b[108], 1 << (b[108] + b[109])
at = heap * sector + (root - 2) * cluster
f.seek(at)
entries = f.read(cluster)
entry = next(i for i in range(0, cluster, 32) if entries[i] == 0x81)
f.seek(at + entry + 20)
f.write(struct.pack('<I', struct.unpack_from('<I', entries, entry + 20)[0] + 1))
END
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
for run in 1 2; do
	status=0
	fsck.exfat -y disk.img >log 2>&1 || status=$?
	echo "run $run: status $status"
	grep -E 'upcase|clean' log
done
