#!/usr/bin/env bash
# Shows that a power failure at the end of `btrfs replace` can leave a Btrfs that cannot be mounted.
# dm-log-writes records the writes to both disks, which are halves of one device. For each prefix of
# them that ends with a write of a superblock, the script makes the disks and mounts them.
# Needs root, loop devices, dmsetup, dm-log-writes, dm-linear, btrfs-progs, python3, and 2 GiB in
# /tmp, where files may be sparse. Exits 1 if a prefix cannot be mounted.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
cd "$dir"
mkdir m
for m in loop dm-log-writes btrfs; do modprobe $m 2>/dev/null || true; done
uname -r

cat >prefixes.py <<'P'
import os, struct, subprocess, sys

half, super_at = int(sys.argv[1]), {65536, 67108864}
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

# Reports whether one of the disks can be mounted with the options, and the file can be read.
def mounts(options):
    run("cp", "--sparse=always", "disk.img", "try.img")
    loops = [run("losetup", "-f", "--show", "-o", str(at), "--sizelimit", str(half),
                 "try.img").stdout.strip() for at in (0, half)]
    for loop in loops:
        run("btrfs", "device", "scan", loop)
    good = False
    for loop in loops:
        if not good and run("mount", "-t", "btrfs", "-o", options, loop, "m").returncode == 0:
            with open("m/file") as f:
                good = f.read() == "data\n" * 1000
            run("umount", "m")
    run("btrfs", "device", "scan", "--forget")
    for loop in loops:
        run("losetup", "-d", loop)
    return good

# Says which superblock a disk has at 64 KiB.
def state(disk):
    with open("disk.img", "rb") as f:
        f.seek(disk * half + 65536)
        sb = f.read(4096)
    if sb[64:72] != b"_BHRfS_M":
        return "none"
    generation, devices = struct.unpack("<Q", sb[72:80])[0], struct.unpack("<Q", sb[136:144])[0]
    return f"generation {generation}, {devices} devices, devid {struct.unpack('<Q', sb[201:209])[0]}"

tried = good = 0
began = False
with open("disk.img", "r+b", buffering=0) as disk:
    for n, (at, mark, data) in enumerate(entries()):
        began = began or mark.startswith(b"begin")
        if not data:
            continue
        disk.seek(at)
        disk.write(data)
        if not began or at % half not in super_at:
            continue
        tried += 1
        if mounts("rw"):
            good += 1
            continue
        print(f"Write {n} is on the disk, a superblock of disk {at // half + 1}. Mount fails:")
        for i in 0, 1:
            print(f"  superblock of disk {i + 1}: {state(i)}")
        why = [l for l in run("dmesg").stdout.splitlines() if "BTRFS error" in l][-3:]
        print("\n".join("  " + l[l.index("BTRFS"):] for l in why[:-1]))
        print("  mount -o degraded:", "works" if mounts("degraded") else "fails")
        print("  mount -o degraded,ro,rescue=all:",
              "works" if mounts("degraded,ro,rescue=all") else "fails", flush=True)
        if keep := os.environ.get("KEEP"):
            run("cp", "--sparse=always", "disk.img", f"{keep}/crash.img")
print(f"{good} of {tried} prefixes can be mounted.", flush=True)
sys.exit(good < tried)
P

half=$((512 << 20))
truncate -s $((2 * half)) real.img disk.img
truncate -s 1G log.img
disk=$(losetup -f --show real.img)
log=$(losetup -f --show log.img)
sectors=$((half / 512))
dmsetup create fail --table "0 $((2 * sectors)) log-writes $disk $log"
dmsetup mknodes
dmsetup create one --table "0 $sectors linear /dev/mapper/fail 0"
dmsetup create two --table "0 $sectors linear /dev/mapper/fail $sectors"
dmsetup mknodes
mkfs.btrfs -q -K /dev/mapper/one
mount /dev/mapper/one m
printf 'data\n%.0s' {1..1000} >m/file
sync
dmsetup message fail 0 mark begin
btrfs replace start -B -f -K /dev/mapper/one /dev/mapper/two m
dmsetup message fail 0 mark end
umount m
btrfs device scan --forget
for d in one two fail; do dmsetup remove $d; done
losetup -d "$disk"
losetup -d "$log"
result=0
python3 prefixes.py $half || result=$?
cd /
rm -r "$dir"
exit $result
