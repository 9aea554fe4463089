#!/bin/sh
# Performs the operations that the host sends over a virtio-serial port: see explore/agent. It ends
# when the host closes the port.
#
# A checkpoint of the guest contains its memory. So files that are not needed any more are removed.
rm -rf /modules /bin/fsload /bin/rdcheck /bin/rdioctl /bin/ekcheck /bin/fswcalls
# KCOV and KMEMLEAK are files of debugfs. A mount of it during a run would be one that a stack left.
[ -d /sys/kernel/debug ] && mount -t debugfs debugfs /sys/kernel/debug
# The limit keeps Go's memory small. Without preemption by signals no system call of the explorer
# fails with EINTR.
GODEBUG=asyncpreemptoff=1 GOMEMLIMIT=12MiB exec fsagent
