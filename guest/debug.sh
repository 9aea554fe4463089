#!/bin/sh
# Makes the debug guest: OUTDIR/kernel and OUTDIR/headers, from which build.sh makes the rest.
#
# The kernel is built from Debian's linux-source-6.1 with the configuration debug.config: KASAN,
# PROVE_LOCKING, KMEMLEAK, DEBUG_LIST, and KCOV of the file systems. This takes about an hour of one
# processor, and is done again only if the source or the configuration changes.
#
# Debian packages: those of build.sh, and flex bison libelf-dev bc xz-utils.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source=linux-source-6.1
jobs=${JOBS:-$(nproc)}

die() {
	echo "guest/debug.sh: $*" >&2
	exit 1
}

[ $# -eq 1 ] || { echo "usage: guest/debug.sh OUTDIR" >&2; exit 2; }
for program in flex bison bc xz gcc-12; do
	command -v $program >/dev/null || die "$program is missing: apt-get install flex bison bc" \
		"libelf-dev xz-utils gcc-12"
done
mkdir -p "$1"
out=$(cd "$1" && pwd)

version=$(apt-cache show --no-all-versions "$source" 2>/dev/null |
	sed -n 's/^Version: //p' | head -n 1)
[ -n "$version" ] || die "apt knows no $source: run 'apt-get update'"
made=$source=$version,$(sha256sum <"$here/debug.config" | cut -c -16)
if [ "$made" = "$(cat "$out/kernel/package" 2>/dev/null)" ]; then
	exit 0
fi

if [ "$version" != "$(cat "$out/source/.fsward-version" 2>/dev/null)" ]; then
	rm -rf "$out/source" "$out/deb"
	mkdir -p "$out/deb"
	(cd "$out/deb" && apt-get -q=2 -o APT::Sandbox::User=root download "$source=$version" >&2) ||
		die "cannot download $source"
	dpkg -x "$out/deb"/*.deb "$out/deb"
	tar -xf "$out/deb/usr/src/$source.tar.xz" -C "$out/deb"
	# Only the code of the file systems is instrumented for coverage.
	for fs in ext4 jbd2 btrfs xfs f2fs jfs fat exfat minix; do
		echo 'KCOV_INSTRUMENT := y' >>"$out/deb/$source/fs/$fs/Makefile"
	done
	echo "$version" >"$out/deb/$source/.fsward-version"
	mv "$out/deb/$source" "$out/source"
	rm -rf "$out/deb"
fi

build() {
	make -s -C "$out/source" CC=gcc-12 HOSTCC=gcc-12 "$@" >>"$out/build.log" 2>&1 ||
		die "cannot build the kernel: $(tail -n 5 "$out/build.log")"
}
: >"$out/build.log"
export KCONFIG_ALLCONFIG="$here/debug.config"
build allnoconfig
sed -n 's/^\(CONFIG_[A-Z0-9_]*=y\)$/\1/p' "$here/debug.config" | while read -r option; do
	grep -qx "$option" "$out/source/.config" || die "the kernel has no $option"
done
echo "guest/debug.sh: building $made with $jobs jobs; see $out/build.log" >&2
build -j"$jobs" bzImage modules

rm -rf "$out/kernel" "$out/headers"
build INSTALL_MOD_PATH="$out/kernel" modules_install
release=$(ls "$out/kernel/lib/modules")
rm -f "$out/kernel/lib/modules/$release/build" "$out/kernel/lib/modules/$release/source"
mkdir -p "$out/kernel/boot" "$out/headers/usr/src"
cp "$out/source/arch/x86/boot/bzImage" "$out/kernel/boot/vmlinuz-$release"
ln -s "$out/source" "$out/headers/usr/src/linux-headers-$release"
echo linux-image-fsward-debug >"$out/kernel/image"
echo "$made" >"$out/headers/package"
echo "$made" >"$out/kernel/package"
