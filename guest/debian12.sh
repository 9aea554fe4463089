#!/bin/sh
# Makes a disk as Debian 12's installer lays one out, with a small system that boots from it by EFI:
#
#   p1  EFI system partition, vfat: GRUB
#   p2  /boot, ext3: kernel, initramfs, grub.cfg
#   p3  LVM: volume group vg with root (ext3), home (Btrfs) and swap
#
# guest/build.sh must have run: the kernel and the initramfs are those of GUESTDIR, and this script
# adds LVM, vfat and debian12-init. LVM itself makes its metadata, without the kernel's device mapper,
# which the host need not have. The script needs root, for loop devices.
#
# Debian packages: dosfstools mtools gdisk lvm2 e2fsprogs btrfs-progs grub-common grub-efi-amd64-bin
# cpio zstd.
set -eu

die() {
	echo "guest/debian12.sh: $*" >&2
	exit 1
}

[ $# -eq 2 ] || { echo "usage: guest/debian12.sh GUESTDIR IMG" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
guest=$(cd "$1" && pwd)
img=$2
PATH=$PATH:/usr/sbin:/sbin
# Programs for file systems examine every mount, and fail at a dead FUSE mount that a test has left.
# So the script removes such mounts in its own mount namespace.
if [ -z "${FSWARD_UNSHARED:-}" ]; then
	FSWARD_UNSHARED=1 exec unshare --mount sh "$0" "$@"
fi
while read -r _ at type _; do
	case $type:$at in fuse.fsward:* | *:*/fsward-loop-*) umount --lazy "$at" || true ;; esac
done </proc/self/mounts

for program in sgdisk mkfs.vfat mcopy mke2fs mkfs.btrfs lvm grub-mkimage losetup cpio zstd; do
	command -v $program >/dev/null || die "$program is missing: see the packages at the top"
done
[ -s "$guest/vmlinuz" ] || die "no vmlinuz in $guest: run guest/build.sh"

work=$(mktemp -d)
loop=
cleanup() {
	[ -z "$loop" ] || losetup -d "$loop" || true
	rm -rf "$work"
}
trap cleanup EXIT

# make_initramfs FILE adds LVM, vfat and the init of this disk to the guest's initramfs. Where two
# archives have a file, the kernel takes that of the later one.
make_initramfs() {
	root=$work/root
	release=$(ls "$guest/kernel/lib/modules")
	mkdir -p "$root/bin" "$root/modules" "$root/etc/lvm"
	cp -L "$(command -v lvm)" "$root/bin/lvm"
	ldd "$root/bin/lvm" | sed -n -e 's/^.*=> \(\/[^ ]*\) .*$/\1/p' \
		-e 's/^[[:space:]]*\(\/[^ ]*\) (.*$/\1/p' | while read -r lib; do
		mkdir -p "$root$(dirname "$lib")"
		cp -L "$lib" "$root$lib"
	done
	cp "$here/debian12-init" "$root/init"
	chmod 755 "$root/init"
	for module in dm_mod vfat nls_cp437 nls_ascii; do
		modprobe -d "$guest/kernel" -S "$release" --show-depends $module |
			sed -n 's/^insmod \([^ ]*\).*$/\1/p'
	done | awk '!seen[$0]++' | while read -r module; do
		name=$(basename "$module" .xz)
		case $module in
		*.xz) xz -dc "$module" >"$root/modules/$name" ;;
		*) cp "$module" "$root/modules/$name" ;;
		esac
		echo "$name"
	done >"$root/modules/debian12"
	(cd "$root" && find . | LC_ALL=C sort | cpio --quiet --reproducible -o -H newc -R 0:0) |
		zstd -q -10 -f -o "$work/more"
	cat "$guest/initramfs.cpio.zst" "$work/more" >"$1"
}

# first N and sectors N print where partition N begins and how long it is, in sectors.
first() { sgdisk -i "$1" "$img" | sed -n 's/^First sector: \([0-9]*\).*/\1/p'; }
sectors() { sgdisk -i "$1" "$img" | sed -n 's/^Partition size: \([0-9]*\).*/\1/p'; }

