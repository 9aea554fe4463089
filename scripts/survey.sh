#!/usr/bin/env bash
# Explores all file systems and stacks in turn, each for a slice of time, until the time is used up
# or everything is explored. Killed at any moment, it continues where it was. OUT has a folder for
# each run, table.md, and slices.tsv: a line for each slice with its end, run, exit status, seconds,
# the peak of fsward's memory and the size of the run's folder in KiB, the guest's free memory in
# MiB, crash states and kinds of errors so far. The guest is that in $FSWARD_GUEST (build/guest).
# Only one with the kernel amd64 has all file systems. -run-in uml explores in user-mode Linux what
# can run there, and the rest in the guest.
#
# usage: scripts/survey.sh [-hours H | -minutes M] [-slice SECONDS] [-out DIR] [-only REGEXP]
#        [-run-in guest|uml]
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=1440 slice=300 out=build/survey only=. place=guest
while [ $# -gt 0 ]; do
	case $1 in
	-hours) minutes=$(($2 * 60)) ;;
	-minutes) minutes=$2 ;;
	-slice) slice=$2 ;;
	-out) out=$2 ;;
	-only) only=$2 ;;
	-run-in) place=$2 ;;
	*) sed -n 's/^# usage: //p; s/^#       //p' "$0" >&2 && exit 2 ;;
	esac
	shift 2
done
guest=${FSWARD_GUEST:-build/guest}
fsward=${FSWARD:-./fsward}
mkdir -p "$out"
exec 9>"$out/lock"
flock -w 10 9 || { echo "another survey runs in $out" >&2 && exit 3; }
slices=$out/slices.tsv
touch "$slices"

# entries prints the runs: a name, and the flags of explore run.
entries() {
	local fs options
	for fs in ext2 ext3 ext4 xfs btrfs f2fs jfs nilfs2 reiserfs vfat msdos exfat hfs minix udf gfs2 \
		ocfs2; do
		echo "$fs-sync --fs $fs --checker sync --files 1 --dirs 1 --crash-limit 16"
		echo "$fs-mount-sync --fs $fs --mount-options sync --checker sync --files 1 --dirs 1"
		echo "$fs-through --fs $fs --write-through --checker sync --files 1 --dirs 1 \
--crash-limit 16"
		echo "$fs-reasonable --fs $fs --checker reasonable --files 1 --dirs 1 --crash-limit 16"
		echo "$fs-recovery --fs $fs --checker recovery --recovery-crashes --double-fsck --torn \
--files 1 --dirs 1 --crash-limit 4"
		echo "$fs-failures --fs $fs --checker failed-syscalls --failures 1 --files 1 --dirs 1"
		echo "$fs-silent --fs $fs --checker silent --files 1 --dirs 1"
	done
	for fs in ntfs-3g fuse2fs; do
		echo "$fs-sync --fs $fs --checker sync --files 1 --dirs 1 --crash-limit 16"
	done
	while read -r fs options; do
		echo "$fs-$(tr '=,' '--' <<<"$options") --fs $fs --mount-options $options --checker sync \
--files 1 --dirs 1 --crash-limit 16"
	done <<-'END'
		ext3 data=journal
		ext3 data=writeback
		ext4 data=journal
		ext4 data=writeback
		ext4 nodelalloc
		ext4 dioread_lock
		btrfs compress=zstd
		btrfs nodatacow
		btrfs flushoncommit
		btrfs notreelog
		xfs wsync
		f2fs fsync_mode=strict
		f2fs mode=lfs
		nilfs2 order=strict
		reiserfs data=journal
		reiserfs data=writeback
		vfat flush
		ocfs2 heartbeat=none,barrier=1
	END
	local stack
	while read -r stack; do
		# shellcheck disable=SC2086  # the stack and its values
		echo "$(tr ' =' '--' <<<"$stack") --stack ${stack// / --set } --crash-limit 8"
	done <<-'END'
		nfs
		nfs export=async
		nfs version=3
		nfs version=3 export=async
		nfs-restart
		nfs-restart meanwhile=replaced version=3
		raid
		raid level=raid4
		raid level=raid6
		raid level=raid10
		raid policy=ppl
		raid policy=journal
		raid policy=journal journal=write-back
		raid array=dm-raid policy=bitmap
		raid array=dm-raid policy=journal
		raid-errors
		raid-errors level=raid10
		raid-errors level=raid5
		raid-resync
		raid-resync bitmap=internal
		raid-resync recovery=create
		raid-resync write=idle
		raid-resync write=idle level=raid1
		raid-return
		raid-return recovery=create
		crypt-lvm type=raid1
		crypt-lvm type=raid5
		lvm type=thin
		lvm type=snapshot
		lvm type=mirror volume=lvm-lost-disk
		lvm-change operation=move
		lvm-change operation=mirror
		lvm-change operation=unmirror
		lvm-change operation=extend
		cache
		cache mode=writethrough
		cache cache=dm-writecache
		cache cache=bcache
		cache cache=bcache mode=writethrough
		loop
		loop fs=xfs
		loop fs=btrfs
		overlay
		overlay fs=xfs
		overlay fs=btrfs
		overlay mount=volatile
		overlay-copy
		overlay-copy fs=xfs
		overlay-copy fs=btrfs
		btrfs-devices operation=balance
		btrfs-devices operation=add
		btrfs-devices operation=remove
		btrfs-devices operation=replace
		btrfs-devices operation=resize
		btrfs-devices operation=convert
		btrfs-devices operation=defragment
		grow
		dm-integrity
		dm-integrity mode=bitmap damage=flip
		dm-integrity mode=direct
		git
		git fsync=all
		git-merge
		git-merge fsync=default
		subversion
		subversion fsync=dropped
		cvs
		rcs
		mercurial
		mercurial operation=merge
		brz
		fossil
		fossil fsync=dropped
		berkeley-db
		berkeley-db environment=none
		sqlite
		sqlite synchronous=off
		lmdb
		lmdb fsync=dropped
		redis
		redis appendfsync=no
		etcd
		etcd mount=nobarrier
		postgresql
		postgresql fsync=off
		qemu-disk
		qemu-disk cache=unsafe
		vm
		vm cache=unsafe
		vm-linux
		vm-linux fsync=dropped
		replace-file
		replace-file how=truncate
	END
}

