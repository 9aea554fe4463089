#!/usr/bin/env bash
# Runs checkpatch.pl of Debian 12's kernel on the C files of this project. The script is part of the
# package with the whole source of the kernel (140 MB), which this script fetches once. It keeps
# checkpatch.pl in build/checkpatch.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$PWD/build/checkpatch

if [ ! -x "$tools/checkpatch.pl" ]; then
	echo "checkpatch: fetching linux-source-6.1 (140 MB, once)" >&2
	mkdir -p build
	work=$(mktemp -d -p build checkpatch.XXXXXX)
	trap 'rm -rf "$work"' EXIT
	(cd "$work" && apt-get -q=2 -o APT::Sandbox::User=root download linux-source-6.1 >&2)
	dpkg-deb --fsys-tarfile "$work"/linux-source-6.1_*.deb |
		tar -xO ./usr/src/linux-source-6.1.tar.xz |
		tar -xJ -C "$work" --strip-components=2 linux-source-6.1/scripts/checkpatch.pl \
			linux-source-6.1/scripts/spelling.txt \
			linux-source-6.1/scripts/const_structs.checkpatch
	rm -rf "$tools" "$work"/*.deb
	chmod 755 "$work"
	mv "$work" "$tools"
fi

# An out-of-tree module must distinguish kernel versions. Ours do so only in compat.h.
status=0
while read -r file; do
	ignore=()
	[ "${file##*/}" != compat.h ] || ignore=(--ignore LINUX_VERSION_CODE,CONSTANT_COMPARISON)
	"$tools/checkpatch.pl" --no-tree --terse --no-summary --show-types "${ignore[@]}" \
		--file "$file" || status=1
done < <(find . -path ./build -prune -o -name '*.[ch]' -print | sort)
exit $status
