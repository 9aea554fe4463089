# What init and the scripts share. Sourced, not run.

# The workload leaves the directories of this many rounds; it removes older ones.
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

# disk FS DEFAULT prints the device for a file system: the disk whose serial is fsward.FS, or DEFAULT
# if there is no such parameter. fsward.FS=none gives nothing.
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

# mounted_rw DIR tells whether DIR is a mount point that can be written to.
mounted_rw() {
	grep -q " $1 [^ ]* rw" /proc/mounts
}
