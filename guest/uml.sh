#!/bin/busybox sh
# Process 1 of user-mode Linux that recovers crash states: see explore/usermode. It performs the
# requests that the host sends through a mailbox (explore/agent/mailbox), and ends with the host.
#
# The modules are the host's, since the initramfs has those of another kernel.
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox --install -s /bin 2>/dev/null
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
# Each mount and unmount would start a program for its events, which is half of their processor time.
echo >/proc/sys/kernel/hotplug
# An initramfs has more modules, which this kernel does not load.
rm -rf /modules /bin/fsload /bin/rdcheck /bin/rdioctl /bin/ekcheck /bin/fswcalls /lib/modules
mkdir -p /lib/modules
mount -t hostfs -o /usr/lib/uml/modules none /lib/modules
# Disk n is /dev/fswrdN, as in the explorer's other guests.
n=0
for disk in a b c d e f g h i j k l m n o p; do
	ln -s "ubd$disk" "/dev/fswrd$n"
	n=$((n + 1))
done
# The agent's runtime has a thread that would sleep for 20 µs again and again. A system call is dear
# here: with 10 ms of slack it wakes up a hundred times less, and a run takes half of the time.
echo 10000000 >/proc/$$/timerslack_ns
# See agent.sh for asyncpreemptoff. Memory is collected late, since that wakes other threads.
GODEBUG=asyncpreemptoff=1 GOGC=off GOMEMLIMIT=48MiB fsagent mailbox /dev/mmapper /dev/tty1
poweroff -nf
