#!/bin/sh
# Makes the debug guest: OUTDIR/kernel and OUTDIR/headers, from which build.sh makes the rest; and
# OUTDIR/code-map, which says where the code of each source file is: see explore/codemap.go.
#
# The kernel is built from Debian's linux-source-6.1 with the configuration debug.config: KASAN,
# PROVE_LOCKING, KMEMLEAK, DEBUG_LIST, and KCOV of the file systems. This takes a quarter of an hour
# of one processor, and is done again only if the source, the configuration or this script changes.
#
# Debian packages: those of build.sh, and flex bison libelf-dev bc xz-utils.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
source=linux-source-6.1
jobs=${JOBS:-$(nproc)}
# The file systems whose code is instrumented for coverage: folders of fs/.
covered='ext4 jbd2 btrfs jfs fat exfat minix'

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
made=$source=$version,$(cat "$here/debug.config" "$here/debug.sh" | sha256sum | cut -c -16)
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
	echo "$version" >"$out/deb/$source/.fsward-version"
	mv "$out/deb/$source" "$out/source"
	rm -rf "$out/deb"
fi

for fs in $covered; do
	grep -q KCOV_INSTRUMENT "$out/source/fs/$fs/Makefile" ||
		echo 'KCOV_INSTRUMENT := y' >>"$out/source/fs/$fs/Makefile"
done

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

# code_map prints a line for each source file of the instrumented file systems: the addresses at
# which its code begins and ends, the number of its instrumented points, and its path. A function
# with a unique name says where the code of an object file begins. The high half of each address is
# ones, which the shell cannot compute with.
code_map() {
	cd "$out/source"
	nm vmlinux | awk '$2 ~ /^[tT]$/ { n[$3]++; at[$3] = $1 }
		END { for (s in n) if (n[s] == 1) print s, substr(at[s], 9) }' >"$out/symbols"
	for fs in $covered; do
		find "fs/$fs" -name '*.c' | sort
	done | while read -r file; do
		object=${file%.c}.o
		[ -e "$object" ] || continue
		place=$(objdump -t "$object" | awk 'NR == FNR { at[$1] = $2; next }
			$3 == "F" && $4 == ".text" && $NF in at { print "0x" at[$NF] "-0x" $1; exit }' \
			"$out/symbols" -)
		size=$(objdump -h "$object" | awk '$2 == ".text" { print "0x" $3 }')
		[ -n "$place" ] || continue # it has no code
		points=$(objdump -r -j .text "$object" | grep -c __sanitizer_cov_trace_pc || true)
		printf 'ffffffff%08x ffffffff%08x %d %s\n' $(($place)) $(($place + $size)) "$points" "$file"
	done
	rm "$out/symbols"
}

rm -rf "$out/kernel" "$out/headers"
build INSTALL_MOD_PATH="$out/kernel" modules_install
release=$(ls "$out/kernel/lib/modules")
rm -f "$out/kernel/lib/modules/$release/build" "$out/kernel/lib/modules/$release/source"
mkdir -p "$out/kernel/boot" "$out/headers/usr/src"
cp "$out/source/arch/x86/boot/bzImage" "$out/kernel/boot/vmlinuz-$release"
ln -s "$out/source" "$out/headers/usr/src/linux-headers-$release"
(code_map) >"$out/code-map"
echo linux-image-fsward-debug >"$out/kernel/image"
echo "$made" >"$out/headers/package"
echo "$made" >"$out/kernel/package"
