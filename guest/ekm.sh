#!/bin/sh
# Checks fsw_ekm: see dev/ekcheck.
#
# Kernel command line:
#   fsward.checks=A,B   the checks to run
# Lines for the host: "check NAME ok" or "check NAME failed".
. /fsward/lib.sh

exec ekcheck -checks "$(param checks '')"
