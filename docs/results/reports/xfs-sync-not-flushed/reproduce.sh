#!/usr/bin/env bash
# Shows that sync(2) on XFS can return without a flush of the disk, so that a file that was written
# over and synced has its old contents after a power failure. Counts the flushes of a loop device,
# with ext4 for comparison. Needs root, two loop devices, a kernel with XFS and ext4, xfsprogs,
# e2fsprogs, python3, and 10 MiB in /tmp. Exits 1 if data were written and not flushed.
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
modprobe loop 2>/dev/null || true
uname -r

attach() { # FILE
	loop=$(losetup -f)
	losetup "$loop" "$1"
	mount "$loop" m
}
detach() {
	umount m
	losetup -d "$loop"
	loop=
}
stat() { cat "/sys/block/${loop#/dev/}/stat"; }
# The numbers of sectors written and of flushes completed: Documentation/block/stat.rst.
written() { stat | awk '{ print $7 }'; }
flushes() { stat | awk '{ print $16 }'; }

cat >rounds.py <<'P'
import ctypes, os, sys, time

fs, stat = sys.argv[1:]
a = os.open("m/a", os.O_RDWR | os.O_CREAT)
b = os.open("m/b", os.O_RDWR | os.O_CREAT)

def counters():
    with open(stat) as f:
        fields = f.read().split()
    return int(fields[6]), int(fields[15])

def write(fd):
    os.pwrite(fd, os.urandom(4096), 0)

# Waits until XFS has written its log, which it does every 30 seconds, and for a moment more.
def wait_for_log():
    before = counters()[1]
    end = time.time() + 60
    while counters()[1] == before and time.time() < end:
        time.sleep(0.1)
    time.sleep(0.5)

def rounds(what, n, between, call, pause=0):
    missing = 0
    for _ in range(n):
        time.sleep(pause)
        write(a)
        between()
        before = counters()
        call()
        after = counters()
        missing += after[0] > before[0] and after[1] == before[1]
    print(f"{fs}: {what}: {missing} of {n} writes not flushed", flush=True)
    return missing

def fsync_b():
    write(b)
    os.fsync(b)

libc = ctypes.CDLL(None)
nothing = lambda: None
write(a)
write(b)
os.sync()
time.sleep(1)
missing = rounds("write a, fsync b, sync", 10, fsync_b, os.sync)
missing += rounds("write a, fsync b, syncfs", 10, fsync_b, lambda: libc.syncfs(a))
missing += rounds("write a, fsync b, fsync a", 10, fsync_b, lambda: os.fsync(a))
missing += rounds("write a, sync", 500, nothing, os.sync)
missing += rounds("write a, fsync a", 500, nothing, lambda: os.fsync(a))
missing += rounds("pause, write a, sync", 10, nothing, os.sync, 0.5)
if fs == "xfs":
    missing += rounds("write a, wait for the log, sync", 1, wait_for_log, os.sync, 1)
sys.exit(missing > 0)
P

result=0
for fs in xfs ext4; do
	truncate -s 320M $fs.img
	mkfs.$fs -q $fs.img
	attach $fs.img
	python3 rounds.py $fs "/sys/block/${loop#/dev/}/stat" || result=1
	detach
done
mkfs.xfs -q -f xfs.img

# The copy is the disk after fsync. If no flush follows, a power failure may leave it like that.
attach xfs.img
xfs_io -f -c 'pwrite -q -S 0x6f 0 4096' m/a
xfs_io -f -c 'pwrite -q -S 0x6f 0 4096' m/b
sync
sleep 1
xfs_io -c 'pwrite -q -S 0x6e 0 4096' m/a
xfs_io -c 'pwrite -q -S 0x6e 0 4096' -c fsync m/b
cp --sparse=always xfs.img crash.img
f=$(flushes) w=$(written)
sync
echo "sync: $(($(written) - w)) sectors written, $(($(flushes) - f)) flushes. The power fails."
[ "$(flushes)" -gt "$f" ] && flushed=1 || flushed=0
echo "Before: a: $(head -c 8 m/a), b: $(head -c 8 m/b)"
detach
[ -z "${KEEP:-}" ] || cp --sparse=always crash.img "$KEEP"
attach crash.img
echo "After:  a: $(head -c 8 m/a), b: $(head -c 8 m/b)"
[ $flushed = 1 ] || cmp -s m/a m/b || result=1
exit $result
