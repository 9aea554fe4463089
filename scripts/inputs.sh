#!/usr/bin/env bash
# Makes one image of each common kind, and prints a table with the output of fsward check, fsward
# guard and fsward status about it: docs/results/inputs.md. It needs root, for loop devices.
#
# usage: scripts/inputs.sh [FSWARD]
set -euo pipefail
# Programs for file systems examine every mount, and fail at a dead one that a test has left.
if [ -z "${FSWARD_UNSHARED:-}" ]; then
	FSWARD_UNSHARED=1 exec unshare --mount bash "$0" "$@"
fi
while read -r _ at type _; do
	case $type:$at in fuse.fsward:* | *:*/fsward-loop-*) umount --lazy "$at" || true ;; esac
done </proc/self/mounts
fsward=$(realpath "${1:-./fsward}")
PATH=$PATH:/usr/sbin:/sbin
export TMPDIR=${TMPDIR:-/tmp}
work=$(mktemp -d)
loops=()
cleanup() {
	for loop in "${loops[@]}"; do losetup -d "$loop" || true; done
	rm -rf "$work"
}
trap cleanup EXIT
cd "$work"

# divide IMG MIB LABEL: a partition table; the partitions come from standard input, as for sfdisk.
divide() {
	truncate -s "$2M" "$1"
	{ echo "label: $3" && cat; } | sfdisk -q "$1"
}

# place IMG N COMMAND…: runs a command on a file of the size of partition N, and puts it there.
place() {
	local img=$1 first sectors
	read -r first sectors < <(sfdisk -l -o Device,Start,Sectors "$img" | sed -n "s/^$1$2 *//p")
	shift 2
	truncate -s $((sectors * 512)) part
	"$@" part >log 2>&1 || { cat log >&2 && return 1; }
	dd if=part of="$img" bs=512 seek="$first" conv=notrunc,sparse status=none
	rm part
}

