#!/bin/sh
# Makes a folder with a Debian system, DIR, of the suite SUITE (bookworm, trixie) with more packages.
# It does nothing if DIR was made of the same suite and packages. It needs root.
#
# Debian package: debootstrap.
set -eu

die() {
	echo "guest/root.sh: $*" >&2
	exit 1
}

[ $# -ge 2 ] || { echo "usage: guest/root.sh SUITE DIR [PACKAGE...]" >&2; exit 2; }
suite=$1 dir=$2
shift 2
PATH=$PATH:/usr/sbin:/sbin
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
want="$suite $*"
[ "$want" != "$(cat "$dir.made" 2>/dev/null || true)" ] || exit 0
echo "guest/root.sh: making $dir (two or three minutes, once)" >&2
rm -rf "$dir" "$dir.made"
mkdir -p "$dir"
debootstrap --variant=minbase "$suite" "$dir" http://deb.debian.org/debian >"$dir.log" 2>&1 ||
	die "debootstrap failed: $(tail -n 3 "$dir.log")"
# No package may start its service.
printf '#!/bin/sh\nexit 101\n' >"$dir/usr/sbin/policy-rc.d"
chmod 755 "$dir/usr/sbin/policy-rc.d"
# The mounts end with their namespace.
# shellcheck disable=SC2016 # for the inner shell
unshare --mount sh -ec '
	dir=$1
	shift
	mount -t proc proc "$dir/proc"
	mount --rbind /dev "$dir/dev"
	exec chroot "$dir" env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
		apt-get install -y -q --no-install-recommends "$@"' sh "$dir" "$@" >>"$dir.log" 2>&1 ||
	die "cannot install $*: $(tail -n 3 "$dir.log")"
rm -f "$dir/usr/sbin/policy-rc.d" "$dir"/var/cache/apt/archives/*.deb
echo "$want" >"$dir.made"
