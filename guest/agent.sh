#!/bin/sh
# Does what the host says over a virtio-serial port: see explore/agent. It ends when the host hangs up.
#
# Without preemption by signals, so that no system call of an explorer ends early with EINTR.
GODEBUG=asyncpreemptoff=1 exec fsagent