# lvm_here COMMAND…: runs LVM on the loop devices alone, without the kernel's device mapper.
lvm_here() {
	local command=$1
	shift
	LVM_SUPPRESS_FD_WARNINGS=1 lvm "$command" -q --driverloaded n --config "devices {
		use_devicesfile=0 scan=\"/dev\" obtain_device_list_from_udev=0
		filter=[\"a|^${loops[0]}\$|\", \"a|^${loops[1]}\$|\", \"r|.*|\"] }
		activation { udev_sync=0 udev_rules=0 monitoring=0 }
		global { event_activation=0 use_lvmlockd=0 } backup { backup=0 archive=0 }" "$@" \
		>log 2>&1 || { cat log >&2 && return 1; }
}

ext3() { mke2fs -q -F -t ext3 "$@"; }
btrfs() { mkfs.btrfs -q -f "$@" >log 2>&1 || { cat log >&2 && return 1; }; }

# Whole disks.
truncate -s 64M ext3.img && ext3 ext3.img
truncate -s 128M btrfs.img && btrfs btrfs.img
qemu-img convert -f raw -O qcow2 btrfs.img btrfs.qcow2
gzip -k btrfs.img
truncate -s 64M blank.img
head -c 4M /dev/urandom >noise.img
mkfifo fifo
mkdir folder
truncate -s 64M ext4.img && mke2fs -q -F -t ext4 ext4.img
truncate -s 400M xfs.img && mkfs.xfs -q -f xfs.img
truncate -s 64M vfat.img && mkfs.vfat vfat.img >log
truncate -s 64M swap.img && mkswap -q swap.img
# LUKS by QEMU. There is no free program without the kernel's help for the next two: their magic.
# QEMU measures its own speed, and fails at random where the clock of a thread is coarse.
for _ in $(seq 20); do
	qemu-img create -q -f luks --object secret,id=s,data=x -o key-secret=s,iter-time=100 luks.img \
		16M && break
done
test -s luks.img
truncate -s 64M md.img zfs.img
printf '\xfc\x4e\x2b\xa9\x01\0\0\0' | dd of=md.img bs=1 seek=4096 conv=notrunc status=none
printf '\x08\0\0\0\0\0\0\0' | dd of=md.img bs=1 seek=$((4096 + 144)) conv=notrunc status=none
printf '\x0c\xb1\xba\0\0\0\0\0' | dd of=zfs.img bs=1 seek=131072 conv=notrunc status=none
cp --sparse=always btrfs.img zeroed-btrfs.img
dd if=/dev/zero of=zeroed-btrfs.img bs=4096 seek=16 count=1 conv=notrunc status=none
cp --sparse=always ext3.img zeroed-ext3.img
dd if=/dev/zero of=zeroed-ext3.img bs=1024 seek=1 count=1 conv=notrunc status=none

# Partitions.
divide gpt.img 300 gpt <<'END'
size=64M
size=128M
size=16M
size=32M
END
place gpt.img 1 ext3 && place gpt.img 2 btrfs && place gpt.img 3 mkswap && place gpt.img 4 mkfs.vfat
divide mbr.img 300 dos <<'END'
size=32M
type=5
size=64M
size=130M
END
place mbr.img 1 ext3 && place mbr.img 5 ext3 && place mbr.img 6 btrfs

# LVM: two PVs with a linear and a striped volume. LVM makes a thin one only with the kernel's help,
# so two volumes are written into its metadata as a thin pool and a volume in it.
divide lvm.img 400 gpt <<'END'
size=190M
size=190M
END
for first in 2048 $((2048 + 190 * 2048)); do
	loops+=("$(losetup --find --show -o $((first * 512)) --sizelimit $((190 << 20)) lvm.img)")
done
lvm_here pvcreate "${loops[@]}"
lvm_here vgcreate vg "${loops[@]}"
for volume in '-n root -L 32M' '-n fast -i 2 -L 128M' '-n data -L 16M' '-n thin -L 8M' \
	'-n meta -L 4M'; do
	# shellcheck disable=SC2086 # several words
	lvm_here lvcreate -an -Zn -Wn $volume vg
done
lvm_here vgcfgbackup -f vg.txt vg
perl -0pi -e '
	s/\bdata \{(.*?)"VISIBLE"/pool_tdata {$1/s; s/\bmeta \{(.*?)"VISIBLE"/pool_tmeta {$1/s;
	s/(\bthin \{.*?segment1 \{).*?\n\t\t\t\}/$1 start_extent = 0 extent_count = 2 type = "thin"
		thin_pool = "pool" transaction_id = 0 device_id = 1 }/s;
	my $id = "PPPPPP-PPPP-PPPP-PPPP-PPPP-PPPP-PPPPPP";
	s/(logical_volumes \{)/$1 pool { id = "$id" status = ["READ", "WRITE", "VISIBLE"] flags = []
		creation_time = 1 creation_host = "x" segment_count = 1 segment1 { start_extent = 0
		extent_count = 4 type = "thin-pool" metadata = "pool_tmeta" pool = "pool_tdata"
		transaction_id = 1 chunk_size = 128 discards = "passdown" zero_new_blocks = 1 } }/' vg.txt
lvm_here vgcfgrestore --force -f vg.txt vg
# Extents begin 1 MiB into a PV. vg/root is the first 8 extents of 4 MiB of p1, and vg/fast follows
# it there and begins p2, in stripes of 64 KiB.
truncate -s 32M root && ext3 root
dd if=root of=lvm.img bs=1M seek=2 conv=notrunc,sparse status=none
truncate -s 128M fast && btrfs fast
perl -e 'open(my $in, "<", "fast"); open(my $out, "+<", "lvm.img");
	for (my $i = 0; read($in, my $b, 65536); $i++) {
		next if $b !~ /[^\0]/;
		seek($out, ($i % 2 ? 192 << 20 : 34 << 20) + int($i / 2) * 65536, 0); print $out $b }'
rm root fast

# say FILE: the lines of a file without times, numbers and headings, as one cell of a table.
say() {
	sed -E -e '/^(TIME|VOLUME|rules |  |$)/d' -e 's/^[0-9:]{8} +//' -e 's/^fsward: //' \
		-e 's/  +[0-9]+  +[0-9]+ +[0-9.]+ ms +/  /' -e 's/ +/ /g' -e 's/ +$//' "$1" |
		paste -sd '~' | sed 's/~/<br>/g'
}

# row NAME [--fs FS] IMG: prints the row with the output of the three commands.
row() {
	local name=$1 checked=0 served=0
	shift
	timeout 60 "$fsward" check "$@" >out 2>err || checked=$?
	cat err >>out
	rm -f control listen
	"$fsward" guard --disk "disk=${*: -1}" "${@:1:$#-1}" --listen "unix:$work/listen" \
		--control "unix:$work/control" >guard.out 2>guard.err &
	local guard=$!
	for ((i = 0; i < 300; i++)); do
		[ ! -e control ] || break
		kill -0 $guard 2>/dev/null || break
		sleep 0.1
	done
	if [ -e control ]; then
		for ((i = 0; i < 100; i++)); do
			"$fsward" status --control "unix:$work/control" >status
			grep -q pending status || break
			sleep 0.1
		done
		# the state and the baseline begin at these columns
		awk '/^rules|^VOLUME/ { next } { b = substr($0, 73); sub(/ +$/, "", b)
			s = substr($0, 46); if (s !~ /^unguarded/) s = substr(s, 1, 26)
			sub(/ +(-|holds)? *$/, "", s)
			print $1 ": " (substr($0, 18, 1) == " " ? "" : $2 " ") s }' status >said
		kill -INT $guard
	else
		grep '^fsward: ' guard.err >said || cat guard.err >said
	fi
	wait $guard || served=$?
	echo "| $name | $(say out) ($checked) | $(say said) ($served) |"
}

echo '| input | `check` (exit status) | `guard`, or `status` if it starts (exit status) |'
echo '|---|---|---|'
row 'raw, ext3' ext3.img
row 'raw, Btrfs' btrfs.img
row 'GPT: ext3, Btrfs, swap, vfat' gpt.img
row 'MBR: ext3, logical ext3 and Btrfs' mbr.img
row 'LVM on two partitions: linear ext3, striped Btrfs, thin' lvm.img
row 'one volume of it' lvm.img:vg/root
row 'swap' swap.img
row 'vfat' vfat.img
row 'XFS' xfs.img
row 'ext4' ext4.img
row 'LUKS' luks.img
row 'md member' md.img
row 'ZFS' zfs.img
row 'qcow2, Btrfs' btrfs.qcow2
row 'gzip of a Btrfs' btrfs.img.gz
row 'FIFO' fifo
row 'folder' folder
row 'no such file' missing.img
row 'blank' blank.img
row 'random bytes' noise.img
row 'Btrfs with a zeroed superblock' zeroed-btrfs.img
row 'ext3 with a zeroed superblock' zeroed-ext3.img
row '`--fs ext3`, and it is a Btrfs' --fs ext3 btrfs.img
row '`--fs btrfs`, and it is an ext3' --fs btrfs ext3.img
row '`--fs ext3`, and it is swap' --fs ext3 swap.img
