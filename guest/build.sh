#!/bin/sh
# Makes the guest: OUTDIR/vmlinuz and OUTDIR/initramfs.cpio.zst, and for the explorer OUTDIR/explorer.cpio.zst, which is the same
# initramfs and behind it what filesystems.sh says.
#
# The kernel is Debian's stock linux-image-KERNEL, unpacked and not installed. If none is named it is the one that OUTDIR has, or
# cloud-amd64; amd64 is the generic one of 6.1, and 6.12-cloud-amd64 and 6.12-amd64 are later ones. The initramfs holds
# busybox, dash, btrfs, mkfs.btrfs, mke2fs, e2fsck and chrt with the libraries they need, fsload of dev/load, fswcalls of hostd/daemon/fsynccheck, fsagent of
# explore/agent, sync of coreutils (that of busybox does not report what syncfs returns), the modules listed below, the modules of
# ramdisk and guest-kmod with rdcheck, rdioctl and ekcheck that try them, and the scripts of this folder. What is up to date is not made
# again: each module, the programs of other file systems and the initramfs by itself.
#
# Our modules are built against the kernel's own headers, which are unpacked beside it and not installed either.
#
# Debian packages: busybox-static dash btrfs-progs e2fsprogs kmod cpio zstd xz-utils dpkg apt gcc-12 make libelf1.
set -eu

# Modules to load, each with what it depends on. What the kernel has built in is left out by modprobe.
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

# need PROGRAM PACKAGE: PROGRAM must be there.
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
*) die "busybox is not a static one: apt-get install busybox-static" ;;
esac

# One build at a time in a folder: two would write the same files.
exec 9>"$out/.lock"
flock 9

