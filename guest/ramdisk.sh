#!/bin/sh
# Checks fsw_ramdisk: see dev/rdcheck.
#
# Kernel command line:
#   fsward.checks=A,B   the checks to run
# The checks of recordings copy disks and a log for the host to the disks with the serials FS.base,
# FS.log and FS.final.
# Lines for the host: "check NAME ok" or "check NAME failed".
. /fsward/lib.sh

exec rdcheck -checks "$(param checks '')"
