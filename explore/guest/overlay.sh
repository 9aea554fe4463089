# Makes an archive of Debian packages and kernel modules, which a guest unpacks after its own:
# sh -s GUESTDIR FILE PACKAGES MODULES < overlay.sh. GUESTDIR is a folder that guest/build.sh made.
# PACKAGES and MODULES are lists, separated by spaces. FILE.mib says how many MiB the archive takes
# of the guest's memory.
#
# The archive holds each package with all that it depends on, unpacked and not installed: no
# maintainer script runs. What those of PostgreSQL and Python do is slow in an emulated guest,
# so it is done here: /var/lib/postgresql/cluster is a new cluster, and Python has its .pyc files.
# A package whose name ends in - counts as present, and so does what is essential in Debian, because
# the guest has busybox. Documents, translations and the converters of iconv are left out.
set -eu

die() {
	echo "the packages of the guest: $*" >&2
	exit 1
}

PATH=$PATH:/usr/sbin:/sbin
out=$1
file=$2
packages=$3
modules=$4
release=$(ls "$out/kernel/lib/modules")
work=$file.work
rm -rf "$work"
mkdir -p "$work/debs/partial" "$work/root"

present='adduser debconf init-system-helpers lsb-base passwd sensible-utils tzdata ucf'
wanted=
for p in $packages; do
	case $p in
	*-) present="$present ${p%-}" ;;
	*) wanted="$wanted $p" ;;
	esac
done

if [ -n "$wanted" ]; then
	command -v apt-get >/dev/null || die "they come from Debian's mirror, and apt-get is missing"
	# In this status file of dpkg the packages that count as present are installed.
	essential=$(apt-cache dumpavail | awk '/^Package: / { name = $2 } /^Essential: yes/ { print name }')
	# shellcheck disable=SC2086  # lists
	apt-cache show --no-all-versions $present $essential 2>/dev/null | awk '
		/^(Package|Version|Architecture|Provides|Multi-Arch|Essential):/ { print }
		/^$/ { print "Status: install ok installed\nMaintainer: none\nDescription: none\n" }' \
		>"$work/status"
	echo "fetching$wanted for the guest" >&2
	# shellcheck disable=SC2086
	apt-get -q=2 -y -o APT::Sandbox::User=root -o "Dir::State::status=$work/status" \
		-o "Dir::Cache::archives=$work/debs/" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
		install --download-only --reinstall --no-install-recommends $wanted >"$work/log" 2>&1 ||
		die "cannot fetch$wanted: run 'apt-get update', and see that the mirror answers
$(cat "$work/log")"
	for deb in "$work/debs"/*.deb; do
		dpkg -x "$deb" "$work/root"
	done
fi

libraries=$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu
for initdb in "$work"/root/usr/lib/postgresql/*/bin/initdb; do
	[ -e "$initdb" ] || continue
	mkdir -p "$work/root/var/lib/postgresql"
	# It does not run as root, which the new user namespace hides. TZ: the guest has no tzdata.
	TZ=GMT LD_LIBRARY_PATH=$libraries unshare --user "$initdb" --no-locale -E UTF8 -A trust \
		-U postgres --wal-segsize=1 --no-sync -D "$work/root/var/lib/postgresql/cluster" \
		>"$work/log" 2>&1 || die "initdb failed: $(cat "$work/log")"
done
for python in "$work"/root/usr/bin/python3.*; do
	[ -e "$python" ] || continue
	(cd "$work/root" && rm -rf usr/lib/python3*/test && LD_LIBRARY_PATH=$libraries "$python" -m \
		compileall -q usr/lib/python3*) >"$work/log" 2>&1 || die "compileall failed: $(cat "$work/log")"
done
(cd "$work/root" && rm -rf usr/share/doc usr/share/man usr/share/locale usr/share/info \
	usr/share/i18n usr/share/lintian usr/share/bash-completion usr/lib/x86_64-linux-gnu/gconv \
	usr/lib/uml \
	bin/sh sbin/modprobe)

# The list of modules that the guest has is replaced by one with the new modules.
if [ -n "$modules" ]; then
	tree=$work/root/lib/modules/$release
	mkdir -p "$tree"
	zstd -dc "$out/filesystems.cpio.zst" | (cd "$work/root" && cpio --quiet -id 'lib/modules/*')
	for module in $modules; do
		modprobe -d "$out/kernel" -S "$release" --show-depends "$module" >>"$work/modules" \
			2>/dev/null || die "the kernel $release has no module $module"
	done
	sed -n 's/^insmod \([^ ]*\).*$/\1/p' "$work/modules" | sort -u | while read -r module; do
		case $module in
		*.xz) cp "$module" "$tree/" ;;
		*) xz -c "$module" >"$tree/$(basename "$module").xz" ;;
		esac
	done
	from=$out/kernel/lib/modules/$release
	cp "$from"/modules.builtin* "$from/modules.order" "$tree/"
	depmod -b "$work/root" "$release"
	# Busybox reads only these two.
	find "$tree" -name 'modules.*' ! -name modules.dep ! -name modules.alias -delete
fi

(cd "$work/root" && find . | LC_ALL=C sort | cpio --quiet --reproducible -o -H newc -R 0:0) |
	zstd -q -10 -T0 -f -o "$work/archive"
du -sm "$work/root" | cut -f 1 >"$file.mib"
mv "$work/archive" "$file"
rm -rf "$work"
