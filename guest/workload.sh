#!/bin/sh
# Makes btrfs on one disk and ext3 on the other and changes them in rounds.
#
# Kernel command line:
#   fsward.btrfs=SERIAL  the disk for btrfs, by its serial; /dev/vda if not given; none for no btrfs
#   fsward.ext3=SERIAL   the disk for ext3; /dev/vdb if not given
#   fsward.rounds=N      with no channel to the host: how many rounds to run (10)
#
# With a virtio-serial port named org.fsward.0 the host says what to do, one command a line:
#   go N [FS]   run N rounds on each file system that can be written to, or on one
#   stop        unmount and power off; so does the end of the channel
# Lines that go to the host, over the channel and, after "FSWARD: ", on the console:
#   ready FS…             the file systems are made and mounted
#   synced FS ROUND       everything of this round and those before it is on the disk
#   readonly FS ROUND     FS takes no more writes; ROUND is the last one that was synced
#   failed FS ROUND WHAT  an operation failed though FS can be written to
#   done                  the command is finished
#   unmounted FS
#   error TEXT
. /fsward/lib.sh

status=0
channel=
for port in /sys/class/virtio-ports/*; do
	[ "$(cat "$port/name" 2>/dev/null)" = org.fsward.0 ] && channel=/dev/${port##*/}
done
[ -z "$channel" ] || exec 3<>"$channel"

say() {
	echo "FSWARD: $*"
	[ -z "$channel" ] || echo "$*" >&3
}

# make FS DEVICE makes and mounts a file system with the defaults of its mkfs.
make() {
	case $1 in
	btrfs) mkfs.btrfs -q -f "$2" ;;
	ext3) mkfs.ext3 -q -F "$2" ;;
	esac && mkdir -p "/mnt/$1" && mount -t "$1" -o noatime "$2" "/mnt/$1" && mkdir "/mnt/$1/names"
}

# durable DIR writes everything to the disk and tells whether that worked. When a commit of ext3 fails, syncfs
# may still report success, if kjournald was done before it looked; the next change then fails. So there is one:
# a new file, since ext3 tells nobody of a time stamp that it could not write. A second sync follows, since the
# host expects a disk that nobody writes to between two rounds.
durable() {
	sync.coreutils -f "$1" && echo >"$1/probe" && rm "$1/probe" && mounted_rw "$1" || return
	sync.coreutils -f "$1" || true # what it was about is on the disk; the next round finds out
}

# change FS DIR ROUND is one round. What it leaves in DIR/round-ROUND does not change afterwards and is
# listed in SUMS. $step says what was being done when it failed.
change() {
	d=$2/round-$3
	step=create
	mkdir -p "$d/one/two/three" "$d/gone" || return
	i=0
	# From what btrfs stores inline and ext3 in one block to several extents and indirect blocks.
	for size in 0 90 1900 4000 12200 53000 400000; do
		{ echo "$1 round $3 file $i"; head -c $size /tmp/text; } >"$d/file-$i" || return
		i=$((i + 1))
	done
	head -c 700 /tmp/text >>"$2/log" || return
	step=fsync
	sync.coreutils "$d/file-2" || return
	step=link
	ln "$d/file-1" "$d/one/two/hard" && ln "$d/file-5" "$d/hard" &&
		ln -s ../file-3 "$d/one/soft" && mkfifo "$d/fifo" || return
	step=names
	# Long names make large directories, which ext3 indexes by hash.
	set --  "$1" "$2" "$3" "$2/names/a-name-that-is-long-enough-to-fill-a-directory-block-$3"
	touch "$4"-0 "$4"-1 "$4"-2 "$4"-3 "$4"-4 "$4"-5 "$4"-6 "$4"-7 "$4"-8 "$4"-9 "$4"-a "$4"-b "$4"-c "$4"-d &&
		cp "$d/file-4" "$d/gone/x" && cp "$d/file-5" "$d/gone/y" || return
	step=sync
	sync.coreutils -f "$2" || return

	step=rename
	mv "$d/one/two" "$d/one/zwei" && mv "$d/file-0" "$d/one/zwei/moved" && mv -f "$d/gone/x" "$d/file-4" &&
		mv "$4"-0 "$4"-zero && mv -f "$4"-1 "$4"-2 || return
	step=truncate
	truncate -s 1000 "$d/file-3" && truncate -s 100000 "$d/hard" && truncate -s 5000 "$d/gone/y" || return
	step=append
	head -c 9000 /tmp/text >>"$d/file-2" && head -c 300 /tmp/text >>"$2/log" || return
	step=chmod
	chmod 600 "$d/file-1" && chown 1000:1000 "$d/one" || return
	step=sync
	sync.coreutils -f "$2" || return

	step=delete
	rm "$4"-3 "$4"-4 "$4"-5 "$4"-6 "$4"-7 "$d/one/zwei/hard" && rm -r "$d/gone" && rmdir "$d/one/zwei/three" || return
	old=$(($3 - KEEP))
	if [ -d "$2/round-$old" ]; then
		rm -r "$2/round-$old" "$2/names/a-name-that-is-long-enough-to-fill-a-directory-block-$old"-* || return
	fi
	step=sums
	(cd "$2" && find "round-$3" -type f -exec md5sum {} + >"/tmp/sums.$1") && cp "/tmp/sums.$1" "$d/SUMS" || return
	step=sync
	durable "$2"
}

# round FS runs the next round on a file system and says what came of it. $LIVE is the list of those that
# can be written to, $n_FS the last round that was synced.
round() {
	eval "r=\$((n_$1 + 1))"
	if change "$1" "/mnt/$1" "$r"; then
		eval "n_$1=$r"
		say synced "$1" "$r"
		return
	fi
	live=$(for fs in $live; do [ "$fs" = "$1" ] || echo "$fs"; done)
	# Was it only one write that failed? One more try tells.
	if durable "/mnt/$1" 2>/dev/null; then
		status=1
		say failed "$1" "$r" "$step"
	else
		say readonly "$1" $((r - 1))
	fi
}

# go N [FS]
go() {
	i_go=0
	while [ $i_go -lt "$1" ]; do
		for fs_go in $live; do
			[ "${2:-$fs_go}" = "$fs_go" ] && round "$fs_go"
		done
		[ -n "$live" ] || break
		i_go=$((i_go + 1))
	done
	say done
}

seq 1 80000 >/tmp/text
live=
for fs in btrfs ext3; do
	case $fs in
	btrfs) device=$(disk btrfs vda) ;;
	ext3) device=$(disk ext3 vdb) ;;
	esac
	[ -n "$device" ] || continue
	eval "n_$fs=0"
	if make $fs "$device"; then
		live="$live $fs"
	else
		say error "cannot make $fs on $device"
		status=1
	fi
done
mounted=$live
# shellcheck disable=SC2086
say ready $live

if [ -z "$channel" ]; then
	go "$(param rounds 10)"
else
	while read -r command n fs <&3; do
		case $command in
		go)
			case $n in
			'' | *[!0-9]*) say error "go $n: not a number" ;;
			*) go "$n" "$fs" ;;
			esac
			;;
		stop) break ;;
		*) say error "unknown command $command" ;;
		esac
	done
fi

for fs in $mounted; do
	case " $live " in
	*" $fs "*) must=1 ;;
	*) must=0 ;; # one that has failed may fail here too
	esac
	if umount "/mnt/$fs"; then
		say unmounted "$fs"
	elif [ $must = 1 ]; then
		say error "cannot unmount $fs"
		status=1
	fi
done
exit $status