# attach OFFSET BYTES makes $loop the loop device of a part of the image.
attach() {
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
	loop=$(losetup --find --show --offset "$1" --sizelimit "$2" "$img")
}

# lvm_here runs a command of LVM that sees nothing but $loop, and does not use the device mapper.
lvm_here() {
	command=$1
	shift
	lvm "$command" -q --driverloaded n --config "devices {
		use_devicesfile=0 scan=\"/dev\" filter=[\"a|^$loop\$|\", \"r|.*|\"]
		} activation { udev_sync=0 udev_rules=0 } global { event_activation=0 use_lvmlockd=0 }
		backup { backup=0 archive=0 }" "$@" 2>"$work/lvm" ||
		die "lvm $command: $(cat "$work/lvm")"
}

rm -f "$img"
truncate -s 1536M "$img"
sgdisk -n 1:2048:+32M -t 1:ef00 -n 2:0:+192M -t 2:8300 -n 3:0:0 -t 3:8e00 "$img" >/dev/null

# p2 first: GRUB finds it by its UUID.
mkdir -p "$work/boot/grub"
cp "$guest/vmlinuz" "$work/boot/vmlinuz"
make_initramfs "$work/boot/initrd.img"
cat >"$work/boot/grub/grub.cfg" <<'END'
serial --unit=0 --speed=115200
terminal_output serial
linux /vmlinuz root=/dev/vg/root console=ttyS0 panic=-1 oops=panic no_timer_check
initrd /initrd.img
boot
END
mke2fs -q -t ext3 -L boot -d "$work/boot" -E "offset=$(($(first 2) * 512))" "$img" \
	"$(($(sectors 2) / 2))k"
uuid=$(dumpe2fs -h "$img?offset=$(($(first 2) * 512))" 2>/dev/null |
	sed -n 's/^Filesystem UUID: *//p')

cat >"$work/early.cfg" <<END
search --fs-uuid $uuid --set=root
set prefix=(\$root)/grub
configfile (\$root)/grub/grub.cfg
END
grub-mkimage -O x86_64-efi -p /grub -c "$work/early.cfg" -o "$work/bootx64.efi" \
	part_gpt ext2 fat linux normal configfile search search_fs_uuid serial terminal
truncate -s "$(($(sectors 1) * 512))" "$work/esp"
mkfs.vfat -F 16 -n ESP "$work/esp" >/dev/null
mmd -i "$work/esp" ::/EFI ::/EFI/BOOT
mcopy -i "$work/esp" "$work/bootx64.efi" ::/EFI/BOOT/BOOTX64.EFI
dd if="$work/esp" of="$img" bs=512 seek="$(first 1)" conv=notrunc,sparse status=none

start=$(($(first 3) * 512))
attach $start $(($(sectors 3) * 512))
lvm_here pvcreate "$loop" >/dev/null
lvm_here vgcreate vg "$loop" >/dev/null
for volume in root:512M home:512M swap:64M; do
	lvm_here lvcreate -an -Zn -Wn -n "${volume%%:*}" -L "${volume#*:}" vg >/dev/null
done
# volume: in sectors from the beginning of the partition.
lvm_here vgck vg
lvm_here pvs --segments --noheadings --units s --nosuffix --separator ' ' \
	-o lv_name,pvseg_start,pvseg_size,vg_extent_size,pe_start "$loop" >"$work/volumes"
while read -r name at length extent data; do
	[ $((length)) -gt 0 ] || continue
	attach $((start + (data + at * extent) * 512)) $((length * extent * 512))
	case $name in
	root) mke2fs -q -t ext3 -L root "$loop" ;;
	home) mkfs.btrfs -q -L home "$loop" >"$work/btrfs" 2>&1 || die "$(cat "$work/btrfs")" ;;
	swap) mkswap -q -L swap "$loop" ;;
	esac
done <"$work/volumes"
losetup -d "$loop"
loop=
sgdisk -v "$img" | grep -q 'No problems found' || die "sgdisk finds problems: $(sgdisk -v "$img")"
