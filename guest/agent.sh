#!/bin/sh
# Does what the host says over a virtio-serial port: see explore/agent. It ends when the host hangs up.
#
# Memory is what a checkpoint of the guest is made of: what is not needed any more goes.
rm -rf /modules /bin/fsload /bin/rdcheck /bin/rdioctl /bin/ekcheck /bin/fswcalls
# Go keeps its memory small, and does without preemption by signals, so that no system call of an explorer ends early with EINTR.
GODEBUG=asyncpreemptoff=1 GOMEMLIMIT=12MiB exec fsagent
