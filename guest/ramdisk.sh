#!/bin/sh
# Tries fsw_ramdisk: see dev/rdcheck.
#
# Kernel command line:
#   fsward.checks=A,B   the checks to run
# What the checks leave for the host goes to the disk of that serial. Lines: "check NAME ok" or "check NAME failed".
. /fsward/lib.sh

exec rdcheck -checks "$(param checks '')"
