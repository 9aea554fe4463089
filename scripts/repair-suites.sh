#!/usr/bin/env bash
# Fetches the test images of e2fsprogs and btrfs-progs from Debian's source packages, for
# fsward fsck run --damage suite:DIR/e2fsprogs.
#
#   scripts/repair-suites.sh DIR
set -euo pipefail

dir=$(mkdir -p "${1:?usage: repair-suites.sh DIR}" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$(dirname "$0")/../repair/paths/source.sh" "$work" e2fsprogs btrfs-progs
cd "$work"
for package in e2fsprogs btrfs-progs; do
	rm -rf "${dir:?}/$package"
	mkdir "$dir/$package"
	# The tests have names like e2fsprogs-1.47.0/tests/f_dup/image.gz.
	tar -xf "$package"_*.orig.tar.[gx]z --strip-components=2 -C "$dir/$package" --wildcards '*/tests/*'
	printf '%s: %s images\n' "$dir/$package" "$(find "$dir/$package" -type f \
		\( -name '*.gz' -o -name '*.xz' -o -name '*.img' \) | wc -l)"
done
