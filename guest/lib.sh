# Functions that init and the scripts share. It is sourced, not run.

# The workload keeps the directories of this many rounds, and removes older ones.
KEEP=24

# param NAME DEFAULT prints the parameter fsward.NAME of the kernel command line.
param() {
	for word in $(cat /proc/cmdline); do
		case $word in
		"fsward.$1="*) echo "${word#*=}"; return ;;
		esac
	done
	echo "$2"
}

# disk FS DEFAULT prints the device for a file system: the disk whose serial is fsward.FS, or
# DEFAULT without that parameter. With fsward.FS=none it prints nothing.
disk() {
	serial=$(param "$1" '')
	case $serial in
	'') [ -b "/dev/$2" ] && echo "/dev/$2"; return ;;
	none) return ;;
	esac
	for d in /sys/block/vd*; do
		if [ "$(cat "$d/serial")" = "$serial" ]; then
			echo "/dev/${d##*/}"
			return
		fi
	done
	echo "FSWARD: error no disk with serial '$serial'" >/dev/console
}

# mounted_rw DIR succeeds if DIR is the mount point of a file system that is not read-only.
mounted_rw() {
	grep -q " $1 [^ ]* rw" /proc/mounts
}
