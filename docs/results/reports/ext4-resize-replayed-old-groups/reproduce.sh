#!/usr/bin/env bash
# Shows that ext4 replays the journal of a resize at mount, and goes on with the old block groups:
# allocations fail then, and block bitmaps are written wrong. dm-log-writes records the writes of
# resize2fs. For each prefix of them, the script makes the disk, mounts it, allocates a file that
# the old groups can hold, and checks the disk. Then it does the same after e2fsck -p. Two sizes,
# with the defaults of mkfs.ext4. Needs root, loop devices, dmsetup, dm-log-writes, e2fsprogs,
# python3, and 300 MiB in /tmp, where files may be sparse. Exits 1 if an allocation fails.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
cd "$dir"
mkdir m
for m in loop dm-log-writes; do modprobe $m 2>/dev/null || true; done
uname -r

cat >prefixes.py <<'P'
import os, struct, subprocess, sys

block, size, keep = int(sys.argv[1]), sys.argv[2], sys.argv[3]
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

# Returns what is seen of a copy of the disk: its size and free inodes, if a file can be allocated,
# and what e2fsck says afterwards.
def seen(repair=False):
    run("cp", "--sparse=always", "before.img", "try.img")
    if repair:
        run("e2fsck", "-p", "try.img")
    loop = run("losetup", "-f", "--show", "try.img").stdout.strip()
    if run("mount", loop, "m").returncode:
        run("losetup", "-d", loop)
        return "mount fails"
    fs = os.statvfs("m")
    made = run("fallocate", "-l", size, "m/new")
    run("umount", "m")
    run("losetup", "-d", loop)
    fsck = run("e2fsck", "-f", "-n", "try.img")
    wrong = [l.split(":")[0] for l in fsck.stdout.splitlines() if "differences" in l]
    return "; ".join([
        f"{fs.f_blocks * fs.f_frsize >> 20} MiB, {fs.f_bavail * fs.f_frsize >> 20} available",
        f"{fs.f_ffree} of {fs.f_files} inodes free",
        "fallocate " + (made.stdout.strip().split(": ")[-1] if made.returncode else "works"),
        f"e2fsck -f -n exit {fsck.returncode}" + "".join(f", {w}" for w in wrong)])

writes = []
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
    results, bad = [], False
    for n, (at, data) in enumerate(writes, 1):
        disk.seek(at)
        disk.write(data)
        what = seen()
        if "fallocate" in what and "works" not in what:
            if keep and not bad:
                run("cp", "--sparse=always", "before.img", f"{keep}/crash-{block}.img")
            bad = True
            what += "\n    after e2fsck -p: " + seen(repair=True)
        if not results or results[-1][2] != what:
            results.append([n, n, what])
        results[-1][1] = n
for first, last, what in results:
    print(f"  {first} to {last} of {len(writes)}: {what}", flush=True)
sys.exit(bad)
P

# grow FROM TO FILE records the resize of an ext4 and tries each prefix of its writes with a file.
grow() {
	rm -f disk.img log.img
	truncate -s "$2" disk.img
	truncate -s 100M log.img
	mkfs.ext4 -q disk.img "$1"
	cp --sparse=always disk.img before.img
	block=$(dumpe2fs -h disk.img 2>/dev/null | awk '/^Block size/ { print $3 }')
	echo "mkfs.ext4, $1: blocks of $block bytes. resize2fs, to $2. A file of $3."
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
	python3 prefixes.py "$block" "$3" "${KEEP:-}" || result=1
}
result=0
grow 100M 200M 80M
grow 600M 1200M 500M
cd /
rm -r "$dir"
exit $result
