#!/usr/bin/env bash
# Follows docs/user/site-rules.md with four rules for Btrfs and ext3: a plain one, one with a table,
# one with a sum, and one that calls itself. The host's kernel then breaks each of them on a
# guarded disk, by fsync where it can: docs/results/authoring.md. It needs root.
#
# usage: scripts/authoring.sh [FSWARD]
set -euo pipefail
# mkfs.btrfs examines every mount, and fails at a dead one that a test has left.
if [ -z "${FSWARD_UNSHARED:-}" ]; then
	FSWARD_UNSHARED=1 exec unshare --mount bash "$0" "$@"
fi
while read -r _ at type _; do
	case $type:$at in fuse.fsward:* | *:*/fsward-loop-*) umount --lazy "$at" || true ;; esac
done </proc/self/mounts
fsward=$(realpath "${1:-./fsward}")
guide=$(realpath "$(dirname "$0")/../docs/user/site-rules.md")
work=$(mktemp -d)
guard= loop=
cleanup() {
	! mountpoint -q "$work/mnt" || umount "$work/mnt" || umount --lazy "$work/mnt"
	[ -z "$loop" ] || losetup -d "$loop" || true
	[ -z "$guard" ] || kill -TERM "$guard" || true
	[ -z "$guard" ] || wait "$guard" || true
	rm -rf "$work"
}
trap cleanup EXIT
cd "$work"
fsward() { command "$fsward" "$@"; }

# show COMMAND…: prints a command and runs it.
show() {
	echo "\$ $*"
	"$@"
}

# The files of the guide, and two rules that it leaves out: the owner on ext3, and the sum.
awk '/^File `.*`:$/ { name = $2; gsub(/[`:]/, "", name); next }
	/^```/ && name != "" { if (open) { close(path); open = 0; name = "" } else {
		path = "site/" name; dir = path; sub(/[^/]*$/, "", dir); system("mkdir -p " dir); open = 1 }
		next }
	open { print > path }' "$guide"
echo '{"format": 1, "name": "four rules", "version": "1"}' >site/bundle.json
cat >site/ext3/root_owner.pl <<'END'
% Rule site/root_owner. A file of root stays one of root.
% Source: policy of this site.
% For the user: someone has taken over a file of the system.
violation(site/root_owner, inode, I) :-
  commit,
  update(inode, I),
  change(inode, I, uid, 0, NEW),
  NEW =\= 0.
END
cat >site/ext3/crowded.pl <<'END'
% Rule site/crowded. A commit adds at most 20 names to a directory.
% Source: policy of this site.
% For the user: a program is filling the disk.
violation(site/crowded, inode, DIR) :-
  commit,
  add(dirent, a(DIR, _)),
  count(add(dirent, a(DIR, _)), N),
  N > 20.
END
cat >site/btrfs/crowded.pl <<'END'
% Rule site/crowded. A commit adds at most 20 names to a directory.
% Source: policy of this site.
% For the user: a program is filling the disk.
violation(site/crowded, SUBVOL, k(DIR, inode_item, 0)) :-
  commit,
  file_change(SUBVOL, k(_, inode_ref, a(DIR, _)), name, null, _),
  count(file_change(SUBVOL, k(_, inode_ref, a(DIR, _)), name, null, _), N),
  N > 20.
END
began=$SECONDS
show fsward rules lint site
show fsward rules test site
show fsward rules list --add-rules site | grep 'site/'

# broken RULE COMMAND: the command breaks the rule, so that its last call fails.
broken() {
	local rule=$1 before
	mount "$loop" mnt
	before=$(grep -c "^  $rule " said || true)
	echo "\$ $2"
	if (cd mnt && sh -ec "$2") 2>err; then
		echo "$fs: $rule: nothing was refused" >&2
		exit 1
	fi
	sed 's/^/  /' err
	umount mnt
	if [ "$(grep -c "^  $rule " said)" -le "$before" ]; then
		echo "$fs: $rule is not what refused it" >&2
		exit 1
	fi
	grep "violated, refused ($rule)" said | tail -n 1
}

mkdir mnt disks
for fs in btrfs ext3; do
	echo "# $fs"
	rm -f disk.img
	truncate -s 128M disk.img
	"mkfs.$fs" -q disk.img >log 2>&1
	# The files that exist before the guard starts are no change.
	mount -o loop disk.img mnt
	mkdir -p mnt/home mnt/frozen/deep mnt/many
	echo system >mnt/home/system
	echo kept >mnt/home/precious
	umount mnt
	"$fsward" guard --disk disk.img --transport fuse --listen "unix:$work/disks" --add-rules site \
		>said 2>log &
	guard=$!
	for ((i = 0; i < 200; i++)); do
		[ ! -e disks/disk ] || break
		sleep 0.1
	done
	loop=$(losetup --direct-io=on --find --show disks/disk)
	broken site/root_owner 'chown 1000 home/system; sync home/system'
	broken site/kept_name 'rm home/precious; sync home'
	broken site/crowded 'for i in $(seq 30); do touch many/$i; done; sync -f many'
	broken site/frozen 'echo new > frozen/deep/new; sync frozen/deep/new'
	mount "$loop" mnt
	show stat -c '%n %U' mnt/home/system mnt/home/precious
	show ls mnt/many mnt/frozen/deep
	umount mnt
	losetup -d "$loop"
	loop=
	kill -TERM $guard
	wait $guard || echo "exit status of the guard: $?"
	guard=
done
btrfs check disk.img >/dev/null 2>&1 || e2fsck -fn disk.img
echo "$((SECONDS - began)) s"
