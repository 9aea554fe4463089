#!/bin/sh
# Makes the guest: OUTDIR/vmlinuz and OUTDIR/initramfs.cpio.zst; and for the explorer
# OUTDIR/explorer.cpio.zst, the same initramfs followed by the archive of filesystems.sh.
#
# The kernel is the package linux-image-KERNEL of Debian, unpacked and not installed. KERNEL is
# cloud-amd64, amd64, 6.12-cloud-amd64 or 6.12-amd64; the first two are 6.1. The default is the
# kernel in OUTDIR, or else cloud-amd64. Our modules are built against the headers of the same
# package, which are unpacked beside the kernel.
#
# The initramfs holds:
#   busybox, dash, btrfs, mkfs.btrfs, mke2fs, e2fsck and chrt, with their libraries
#   sync of coreutils, because that of busybox does not report the result of syncfs
#   fsload of dev/load, fswcalls of hostd/daemon/fsynccheck, fsagent of explore/agent
#   the modules that MODULES lists, and the modules of ramdisk and guest-kmod
#   rdcheck, rdioctl and ekcheck, which check these two
#   the scripts of this folder
# The script makes each module, the archive of filesystems.sh and the initramfs again only if their
# sources have changed.
#
# Debian packages: busybox-static dash btrfs-progs e2fsprogs kmod cpio zstd xz-utils dpkg apt gcc-12
# make libelf1.
set -eu

# Modules to load, with their dependencies. modprobe leaves out modules that are built in.
MODULES='virtio_pci virtio_blk virtio_console ext4 crc32c-intel crc32c_generic btrfs'

here=$(cd "$(dirname "$0")" && pwd)
. "$here/filesystems.sh"

die() {
	echo "guest/build.sh: $*" >&2
	exit 1
}

[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: guest/build.sh OUTDIR [KERNEL]" >&2; exit 2; }
PATH=$PATH:/usr/sbin:/sbin
mkdir -p "$1"
out=$(cd "$1" && pwd)

# need PROGRAM PACKAGE ends the script if PROGRAM, which PACKAGE has, is missing.
need() {
	command -v "$1" >/dev/null || die "$1 is missing: run 'make setup', or apt-get install $2"
}
need busybox busybox-static
need dash dash
need mkfs.btrfs btrfs-progs
need mke2fs e2fsprogs
need go golang
need gcc-12 gcc-12
need make make
need depmod kmod
need chrt util-linux
need cpio cpio
need zstd zstd
need xz xz-utils
need dpkg dpkg
case $(ldd "$(command -v busybox)" 2>&1) in
*'not a dynamic'* | *'statically linked'*) ;;
*) die "busybox is dynamic, want a static one: apt-get install busybox-static" ;;
esac

# Only one build at a time may write to a folder.
exec 9>"$out/.lock"
flock 9

