#!/usr/bin/env bash
# Shows that a write to a removed file on HFS changes another file, or never ends. Needs root, a loop
# device, a kernel with HFS, hformat of hfsutils, and python3. Exits 1 if the other file changed.
# With the argument "hang", the write never ends and takes a processor; on a kernel without
# preemption, nothing else may run then.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside "$@"

dir=$(mktemp -d)
trap 'cd /; umount "$dir/m" 2>/dev/null || true; rm -r "$dir"' EXIT
cd "$dir"
mkdir m
truncate -s 16M a.img
hformat -f a.img >/dev/null
mount -t hfs -o loop a.img m
uname -r
cat >write.py <<'P'
import os, sys

blocks = int(sys.argv[1])

def make(name, byte):
    fd = os.open(name, os.O_RDWR | os.O_CREAT, 0o644)
    os.write(fd, byte * 4096 * blocks)
    os.fsync(fd)
    return fd

removed = make("m/removed", b"a")
os.unlink("m/removed")
os.close(make("m/other", b"b"))
os.sync()
print("writing", flush=True)
os.pwrite(removed, b"c" * 4096 * blocks, 0)
os.fsync(removed)
P
if [ "${2:-}" = hang ]; then
	timeout 10 python3 write.py 2 || echo "killed after 10 seconds"
	exit 1
fi
python3 write.py 1
umount m
mount -t hfs -o loop a.img m
echo "other has $(tr -d b <m/other | wc -c) bytes that were written to the removed file"
[ "$(tr -d b <m/other | wc -c)" = 0 ]