# latest_kernel prints the package that the metapackage depends on now, NAME=VERSION; nothing if apt
# does not know.
latest_kernel() {
	name=$(apt-cache depends "$image" 2>/dev/null |
		sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
	[ -n "$name" ] || return 0
	version=$(apt-cache show --no-all-versions "$name" 2>/dev/null | sed -n 's/^Version: //p' | head -n 1)
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

# fetch_headers NAME=VERSION unpacks the headers of a kernel's package into $out/headers.
fetch_headers() {
	version=${1#*=}
	headers=${1%%=*}
	headers=linux-headers-${headers#linux-image-}
	kbuild=$(apt-cache depends "$headers" | sed -n 's/^ *Depends: \(linux-kbuild-.*\)$/\1/p' | head -n 1)
	[ -n "$kbuild" ] || die "apt knows no $headers: run 'apt-get update'"
	common=$(apt-cache depends "$headers" | sed -n 's/^ *Depends: \(linux-headers-.*-common\)$/\1/p' | head -n 1)
	rm -rf "$out/headers.new"
	fetch "$headers=$version" "$common=$version" "$kbuild" "$out/headers.new"
	# The one path in them that is absolute.
	sed -i "s|^include /usr/src/|include $out/headers/usr/src/|" "$out/headers.new/usr/src/$headers/Makefile"
	echo "$1" >"$out/headers.new/package"
	rm -rf "$out/headers"
	mv "$out/headers.new" "$out/headers"
}

# fetch_kernel NAME=VERSION unpacks the package into $out/kernel.
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
# apt is slow to ask: only when its lists are newer than the last answer.
if [ -z "$have" ] || [ -n "$(find /var/lib/apt/lists -maxdepth 1 -newer "$out/kernel/package" -print -quit)" ]; then
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

# stamp_of FILE… prints what changes when what is made of these files has to be made again.
stamp_of() {
	{ echo "$have"; sha256sum "$here/build.sh" "$@"; } | sha256sum
}

# fresh THING STAMP tells whether $out has a thing that was made with this stamp.
fresh() {
	[ -s "$out/$1" ] && [ "$2" = "$(cat "$out/$1.stamp" 2>/dev/null)" ]
}

# build_module NAME SOURCE [HEADER…] builds fsw_NAME from a folder, what both modules have, and headers of another, into $out.
build_module() {
	name=$1 source=$2
	shift 2
	made=$(stamp_of "$source"/*.c "$source"/*.h "$source/Kbuild" "$here/../kmod"/*.[ch] "$@")
	! fresh "fsw_$name.ko" "$made" || return 0
	rm -rf "$out/module"
	mkdir -p "$out/module"
	cp "$source"/*.c "$source"/*.h "$source/Kbuild" "$here/../kmod"/*.[ch] "$@" "$out/module/"
	# Types for the debugger are not made: that takes pahole.
	make -s -C "$out/headers/usr/src/linux-headers-$release" M="$out/module" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$out/module.log" 2>&1 ||
		die "cannot build fsw_$name: $(cat "$out/module.log")"
	for ko in "$out/module"/*.ko; do
		strip --strip-debug -o "$out/${ko##*/}" "$ko"
	done
	rm -rf "$out/module"
	echo "$made" >"$out/fsw_$name.ko.stamp"
}

# archive DIR FILE packs a tree for the kernel to unpack as it boots. Device nodes are not needed: the kernel's own initramfs has
# /dev/console, and /init mounts devtmpfs.
archive() {
	(cd "$1" && find . | LC_ALL=C sort | cpio --quiet --reproducible -o -H newc -R 0:0) | zstd -q -10 -T0 -f -o "$2"
}

# libraries PROGRAM… prints the shared libraries and the loader that the programs need.
libraries() {
	ldd "$@" | sed -n -e 's/^.*=> \(\/[^ ]*\) .*$/\1/p' -e 's/^[[:space:]]*\(\/[^ ]*\) (.*$/\1/p' | sort -u
}

sync=$(command -v sync)
(cd "$here" && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$out/fsload" fsward/dev/load/fsload) || die "cannot build fsload"
(cd "$here" && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$out/fswcalls" fsward/hostd/daemon/fsynccheck/fswcalls) || die "cannot build fswcalls"
(cd "$here" && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$out/rdcheck" fsward/dev/rdcheck) || die "cannot build rdcheck"
(cd "$here" && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$out/fsagent" fsward/explore/agent/fsagent) || die "cannot build fsagent"
(cd "$here" && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$out/ekcheck" fsward/dev/ekcheck) || die "cannot build ekcheck"
gcc-12 -Wall -Werror -static -o "$out/rdioctl" "$here/rdioctl.c" || die "cannot build rdioctl"
dynamic="$(command -v dash) $(command -v btrfs) $(command -v mkfs.btrfs) $(command -v mke2fs) $(command -v e2fsck) $(command -v chrt)"
bins="$(command -v busybox) $out/fsload $out/fswcalls $out/rdcheck $out/ekcheck $out/rdioctl $out/fsagent $dynamic"
# shellcheck disable=SC2086  # a list of paths without spaces
libs=$(libraries "$sync" $dynamic)
fs_fetch
fsbins=$(fs_paths)
scripts="$here/init $here/lib.sh $here/workload.sh $here/verify.sh $here/soak.sh $here/ramdisk.sh $here/ekm.sh $here/agent.sh"
ramdisk=$here/../ramdisk
ekm=$here/../guest-kmod

build_module ramdisk "$ramdisk"
build_module ekm "$ekm" "$ramdisk/fsw_ramdisk.h" "$ramdisk/bioflags.h"
kos="$out/fsw_ramdisk.ko $out/fsw_ekm.ko $out/fsw_choosetest.ko"
# shellcheck disable=SC2086
fsstamp=$(stamp_of "$here/filesystems.sh" $fsbins)
# shellcheck disable=SC2086
stamp=$({ stamp_of "$sync" $bins $libs /etc/mke2fs.conf $scripts $kos; echo "$fsstamp"; } | sha256sum)
# Whoever boots reads these: they are there before the stamp, and whole.
if [ -s "$out/vmlinuz" ] && [ -s "$out/initramfs.cpio.zst" ] && fresh explorer.cpio.zst "$stamp"; then
	exit 0
fi
rm -f "$out/explorer.cpio.zst.stamp"

root=$out/root
rm -rf "$root"
mkdir -p "$root/bin" "$root/sbin" "$root/etc" "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/mnt" \
	"$root/fsward" "$root/modules"
# shellcheck disable=SC2086
cp -L $bins "$root/bin/"
cp -L "$sync" "$root/bin/sync.coreutils"
# Not busybox, whose shell runs its own mke2fs and the like in the place of the real ones.
ln -s dash "$root/bin/sh"
ln -s mke2fs "$root/bin/mkfs.ext3"
cp /etc/mke2fs.conf "$root/etc/"
for lib in $libs; do
	mkdir -p "$root$(dirname "$lib")"
	cp -L "$lib" "$root$lib"
done

# The modules lie flat, with a list in the order in which they load.
for module in $MODULES; do
	modprobe -d "$out/kernel" -S "$release" --show-depends "$module" |
		sed -n 's/^insmod \([^ ]*\).*$/\1/p'
done | awk '!seen[$0]++' >"$out/modules"
[ -s "$out/modules" ] || die "no modules found in the kernel package"
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
cp "$here/lib.sh" "$here/workload.sh" "$here/verify.sh" "$here/soak.sh" "$here/ramdisk.sh" "$here/ekm.sh" "$here/agent.sh" \
	$kos "$root/fsward/"
chmod 0755 "$root/init"

archive "$root" "$out/initramfs.new"
# shellcheck disable=SC2086
fresh filesystems.cpio.zst "$fsstamp" || fs_archive $fsbins
echo "$fsstamp" >"$out/filesystems.cpio.zst.stamp"
# The kernel unpacks one archive after the other.
cat "$out/initramfs.new" "$out/filesystems.cpio.zst" >"$out/explorer.new"
cp "$out/kernel/boot/vmlinuz-$release" "$out/vmlinuz.new"
mv "$out/explorer.new" "$out/explorer.cpio.zst"
mv "$out/initramfs.new" "$out/initramfs.cpio.zst"
mv "$out/vmlinuz.new" "$out/vmlinuz"
rm -rf "$root" "$out/modules"
echo "$stamp" >"$out/explorer.cpio.zst.stamp"
echo "guest/build.sh: $have, initramfs $(($(wc -c <"$out/initramfs.cpio.zst") / 1024)) KiB," \
	"the explorer's $(($(wc -c <"$out/explorer.cpio.zst") / 1024)) KiB" >&2
