#!/bin/sh
# All bits of s_state are set: jfs_fsck prints a number as a string.
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
truncate -s 16M disk.img
mkfs.jfs -q disk.img >/dev/null
printf '\377\377\377\377' | dd of=disk.img bs=1 seek=32808 conv=notrunc status=none
[ -z "${KEEP:-}" ] || cp disk.img "$KEEP"
jfs_fsck -f disk.img >/dev/null 2>&1
echo "status $?"