# spent prints the seconds that the slices have taken.
spent() { awk -F '\t' '{ s += $4 } END { print s + 0 }' "$slices"; }

# number prints the last value of a key in the JSON file $1; 0: there is none.
number() { { grep -o "\"$2\":[0-9]*" "$1" || echo :0; } | tail -n 1 | cut -d : -f 2; }

# watched runs fsward explore with some arguments for the caller, and sets its status and peak.
watched() {
	local pid now
	status=0
	timeout -k 60 $((time + 600)) "$fsward" explore "$@" --guest "$guest" --json \
		--time "${time}s" >"$json" 2>"$out/$name.log" 9>&- &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		now=$(ps -o rss= --ppid "$pid" 2>/dev/null | sort -n | tail -n 1) || true
		peak=$((${now:-0} > peak ? ${now:-0} : peak))
		sleep 2
	done
	wait "$pid" || status=$?
}

# explored runs or resumes the run $1 for one slice. The other arguments are its flags.
explored() {
	local name=$1 dir=$out/$1 json=$out/$1.json began status=0 peak=0 time
	shift
	# Each slice of a run is longer than the one before: a step that is cut short begins again.
	time=$((slice * (1 + $(grep -c "	$name	" "$slices" || true))))
	began=$(date +%s)
	if [ -e "$dir/run.db" ]; then
		watched resume "$dir"
	else
		watched run "$@" --run-in "$place" --out "$dir"
		# What user-mode Linux cannot run is refused, and has no state.
		[ "$place" != uml ] || [ "$status" -lt 2 ] || [ -e "$dir/run.db" ] ||
			watched run "$@" --out "$dir"
	fi
	printf '%s\t' "$(date -Is)" "$name" "$status" "$(($(date +%s) - began))" "$peak" \
		"$({ du -sk "$dir" 2>/dev/null || echo 0; } | cut -f 1)" \
		"$(($(number "$json" guest_available) >> 20))" "$(number "$json" crash_states)" >>"$slices"
	{ grep '"event":"explored"' "$json" || true; } | { grep -o '"kind":' || true; } | wc -l >>"$slices"
	# A run in which nothing waits, that could not be run, or that fills the disk gets no further slice.
	if grep '"event":"explored"' "$json" | grep -q '"waiting":0,' || [ ! -e "$dir/run.db" ] ||
		[ "$(du -sm "$dir" | cut -f 1)" -gt 512 ]; then
		touch "$out/$name.done"
	fi
}

# next prints the run that has had the fewest slices, and its flags.
next() {
	entries | while read -r name flags; do
		if [[ $name =~ $only ]] && [ ! -e "$out/$name.done" ]; then
			echo "$(grep -c "	$name	" "$slices" || true) $name $flags"
		fi
	done | sort -s -n -k 1,1 | head -n 1 | cut -d ' ' -f 2-
}

while [ "$(spent)" -lt $((minutes * 60)) ] && read -r name flags < <(next); do
	# shellcheck disable=SC2086  # flags
	explored "$name" $flags
	tail -n 1 "$slices"
done
runs=("$out"/*/run.db)
"$fsward" explore report -o "$out/table.md" "${runs[@]%/run.db}"
echo "$(wc -l <"$slices") slices in $(spent) s: $out/table.md"
