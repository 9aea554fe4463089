# shellcheck shell=bash disable=SC2016 # of texts for the inner shell
# Hosts for scripts/reconnect.sh and scripts/migrate.sh: a Debian system with stock libvirt in mount,
# UTS, network, IPC and PID namespaces of its own. It is sourced in the folder of the source, and
# sets $work, the folder of the hosts, which is removed at the end together with them.

# Programs for file systems look at every mount. A dead FUSE mount of a test would make them fail.
if [ -z "${FSWARD_UNSHARED:-}" ]; then
	FSWARD_UNSHARED=1 exec unshare --mount bash "$0" "$@"
fi
while read -r _ at type _; do
	case $type:$at in fuse.fsward:* | *:*/fsward-loop-*) umount --lazy "$at" || true ;; esac
done </proc/self/mounts
PATH=$PATH:/usr/sbin:/sbin

declare -A init # of each host: the process whose namespaces it has
mkdir -p build
work=$(realpath "$(mktemp -d build/hosts.XXXXXX)")
remove_hosts() {
	for pid in "${init[@]}"; do kill -KILL "$pid" || true; done # and with it the host's processes
	wait 2>/dev/null
	rm -rf "$work"
}
trap remove_hosts EXIT

fail() {
	echo "failed: $*" >&2
	exit 1
}

# show HOST COMMAND…: prints a command and runs it on a host.
show() {
	echo "$1\$ ${*:2}"
	on "$@"
}

# on HOST COMMAND…: runs a command on a host.
on() {
	nsenter --target "${init[$1]}" --mount --uts --net --ipc --pid chroot "$work/$1/root" "${@:2}"
}

# await SECONDS COMMAND…: waits until a command succeeds.
await() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.1
	done
}

# make_system SUITE: makes the system of the hosts, $system.
make_system() {
	system=$PWD/build/debian-$1-libvirt
	guest/root.sh "$1" "$system" libvirt-daemon libvirt-daemon-system libvirt-daemon-driver-qemu \
		libvirt-clients qemu-system-x86 qemu-system-common qemu-utils seabios procps
}

# The arguments are the folder of the host, that of the system, and the one that the hosts share. A
# host has no /dev/kvm: if it does not work, libvirt asks QEMU again and again what it can do.
host_script='set -e
cd "$1"
mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" overlay root
mount -t proc proc root/proc
mount --rbind /sys root/sys
mount -t tmpfs tmpfs root/dev
for device in null zero full random urandom tty; do
	touch root/dev/$device
	mount --bind /dev/$device root/dev/$device
done
mkdir root/dev/pts root/dev/shm
mount -t devpts -o newinstance,ptmxmode=666 devpts root/dev/pts
ln -s pts/ptmx root/dev/ptmx
ln -s /proc/self/fd root/dev/fd
mount -t tmpfs tmpfs root/run
mkdir -p root/srv/shared
mount --bind "$3" root/srv/shared
hostname "${1##*/}"
touch ready
exec bash -c "sleep infinity & wait"' # bash reaps the processes that a daemon has left

# start_host NAME UUID: starts a host and its libvirtd. /srv/shared is the same folder on all hosts.
# libvirtd listens to other hosts without authentication: they are in namespaces of this script.
start_host() {
	local dir=$work/$1 outer
	mkdir -p "$dir/upper" "$dir/work" "$dir/root" "$work/shared"
	unshare --mount --uts --net --ipc --pid --fork --kill-child \
		sh -c "$host_script" sh "$dir" "$system" "$work/shared" 2>"$dir/error" &
	outer=$!
	await 20 test -e "$dir/ready" || fail "host $1 does not start: $(cat "$dir/error")"
	init[$1]=$(pgrep -P $outer)
	nsenter --target "${init[$1]}" --net ip link set lo up
	on "$1" sh -c 'cat >/usr/local/bin/fsward && chmod 755 /usr/local/bin/fsward' <fsward
	# There is no systemd, so nothing that needs it: cgroups and virtlogd.
	on "$1" sh -c 'cat >>/etc/libvirt/qemu.conf' <<-'END'
		cgroup_controllers = []
		stdio_handler = "file"
		namespaces = []
	END
	on "$1" sh -c 'cat >/etc/libvirt/libvirtd.conf' <<-END
		listen_tls = 0
		listen_tcp = 1
		auth_tcp = "none"
		auth_unix_ro = "none"
		auth_unix_rw = "none"
		host_uuid = "$2"
		log_outputs = "2:file:/var/log/libvirt/libvirtd.log"
	END
	on "$1" sh -c 'exec libvirtd --listen >/var/log/libvirt/out 2>&1' 2>/dev/null &
	await 60 on "$1" virsh version >"$dir/version" 2>"$dir/error" ||
		fail "no libvirtd on $1: $(cat "$dir/error" "$dir/upper/var/log/libvirt/libvirtd.log")"
}

# define HOST DISKS CMDLINE: defines the domain vm, whose guest is that of guest/build.sh.
define() {
	cp build/guest/vmlinuz build/guest/initramfs.cpio.zst "$work/shared/"
	on "$1" sh -c 'cat >/root/vm.xml' <<-END
		<domain type='qemu'>
		  <name>vm</name>
		  <memory unit='MiB'>512</memory>
		  <os>
		    <type arch='x86_64' machine='q35'>hvm</type>
		    <kernel>/srv/shared/vmlinuz</kernel>
		    <initrd>/srv/shared/initramfs.cpio.zst</initrd>
		    <cmdline>console=ttyS0 panic=-1 no_timer_check $3</cmdline>
		  </os>
		  <features><acpi/><apic/></features>
		  <cpu mode='maximum' check='none'/>
		  <on_poweroff>destroy</on_poweroff>
		  <devices>
		    <controller type='usb' model='none'/>
		    <memballoon model='none'/>
		    <serial type='file'><source path='/var/log/libvirt/qemu/vm-console.log' append='on'/></serial>
		    $2
		  </devices>
		</domain>
	END
	show "$1" virsh define /root/vm.xml
}

# serve HOST NAME COMMAND…: starts a command of fsward on a host and waits for its socket. Its output
# is added to NAME.out and NAME.err in the folder of the host.
declare -A job # of each HOST/NAME: the process that waits for the command
serve() {
	local socket="${*:3}"
	echo "$1\$ ${*:3} &"
	on "$1" sh -c 'echo $$ >"/root/$1.pid"; shift; exec "$@"' sh "$2" "${@:3}" \
		>>"$work/$1/$2.out" 2>>"$work/$1/$2.err" &
	job[$1/$2]=$!
	socket=${socket##*--listen unix:}
	await 60 on "$1" test -S "${socket%% *}" || fail "$2: $(cat "$work/$1/$2.err")"
}

# end HOST NAME SIGNAL: ends what serve has started. Its exit status is $status.
# shellcheck disable=SC2034 # for the caller
end() {
	on "$1" sh -c 'kill "-$2" "$(cat "/root/$1.pid")"' sh "$2" "$3"
	status=0
	wait "${job[$1/$2]}" 2>/dev/null || status=$?
}
