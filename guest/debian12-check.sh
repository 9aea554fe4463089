#!/bin/sh
# Checks every volume of a disk that debian12.sh has made, while no guest uses it, with the tools of
# each format: sgdisk, vgck, e2fsck, btrfs check, fsck.vfat. It prints a line for each, only reads,
# and ends with status 1 if one of them finds something. It needs root, for loop devices.
#
# Debian packages: dosfstools gdisk lvm2 e2fsprogs btrfs-progs.
set -eu

[ $# -eq 1 ] || { echo "usage: guest/debian12-check.sh IMG" >&2; exit 2; }
img=$1
PATH=$PATH:/usr/sbin:/sbin
# Programs for file systems examine every mount, and fail at a dead FUSE mount that a test has left.
# So the script removes such mounts in its own mount namespace.
if [ -z "${FSWARD_UNSHARED:-}" ]; then
	FSWARD_UNSHARED=1 exec unshare --mount sh "$0" "$@"
fi
while read -r _ at type _; do
	case $type:$at in fuse.fsward:* | *:*/fsward-loop-*) umount --lazy "$at" || true ;; esac
done </proc/self/mounts

work=$(mktemp -d)
loop=
cleanup() {
	[ -z "$loop" ] || losetup -d "$loop" || true
	rm -rf "$work"
}
trap cleanup EXIT
status=0

# check NAME COMMAND… runs a check, and prints its output if it finds something.
check() {
	name=$1
	shift
	if "$@" >"$work/out" 2>&1; then
		echo "$name: clean"
	else
		echo "$name: $*"
		cat "$work/out"
		status=1
	fi
}

first() { sgdisk -i "$1" "$img" | sed -n 's/^First sector: \([0-9]*\).*/\1/p'; }
sectors() { sgdisk -i "$1" "$img" | sed -n 's/^Partition size: \([0-9]*\).*/\1/p'; }

# attach OFFSET BYTES makes $loop the read-only loop device of a part of the image.
attach() {
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
	loop=$(losetup --find --show --read-only --offset "$1" --sizelimit "$2" "$img")
}

lvm_here() {
	command=$1
	shift
	lvm "$command" -q --driverloaded n --config "devices {
		use_devicesfile=0 scan=\"/dev\" filter=[\"a|^$loop\$|\", \"r|.*|\"]
		} activation { udev_sync=0 udev_rules=0 } global { locking_type=4 use_lvmlockd=0 }
		backup { backup=0 archive=0 }" "$@"
}

# ext3_is_clean checks the state that a mount would find: if the journal has commits that are not
# written home, as after a refusal, e2fsck first replays them in a copy.
ext3_is_clean() {
	image=$loop
	if dumpe2fs -h "$loop" 2>/dev/null | grep -q '^Filesystem features:.*needs_recovery'; then
		image=$work/copy
		cp --sparse=always "$loop" "$image"
		e2fsck -p -E journal_only "$image"
	fi
	e2fsck -fn "$image"
}

sgdisk_finds_nothing() { sgdisk -v "$img" | tee "$work/sgdisk" | grep 'No problems found'; }
check gpt sgdisk_finds_nothing
attach $(($(first 1) * 512)) $(($(sectors 1) * 512))
check efi fsck.vfat -n "$loop"
attach $(($(first 2) * 512)) $(($(sectors 2) * 512))
check boot ext3_is_clean
start=$(($(first 3) * 512))
attach $start $(($(sectors 3) * 512))
check lvm lvm_here vgck vg
lvm_here pvs --segments --noheadings --units s --nosuffix --separator ' ' \
	-o lv_name,pvseg_start,pvseg_size,vg_extent_size,pe_start "$loop" >"$work/volumes" 2>/dev/null
while read -r name at length extent data; do
	[ $((length)) -gt 0 ] || continue
	attach $((start + (data + at * extent) * 512)) $((length * extent * 512))
	case $name in
	root) check root ext3_is_clean ;;
	home) check home btrfs check --readonly --force "$loop" ;;
	esac
done <"$work/volumes"
exit $status