# latest_kernel prints NAME=VERSION of the package that the metapackage $image depends on. It prints
# nothing if apt does not know it.
latest_kernel() {
	name=$(apt-cache depends "$image" 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
	[ -n "$name" ] || return 0
	version=$(apt-cache show --no-all-versions "$name" 2>/dev/null |
		sed -n 's/^Version: //p' | head -n 1)
	[ -z "$version" ] || echo "$name=$version"
}

# fetch PACKAGE… DIR unpacks packages into a folder.
fetch() {
	packages=
	while [ $# -gt 1 ]; do
		packages="$packages $1"
		shift
	done
	mkdir -p "$1"
	echo "guest/build.sh: fetching$packages" >&2
	# shellcheck disable=SC2086  # a list
	(cd "$1" && apt-get -q=2 -o APT::Sandbox::User=root download $packages >&2) ||
		die "cannot download$packages: run 'apt-get update' and see that the Debian mirror answers"
	for deb in "$1"/*.deb; do
		dpkg -x "$deb" "$1"
		rm "$deb"
	done
}

# depends PACKAGE REGEXP prints the first dependency of a package that matches.
depends() {
	apt-cache depends "$1" | sed -n "s/^ *Depends: \($2\)\$/\1/p" | head -n 1
}

# fetch_headers NAME=VERSION unpacks the headers of a kernel package into $out/headers.
fetch_headers() {
	version=${1#*=}
	headers=${1%%=*}
	headers=linux-headers-${headers#linux-image-}
	kbuild=$(depends "$headers" 'linux-kbuild-.*')
	[ -n "$kbuild" ] || die "apt knows no $headers: run 'apt-get update'"
	common=$(depends "$headers" 'linux-headers-.*-common')
	rm -rf "$out/headers.new"
	fetch "$headers=$version" "$common=$version" "$kbuild" "$out/headers.new"
	# The Makefile has the only absolute path of the headers. A folder that is copied stays whole.
	sed -i 's|^include /usr/src/|include ../|' "$out/headers.new/usr/src/$headers/Makefile"
	echo "$1" >"$out/headers.new/package"
	rm -rf "$out/headers"
	mv "$out/headers.new" "$out/headers"
}

# fetch_kernel NAME=VERSION unpacks a kernel package into $out/kernel.
fetch_kernel() {
	rm -rf "$out/kernel.new"
	fetch "$1" "$out/kernel.new"
	release=$(ls "$out/kernel.new/lib/modules")
	depmod -b "$out/kernel.new" "$release"
	echo "$1" >"$out/kernel.new/package"
	echo "$image" >"$out/kernel.new/image"
	rm -rf "$out/kernel"
	mv "$out/kernel.new" "$out/kernel"
}

of=$(cat "$out/kernel/image" 2>/dev/null || true)
image=linux-image-${2:-cloud-amd64}
[ -n "${2:-}" ] || image=${of:-$image}
have=
[ "$image" != "$of" ] || have=$(cat "$out/kernel/package")
want=$have
# apt is slow. It is asked only if its lists are newer than its last answer.
lists=/var/lib/apt/lists
if [ -z "$have" ] ||
	[ -n "$(find "$lists" -maxdepth 1 -newer "$out/kernel/package" -print -quit)" ]; then
	want=$(latest_kernel)
fi
if [ -z "$want" ] && [ -z "$have" ]; then
	die "apt knows no $image: run 'apt-get update' (Debian 12 on amd64)"
fi
if [ -n "$want" ] && [ "$want" != "$have" ]; then
	fetch_kernel "$want"
	have=$want
elif [ -n "$want" ]; then
	touch "$out/kernel/package"
fi
release=$(ls "$out/kernel/lib/modules")
[ "$have" = "$(cat "$out/headers/package" 2>/dev/null || true)" ] || fetch_headers "$have"

# stamp_of FILE… prints a stamp of these files, this script and the kernel. Their products have to be
# made again if the stamp changes.
stamp_of() {
	{ echo "$have"; sha256sum "$here/build.sh" "$@"; } | sha256sum
}

# fresh FILE STAMP succeeds if $out has a file that was made with this stamp.
fresh() {
	[ -s "$out/$1" ] && [ "$2" = "$(cat "$out/$1.stamp" 2>/dev/null)" ]
}

# build_module NAME SOURCE [HEADER…] builds $out/fsw_NAME.ko from the folders SOURCE and kmod, and
# from headers of other folders.
build_module() {
	name=$1 source=$2
	shift 2
	made=$(stamp_of "$source"/*.c "$source"/*.h "$source/Kbuild" "$here/../kmod"/*.[ch] "$@")
	! fresh "fsw_$name.ko" "$made" || return 0
	rm -rf "$out/module"
	mkdir -p "$out/module"
	cp "$source"/*.c "$source"/*.h "$source/Kbuild" "$here/../kmod"/*.[ch] "$@" "$out/module/"
	# Without BTF, which needs pahole.
	make -s -C "$out/headers/usr/src/linux-headers-$release" M="$out/module" \
		CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$out/module.log" 2>&1 ||
		die "cannot build fsw_$name: $(cat "$out/module.log")"
	for ko in "$out/module"/*.ko; do
		strip --strip-debug -o "$out/${ko##*/}" "$ko"
	done
	rm -rf "$out/module"
	echo "$made" >"$out/fsw_$name.ko.stamp"
}

# archive DIR FILE packs a tree as an initramfs. It needs no device nodes: the kernel's own
# initramfs has /dev/console, and /init mounts devtmpfs.
archive() {
	(cd "$1" && find . | LC_ALL=C sort | cpio --quiet --reproducible -o -H newc -R 0:0) |
		zstd -q -10 -T0 -f -o "$2"
}

# libraries PROGRAM… prints the shared libraries and the loader that the programs need.
libraries() {
	ldd "$@" |
		sed -n -e 's/^.*=> \(\/[^ ]*\) .*$/\1/p' -e 's/^[[:space:]]*\(\/[^ ]*\) (.*$/\1/p' |
		sort -u
}

# build_program NAME PACKAGE builds $out/NAME from a Go package of this project.
build_program() {
	(cd "$here" && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$out/$1" "$2") ||
		die "cannot build $1"
}

sync=$(command -v sync)
build_program fsload fsward/dev/load/fsload
build_program fswcalls fsward/hostd/daemon/fsynccheck/fswcalls
build_program rdcheck fsward/dev/rdcheck
build_program fsagent fsward/explore/agent/fsagent
build_program ekcheck fsward/dev/ekcheck
gcc-12 -Wall -Werror -static -o "$out/rdioctl" "$here/rdioctl.c" || die "cannot build rdioctl"
dynamic=
for program in dash btrfs mkfs.btrfs mke2fs e2fsck chrt; do
	dynamic="$dynamic $(command -v $program)"
done
bins="$(command -v busybox) $out/fsload $out/fswcalls $out/rdcheck $out/ekcheck $out/rdioctl"
bins="$bins $out/fsagent $dynamic"
# shellcheck disable=SC2086  # a list of paths without spaces
libs=$(libraries "$sync" $dynamic)
fs_fetch
fsbins=$(fs_paths)
scripts=
for script in lib workload verify soak ramdisk ekm agent uml; do
	scripts="$scripts $here/$script.sh"
done
ramdisk=$here/../ramdisk
ekm=$here/../guest-kmod

build_module ramdisk "$ramdisk"
build_module ekm "$ekm" "$ramdisk/fsw_ramdisk.h" "$ramdisk/fsw_rd_seq.h" \
	"$ramdisk/bioflags.h"
kos="$out/fsw_ramdisk.ko $out/fsw_ekm.ko $out/fsw_choosetest.ko $out/fsw_leaktest.ko"
kos="$kos $out/fsw_bugtest.ko"
# shellcheck disable=SC2086
fsstamp=$(stamp_of "$here/filesystems.sh" $fsbins)
stamp=$(
	{
		# shellcheck disable=SC2086
		stamp_of "$sync" $bins $libs /etc/mke2fs.conf "$here/init" $scripts $kos
		echo "$fsstamp"
	} | sha256sum
)
# Other processes boot from these files. They are complete when the stamp is written.
if [ -s "$out/vmlinuz" ] && [ -s "$out/initramfs.cpio.zst" ] &&
	fresh explorer.cpio.zst "$stamp"; then
	touch "$out/explorer.cpio.zst" # it is as new as its sources
	exit 0
fi
rm -f "$out/explorer.cpio.zst.stamp"

root=$out/root
rm -rf "$root"
for dir in bin sbin etc proc sys dev tmp mnt fsward modules; do
	mkdir -p "$root/$dir"
done
# shellcheck disable=SC2086
cp -L $bins "$root/bin/"
cp -L "$sync" "$root/bin/sync.coreutils"
# Not busybox, because its shell runs its own mke2fs and others in place of the real programs.
ln -s dash "$root/bin/sh"
ln -s mke2fs "$root/bin/mkfs.ext3"
cp /etc/mke2fs.conf "$root/etc/"
for lib in $libs; do
	mkdir -p "$root$(dirname "$lib")"
	cp -L "$lib" "$root$lib"
done

# All modules are in one folder, with a list in the order of loading.
for module in $MODULES; do
	modprobe -d "$out/kernel" -S "$release" --show-depends "$module"
done | awk '!seen[$0]++' >"$out/depends"
[ -s "$out/depends" ] || die "no modules found in the kernel package"
sed -n 's/^insmod \([^ ]*\).*$/\1/p' "$out/depends" >"$out/modules" # the others are built in
while read -r module; do
	name=$(basename "$module")
	case $name in
	*.xz) name=${name%.xz} && xz -dc "$module" >"$root/modules/$name" ;;
	*) cp "$module" "$root/modules/" ;;
	esac
	echo "$name"
