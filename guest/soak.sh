#!/bin/sh
# Makes the file systems and runs random loads on each, one profile of fsload after the other.
#
# Kernel command line:
#   fsward.btrfs=SERIAL fsward.ext3=SERIAL   as in workload.sh
#   fsward.profiles=P,…  the profiles (mixed,fsync,names,space; on Btrfs also verity)
#   fsward.seconds=N     duration of each profile (20)
#   fsward.seed=N        seed of the loads (1)
# Lines for the host: "loaded FS PROFILE" after each profile, "unmounted FS" at the end.
. /fsward/lib.sh

seconds=$(param seconds 20)
seed=$(param seed 1)
status=0

# load FS DEVICE OPTION… makes a file system and runs every profile on it.
load() {
	fs=$1 device=$2
	shift 2
	case $fs in
	btrfs) mkfs.btrfs -q -f "$device" ;;
	ext3) mkfs.ext3 -q -F "$device" ;;
	esac && mkdir -p "/mnt/$fs" && mount -t "$fs" -o noatime "$device" "/mnt/$fs" || return
	profiles=mixed,fsync,names,space
	[ "$fs" != btrfs ] || profiles=$profiles,verity
	for profile in $(param profiles "$profiles" | tr , ' '); do
		fsload -dir "/mnt/$fs" -seed "$seed" -seconds "$seconds" -profile $profile "$@" || return
		echo "FSWARD: loaded $fs $profile"
	done
	umount "/mnt/$fs" && echo "FSWARD: unmounted $fs"
}

device=$(disk btrfs vda)
[ -z "$device" ] || load btrfs "$device" -btrfs || status=1
device=$(disk ext3 vdb)
[ -z "$device" ] || load ext3 "$device" || status=1
exit $status
