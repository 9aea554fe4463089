#!/usr/bin/env bash
# Fetches the test images of e2fsprogs and btrfs-progs from Debian's source packages, for
# fsward fsck run --damage suite:DIR/e2fsprogs. The machine's own list of packages stays as it is.
#
#   scripts/repair-suites.sh DIR
set -euo pipefail

dir=$(mkdir -p "${1:?usage: repair-suites.sh DIR}" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb-src [signed-by=$keyring] http://deb.debian.org/debian bookworm main" >"$work/sources.list"
options=(
	-q
	-o Dir::Etc::sourcelist="$work/sources.list"
	-o Dir::Etc::sourceparts=-
	-o Dir::State::lists="$work/lists"
	-o Dir::Cache="$work/cache"
	-o APT::Sandbox::User=root
)
apt-get "${options[@]}" update >/dev/null
cd "$work"
for package in e2fsprogs btrfs-progs; do
	apt-get "${options[@]}" source --download-only "$package" >/dev/null
	rm -rf "${dir:?}/$package"
	mkdir "$dir/$package"
	# The tests have names like e2fsprogs-1.47.0/tests/f_dup/image.gz.
	tar -xf "$package"_*.orig.tar.[gx]z --strip-components=2 -C "$dir/$package" --wildcards '*/tests/*'
	printf '%s: %s images\n' "$dir/$package" "$(find "$dir/$package" -type f \
		\( -name '*.gz' -o -name '*.xz' -o -name '*.img' \) | wc -l)"
done
