#!/usr/bin/env bash
# Shows that fdatasync, fsync and sync of F2FS can return without a flush of the disk after a file
# was written over in place. Counts the flushes of a loop device. Needs root, a loop device, a kernel
# with F2FS, f2fs-tools, python3, and 10 MiB in /tmp. Exits 1 if data were written and not flushed.
set -euo pipefail
[ "${1:-}" = inside ] || exec unshare --mount "$0" inside

dir=$(mktemp -d)
loop=
end() {
	cd /
	! mountpoint -q "$dir/m" || umount "$dir/m"
	[ -z "$loop" ] || losetup -d "$loop"
	rm -r "$dir"
}
trap end EXIT
cd "$dir"
mkdir m
modprobe -a loop f2fs 2>/dev/null || true
uname -r

cat >rounds.py <<'P'
import ctypes, os, sys, time

options, stat = sys.argv[1:]
libc = ctypes.CDLL(None)

# Documentation/block/stat.rst: sectors written, and flushes completed.
def counters():
    with open(stat) as f:
        fields = f.read().split()
    return int(fields[6]), int(fields[15])

def rounds(what, name, write, call, n=20, pause=0):
    fd = os.open("m/" + name, os.O_RDWR)
    missing = 0
    for _ in range(n):
        os.sync()
        time.sleep(pause)
        write(fd)
        before = counters()
        call(fd)
        after = counters()
        missing += after[0] > before[0] and after[1] == before[1]
    os.close(fd)
    print(f"{options}: {what}: {missing} of {n} writes not flushed", flush=True)
    return missing

def over(fd):
    os.pwrite(fd, os.urandom(100), 50)

for name in "file", "linked":
    with open("m/" + name, "wb") as f:
        f.write(b"o" * 8192)
os.link("m/linked", "m/link")
os.sync()
time.sleep(1)
missing = rounds("write, fdatasync", "file", over, os.fdatasync)
missing += rounds("write, fsync", "file", over, os.fsync)
missing += rounds("write, fdatasync, with two links", "linked", over, os.fdatasync)
missing += rounds("write, fsync, with two links", "linked", over, os.fsync)
missing += rounds("write, sync", "file", over, lambda fd: os.sync())
missing += rounds("write, syncfs", "file", over, lambda fd: libc.syncfs(fd))
missing += rounds("pause, write, fsync, with two links", "linked", over, os.fsync, 10, 0.5)
missing += rounds("pause, write, sync", "file", over, lambda fd: os.sync(), 10, 0.5)
# After an append and a sync, which writes a checkpoint.
def append(fd):
    os.pwrite(fd, b"o" * 4096, os.fstat(fd).st_size)
    os.sync()
    time.sleep(0.5)
    over(fd)
missing += rounds("append, sync, pause, write, fdatasync", "file", append, os.fdatasync)
sys.exit(missing > 0)
P

result=0
for options in fsync_mode=posix fsync_mode=strict; do
	truncate -s 256M f2fs.img
	mkfs.f2fs -q -f f2fs.img >/dev/null
	loop=$(losetup -f --show f2fs.img)
	mount -t f2fs -o $options "$loop" m
	python3 rounds.py $options "/sys/block/${loop#/dev/}/stat" || result=1
	umount m
	losetup -d "$loop"
	loop=
done
exit $result
