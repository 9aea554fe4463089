#!/usr/bin/env bash
# Shows that a power failure while an ext4 is grown online can leave a disk that cannot be mounted,
# although its journal holds the whole resize. dm-log-writes records the writes of resize2fs. For
# each prefix of them, the script makes the disk and mounts it. If that fails, it mounts the disk
# for reading only, and lets e2fsck -p repair a copy. Two sizes, with the defaults of mkfs.ext4.
# Needs root, loop devices, dmsetup, dm-log-writes, e2fsprogs, python3, and 200 MiB in /tmp, where
# files may be sparse. Exits 1 if a prefix cannot be mounted.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
cd "$dir"
mkdir m
for m in loop dm-log-writes; do modprobe $m 2>/dev/null || true; done
uname -r

cat >prefixes.py <<'P'
import struct, subprocess, sys

block, keep = int(sys.argv[1]), sys.argv[2]
DISCARD, MARK = 4, 8

# Yields the entries of the log: the format is in drivers/md/dm-log-writes.c.
def entries():
    with open("log.img", "rb") as log:
        magic, _, n, size = struct.unpack("<QQQI", log.read(28))
        assert magic == 0x6A736677736872
        at = size
        for _ in range(n):
            log.seek(at)
            sector, sectors, flags, length = struct.unpack("<QQQQ", log.read(32))
            mark = log.read(length) if flags & MARK else b""
            at += size
            log.seek(at)
            data = b"" if flags & (DISCARD | MARK) else log.read(sectors * 512)
            at += len(data)
            yield sector * 512, mark, data

def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

# Mounts a copy of the disk, or the copy as it is, and reports whether the file can be read.
def mounts(options="rw", copy=True):
    if copy:
        run("cp", "--sparse=always", "before.img", "try.img")
    loop = run("losetup", "-f", "--show", "try.img").stdout.strip()
    mounted = run("mount", "-o", options, loop, "m").returncode == 0
    if mounted:
        with open("m/file") as f:
            assert f.read() == "data\n" * 1000
        run("umount", "m")
    run("losetup", "-d", loop)
    return mounted

def name(at):
    first = 1024 // block
    names = {first: "the superblock", first + 1: "the group descriptors"}
    return names.get(at // block, f"block {at // block}")

def prefix(n):
    if mounts():
        return True
    print(f"Write {n} is on the disk, {name(writes[n - 1][0])}. Write {n + 1} is not,",
          f"{name(writes[n][0])}. Mount fails:")
    why = [l for l in run("dmesg").stdout.splitlines() if "ext4_check_descriptors" in l]
    print("  " + why[-1][why[-1].index("ext4_check"):], flush=True)
    if keep:
        run("cp", "--sparse=always", "before.img", f"{keep}/crash-{block}.img")
    print("  mount -o ro:", "works" if mounts("ro") else "fails")
    run("cp", "--sparse=always", "before.img", "try.img")
    fsck = run("e2fsck", "-p", "try.img")
    print(f"  e2fsck -p: {fsck.stdout.splitlines()[0]}, exit {fsck.returncode}")
    print("  e2fsck -f -n: exit", run("e2fsck", "-f", "-n", "try.img").returncode)
    print("  mount:", "works" if mounts(copy=False) else "fails", flush=True)
    return False

writes, good = [], 0
with open("before.img", "r+b", buffering=0) as disk:
    resize = False
    for at, mark, data in entries():
        if mark:
            resize = mark.startswith(b"resize")
        elif data and resize:
            writes.append((at, data))
        elif not resize and not writes:
            disk.seek(at)
            disk.write(data)
    for n, (at, data) in enumerate(writes, 1):
        disk.seek(at)
        disk.write(data)
        good += prefix(n)
print(f"{good} of {len(writes)} prefixes can be mounted.", flush=True)
sys.exit(good < len(writes))
P

# grow FROM TO records the resize of an ext4 and tries each prefix of its writes.
grow() {
	rm -f disk.img log.img
	truncate -s "$2" disk.img
	truncate -s 100M log.img
	mkfs.ext4 -q disk.img "$1"
	cp --sparse=always disk.img before.img
	block=$(dumpe2fs -h disk.img 2>/dev/null | awk '/^Block size/ { print $3 }')
	echo "mkfs.ext4, $1: blocks of $block bytes. resize2fs, to $2."
	disk=$(losetup -f --show disk.img)
	log=$(losetup -f --show log.img)
	dmsetup create grow --table "0 $(blockdev --getsz "$disk") log-writes $disk $log"
	dmsetup mknodes
	mount /dev/mapper/grow m
	printf 'data\n%.0s' {1..1000} >m/file
	sync
	dmsetup message grow 0 mark resize
	resize2fs /dev/mapper/grow "$2" >/dev/null 2>&1
	dmsetup message grow 0 mark end
	umount m
	dmsetup remove grow
	losetup -d "$disk"
	losetup -d "$log"
	python3 prefixes.py "$block" "${KEEP:-}" || result=1
}
result=0
grow 100M 200M
grow 600M 1200M
cd /
rm -r "$dir"
exit $result
