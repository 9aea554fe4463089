#!/bin/sh
# Makes Btrfs on one disk and ext3 on the other, and changes both in rounds.
#
# Kernel command line:
#   fsward.btrfs=SERIAL  serial of the disk for Btrfs, or none for no Btrfs (/dev/vda)
#   fsward.ext3=SERIAL   serial of the disk for ext3, or none for no ext3 (/dev/vdb)
#   fsward.rounds=N      number of rounds without a channel to the host (10)
#
# Over a virtio-serial port named org.fsward.0 the host sends commands, one a line:
#   go N [FS]   run N rounds on each file system that can be written to, or only on FS
#   stop        unmount and power off; the end of the channel does the same
# Lines for the host, over the channel, and on the console after "FSWARD: ":
#   ready FS…             the file systems are made and mounted
#   synced FS ROUND       this round and all earlier ones are on the disk
#   readonly FS ROUND     FS takes no more writes; ROUND is the last one that was synced
#   failed FS ROUND STEP  STEP failed although FS can be written to
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

# durable DIR syncs a file system, and succeeds if that worked. If a commit of ext3 fails, syncfs
# may still report success, when kjournald was done before syncfs looked. The next change then
# fails. So durable makes a change: it creates a file, because ext3 does not report a time stamp
# that it could not write. A second sync follows, because the host expects no writes between two
# rounds.
durable() {
	sync.coreutils -f "$1" && echo >"$1/probe" && rm "$1/probe" && mounted_rw "$1" || return
	sync.coreutils -f "$1" || true # the round is on the disk; the next round finds an error
}

# change FS DIR ROUND performs one round. The files that it leaves in DIR/round-ROUND do not change
# afterwards, and SUMS lists them. If it fails, $step is the step that failed.
change() {
	d=$2/round-$3
	step=create
	mkdir -p "$d/one/two/three" "$d/gone" || return
	i=0
	# The sizes range from inline files of Btrfs and single blocks of ext3 to several extents and
	# indirect blocks.
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
	touch "$4"-0 "$4"-1 "$4"-2 "$4"-3 "$4"-4 "$4"-5 "$4"-6 "$4"-7 \
		"$4"-8 "$4"-9 "$4"-a "$4"-b "$4"-c "$4"-d &&
		cp "$d/file-4" "$d/gone/x" && cp "$d/file-5" "$d/gone/y" || return
	step=sync
	sync.coreutils -f "$2" || return

	step=rename
	mv "$d/one/two" "$d/one/zwei" && mv "$d/file-0" "$d/one/zwei/moved" &&
		mv -f "$d/gone/x" "$d/file-4" &&
		mv "$4"-0 "$4"-zero && mv -f "$4"-1 "$4"-2 || return
	step=truncate
	truncate -s 1000 "$d/file-3" && truncate -s 100000 "$d/hard" &&
		truncate -s 5000 "$d/gone/y" || return
	step=append
	head -c 9000 /tmp/text >>"$d/file-2" && head -c 300 /tmp/text >>"$2/log" || return
	step=chmod
	chmod 600 "$d/file-1" && chown 1000:1000 "$d/one" || return
	step=sync
	sync.coreutils -f "$2" || return

	step=delete
	rm "$4"-3 "$4"-4 "$4"-5 "$4"-6 "$4"-7 "$d/one/zwei/hard" && rm -r "$d/gone" &&
		rmdir "$d/one/zwei/three" || return
	old=$(($3 - KEEP))
	if [ -d "$2/round-$old" ]; then
		name=a-name-that-is-long-enough-to-fill-a-directory-block
		rm -r "$2/round-$old" "$2/names/$name-$old"-* || return
	fi
	step=sums
	(cd "$2" && find "round-$3" -type f -exec md5sum {} + >"/tmp/sums.$1") &&
		cp "/tmp/sums.$1" "$d/SUMS" || return
	step=sync
	durable "$2"
}

# round FS runs the next round on a file system and reports the result. $live lists the file systems
# that can be written to, and $n_FS is the last round that was synced.
round() {
	eval "r=\$((n_$1 + 1))"
	if change "$1" "/mnt/$1" "$r"; then
		eval "n_$1=$r"
		say synced "$1" "$r"
		return
	fi
	live=$(for fs in $live; do [ "$fs" = "$1" ] || echo "$fs"; done)
	# Try once more: perhaps only one operation failed.
	if durable "/mnt/$1" 2>/dev/null; then
		status=1
		say failed "$1" "$r" "$step"
	else
		say readonly "$1" $((r - 1))
	fi
}

# go N [FS] performs the command go.
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
	*) must=0 ;; # a failed file system may fail here too
	esac
	if umount "/mnt/$fs"; then
		say unmounted "$fs"
	elif [ $must = 1 ]; then
		say error "cannot unmount $fs"
		status=1
	fi
done
exit $status
