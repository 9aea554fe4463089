#!/bin/sh
# Checks that all rounds that the workload has synced are intact. A mount replays the journal of
# ext3 and the log of Btrfs, so that it changes the disks.
#
# Kernel command line:
#   fsward.btrfs=SERIAL fsward.ext3=SERIAL   as in workload.sh
#   fsward.btrfs_synced=N fsward.ext3_synced=N   the last round that was synced (0)
# Lines for the host: "intact FS N", or "lost FS ROUND" for each round with a missing or wrong file.
. /fsward/lib.sh

status=0
for fs in btrfs ext3; do
	case $fs in
	btrfs) device=$(disk btrfs vda) ;;
	ext3) device=$(disk ext3 vdb) ;;
	esac
	[ -n "$device" ] || continue
	n=$(param ${fs}_synced 0)
	mkdir -p /mnt/$fs
	if ! mount -t $fs -o ro "$device" /mnt/$fs; then
		echo "FSWARD: error cannot mount $fs on $device"
		status=1
		continue
	fi
	# Round N+1 may have removed its oldest round without reporting success.
	r=$((n - KEEP + 2))
	[ $r -ge 1 ] || r=1
	lost=
	while [ $r -le "$n" ]; do
		if ! (cd /mnt/$fs && md5sum -c -s round-$r/SUMS); then
			echo "FSWARD: lost $fs $r"
			lost=1
			status=1
		fi
		r=$((r + 1))
	done
	[ -n "$lost" ] || echo "FSWARD: intact $fs $n"
	umount /mnt/$fs
done
exit $status