done <"$out/modules" >"$root/modules/list"

cp "$here/init" "$root/init"
# shellcheck disable=SC2086
cp $scripts $kos "$root/fsward/"
chmod 0755 "$root/init"

archive "$root" "$out/initramfs.new"
# shellcheck disable=SC2086
fresh filesystems.cpio.zst "$fsstamp" || fs_archive $fsbins
echo "$fsstamp" >"$out/filesystems.cpio.zst.stamp"
# The kernel unpacks both archives, in this order.
cat "$out/initramfs.new" "$out/filesystems.cpio.zst" >"$out/explorer.new"
cp "$out/kernel/boot/vmlinuz-$release" "$out/vmlinuz.new"
mv "$out/explorer.new" "$out/explorer.cpio.zst"
mv "$out/initramfs.new" "$out/initramfs.cpio.zst"
mv "$out/vmlinuz.new" "$out/vmlinuz"
rm -rf "$root" "$out/modules" "$out/depends"
echo "$stamp" >"$out/explorer.cpio.zst.stamp"
echo "guest/build.sh: $have, initramfs $(($(wc -c <"$out/initramfs.cpio.zst") / 1024)) KiB," \
	"the explorer's $(($(wc -c <"$out/explorer.cpio.zst") / 1024)) KiB" >&2
